//! What a browser leaves behind, and what becomes of calls when it goes.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use bathy_browser::{Containment, Deadline, Engine, EngineOptions, Error, Session, SessionOptions, Tab, WaitUntil};
use bathy_testsite::TestSite;
use bathy_testsite::processes::{
    arguments, browser_naming, is_alive, listening, listening_ports, memory, naming, own_memory, signal, sockets, tree,
};

use crate::support::{comes_true, open_policy, options, soon};

/// What the product promises to be gone after an end of whatever kind.
const AFTERWARDS: Duration = Duration::from_secs(3);
/// The most memory that twenty sessions with a page each may take together, in bytes. The product's own budget is
/// smaller; a test on a busy machine only catches what grows out of hand.
const TWENTY_SESSIONS: u64 = 600 << 20;

/// An engine whose browser can be found among all processes.
struct Marked {
    site: TestSite,
    engine: Engine,
    session: Session,
    tab: Tab,
    marker: String,
}

impl Marked {
    async fn set() -> Self {
        Self::with(Containment::Auto, 0).await
    }

    async fn with(containment: Containment, spare_sessions: usize) -> Self {
        let marker = format!("Marked/{}-{:x}", std::process::id(), rand::random::<u64>());
        let site = TestSite::start().await;
        let engine = Engine::new(EngineOptions {
            containment,
            spare_sessions,
            user_agent: Some(marker.clone()),
            ..options(open_policy())
        });
        let session = open(&engine, "marked").await;
        let tab = session.tab(None).await.unwrap();
        Self { site, engine, session, tab, marker }
    }

    async fn show(&self, tab: &Tab, html: &str) -> Result<(), Error> {
        let url = self.site.page(html);
        tab.navigate(&url, WaitUntil::Load, soon()).await.map(drop)
    }

    /// The id of the browser's main process.
    fn browser(&self) -> u32 {
        browser_naming(&self.marker).expect("a browser that runs")
    }

    fn home(&self) -> PathBuf {
        let profile = arguments(self.browser())
            .into_iter()
            .find_map(|argument| argument.strip_prefix("--user-data-dir=").map(PathBuf::from))
            .unwrap();
        // The profile lies in the browser's home.
        profile.parent().unwrap().to_owned()
    }
}

async fn open(engine: &Engine, id: &str) -> Session {
    let options = SessionOptions { id: id.to_owned(), ..SessionOptions::default() };
    engine.open_session(options).await.unwrap()
}

/// Whether nothing of a browser is left, at the latest after the time that the product promises.
async fn nothing_is_left(processes: BTreeSet<u32>, home: PathBuf) -> bool {
    let name = home.to_string_lossy().into_owned();
    comes_true(AFTERWARDS, || {
        !processes.iter().any(|process| is_alive(*process)) && !home.exists() && naming(&name).is_empty()
    })
    .await
}

#[tokio::test]
async fn closing_the_engine_leaves_no_process_and_no_folder() {
    for containment in [Containment::Kernel, Containment::Browser] {
        let marked = Marked::with(containment, 1).await;
        marked.show(&marked.tab, "<title>Open</title>").await.unwrap();
        let (processes, home) = (tree(marked.browser()), marked.home());
        assert!(processes.len() > 3 && home.is_dir());
        marked.engine.close().await;
        assert!(!processes.iter().any(|process| is_alive(*process)));
        assert!(nothing_is_left(processes, home).await);
        marked.engine.close().await;
    }
}

#[tokio::test]
async fn dropping_the_engine_and_its_sessions_leaves_nothing_either() {
    let marked = Marked::with(Containment::Auto, 1).await;
    marked.show(&marked.tab, "<title>Open</title>").await.unwrap();
    let (processes, home) = (tree(marked.browser()), marked.home());
    drop(marked);
    assert!(nothing_is_left(processes, home).await);
}

