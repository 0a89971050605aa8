//! Sessions: isolated contexts with a policy and a door of their own.

use std::sync::Arc;

use bathy_chromium::Level;
use bathy_policy::{HostPattern, Policy};

use crate::{Deadline, Error, Tab};

/// What a session may be given.
#[derive(Debug, Clone, Default)]
pub struct SessionOptions {
    /// The session's name in the ledger.
    pub id: String,
    /// Viewport in CSS pixels; the engine's when absent.
    pub viewport: Option<(u32, u32)>,
    /// A narrower allowlist.
    pub allowed_hosts: Option<Vec<HostPattern>>,
}

/// A tab as it is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TabSummary {
    /// Position in the session, from 0.
    pub index: usize,
    /// Whether calls without a tab go to it.
    pub active: bool,
    /// Its URL.
    pub url: String,
    /// Whether the policy allows it.
    pub allowed: bool,
    /// Its title, raw text of the page; never of a tab that is off policy.
    pub title: Option<String>,
}

/// A session. A cheap handle; it survives a crash of the browser.
#[derive(Clone)]
pub struct Session {
    _shared: Arc<()>,
}

impl Session {
    /// Its name in the ledger.
    pub fn id(&self) -> &str {
        todo!()
    }

    /// What holds its traffic: the kernel or the browser.
    pub fn containment(&self) -> Level {
        todo!()
    }

    /// Its policy.
    pub fn policy(&self) -> &Policy {
        todo!()
    }

    /// The tab with this index, or the active one. After a crash of the browser the first call says so
    /// and the next one gets a fresh blank tab.
    ///
    /// # Errors
    /// [`Error::NoPage`], [`Error::NoSuchTab`], [`Error::BrowserGone`], [`Error::SessionClosed`].
    pub async fn tab(&self, _index: Option<usize>) -> Result<Tab, Error> {
        todo!()
    }

    /// The tabs in order. Titles are read within the deadline, and left out where a page does not answer.
    pub async fn tabs(&self, _deadline: Deadline) -> Result<Vec<TabSummary>, Error> {
        todo!()
    }

    /// The URL of the active tab, as far as it is known without asking the page.
    pub fn url(&self) -> Option<String> {
        todo!()
    }

    /// How many tabs there are.
    pub fn tab_count(&self) -> usize {
        todo!()
    }

    /// Ends the session and all in it. Idempotent.
    pub async fn close(&self) {
        todo!()
    }
}
