//! The engine: one browser process, started on demand, started again after a crash.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bathy_chromium::{Containment, Lookup};
use bathy_egress::{GateOptions, Ledger};
use bathy_policy::Policy;
use tokio::sync::Mutex;

use crate::artifact::Artifacts;
use crate::instance::Instance;
use crate::{Error, Session, SessionOptions, StorageFile};

/// How an engine works; the operator's choices.
pub struct EngineOptions {
    /// Where a browser is looked for.
    pub lookup: Lookup,
    /// How it is contained.
    pub containment: Containment,
    /// Size of a new session's viewport in CSS pixels.
    pub viewport: (u32, u32),
    /// The user agent, where it is not the browser's own.
    pub user_agent: Option<String>,
    /// The operator's policy; a session's may only be narrower.
    pub policy: Policy,
    /// The gate.
    pub gate: GateOptions,
    /// Contexts kept warm, while few sessions are open.
    pub spare_sessions: usize,
    /// Where artifacts go; a private folder when absent, removed with the engine.
    pub artifacts_directory: Option<PathBuf>,
    /// The file that sessions take their cookies and storage from and leave them in.
    pub storage_state: Option<StorageFile>,
    /// Where files lie that may be uploaded; none may when absent.
    pub uploads_directory: Option<PathBuf>,
    /// The most bytes of a downloaded file.
    pub max_download_bytes: u64,
    /// How long a browser may take to start.
    pub launch_timeout: Duration,
}

/// The engine. A cheap handle; the browser ends when the last handle and session are dropped.
#[derive(Clone)]
pub struct Engine {
    shared: Arc<Shared>,
}

struct Shared {
    options: EngineOptions,
    artifacts: Artifacts,
    /// Sessions that are open or about to be.
    sessions: Arc<AtomicUsize>,
    /// The browser that runs now. Held while one is started or ended, so that two callers do not start two.
    running: Mutex<Option<Arc<Instance>>>,
}

impl Drop for Shared {
    fn drop(&mut self) {
        if let Some(instance) = self.running.get_mut() {
            instance.retire();
        }
    }
}

impl Engine {
    /// An engine without a browser; the first session starts one.
    pub fn new(options: EngineOptions) -> Self {
        let artifacts = Artifacts::open(options.artifacts_directory.clone());
        let sessions = Arc::default();
        Self { shared: Arc::new(Shared { options, artifacts, sessions, running: Mutex::new(None) }) }
    }

    /// Starts the browser and its spare sessions ahead of the first call.
    ///
    /// # Errors
    /// [`Error::MissingBinary`], [`Error::LaunchFailed`].
    pub async fn warm_up(&self) -> Result<(), Error> {
        self.instance().await.map(drop)
    }

    /// Opens a session with one blank tab.
    ///
    /// # Errors
    /// [`Error::MissingBinary`], [`Error::LaunchFailed`], [`Error::BrowserGone`], and
    /// [`Error::InvalidArgument`] when its allowlist is wider than the operator's.
    pub async fn open_session(&self, options: SessionOptions) -> Result<Session, Error> {
        Session::open(self.clone(), options).await
    }

    /// The record of every connection.
    pub fn ledger(&self) -> &Ledger {
        &self.shared.options.gate.ledger
    }

    /// How many protocol commands the browser that runs now was sent, for tests and figures.
    pub async fn commands_sent(&self) -> u64 {
        let running = self.shared.running.lock().await;
        running.as_ref().map_or(0, |instance| instance.connection().commands_sent())
    }

    /// Ends the browser and everything in it. Idempotent.
    pub async fn close(&self) {
        if let Some(instance) = self.shared.running.lock().await.take() {
            instance.close().await;
        }
    }

    /// Ends the browser where no session is open; the next one starts another.
    pub async fn close_unless_used(&self) {
        let mut running = self.shared.running.lock().await;
        // A session that is about to open says so before it asks for the browser, and waits for the lock then.
        if self.shared.sessions.load(Ordering::Acquire) == 0
            && let Some(instance) = running.take()
        {
            instance.close().await;
        }
    }

    /// Says that a session is open or about to be.
    pub(crate) fn lease(&self) -> Lease {
        self.shared.sessions.fetch_add(1, Ordering::AcqRel);
        Lease { sessions: Arc::clone(&self.shared.sessions) }
    }

    pub(crate) fn options(&self) -> &EngineOptions {
        &self.shared.options
    }

    /// The browser that runs, started now if none does.
    pub(crate) async fn instance(&self) -> Result<Arc<Instance>, Error> {
        let mut running = self.shared.running.lock().await;
        if let Some(instance) = running.as_ref()
            && !instance.is_gone()
        {
            return Ok(Arc::clone(instance));
        }
        if let Some(gone) = running.take() {
            gone.close().await;
        }
        let instance =
            Instance::launch(&self.shared.options, self.shared.artifacts.clone(), &self.shared.sessions).await?;
        *running = Some(Arc::clone(&instance));
        Ok(instance)
    }
}

/// Held by a session while it is open.
pub(crate) struct Lease {
    sessions: Arc<AtomicUsize>,
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.sessions.fetch_sub(1, Ordering::AcqRel);
    }
}

/// An error with all of its causes, on one line.
pub(crate) fn describe(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    text
}
