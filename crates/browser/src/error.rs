//! Everything that can go wrong between a call and the page.

use std::time::Duration;

use bathy_cdp::CallError;
use bathy_policy::Refusal;

use crate::{Dialog, Ref, Unconcealed};

/// Why a call failed. Texts of the page inside are raw: whoever shows them escapes and fences them.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The policy refuses this URL, host or address.
    #[error("{0}")]
    Refused(Refusal),
    /// The gate refused the connection for a reason that the URL alone does not tell: what its host's name stands for.
    #[error("{host} was refused: {reason}")]
    RefusedByGate {
        /// The host.
        host: String,
        /// The gate's code.
        code: bathy_egress::Code,
        /// The gate's reason.
        reason: String,
    },
    /// The URL cannot be parsed.
    #[error("not a URL: {0}")]
    InvalidUrl(String),
    /// The scheme is not one that is opened.
    #[error("scheme `{0}` is not opened, only http and https are")]
    UnsupportedScheme(String),
    /// No browser is installed.
    #[error("{reason}")]
    MissingBinary {
        /// What was looked for.
        reason: String,
        /// How to install one.
        advice: String,
    },
    /// The browser did not start.
    #[error("the browser did not start: {0}")]
    LaunchFailed(String),
    /// The browser is gone; the next call starts a fresh one.
    #[error("the browser ended: {0}")]
    BrowserGone(String),
    /// The session was closed.
    #[error("the session is closed")]
    SessionClosed,
    /// No page is open in the session.
    #[error("no page is open")]
    NoPage,
    /// No tab has this index.
    #[error("there is no tab {index}, the session has {count}")]
    NoSuchTab {
        /// What was asked for.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// The session has as many tabs as it may have.
    #[error("{0} tabs are open already, which is the most that a session may have")]
    TabLimit(usize),
    /// The tab shows a URL that the policy refuses.
    #[error("the tab is off policy: {0}")]
    OffPolicy(Refusal),
    /// The tab was closed, or its page crashed, while the call ran.
    #[error("the page is gone: {0}")]
    PageGone(String),
    /// The document could not be loaded.
    #[error("{url} could not be loaded: {reason}")]
    NavigationFailed {
        /// What was to be loaded.
        url: String,
        /// The browser's or the gate's reason.
        reason: String,
    },
    /// Nothing matches.
    #[error("no element matches {0}")]
    NoSuchElement(String),
    /// The ref's element or document is gone.
    #[error("{reference} is stale: {reason}")]
    RefStale {
        /// The ref.
        reference: Ref,
        /// What became of it.
        reason: String,
    },
    /// The element is there but cannot take the action.
    #[error("{target} is {reason}")]
    NotActionable {
        /// The ref or selector.
        target: String,
        /// `disabled`, `not visible`, `readonly`, `not editable`, `still moving`, …
        reason: String,
    },
    /// Another element would receive the action.
    #[error("{target} is covered by {cover}")]
    Obscured {
        /// The ref or selector.
        target: String,
        /// The cover's outline line, with its ref.
        cover: String,
    },
    /// A dialog is open and must be answered first.
    #[error("a dialog is open")]
    DialogOpen(Dialog),
    /// An argument has the right type and still makes no sense.
    #[error("{0}")]
    InvalidArgument(String),
    /// An argument does not fit the element.
    #[error("{problem}; {shown}")]
    Unfit {
        /// What does not fit.
        problem: String,
        /// What the page has instead: its options, or the element's outline line.
        shown: String,
    },
    /// The deadline passed.
    #[error("{what} took longer than {} ms", .after.as_millis())]
    TimedOut {
        /// What was waited for.
        what: &'static str,
        /// The budget of the call.
        after: Duration,
    },
    /// The action could not be carried out for another reason.
    #[error("{0}")]
    ActionFailed(String),
    /// A secret may not be typed into this document.
    #[error("the secret may not be typed here: {0}")]
    SecretRefused(String),
    /// A picture or a print could show a text that must not be seen.
    #[error("{0}")]
    Unconcealed(Unconcealed),
    /// The operator's file for storage state cannot be used.
    #[error("the storage state cannot be used: {0}")]
    StorageState(String),
    /// The file may not be uploaded.
    #[error("{name:?} cannot be uploaded: {reason}")]
    UploadNotAllowed {
        /// What was asked for.
        name: String,
        /// Why not.
        reason: String,
        /// Some of the files that can be.
        available: Vec<String>,
    },
    /// An artifact could not be written.
    #[error("{name} could not be written: {reason}")]
    Artifact {
        /// The file's name.
        name: String,
        /// What the system said.
        reason: String,
    },
}

impl From<CallError> for Error {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Closed { .. } => Self::BrowserGone("its connection is closed".to_owned()),
            CallError::Detached { .. } => Self::PageGone("it was closed or replaced".to_owned()),
            CallError::TimedOut { method, after } => Self::TimedOut { what: method, after },
            CallError::Refused { .. } | CallError::Malformed { .. } => Self::ActionFailed(error.to_string()),
        }
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}