#[tokio::test]
async fn an_engine_that_is_dropped_while_a_page_loads_leaves_nothing() {
    let marked = Marked::set().await;
    let (processes, home) = (tree(marked.browser()), marked.home());
    let (tab, url) = (marked.tab.clone(), marked.site.url("hang"));
    let load = tokio::spawn(async move { tab.navigate(&url, WaitUntil::Load, soon()).await });
    let asked = marked.site.wait_request(|request| request.path == "/hang", AFTERWARDS).await;
    assert!(asked.is_some());
    drop(marked);
    load.abort();
    assert!(nothing_is_left(processes, home).await);
}

#[tokio::test]
async fn a_browser_that_is_killed_in_the_middle_of_a_call_is_told_of_once_and_replaced() {
    let marked = Marked::set().await;
    let browser = marked.browser();
    let (processes, home) = (tree(browser), marked.home());
    let url = marked.site.url("hang");
    let load = async {
        let tab = marked.session.tab(None).await.unwrap();
        tab.navigate(&url, WaitUntil::Load, soon()).await
    };
    let killing = async {
        marked.site.wait_request(|request| request.path == "/hang", AFTERWARDS).await.unwrap();
        signal("KILL", browser);
        Instant::now()
    };
    let (loaded, killed) = tokio::join!(load, killing);
    assert!(killed.elapsed() < AFTERWARDS);
    assert!(matches!(loaded, Err(Error::BrowserGone(_))), "{loaded:?}");
    let tab = marked.session.tab(None).await.unwrap();
    marked.show(&tab, "<title>Again</title>").await.unwrap();
    assert_eq!(tab.title(soon()).await.unwrap(), "Again");
    assert!(nothing_is_left(processes, home).await);
    marked.engine.close().await;
}

