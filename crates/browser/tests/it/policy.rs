//! What a session may load, and in what words it is refused.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use bathy_browser::{
    Deadline, Engine, EngineOptions, Error, HistoryAction, OutlineOptions, Session, SessionOptions, Tab, TextOptions,
    WaitUntil,
};
use bathy_egress::{Code, GateOptions, HostOverrides, LedgerEntry, OverrideResolver, SystemResolver, Verdict};
use bathy_policy::{Policy, PolicyConfig, Refusal};
use bathy_testsite::{Page, TestSite};
use futures::future::join_all;

use crate::support::{Stage, open_policy, options, soon};

const MAIN: &str = "127.0.0.1";
const OTHER: &str = "127.0.0.2";

/// How long something that must come is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// Documents from `hosts`, and what they load from `resources` besides.
fn policy(hosts: &[&str], resources: Option<&[&str]>) -> Policy {
    Policy::new(PolicyConfig {
        allowed_hosts: hosts.iter().map(|host| host.parse().unwrap()).collect(),
        allowed_resource_hosts: resources.map(|hosts| hosts.iter().map(|host| host.parse().unwrap()).collect()),
        allow_private_network: false,
        allowed_networks: [MAIN, OTHER].iter().map(|address| format!("{address}/32").parse().unwrap()).collect(),
    })
}

async fn session(engine: &Engine, id: &str, hosts: Option<&[&str]>) -> Result<Session, Error> {
    let allowed_hosts = hosts.map(|hosts| hosts.iter().map(|host| host.parse().unwrap()).collect());
    let options = SessionOptions { id: id.to_owned(), allowed_hosts, ..SessionOptions::default() };
    engine.open_session(options).await
}

async fn load(tab: &Tab, url: &str) -> Result<bathy_browser::Navigation, Error> {
    tab.navigate(url, WaitUntil::Load, soon()).await
}

