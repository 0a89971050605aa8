//! The engine: one browser process, started on demand, started again after a crash.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bathy_chromium::{Containment, Lookup};
use bathy_egress::{GateOptions, Ledger};
use bathy_policy::Policy;

use crate::{Artifacts, Error, Session, SessionOptions};

/// How an engine works; the operator's choices.
pub struct EngineOptions {
    /// Where a browser is looked for.
    pub lookup: Lookup,
    /// How it is contained.
    pub containment: Containment,
    /// Without a window.
    pub headless: bool,
    /// Size of a new session's viewport in CSS pixels.
    pub viewport: (u32, u32),
    /// The user agent, where it is not the browser's own.
    pub user_agent: Option<String>,
    /// The operator's policy; a session's may only be narrower.
    pub policy: Policy,
    /// The gate.
    pub gate: GateOptions,
    /// Contexts kept warm.
    pub spare_sessions: usize,
    /// Where artifacts go; a private folder when absent, removed with the engine.
    pub artifacts_directory: Option<PathBuf>,
    /// How long a browser may take to start.
    pub launch_timeout: Duration,
}

/// The engine. A cheap handle; the browser ends when the last handle and session are dropped.
#[derive(Clone)]
pub struct Engine {
    _shared: Arc<()>,
}

impl Engine {
    /// An engine without a browser; the first session starts one.
    pub fn new(_options: EngineOptions) -> Result<Self, Error> {
        todo!()
    }

    /// Starts the browser and its spare sessions ahead of the first call.
    pub async fn warm_up(&self) -> Result<(), Error> {
        todo!()
    }

    /// Opens a session with one blank tab.
    pub async fn open_session(&self, _options: SessionOptions) -> Result<Session, Error> {
        todo!()
    }

    /// The record of every connection.
    pub fn ledger(&self) -> &Ledger {
        todo!()
    }

    /// Where artifacts go.
    pub fn artifacts(&self) -> &Artifacts {
        todo!()
    }

    /// Ends the browser and everything in it. Idempotent.
    pub async fn close(&self) {
        todo!()
    }
}
