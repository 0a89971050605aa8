//! Downloads: files that pages give. They belong to a session, outlive the tab that began them, and what is still
//! under way ends with the session.

mod staging;
mod task;

use std::path::PathBuf;

use bathy_cdp::protocol::TargetId;
use bathy_cdp::protocol::page::DownloadWillBegin;
use tokio::sync::{mpsc, oneshot, watch};

pub(crate) use staging::Staging;
pub(crate) use task::{Keeper, Surroundings};

use crate::{Deadline, Error};

/// A file that a page gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Download {
    /// Position in the session's list, from 0.
    pub index: usize,
    /// Where it comes from, behind all redirects; raw text of the page, bounded.
    pub url: String,
    /// The name that the site proposes; raw text of the page. The file's own name is in its path.
    pub suggested_filename: String,
    /// Bytes that have come.
    pub bytes: u64,
    /// Bytes that it has in all, where the site said so.
    pub total_bytes: Option<u64>,
    /// How it stands.
    pub state: DownloadState,
    /// The tab that it began in, where that is known.
    pub(crate) tab: Option<TargetId>,
}

/// How a download stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DownloadState {
    /// On its way, or on its way from the browser to its place.
    InProgress,
    /// It is a file of ours.
    Completed(PathBuf),
    /// The policy does not allow it; nothing of it was kept. With the reason.
    Refused(String),
    /// We ended it; nothing of it was kept. With the reason.
    Canceled(String),
    /// It broke off, or could not be written; nothing of it was kept. With the reason.
    Failed(String),
}

impl DownloadState {
    /// One word for it, as answers have it.
    pub fn word(&self) -> &'static str {
        match self {
            Self::InProgress => "inProgress",
            Self::Completed(_) => "completed",
            Self::Refused(_) => "refused",
            Self::Canceled(_) => "canceled",
            Self::Failed(_) => "failed",
        }
    }

    /// Where the file is.
    pub fn path(&self) -> Option<&PathBuf> {
        match self {
            Self::Completed(path) => Some(path),
            _ => None,
        }
    }

    /// Why there is no file.
    pub fn error(&self) -> Option<&str> {
        match self {
            Self::Refused(reason) | Self::Canceled(reason) | Self::Failed(reason) => Some(reason),
            Self::InProgress | Self::Completed(_) => None,
        }
    }
}

/// The downloads of a context, in the order in which they began.
#[derive(Debug, Default)]
struct List {
    downloads: Vec<Download>,
    /// How many began, those too that are not listed since there are too many.
    begun: usize,
}

/// What is known of the downloads of a context. A cheap handle.
#[derive(Debug, Clone)]
pub(crate) struct Downloads {
    list: watch::Receiver<List>,
    news: mpsc::UnboundedSender<News>,
}

/// What the tabs tell the task that owns the list.
#[derive(Debug)]
enum News {
    /// A download begins in a tab.
    Begins(DownloadWillBegin, TargetId),
    Refused(Refused),
    /// Somebody waits until all of what came before is taken in.
    Wait(oneshot::Sender<()>),
}

/// A download that came to nothing before the browser knew that it was one.
#[derive(Debug)]
struct Refused {
    url: String,
    name: String,
    reason: String,
    tab: TargetId,
}

impl Downloads {
    /// All of them.
    pub(crate) fn list(&self) -> Vec<Download> {
        self.list.borrow().downloads.clone()
    }

    /// How many began so far; a mark for [`Downloads::since`].
    pub(crate) fn begun(&self) -> usize {
        self.list.borrow().begun
    }

    /// Those that began after a mark.
    pub(crate) fn since(&self, mark: usize) -> Vec<Download> {
        self.list.borrow().downloads.iter().skip(mark).cloned().collect()
    }

    /// Waits until all is taken in that the tabs told so far.
    pub(crate) async fn caught_up(&self) {
        let (done, taken_in) = oneshot::channel();
        // An error means that the context is gone, and all is told.
        if self.news.send(News::Wait(done)).is_ok() {
            let _ = taken_in.await;
        }
    }

    /// Tells of a download that begins in a tab.
    pub(crate) fn begin(&self, event: DownloadWillBegin, tab: TargetId) {
        // Where the context is gone, so is the download.
        let _ = self.news.send(News::Begins(event, tab));
    }

    /// Lists a download that was refused before the browser knew that it was one.
    pub(crate) async fn refuse(&self, url: &str, name: &str, reason: &str, tab: &TargetId) {
        let refused =
            Refused { url: url.to_owned(), name: name.to_owned(), reason: reason.to_owned(), tab: tab.clone() };
        // Where the context is gone, so is its list.
        let _ = self.news.send(News::Refused(refused));
        self.caught_up().await;
    }

    /// Waits until one has begun after a mark; false where none does until the deadline.
    pub(crate) async fn begins(&self, mark: usize, deadline: Deadline) -> bool {
        let mut list = self.list.clone();
        let begun = list.wait_for(|list| list.begun > mark);
        matches!(deadline.bound("a download", begun).await, Ok(Ok(_)))
    }

    /// Waits until none is under way, and shows them to `look` at first and whenever they have changed.
    ///
    /// # Errors
    /// [`Error::TimedOut`].
    pub(crate) async fn done(&self, deadline: Deadline, mut look: impl FnMut(&[Download]) + Send) -> Result<(), Error> {
        let mut list = self.list.clone();
        let done = list.wait_for(|list| {
            look(&list.downloads);
            list.downloads.iter().all(|one| one.state != DownloadState::InProgress)
        });
        // An error means that the context is gone, and with it all that was under way.
        deadline.bound("the downloads", done).await.map(drop)
    }
}