/// Waits for the ledger to refuse something to a session.
async fn refusal(engine: &Engine, session: &str, wanted: impl Fn(&LedgerEntry) -> bool) -> Arc<LedgerEntry> {
    let deadline = Deadline::after(PATIENCE);
    loop {
        let entries = engine.ledger().recent(Some(session), usize::MAX);
        let found = entries.iter().find(|entry| entry.verdict == Verdict::Refused && wanted(entry));
        if let Some(found) = found {
            return Arc::clone(found);
        }
        assert!(!deadline.has_passed(), "no refusal in {entries:#?}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Ways to a document. `{other}` is the origin that only pictures may come from.
const WAYS: &[(&str, &str)] = &[
    ("link", "<a id=a href='{other}/document'>x</a><script>a.click()</script>"),
    ("location", "<script>setTimeout(() => location = '{other}/document')</script>"),
    ("refresh", "<meta http-equiv=refresh content='0;url={other}/document'>"),
    ("form", "<form id=f method=post action='{other}/document'></form><script>f.submit()</script>"),
    ("form with a query", "<form id=f action='{other}/document'><input name=a></form><script>f.submit()</script>"),
    ("redirect", "<script>setTimeout(() => location = '/redirect/302?to={other}/document')</script>"),
    (
        "redirected form",
        "<form id=f method=post action='/redirect/307?to={other}/document'></form><script>f.submit()</script>",
    ),
    ("frame", "<iframe src='{other}/document'></iframe>"),
    ("redirected frame", "<iframe src='/redirect/301?to={other}/document'></iframe>"),
    ("sandboxed frame", "<iframe sandbox src='{other}/document'></iframe>"),
    ("frame in a frame", "<iframe srcdoc=\"<iframe src='{other}/document'></iframe>\"></iframe>"),
    ("object", "<object data='{other}/document'></object>"),
    ("embed", "<embed src='{other}/document'>"),
    ("popup", "<script>open('{other}/document')</script>"),
    ("popup without opener", "<script>open('{other}/document', '', 'noopener')</script>"),
    ("popup that is sent on", "<script>open('').location = '{other}/document'</script>"),
    ("popup over a redirect", "<script>open('/redirect/303?to={other}/document')</script>"),
    ("new window", "<a id=a target=_blank href='{other}/document'>x</a><script>a.click()</script>"),
];

#[tokio::test]
async fn documents_are_held_to_the_hosts_that_only_pictures_may_pass() {
    let stage = Stage::with(options(policy(&[MAIN], Some(&[OTHER])))).await;
    let other = stage.site.other_origin();
    for (name, html) in WAYS {
        let session = session(&stage.engine, name, None).await.unwrap();
        let tab = session.tab(None).await.unwrap();
        stage.site.forget();
        let picture = format!("<img src='{other}/picture'>");
        let url = stage.site.page(format!("{picture}{}", html.replace("{other}", &other)));
        // Some of them end on the page that was refused.
        let _ = tab.navigate(&url, WaitUntil::DomContentLoaded, soon()).await;
        let entry = refusal(&stage.engine, name, |entry| entry.host == OTHER).await;
        assert_eq!((entry.kind.as_ref(), entry.code), ("document", Some(Code::HostNotAllowed)), "{name}");
        assert_silent(&stage.site, "/document", name);
        session.close().await;
    }
}

/// Nobody asked the second origin for this path.
fn assert_silent(site: &TestSite, path: &str, name: &str) {
    let other: IpAddr = OTHER.parse().unwrap();
    let asked =
        site.requests().into_iter().find(|request| request.local.ip() == other && request.path.starts_with(path));
    assert!(asked.is_none(), "{name}: {asked:?}");
}

#[tokio::test]
async fn pictures_of_hosts_that_documents_may_not_come_from_are_loaded() {
    let stage = Stage::with(options(policy(&[MAIN], Some(&[OTHER])))).await;
    let other = stage.site.other_origin();
    stage
        .show(&format!(
            "<img src='{other}/picture'><script>fetch('{other}/data', {{mode: 'no-cors'}})</script>
             <iframe srcdoc=\"<img src='{other}/in-text'>\"></iframe>
             <iframe src=\"data:text/html,<img src='{other}/in-data'>\"></iframe>
             <body><script>const f = document.createElement('iframe');
               f.src = URL.createObjectURL(new Blob([\"<img src='{other}/in-blob'>\"], {{type: 'text/html'}}));
               document.body.append(f)</script>"
        ))
        .await;
    for path in ["/picture", "/data", "/in-text", "/in-data", "/in-blob"] {
        let asked = stage.site.wait_request(|request| request.path == path, PATIENCE).await;
        assert!(asked.is_some_and(|request| request.local.ip() == OTHER.parse::<IpAddr>().unwrap()), "{path}");
    }
}

#[tokio::test]
async fn a_call_is_refused_a_document_that_only_pictures_may_pass() {
    let stage = Stage::with(options(policy(&[MAIN], Some(&[OTHER])))).await;
    let url = stage.site.other_url("document");
    let error = load(&stage.tab, &url).await.unwrap_err();
    assert!(matches!(error, Error::Refused(Refusal::HostNotAllowed { .. })), "{error:?}");
    let redirect = stage.site.url(&format!("redirect/302?to={url}"));
    let error = load(&stage.tab, &redirect).await.unwrap_err();
    assert!(matches!(error, Error::Refused(Refusal::HostNotAllowed { .. })), "{error:?}");
    assert_silent(&stage.site, "/document", "call");
}

#[tokio::test]
async fn history_does_not_lead_back_to_a_refused_document() {
    let stage = Stage::with(options(policy(&[MAIN], Some(&[OTHER])))).await;
    let url = stage.site.other_url("document");
    let page = stage.site.page(format!("<script>setTimeout(() => location = '{url}')</script>"));
    let _ = stage.tab.navigate(&page, WaitUntil::DomContentLoaded, soon()).await;
    refusal(&stage.engine, "test", |entry| entry.kind == "document").await;
    stage.show("<title>After</title>").await;
    let back = stage.tab.history(HistoryAction::Back, WaitUntil::Load, soon()).await;
    // The page may have been replaced before the refused one could become an entry of its own.
    assert!(matches!(back, Err(Error::Refused(Refusal::HostNotAllowed { .. }) | Error::ActionFailed(_))), "{back:?}");
    assert_silent(&stage.site, "/document", "history");
}

#[tokio::test]
async fn a_narrower_session_is_held_to_its_own_documents_where_pictures_are_listed() {
    // For the operator pictures are no wider than documents; for the session they are.
    let stage = Stage::with(options(policy(&[MAIN, OTHER], Some(&[OTHER])))).await;
    let narrow = session(&stage.engine, "narrow", Some(&[MAIN])).await.unwrap();
    let tab = narrow.tab(None).await.unwrap();
    let other = stage.site.other_origin();
    let url = stage.site.page(format!("<img src='{other}/picture'><iframe src='{other}/document'></iframe>"));
    load(&tab, &url).await.unwrap();
    refusal(&stage.engine, "narrow", |entry| entry.kind == "document").await;
    assert!(stage.site.wait_request(|request| request.path == "/picture", PATIENCE).await.is_some());
    assert_silent(&stage.site, "/document", "narrow");
}

#[tokio::test]
async fn a_session_may_be_narrower_and_never_wider() {
    let stage = Stage::with(options(policy(&[MAIN, "allowed.test"], None))).await;
    for wider in [&["example.com"][..], &[MAIN, OTHER], &["*.test"], &["test"], &["xallowed.test"], &[]] {
        let error = session(&stage.engine, "wider", Some(wider)).await.err();
        assert!(matches!(error, Some(Error::InvalidArgument(_))), "{wider:?}");
    }
    let narrow = session(&stage.engine, "narrow", Some(&["sub.allowed.test"])).await.unwrap();
    let tab = narrow.tab(None).await.unwrap();
    let error = load(&tab, &stage.site.url("blank")).await.unwrap_err();
    assert!(matches!(error, Error::Refused(Refusal::HostNotAllowed { .. })), "{error:?}");
    assert!(stage.site.requests().is_empty());
}

#[tokio::test]
async fn two_sessions_of_one_browser_have_policies_of_their_own() {
    let stage = Stage::with(options(policy(&[MAIN, OTHER], None))).await;
    let (one, two) = (
        session(&stage.engine, "one", Some(&[MAIN])).await.unwrap(),
        session(&stage.engine, "two", Some(&[OTHER])).await.unwrap(),
    );
    let (here, there) = (stage.site.origin(), stage.site.other_origin());
    for (session, allowed, refused, refused_host) in [(&one, &here, &there, OTHER), (&two, &there, &here, MAIN)] {
        stage.site.forget();
        let tab = session.tab(None).await.unwrap();
        let page = stage.site.page(format!("<img src='{refused}/image'>"));
        let page = page.replace(&here, allowed);
        load(&tab, &page).await.unwrap();
        let entry = refusal(&stage.engine, session.id(), |entry| entry.host == refused_host).await;
        assert_eq!(entry.code, Some(Code::HostNotAllowed));
        assert!(entry.reason.as_deref().is_some_and(|reason| reason.contains("not on the list")));
        let error = load(&tab, refused).await.unwrap_err();
        assert!(matches!(error, Error::Refused(_)), "{error:?}");
        assert!(stage.site.requests().iter().all(|request| request.path != "/image"));
        let entries = stage.engine.ledger().recent(Some(session.id()), usize::MAX);
        let allowed = entries.iter().find(|entry| entry.verdict == Verdict::Allowed).unwrap();
        assert!(allowed.host != refused_host && allowed.address.is_some());
    }
}

#[tokio::test]
async fn the_default_policy_refuses_the_machine_itself() {
    let stage = Stage::with(options(Policy::default())).await;
    for url in [
        stage.site.url("blank"),
        stage.site.url("blank").replace(MAIN, "localhost"),
        stage.site.url("blank").replace(MAIN, "[::ffff:127.0.0.1]"),
        "http://169.254.169.254/latest/meta-data".to_owned(),
        "http://10.0.0.1/".to_owned(),
        "http://router.localhost/".to_owned(),
    ] {
        let error = load(&stage.tab, &url).await.unwrap_err();
        let private = matches!(error, Error::Refused(Refusal::PrivateAddress { .. } | Refusal::PrivateName { .. }));
        assert!(private, "{url}: {error:?}");
    }
    assert_eq!(stage.site.connections(), 0);
}

#[tokio::test]
async fn a_redirect_to_a_refused_host_never_leaves() {
    let stage = Stage::with(options(policy(&[MAIN], None))).await;
    for (scheme, status) in [("http", 302), ("https", 302), ("http", 308), ("https", 307)] {
        let to = stage.site.other_url("secret").replace("http:", &format!("{scheme}:"));
        let url = stage.site.url(&format!("redirect/{status}?to={to}"));
        match load(&stage.tab, &url).await.unwrap_err() {
            Error::Refused(Refusal::HostNotAllowed { host, .. }) => assert_eq!(host.to_string(), OTHER, "{to}"),
            error => panic!("{to}: {error:?}"),
        }
    }
    assert!(stage.site.requests().iter().all(|request| request.local.ip() != OTHER.parse::<IpAddr>().unwrap()));
}

#[tokio::test]
async fn a_redirect_to_a_private_address_is_told_from_one_to_a_host_off_the_list() {
    let config =
        PolicyConfig { allowed_networks: vec![format!("{MAIN}/32").parse().unwrap()], ..PolicyConfig::default() };
    let stage = Stage::with(options(Policy::new(config))).await;
    for scheme in ["http", "https"] {
        let to = stage.site.other_url("secret").replace("http:", &format!("{scheme}:"));
        let error = load(&stage.tab, &stage.site.url(&format!("redirect/302?to={to}"))).await.unwrap_err();
        assert!(matches!(error, Error::Refused(Refusal::PrivateAddress { .. })), "{to}: {error:?}");
    }
}

#[tokio::test]
async fn a_tab_off_policy_is_listed_and_neither_read_nor_titled() {
    let stage = Stage::with(options(policy(&[MAIN], None))).await;
    let url = stage.site.other_url("secret");
    let page = stage.site.page(format!("<script>setTimeout(() => location = '{url}')</script>"));
    let _ = stage.tab.navigate(&page, WaitUntil::DomContentLoaded, soon()).await;
    let waiting = Deadline::after(PATIENCE);
    while stage.tab.url() != url {
        assert!(!waiting.has_passed(), "{}", stage.tab.url());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let tabs = stage.session.tabs(soon()).await.unwrap();
    assert_eq!(tabs.len(), 1);
    assert_eq!((tabs[0].url.as_str(), tabs[0].allowed, &tabs[0].title), (url.as_str(), false, &None));
    let errors = [
        stage.tab.title(soon()).await.err(),
        stage.tab.text(TextOptions::default(), soon()).await.err(),
        stage.tab.outline(OutlineOptions::default(), soon()).await.err(),
    ];
    for error in errors {
        assert!(matches!(error, Some(Error::OffPolicy(_))), "{error:?}");
    }
    stage.show("<title>Back</title>").await;
    assert_eq!(stage.tab.title(soon()).await.unwrap(), "Back");
}

#[tokio::test]
async fn an_allowlist_is_matched_by_labels_and_never_as_text() {
    let names = ["example.com", "bücher.example"].map(|name| (name, vec![MAIN.parse().unwrap()]));
    let overrides = HostOverrides::new(names).unwrap();
    let stage = Stage::with(EngineOptions {
        gate: GateOptions {
            resolver: Arc::new(OverrideResolver::new(overrides, Arc::new(SystemResolver))),
            ..GateOptions::default()
        },
        ..options(policy(&["example.com", "bücher.example"], None))
    })
    .await;
    let port = stage.site.addresses()[0].port();
    stage.site.add(Page::html("<title>Named</title>").at("named"));
    for host in [
        "example.com",
        "EXAMPLE.com",
        "example.com.",
        "ｅｘａｍｐｌｅ.com",
        "bücher.example",
        "BÜCHER.example",
        "xn--bcher-kva.example",
    ] {
        let landed = load(&stage.tab, &format!("http://{host}:{port}/named")).await;
        assert!(landed.as_ref().is_ok_and(|landed| landed.title == "Named"), "{host}: {landed:?}");
    }
    for host in [
        "evil-example.com",
        "example.com.attacker.test",
        "example.comx",
        "xexample.com",
        "example.co",
        "com",
        "example.com%00.attacker.test",
        "bucher.example",
        "xn--bcher-kva.example.attacker.test",
        "examp1e.com",
        "ехample.com",
    ] {
        let error = load(&stage.tab, &format!("http://{host}:{port}/named")).await.unwrap_err();
        assert!(
            matches!(error, Error::Refused(Refusal::HostNotAllowed { .. }) | Error::InvalidUrl(_)),
            "{host}: {error:?}"
        );
    }
    for url in [
        "http://example.com@attacker.test/",
        "http://example.com:80@attacker.test/",
        "http://example.com%2f@attacker.test/",
    ] {
        let error = load(&stage.tab, url).await.unwrap_err();
        assert!(matches!(error, Error::InvalidUrl(_)), "{url}: {error:?}");
    }
}

#[tokio::test]
async fn sessions_side_by_side_share_neither_cookies_nor_storage() {
    const SESSIONS: usize = 8;
    const STEPS: usize = 5;
    let stage = Stage::with(options(open_policy())).await;
    let stored = stage.site.page(
        "<title>-</title><p id=p></p><script>
           const name = new URLSearchParams(location.search).get('client');
           p.textContent = 'was ' + localStorage.client;
           localStorage.client = name;
           document.title = localStorage.client;
         </script>",
    );
    let runs = (0..SESSIONS).map(|client| {
        let (stage, stored) = (&stage, &stored);
        async move {
            let session = session(&stage.engine, &format!("client-{client}"), None).await.unwrap();
            let tab = session.tab(None).await.unwrap();
            load(&tab, &stage.site.url(&format!("cookie/set?client={client}"))).await.unwrap();
            for step in 0..STEPS {
                load(&tab, &stage.site.url(&format!("echo.html?step={step}-of-{client}"))).await.unwrap();
                let text =
                    tab.text(TextOptions { max_chars: 10_000, ..TextOptions::default() }, soon()).await.unwrap().text;
                assert!(
                    text.contains(&format!("\"client={client}\""))
                        && text.contains(&format!("step={step}-of-{client}")),
                    "{client}: {text}"
                );
                let landed = load(&tab, &format!("{stored}?client={client}")).await.unwrap();
                assert_eq!(landed.title, client.to_string());
                let text =
                    tab.text(TextOptions { max_chars: 1_000, ..TextOptions::default() }, soon()).await.unwrap().text;
                let before = if step == 0 { "undefined".to_owned() } else { client.to_string() };
                assert!(text.contains(&format!("was {before}")), "{client}: {text}");
            }
            session.close().await;
        }
    });
    join_all(runs).await;
    for request in stage.site.requests() {
        let (Some(cookie), Some(client)) =
            (request.header("cookie"), request.path.rsplit_once("-of-").map(|(_, client)| client))
        else {
            continue;
        };
        assert_eq!(cookie, format!("client={client}"));
    }
}
