//! Waiting for a page.

use std::time::Duration;

use crate::{Deadline, Error, Ref, Tab, WaitUntil};

/// What to wait for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WaitFor {
    /// Text is visible.
    Text(String),
    /// Text is no longer visible.
    TextGone(String),
    /// An element is attached and visible.
    Ref(Ref),
    /// The URL contains this, or matches it where it holds `*`.
    Url(String),
    /// The document has got so far.
    Load(WaitUntil),
    /// A span of time.
    Time(Duration),
}

/// The page once the wait is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waited {
    /// Its URL.
    pub url: String,
    /// Its title, raw text of the page.
    pub title: String,
    /// How long it took.
    pub waited: Duration,
}

impl Tab {
    /// Waits, at most until the deadline.
    ///
    /// # Errors
    /// [`Error::TimedOut`] when it did not happen, [`Error::DialogOpen`], [`Error::PageGone`].
    pub async fn wait(&self, _what: &WaitFor, _deadline: Deadline) -> Result<Waited, Error> {
        todo!()
    }
}
