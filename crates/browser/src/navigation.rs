//! Loading documents.

use crate::{Deadline, Dialog, Error, Tab};

/// When a navigation counts as done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WaitUntil {
    /// The `load` event.
    #[default]
    Load,
    /// `DOMContentLoaded`.
    DomContentLoaded,
    /// No request for half a second, streams apart.
    NetworkIdle,
    /// The document has come.
    Commit,
}

/// A move in the session history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HistoryAction {
    /// One back.
    Back,
    /// One forward.
    Forward,
    /// The same again.
    Reload,
}

/// Where a navigation landed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Navigation {
    /// The URL of the document.
    pub url: String,
    /// Its title, raw text of the page.
    pub title: String,
    /// HTTP status of the document; none where it came from a cache of the browser or within the document.
    pub status_code: Option<u16>,
    /// The URL gave a download instead of a document; the page is unchanged.
    pub download: bool,
    /// The page was still loading when its budget ended; what there is can be read.
    pub still_loading: bool,
    /// Dialogs that opened meanwhile: alerts closed by themselves, or the one that is open now.
    pub dialogs: Vec<Dialog>,
}

impl Tab {
    /// Loads a URL. The policy is asked before the request and after the landing.
    ///
    /// # Errors
    /// [`Error::Refused`], [`Error::InvalidUrl`], [`Error::UnsupportedScheme`],
    /// [`Error::NavigationFailed`], [`Error::DialogOpen`], [`Error::TimedOut`], [`Error::PageGone`].
    pub async fn navigate(
        &self,
        _url: &str,
        _until: WaitUntil,
        _deadline: Deadline,
    ) -> Result<Navigation, Error> {
        todo!()
    }

    /// Moves in the session history.
    ///
    /// # Errors
    /// As [`Tab::navigate`]; [`Error::ActionFailed`] where there is nowhere to go.
    pub async fn history(
        &self,
        _action: HistoryAction,
        _until: WaitUntil,
        _deadline: Deadline,
    ) -> Result<Navigation, Error> {
        todo!()
    }

    /// The document's title, raw text of the page.
    ///
    /// # Errors
    /// [`Error::TimedOut`] where the page does not answer, [`Error::OffPolicy`].
    pub async fn title(&self, _deadline: Deadline) -> Result<String, Error> {
        todo!()
    }
}
