//! The engine with everything that calls need, for all owners together.

use std::sync::Arc;
use std::time::Duration;

use bathy_browser::Engine;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::{Owner, Settings};

/// How long sessions may take to close before the browser is ended over their heads.
const CLOSING: Duration = Duration::from_secs(2);

/// The engine, the settings and the tasks of all owners. A cheap handle.
#[derive(Clone)]
pub struct Toolbox {
    shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub(crate) engine: Engine,
    pub(crate) settings: Arc<Settings>,
    pub(crate) tasks: TaskTracker,
    pub(crate) stop: CancellationToken,
}

impl Toolbox {
    /// A toolbox for this engine.
    pub fn new(engine: Engine, settings: Settings) -> Self {
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        Self { shared: Arc::new(Shared { engine, settings: Arc::new(settings), tasks, stop }) }
    }

    /// A new owner, without sessions. They end with its last handle.
    ///
    /// # Panics
    /// Outside of a Tokio runtime.
    pub fn owner(&self) -> Owner {
        Owner::start(Arc::clone(&self.shared))
    }

    /// Starts the browser in the background, so that the first call finds it ready. That this fails is told by the
    /// first call that needs it.
    ///
    /// # Panics
    /// Outside of a Tokio runtime.
    pub fn warm_up(&self) {
        let shared = Arc::clone(&self.shared);
        self.shared.tasks.spawn(async move {
            tokio::select! {
                () = shared.stop.cancelled() => {}
                warmed = shared.engine.warm_up() => {
                    if let Err(error) = warmed {
                        tracing::debug!(%error, "the browser could not be started ahead of the first call");
                    }
                }
            }
        });
    }

    /// Ends all sessions and the browser. Idempotent.
    pub async fn close(&self) {
        self.shared.stop.cancel();
        self.shared.tasks.close();
        if timeout(CLOSING, self.shared.tasks.wait()).await.is_err() {
            tracing::debug!("sessions were still closing when the browser was ended");
        }
        self.shared.engine.close().await;
    }
}
