//! Points in time after which a call gives up.

use std::future::Future;
use std::time::Duration;

use tokio::time::Instant;

use crate::Error;

/// The most that a command may take which the browser answers without asking the page.
pub(crate) const COMMAND_TIMEOUT: Duration = Duration::from_secs(15);
/// What a call may take beyond its deadline to say how it ended.
const GRACE: Duration = Duration::from_secs(1);

/// When a call gives up. Each await on the browser inside of the call is held to what is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deadline {
    at: Instant,
    budget: Duration,
}

impl Deadline {
    /// A deadline after so long from now.
    pub fn after(budget: Duration) -> Self {
        Self { at: Instant::now() + budget, budget }
    }

    /// What is left of it; zero once it has passed.
    pub fn remaining(&self) -> Duration {
        self.at.saturating_duration_since(Instant::now())
    }

    /// Whether it has passed.
    pub fn has_passed(&self) -> bool {
        self.remaining().is_zero()
    }

    /// The earlier of this one and one after `budget` from now.
    #[must_use]
    pub fn at_most(self, budget: Duration) -> Self {
        self.min(Self::after(budget))
    }

    /// This deadline, or a second from now where less is left: for the few words on how a call ended.
    pub(crate) fn with_grace(self) -> Self {
        self.max(Self::after(GRACE))
    }

    /// Awaits `future`, at most until the deadline.
    ///
    /// # Errors
    /// [`Error::TimedOut`], which says that it waited for `what`.
    pub async fn bound<F: Future>(&self, what: &'static str, future: F) -> Result<F::Output, Error> {
        tokio::time::timeout_at(self.at, future).await.map_err(|_| self.error(what))
    }

    /// The error of a call that waited for `what` in vain.
    pub(crate) fn error(&self, what: &'static str) -> Error {
        Error::TimedOut { what, after: self.budget }
    }
}
