//! Starts an engine, a site and a tab in one line.

use std::time::{Duration, Instant};

use bathy_browser::{Containment, Deadline, Engine, EngineOptions, Session, SessionOptions, Tab, WaitUntil};
use bathy_chromium::Lookup;
use bathy_egress::GateOptions;
use bathy_policy::{Policy, PolicyConfig};
use bathy_testsite::TestSite;

/// A budget that no honest call needs.
pub(crate) fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(20))
}

/// Waits until `condition` holds; what it takes is bounded, what it returns is whether it came to hold.
pub(crate) async fn comes_true(within: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let until = Instant::now() + within;
    while !condition() {
        if Instant::now() > until {
            return false;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    true
}

/// A policy that opens everything, as tests on loopback need.
pub(crate) fn open_policy() -> Policy {
    Policy::new(PolicyConfig { allow_private_network: true, ..PolicyConfig::default() })
}

pub(crate) fn options(policy: Policy) -> EngineOptions {
    EngineOptions {
        lookup: Lookup::of_this_process(),
        containment: Containment::Auto,
        viewport: (1280, 800),
        user_agent: None,
        policy,
        gate: GateOptions::default(),
        spare_sessions: 0,
        artifacts_directory: None,
        storage_state: None,
        uploads_directory: None,
        max_download_bytes: 1 << 30,
        launch_timeout: Duration::from_secs(30),
    }
}

/// A site, an engine and a session with a blank tab. Everything ends when it is dropped.
pub(crate) struct Stage {
    pub(crate) site: TestSite,
    pub(crate) engine: Engine,
    pub(crate) session: Session,
    pub(crate) tab: Tab,
}

impl Stage {
    pub(crate) async fn set() -> Self {
        Self::with(options(open_policy())).await
    }

    pub(crate) async fn with(options: EngineOptions) -> Self {
        let site = TestSite::start().await;
        let engine = Engine::new(options);
        let session =
            engine.open_session(SessionOptions { id: "test".to_owned(), ..SessionOptions::default() }).await.unwrap();
        let tab = session.tab(None).await.unwrap();
        Self { site, engine, session, tab }
    }

    /// A stage whose tab shows this HTML.
    pub(crate) async fn showing(html: &str) -> Self {
        let stage = Self::set().await;
        stage.show(html).await;
        stage
    }

    pub(crate) async fn show(&self, html: &str) {
        let url = self.site.page(html);
        self.tab.navigate(&url, WaitUntil::Load, soon()).await.unwrap();
    }

    /// A stage whose tab shows this page of the site.
    pub(crate) async fn at(path: &str) -> Self {
        let stage = Self::set().await;
        let url = stage.site.url(path);
        stage.tab.navigate(&url, WaitUntil::Load, soon()).await.unwrap();
        stage
    }
}