#[tokio::test]
async fn a_browser_that_is_killed_between_calls_is_told_of_once_in_each_session() {
    let marked = Marked::set().await;
    let second = open(&marked.engine, "second").await;
    signal("KILL", marked.browser());
    for session in [&marked.session, &second] {
        let deadline = Instant::now() + AFTERWARDS;
        // The end is noticed a moment after it came.
        let error = loop {
            match session.tab(None).await {
                Err(error) => break error,
                Ok(_) => assert!(Instant::now() < deadline, "the end was not noticed"),
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        };
        assert!(matches!(&error, Error::BrowserGone(reason) if reason.contains("signal 9")), "{error:?}");
        let tab = session.tab(None).await.unwrap();
        marked.show(&tab, "<title>Again</title>").await.unwrap();
    }
    let third = open(&marked.engine, "third").await;
    assert!(third.tab(None).await.is_ok());
}

#[tokio::test]
async fn a_page_whose_process_dies_harms_no_other() {
    let marked = Marked::set().await;
    marked.show(&marked.tab, "<title>Victim</title>").await.unwrap();
    let before = renderers(marked.browser());
    let other = open(&marked.engine, "other").await;
    let bystander = other.tab(None).await.unwrap();
    marked.show(&bystander, "<title>Bystander</title>").await.unwrap();
    let victims: BTreeSet<u32> = before.intersection(&renderers(marked.browser())).copied().collect();
    for victim in victims {
        signal("KILL", victim);
    }
    let deadline = Instant::now() + AFTERWARDS;
    let error = loop {
        match marked
            .tab
            .text(
                bathy_browser::TextOptions { max_chars: 100, ..Default::default() },
                Deadline::after(Duration::from_secs(2)),
            )
            .await
        {
            Err(error) => break error,
            Ok(_) => assert!(Instant::now() < deadline, "the crash was not noticed"),
        }
    };
    assert!(matches!(error, Error::PageGone(_)), "{error:?}");
    marked.show(&bystander, "<title>Unharmed</title>").await.unwrap();
    assert_eq!(bystander.title(soon()).await.unwrap(), "Unharmed");
    marked.show(&marked.tab, "<title>Recovered</title>").await.unwrap();
    assert_eq!(marked.tab.title(soon()).await.unwrap(), "Recovered");
}

#[tokio::test]
async fn a_page_whose_process_dies_in_the_middle_of_an_action_says_so_and_can_be_loaded_again() {
    let marked = Marked::set().await;
    let page = "<script src=/report.js></script><button id=it>It</button>
        <script>watch(it, 'mousedown').onclick = () => { for (;;); }</script>";
    marked.show(&marked.tab, page).await.unwrap();
    let target = bathy_browser::Target::Selector("#it".to_owned());
    let click = marked.tab.click(&target, bathy_browser::ClickOptions::default(), soon());
    let (error, ()) = tokio::join!(click, async {
        let pressed = marked.site.wait_report(|report| report.is("mousedown", "it"), AFTERWARDS).await;
        assert!(pressed.is_some());
        for renderer in renderers(marked.browser()) {
            signal("KILL", renderer);
        }
    });
    let error = error.unwrap_err();
    assert!(matches!(&error, Error::PageGone(reason) if reason.contains("navigate")), "{error:?}");
    let error = marked.tab.click(&target, bathy_browser::ClickOptions::default(), soon()).await.unwrap_err();
    assert!(matches!(error, Error::PageGone(_)), "{error:?}");
    marked.show(&marked.tab, "<title>Recovered</title>").await.unwrap();
    assert_eq!(marked.tab.title(soon()).await.unwrap(), "Recovered");
}

/// The processes that show pages.
fn renderers(browser: u32) -> BTreeSet<u32> {
    tree(browser)
        .into_iter()
        .filter(|process| arguments(*process).iter().any(|argument| argument == "--type=renderer"))
        .collect()
}

#[tokio::test]
async fn a_spare_session_is_taken_at_once_and_shows_nothing_of_its_own() {
    let marked = Marked::with(Containment::Auto, 1).await;
    let warm = async || {
        // A spare is there when the browser has one context more than sessions: one renderer each.
        let deadline = Instant::now() + Duration::from_secs(10);
        let mut best = Duration::MAX;
        while best > Duration::from_millis(150) && Instant::now() < deadline {
            tokio::time::sleep(Duration::from_millis(500)).await;
            let began = Instant::now();
            let session = open(&marked.engine, "warm").await;
            best = best.min(began.elapsed());
            assert_eq!(session.tab_count(), 1);
            assert_eq!(session.url().as_deref(), Some("about:blank"));
            session.close().await;
        }
        best
    };
    let best = warm().await;
    assert!(best <= Duration::from_millis(150), "{best:?}");
    let entries = marked.engine.ledger().recent(Some("spare"), usize::MAX);
    assert!(entries.is_empty(), "{entries:?}");
}

#[tokio::test]
async fn fifty_sessions_one_after_the_other_leave_the_browser_as_it_was() {
    let marked = Marked::set().await;
    let page = marked.site.page("<title>Round</title><p>text<script>localStorage.x = 'y'.repeat(10000)</script>");
    let round = async |number: usize| {
        let session = open(&marked.engine, &format!("round-{number}")).await;
        let tab = session.tab(None).await.unwrap();
        tab.navigate(&page, WaitUntil::Load, soon()).await.unwrap();
        session.close().await;
    };
    for number in 0..5 {
        round(number).await;
    }
    let settled = async |most: usize| comes_true(AFTERWARDS, || tree(marked.browser()).len() <= most).await;
    settled(0).await;
    let (processes, before) = (tree(marked.browser()).len(), own_memory(&tree(marked.browser())));
    for number in 5..50 {
        round(number).await;
    }
    assert!(settled(processes + 1).await, "{processes} processes became {}", tree(marked.browser()).len());
    let after = own_memory(&tree(marked.browser()));
    println!("50 rounds: {} MB before, {} MB after", before >> 20, after >> 20);
    assert!(after < before + (60 << 20), "{before} bytes became {after}");
}

#[tokio::test]
async fn twenty_sessions_with_a_page_each_fit_into_the_memory_of_one_browser() {
    let marked = Marked::set().await;
    let mut sessions = Vec::new();
    for number in 0..20 {
        let session = open(&marked.engine, &format!("one-of-twenty-{number}")).await;
        let tab = session.tab(None).await.unwrap();
        let url = marked.site.url("forms/order.html");
        tab.navigate(&url, WaitUntil::Load, soon()).await.unwrap();
        sessions.push(session);
    }
    let total = memory(&tree(marked.browser()));
    println!("twenty sessions: {} MB", total >> 20);
    assert!(total < TWENTY_SESSIONS, "{} MB", total >> 20);
}

#[tokio::test]
async fn a_session_that_is_dropped_while_it_loads_takes_its_pages_along() {
    let marked = Marked::set().await;
    let before = renderers(marked.browser()).len();
    let session = open(&marked.engine, "dropped").await;
    let tab = session.tab(None).await.unwrap();
    let url = marked.site.url("hang");
    let load = tokio::spawn(async move { tab.navigate(&url, WaitUntil::Load, soon()).await });
    marked.site.wait_request(|request| request.path == "/hang", AFTERWARDS).await.unwrap();
    drop(session);
    let loaded = tokio::time::timeout(AFTERWARDS, load).await.unwrap().unwrap();
    assert!(matches!(loaded, Err(Error::PageGone(_))), "{loaded:?}");
    assert!(comes_true(AFTERWARDS, || renderers(marked.browser()).len() <= before).await);
    marked.show(&marked.tab, "<title>Still here</title>").await.unwrap();
}

#[tokio::test]
async fn a_browser_that_hangs_costs_a_call_its_deadline_and_works_again_when_it_wakes() {
    let marked = Marked::set().await;
    let browser = marked.browser();
    let url = marked.site.page("<title>Later</title>");
    signal("STOP", browser);
    let began = Instant::now();
    let deadline = Deadline::after(Duration::from_millis(800));
    let error = marked.tab.navigate(&url, WaitUntil::Load, deadline).await.unwrap_err();
    let elapsed = began.elapsed();
    signal("CONT", browser);
    assert!(matches!(error, Error::TimedOut { .. }), "{error:?}");
    assert!(elapsed < Duration::from_millis(2_500), "{elapsed:?}");
    marked.tab.navigate(&url, WaitUntil::Load, soon()).await.unwrap();
    assert_eq!(marked.tab.title(soon()).await.unwrap(), "Later");
}

#[tokio::test]
async fn a_browser_that_hangs_can_be_killed_and_closed() {
    let marked = Marked::set().await;
    let (browser, home) = (marked.browser(), marked.home());
    let processes = tree(browser);
    signal("STOP", browser);
    let began = Instant::now();
    marked.engine.close().await;
    assert!(began.elapsed() < AFTERWARDS, "{:?}", began.elapsed());
    assert!(nothing_is_left(processes, home).await);
    assert!(matches!(marked.session.tab(None).await, Err(Error::BrowserGone(_))));
    let tab = marked.session.tab(None).await.unwrap();
    marked.show(&tab, "<title>Another</title>").await.unwrap();
}

#[tokio::test]
async fn nothing_listens_on_the_machine_when_the_kernel_holds_the_browser() {
    let marked = Marked::with(Containment::Kernel, 1).await;
    marked.show(&marked.tab, "<title>Open</title>").await.unwrap();
    let processes = tree(marked.browser());
    let listening = listening();
    assert!(!listening.is_empty(), "the test site listens, for one");
    for process in processes {
        let common: Vec<u64> = sockets(process).intersection(&listening).copied().collect();
        assert!(common.is_empty(), "process {process}: {common:?}");
    }
    // Our own process serves the test site and its DNS; the gate's socket is in the browser's namespace.
    let addresses = marked.site.addresses();
    let ours = listening_ports(&sockets(std::process::id()));
    let strangers: BTreeSet<u16> = ours.into_iter().filter(|port| *port == bathy_chromium::GATE_PORT).collect();
    assert!(strangers.is_empty() && addresses.len() == 3, "{strangers:?}");
}
