//! Tabs, and what pages open by themselves.

use std::time::{Duration, Instant};

use bathy_browser::{
    ClickOptions, Containment, Engine, EngineOptions, Error, OutlineOptions, ScreenshotOptions, Session,
    SessionOptions, Tab, TabNews, TabSummary, Target, TextOptions, WaitUntil,
};
use bathy_policy::{Policy, PolicyConfig};
use bathy_testsite::Canary;

use crate::support::{Stage, open_policy, options, soon};

const PATIENCE: Duration = Duration::from_secs(10);

impl Stage {
    async fn tabs(&self) -> Vec<TabSummary> {
        self.session.tabs(soon()).await.unwrap()
    }

    /// Waits until the list of tabs is as it should be.
    async fn tabs_until(&self, what: &str, wanted: impl Fn(&[TabSummary]) -> bool) -> Vec<TabSummary> {
        let began = Instant::now();
        loop {
            let tabs = self.tabs().await;
            assert!(tabs.iter().all(|tab| !tab.url.is_empty()), "{what}: {tabs:#?}");
            if wanted(&tabs) {
                return tabs;
            }
            assert!(began.elapsed() < PATIENCE, "{what}: {tabs:#?}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// A new tab at the end that shows this HTML, the active one.
    async fn add(&self, html: &str) -> Tab {
        let fresh = self.session.open_tab(false).await.unwrap();
        let url = self.site.page(html);
        fresh.tab().navigate(&url, WaitUntil::Load, soon()).await.unwrap();
        let tab = fresh.keep();
        self.session.activate(&tab).await.unwrap();
        tab
    }
}

async fn click(tab: &Tab, selector: &str) -> bathy_browser::Acted {
    tab.click(&Target::Selector(selector.to_owned()), ClickOptions::default(), soon()).await.unwrap()
}

fn titles(tabs: &[TabSummary]) -> Vec<&str> {
    tabs.iter().map(|tab| tab.title.as_deref().unwrap_or("-")).collect()
}

#[tokio::test]
async fn tabs_keep_their_order_and_one_is_active() {
    let stage = Stage::showing("<title>One</title>").await;
    stage.add("<title>Two</title>").await;
    let third = stage.add("<title>Three</title>").await;
    let tabs = stage.tabs().await;
    assert_eq!(titles(&tabs), ["One", "Two", "Three"]);
    assert_eq!(tabs.iter().map(|tab| tab.active).collect::<Vec<_>>(), [false, false, true]);
    assert!(tabs.iter().enumerate().all(|(index, tab)| tab.index == index && tab.allowed));

    // The one that was active before is so again, not just the neighbour.
    stage.session.activate(&stage.tab).await.unwrap();
    stage.session.activate(&third).await.unwrap();
    assert_eq!(stage.session.close_tab(None).await.unwrap(), 2);
    assert_eq!(stage.session.tab(None).await.unwrap().title(soon()).await.unwrap(), "One");
    // Closing another one leaves the active one alone.
    assert_eq!(stage.session.close_tab(Some(1)).await.unwrap(), 1);
    assert_eq!(titles(&stage.tabs().await), ["One"]);
    let error = stage.session.close_tab(Some(1)).await.unwrap_err();
    assert!(matches!(error, Error::NoSuchTab { index: 1, count: 1 }), "{error:?}");
    assert_eq!(stage.session.tab_news(), TabNews { active: Some(0), ..TabNews::default() });
}

#[tokio::test]
async fn a_session_goes_on_without_tabs() {
    let stage = Stage::showing("<title>Last</title>").await;
    assert_eq!(stage.session.close_tab(None).await.unwrap(), 0);
    assert!(matches!(stage.session.tab(None).await, Err(Error::NoPage)));
    assert!(matches!(stage.session.close_tab(None).await, Err(Error::NoPage)));
    assert_eq!((stage.tabs().await.len(), stage.session.url()), (0, None));
    let tab = stage.add("<title>First again</title>").await;
    assert_eq!(tab.title(soon()).await.unwrap(), "First again");
    assert_eq!(tab.index(), Some(0));
}

/// Ways in which a page opens another, at `{url}`.
const WAYS: &[(&str, &str)] = &[
    ("link", "<a id=go target=_blank href='{url}'>go</a>"),
    ("link with opener", "<a id=go target=_blank rel=opener href='{url}'>go</a>"),
    ("named window", "<a id=go target=elsewhere href='{url}'>go</a>"),
    ("window.open", "<button id=go onclick=\"window.open('{url}')\">go</button>"),
    ("small window", "<button id=go onclick=\"window.open('{url}', '', 'popup,width=300,height=200')\">go</button>"),
    ("noopener", "<button id=go onclick=\"window.open('{url}', '', 'noopener')\">go</button>"),
    ("sent on", "<button id=go onclick=\"window.open('').location = '{url}'\">go</button>"),
    ("form", "<form target=_blank action='{url}'><button id=go>go</button></form>"),
    ("posted form", "<form method=post target=_blank action='{url}'><button id=go>go</button></form>"),
    (
        "frame",
        "<button id=go onclick=\"f.contentWindow.go()\">go</button>\
      <iframe id=f srcdoc=\"<script>go = () => open('{url}')</script>\"></iframe>",
    ),
    (
        "foreign frame",
        "<button id=go onclick=\"f.contentWindow.postMessage('go', '*')\">go</button>\
      <iframe id=f src='{other}/page-that-opens?{url}'></iframe>",
    ),
    ("timer", "<button id=go onclick=\"setTimeout(() => window.open('{url}'))\">go</button>"),
];

fn way(html: &str, url: &str, stage: &Stage) -> String {
    html.replace("{url}", url).replace("{other}", &stage.site.other_origin())
}

/// Serves the page of the second origin that opens whatever stands behind its question mark.
fn serve_opener(stage: &Stage) {
    let opener = "<script>onmessage = () => open(decodeURI(location.search.slice(1)))</script>";
    stage.site.add(bathy_testsite::Page::html(opener).at("page-that-opens"));
}

#[tokio::test]
async fn pages_that_a_page_opens_join_the_list_without_the_focus_and_are_told() {
    let stage = Stage::set().await;
    serve_opener(&stage);
    let popup = stage.site.page("<title>Popup</title><script>setInterval(() => focus(), 10)</script>");
    let field = "<input id=field autofocus oninput='document.title = `${document.hasFocus()} \
                 ${document.visibilityState} ${value}`'>";
    for (name, html) in WAYS {
        stage.show(&format!("{field}{}", way(html, &popup, &stage))).await;
        let acted = click(&stage.tab, "#go").await;
        assert!(!acted.changes.tab_closed, "{name}");
        let told: Vec<_> = acted.changes.new_tabs.iter().map(|tab| (tab.index, tab.allowed, tab.active)).collect();
        // What comes after the action is told by the next one.
        if *name != "timer" {
            assert_eq!(told, [(1, true, false)], "{name}: {:?}", acted.changes);
        }
        let tabs = stage.tabs_until(name, |tabs| tabs.len() == 2 && tabs[1].title.as_deref() == Some("Popup")).await;
        assert!(tabs[1].url.starts_with(&popup), "{name}: {tabs:?}");
        assert_eq!((tabs[0].active, tabs[1].active), (true, false), "{name}");
        // What was told by an action is no news any more.
        let untold: Vec<_> = if told.is_empty() { vec![(1, true)] } else { vec![] };
        let news = TabNews { opened: untold, active: Some(0), ..TabNews::default() };
        assert_eq!(stage.session.tab_news(), news, "{name}");
        // Keys go to the page that had the focus.
        click(&stage.tab, "#field").await;
        stage.tab.press(&"x".parse().unwrap(), None, soon()).await.unwrap();
        stage.tabs_until(name, |tabs| tabs[0].title.as_deref() == Some("true visible x")).await;
        stage.session.close_tab(Some(1)).await.unwrap();
    }
}

#[tokio::test]
async fn popups_of_popups_and_of_timers_are_news() {
    let stage = Stage::set().await;
    let third = stage.site.page("<title>Third</title>");
    let second = stage.site.page(format!("<title>Second</title><script>open('{third}')</script>"));
    stage.show(&format!("<title>First</title><script>setTimeout(() => open('{second}'), 50)</script>")).await;
    let tabs = stage.tabs_until("two popups", |tabs| titles(tabs) == ["First", "Second", "Third"]).await;
    assert!(tabs[0].active && !tabs[1].active && !tabs[2].active);
    let news = stage.session.tab_news();
    assert_eq!(news.opened, [(1, true), (2, true)]);
    assert_eq!((news.lost, news.active), (false, Some(0)));
    assert_eq!(stage.session.tab_news().opened, []);
}

#[tokio::test]
async fn a_popup_to_a_refused_host_never_asks_and_can_only_be_listed_and_closed() {
    // Once the gate alone can tell, once documents are held in the browser, too.
    let anything = Some(vec!["*".parse().unwrap(), "127.0.0.9".parse().unwrap()]);
    for (containment, resources) in [(Containment::Kernel, None), (Containment::Browser, anything)] {
        let policy = Policy::new(PolicyConfig {
            allowed_hosts: vec!["127.0.0.1".parse().unwrap(), "127.0.0.2".parse().unwrap()],
            allowed_resource_hosts: resources,
            allow_private_network: true,
            ..PolicyConfig::default()
        });
        let stage = Stage::with(EngineOptions { containment, ..options(policy) }).await;
        serve_opener(&stage);
        let canary = Canary::start([127, 0, 0, 9]).await;
        let secret = format!("http://{}/secret", canary.address());
        for (name, html) in WAYS {
            stage.show(&way(html, &secret, &stage)).await;
            let acted = click(&stage.tab, "#go").await;
            let told: Vec<_> = acted.changes.new_tabs.iter().map(|tab| (tab.index, tab.allowed)).collect();
            if *name != "timer" {
                assert_eq!(told, [(1, false)], "{name}: {:?}", acted.changes);
            }
            off_policy(&stage, name, &secret).await;
            assert_eq!(stage.session.close_tab(Some(1)).await.unwrap(), 1, "{name}");
        }
        assert!(canary.hits().is_empty(), "{:?}", canary.hits());
    }
}

/// The second tab shows `url`, and nothing can be had of it.
async fn off_policy(stage: &Stage, name: &str, url: &str) {
    let shown = |tabs: &[TabSummary]| tabs.len() == 2 && tabs[1].url.starts_with(url);
    let tabs = stage.tabs_until(name, shown).await;
    assert_eq!((tabs[1].allowed, &tabs[1].title), (false, &None), "{name}");
    let tab = stage.session.tab(Some(1)).await.unwrap();
    let refused = |what: &str, error: Option<Error>| {
        assert!(matches!(error, Some(Error::OffPolicy(_))), "{name}, {what}: {error:?}");
    };
    let began = Instant::now();
    loop {
        let before = stage.engine.commands_sent().await;
        refused("select", stage.session.activate(&tab).await.err());
        refused("title", tab.title(soon()).await.err());
        refused("text", tab.text(TextOptions::default(), soon()).await.err());
        refused("outline", tab.outline(OutlineOptions::default(), soon()).await.err());
        refused("picture", tab.screenshot(ScreenshotOptions::default(), soon()).await.err());
        let click = tab.click(&Target::Selector("body".to_owned()), ClickOptions::default(), soon()).await;
        refused("click", click.err());
        let tabs = stage.tabs().await;
        assert_eq!((tabs[0].active, tabs[1].allowed, &tabs[1].title), (true, false, &None), "{name}");
        // The browser was asked for the title of the other tab alone. New pages are set up at the same time.
        if stage.engine.commands_sent().await == before + 1 {
            break;
        }
        assert!(began.elapsed() < PATIENCE, "{name}: the browser was asked for more than one title");
    }
}

#[tokio::test]
async fn a_tab_that_closes_itself_leaves_the_focus_where_it_was_before() {
    let stage =
        Stage::showing("<title>Opener</title><button id=go onclick=\"window.open('/tabs/closing.html')\">go</button>")
            .await;
    stage.site.add(
        bathy_testsite::Page::html("<title>Closing</title><button id=close onclick='window.close()'>x</button>")
            .at("tabs/closing.html"),
    );
    stage.add("<title>Neighbour</title>").await;
    stage.session.activate(&stage.tab).await.unwrap();
    click(&stage.tab, "#go").await;
    let popup = stage.session.tab(Some(2)).await.unwrap();
    popup.navigate(&stage.site.url("tabs/closing.html"), WaitUntil::Load, soon()).await.unwrap();
    stage.session.activate(&popup).await.unwrap();
    let acted = click(&popup, "#close").await;
    assert!(acted.changes.tab_closed);
    let news = stage.session.tab_news();
    assert_eq!((news.lost, news.active), (true, Some(0)));
    assert_eq!(stage.session.tab_news(), TabNews { active: Some(0), ..TabNews::default() });
    assert_eq!(stage.session.tab(None).await.unwrap().title(soon()).await.unwrap(), "Opener");
}

#[tokio::test]
async fn an_heir_off_policy_is_passed_over() {
    let policy = PolicyConfig {
        allowed_hosts: vec!["127.0.0.1".parse().unwrap()],
        allow_private_network: true,
        ..PolicyConfig::default()
    };
    let stage = Stage::with(options(Policy::new(policy))).await;
    let away = stage.site.other_url("document");
    stage.show(&format!("<title>Left</title><button id=go onclick=\"location = '{away}'\">go</button>")).await;
    let middle = stage.add(&format!("<button id=go onclick=\"location = '{away}'\">go</button>")).await;
    stage.add("<title>Right</title>").await;
    // Its neighbour, which was also active before, leaves the policy behind its back.
    let _ = middle.click(&Target::Selector("#go".to_owned()), ClickOptions::default(), soon()).await;
    stage.tabs_until("off policy", |tabs| !tabs[1].allowed).await;
    stage.session.close_tab(Some(2)).await.unwrap();
    assert_eq!(stage.session.tab(None).await.unwrap().title(soon()).await.unwrap(), "Left");
    stage.session.close_tab(Some(0)).await.unwrap();
    assert!(matches!(stage.session.tab(None).await, Err(Error::NoPage)));
    assert_eq!(stage.session.close_tab(Some(0)).await.unwrap(), 0);
}

#[tokio::test]
async fn more_tabs_than_there_may_be_are_refused_with_the_number() {
    let stage =
        Stage::showing("<title>-</title><button id=go onclick=\"window.open('/no-content')\">go</button>").await;
    let mut fresh = Vec::new();
    for _ in 1..50 {
        fresh.push(stage.session.open_tab(true).await.unwrap());
    }
    let error = stage.session.open_tab(false).await.err();
    assert!(matches!(error, Some(Error::TabLimit(50))), "{error:?}");
    let acted = click(&stage.tab, "#go").await;
    assert!(acted.changes.notes.iter().any(|note| note.contains("50 tabs are open already")), "{:?}", acted.changes);
    assert_eq!(stage.session.tab_count(), 50);
    // Nobody keeps them.
    drop(fresh);
    stage.tabs_until("closed", |tabs| tabs.len() == 1).await;
    assert!(stage.session.open_tab(false).await.is_ok());
}

#[tokio::test]
async fn a_tab_that_nobody_waits_for_any_more_is_closed_again() {
    let stage = Stage::set().await;
    for wait in [0, 1, 5, 20] {
        let opening = stage.session.open_tab(false);
        if let Ok(opened) = tokio::time::timeout(Duration::from_millis(wait), opening).await {
            drop(opened.unwrap());
        }
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    stage.tabs_until("closed", |tabs| tabs.len() == 1).await;
    let news = stage.session.tab_news();
    assert!(!news.lost && news.active == Some(0), "{news:?}");
}

async fn sized(engine: &Engine, viewport: (u32, u32)) -> Session {
    let options = SessionOptions { id: "sized".to_owned(), viewport: Some(viewport), ..SessionOptions::default() };
    engine.open_session(options).await.unwrap()
}

#[tokio::test]
async fn the_viewport_of_a_session_holds_for_all_of_its_tabs() {
    let stage = Stage::with(EngineOptions { spare_sessions: 1, ..options(open_policy()) }).await;
    let popup = stage.site.page("<script>document.title = `${innerWidth}x${innerHeight}`</script>");
    let opener = stage.site.page(format!(
        "<script>document.title = `${{innerWidth}}x${{innerHeight}}`; open('{popup}');
         open('{popup}', '', 'noopener')</script>"
    ));
    let session = sized(&stage.engine, (600, 400)).await;
    let tab = session.tab(None).await.unwrap();
    tab.navigate(&opener, WaitUntil::Load, soon()).await.unwrap();
    let fresh = session.open_tab(false).await.unwrap();
    fresh.tab().navigate(&popup, WaitUntil::Load, soon()).await.unwrap();
    let began = Instant::now();
    loop {
        let tabs = session.tabs(soon()).await.unwrap();
        if titles(&tabs) == ["600x400"; 4] {
            break;
        }
        assert!(began.elapsed() < PATIENCE, "{tabs:#?}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Pages that do not want to go.
const STUBBORN: &[(&str, &str)] = &[
    ("plain", "<p>plain"),
    ("stuck", "<script>setTimeout(() => { for (;;); }, 50)</script>"),
    ("dialog", "<script>setTimeout(() => confirm('stay?'), 50)</script>"),
    ("beforeunload", "<body onclick='1'><script>onbeforeunload = event => event.preventDefault()</script>"),
    ("unload", "<script>onunload = onpagehide = () => { for (;;); }</script>"),
    ("loading", "<img src=/hang><script src=/hang></script>"),
    ("frames", "<iframe src='{other}/hang'></iframe><iframe src='{other}/half'></iframe>"),
];

#[tokio::test]
async fn a_tab_is_closed_whatever_its_page_is_up_to() {
    let stage = Stage::showing("<title>Stays</title>").await;
    for (name, html) in STUBBORN {
        let fresh = stage.session.open_tab(false).await.unwrap();
        let url = stage.site.page(way(html, "", &stage));
        fresh.tab().navigate(&url, WaitUntil::Commit, soon()).await.unwrap();
        let tab = fresh.keep();
        // A page may only ask to stay once somebody has touched it.
        if *name == "beforeunload" {
            click(&tab, "body").await;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
        let began = Instant::now();
        assert_eq!(stage.session.close_tab(Some(1)).await.unwrap(), 1, "{name}");
        println!("{name}: {:?}", began.elapsed());
        assert!(began.elapsed() < Duration::from_secs(2), "{name}: {:?}", began.elapsed());
    }
    assert_eq!(stage.tab.title(soon()).await.unwrap(), "Stays");
}

#[tokio::test]
async fn a_session_is_closed_whatever_its_pages_are_up_to() {
    let stage = Stage::showing("<title>Stays</title>").await;
    for (name, html) in STUBBORN {
        let session = sized(&stage.engine, (600, 400)).await;
        let tab = session.tab(None).await.unwrap();
        let url = stage.site.page(way(html, "", &stage));
        tab.navigate(&url, WaitUntil::Commit, soon()).await.unwrap();
        if *name == "beforeunload" {
            click(&tab, "body").await;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
        let began = Instant::now();
        session.close().await;
        println!("{name}: {:?}", began.elapsed());
        assert!(began.elapsed() < Duration::from_secs(2), "{name}: {:?}", began.elapsed());
        session.close().await;
        assert!(matches!(session.tab(None).await, Err(Error::SessionClosed)));
        assert!(matches!(session.open_tab(false).await, Err(Error::SessionClosed)));
    }
    assert_eq!(stage.tab.title(soon()).await.unwrap(), "Stays");
}

#[tokio::test]
async fn a_tab_that_is_closed_as_its_document_comes_is_closed() {
    let stage = Stage::showing("<title>Stays</title>").await;
    let url = stage.site.url("trickle");
    for wait in [0, 2, 4, 6, 8, 10, 15, 20, 30, 40, 60] {
        let fresh = stage.session.open_tab(true).await.unwrap();
        let load = fresh.tab().navigate(&url, WaitUntil::Load, soon());
        let begins = async {
            assert!(stage.site.wait_trickles(1, PATIENCE).await);
            tokio::time::sleep(Duration::from_millis(wait)).await;
        };
        tokio::select! {
            _ = load => panic!("it never ends"),
            () = begins => {}
        }
        let began = Instant::now();
        fresh.discard().await.unwrap();
        assert!(began.elapsed() < Duration::from_secs(4), "{wait} ms: {:?}", began.elapsed());
        assert!(stage.site.wait_trickles(0, PATIENCE).await, "{wait} ms");
    }
}
