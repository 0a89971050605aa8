//! Starts an engine, a site and a tab in one line.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use bathy_browser::{Containment, Deadline, Engine, EngineOptions, Session, SessionOptions, Tab, WaitUntil};
use bathy_chromium::Lookup;
use bathy_egress::GateOptions;
use bathy_policy::{Policy, PolicyConfig};
use bathy_testsite::TestSite;
use tempfile::TempDir;

/// A budget that no honest call needs.
pub(crate) fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(20))
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

/// A file system of 64 KiB, until it is dropped.
pub(crate) struct SmallDisk {
    folder: TempDir,
}

impl SmallDisk {
    /// Nothing where this user may not mount one, which only root may.
    #[expect(clippy::print_stdout, reason = "whoever runs the test is to see that it tested nothing")]
    pub(crate) fn mount() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        let mounted = mount.args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"]).arg(folder.path()).output();
        if mounted.is_ok_and(|output| output.status.success()) {
            return Some(Self { folder });
        }
        println!("only root can make a small disk; nothing was tested");
        None
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // A disk that is in use goes once it is not.
        let _ = Command::new("umount").arg("--lazy").arg(self.folder.path()).output();
    }
}
