//! Tabs: a handle for callers, a task that owns what is known of the page.

mod documents;
mod requests;
mod state;
mod task;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use bathy_cdp::protocol::page::{GetNavigationHistory, NavigationEntry};
use bathy_cdp::protocol::target::{CloseTarget, TargetInfo};
use bathy_cdp::protocol::{FrameId, TargetId};
use bathy_cdp::{CallError, Lane, Progress, Session};
use bathy_egress::{Ledger, LedgerEntry};
use bathy_policy::{Purpose, Refusal};
use tokio::runtime::Handle;
use tokio::sync::{Mutex, watch};

pub(crate) use state::{Chooser, FrameState, PageState};
pub(crate) use task::{Charter, Rules};

use crate::act::Interrupted;
use crate::artifact::Artifacts;
use crate::download::Downloads;
use crate::page::RefTable;
use crate::page::cursors::Cursors;
use crate::tabs::{Roll, Tabs};
use crate::upload::Uploads;
use crate::watched::Watched;
use crate::{Deadline, Error};

/// The longest URL and title that are handed on, in characters.
const URL_LIMIT: usize = 4_000;
const TITLE_LIMIT: usize = 1_000;
/// What the browser says of a page that is between two documents.
const BETWEEN_DOCUMENTS: &str = "Not attached to an active page";
/// How soon it is asked again then.
const ASK_AGAIN: Duration = Duration::from_millis(10);
/// A page that does not answer a trivial question for so long is taken to be stuck in a script.
const LIVENESS: Duration = Duration::from_millis(400);

/// The browser forgets to close a page whose document comes at that moment, so it is told again after so long. Not
/// earlier: a page that is stuck takes half a second from when it was told last.
const CLOSE_RETRY: Duration = Duration::from_millis(800);
const CLOSE_ATTEMPTS: usize = 5;
/// How long a page may take to go once the browser was told to close it.
const LAST_PAGE: Duration = Duration::from_secs(5);
/// A page in a session. A cheap handle; what it can do is defined beside what it does: reading in
/// `read`, acting in `act`, loading in `navigation`, waiting in `wait`, pictures in `capture`.
#[derive(Clone)]
pub struct Tab {
    shared: Arc<Shared>,
    /// Only in handles that callers have.
    _witness: Option<Arc<Witness>>,
}

/// Goes with the handle of a caller. Let go of after the browser's end, it says that the caller has met that end.
struct Witness {
    page: Session,
    met_end: Arc<AtomicBool>,
}

impl Drop for Witness {
    fn drop(&mut self) {
        if self.page.connection().is_closed() {
            self.met_end.store(true, Ordering::Release);
        }
    }
}

struct Shared {
    target: TargetId,
    page: Session,
    /// Counts the tabs of the session as they open, from 1.
    number: u64,
    /// A call opened it, not a page.
    ours: AtomicBool,
    /// A call closes it.
    closing: AtomicBool,
    state: Watched<PageState>,
    events: Progress,
    charter: watch::Receiver<Arc<Charter>>,
    ledger: Ledger,
    artifacts: Artifacts,
    siblings: Watched<Tabs>,
    downloads: Downloads,
    uploads: Arc<Uploads>,
    roll: Roll,
    /// Which number stands for which element. Held across awaits on the page, hence asynchronous.
    refs: Mutex<RefTable>,
    cursors: Mutex<Cursors>,
    /// What an action watched that a dialog has taken over.
    interrupted: std::sync::Mutex<Interrupted>,
}

impl Tab {
    /// Takes charge of an attached page, before it runs.
    pub(crate) fn attach(target: &TargetInfo, number: u64, page: Session, lane: Lane, rules: Rules) -> Self {
        let main = FrameId(target.target_id.0.clone());
        let (sender, state) = watch::channel(PageState::new(main, page.clone()));
        let (charter, ledger, artifacts) = (rules.charter.clone(), rules.ledger.clone(), rules.artifacts.clone());
        let (siblings, roll) = (rules.tabs.clone(), rules.roll.clone());
        let (downloads, uploads) = (rules.downloads.clone(), Arc::clone(&rules.uploads));
        let events = lane.progress();
        tokio::spawn(task::run(page.clone(), lane, sender, rules));
        Self {
            shared: Arc::new(Shared {
                target: target.target_id.clone(),
                page,
                number,
                ours: AtomicBool::new(false),
                closing: AtomicBool::new(false),
                state: state.into(),
                events,
                charter,
                ledger,
                artifacts,
                siblings,
                downloads,
                uploads,
                roll,
                refs: Mutex::default(),
                cursors: Mutex::default(),
                interrupted: std::sync::Mutex::default(),
            }),
            _witness: None,
        }
    }

    /// The URL of its document, with the fragment.
    pub fn url(&self) -> String {
        bounded(&self.shared.state.borrow().main_frame().url, URL_LIMIT)
    }

    /// The URL that it is listed with: that of its document, or the one that its first document comes from.
    pub(crate) fn address(&self) -> String {
        bounded(self.shared.state.borrow().address(), URL_LIMIT)
    }

    /// Its position in its session, while it is open.
    pub fn index(&self) -> Option<usize> {
        self.siblings().borrow().position(self.target())
    }

    /// Whether calls without an index go to it.
    pub fn is_active(&self) -> bool {
        self.siblings().borrow().is_active(self)
    }

    /// Closes it, whatever its page is up to, without waiting.
    pub fn close(&self) {
        self.shared.closing.store(true, Ordering::Release);
        let browser = self.page().connection().browser();
        let close = CloseTarget { target_id: self.shared.target.clone() };
        browser.send(&close);
        // Outside of a runtime nothing is left that could wait, nor a browser for long.
        let Ok(runtime) = Handle::try_current() else { return };
        let mut state = self.state();
        runtime.spawn(async move {
            for _ in 0..CLOSE_ATTEMPTS {
                let closed = state.wait_for(|state| state.closed);
                if tokio::time::timeout(CLOSE_RETRY, closed).await.is_ok() {
                    return;
                }
                browser.send(&close);
            }
        });
    }

    /// The same, and waits until it is off the list.
    pub(crate) async fn close_whole(&self) -> Result<(), Error> {
        self.close();
        let mut tabs = self.siblings().clone();
        let gone = tabs.wait_for(|tabs| tabs.position(self.target()).is_none());
        // Without its task the list is empty.
        Deadline::after(LAST_PAGE).bound("the tab to close", gone).await.map(drop)
    }

    /// Counts the tabs of the session as they open, from 1.
    pub(crate) fn number(&self) -> u64 {
        self.shared.number
    }

    /// Whether a call opened it, not a page.
    pub(crate) fn is_ours(&self) -> bool {
        self.shared.ours.load(Ordering::Acquire)
    }

    /// Remembers that a call opened it.
    pub(crate) fn claim(&self) {
        self.shared.ours.store(true, Ordering::Release);
    }

    /// Whether a call closes it.
    pub(crate) fn is_closing(&self) -> bool {
        self.shared.closing.load(Ordering::Acquire)
    }

    /// A handle for a caller, who sets `met_end` by letting go of it after the browser's end.
    pub(crate) fn lent(&self, met_end: Arc<AtomicBool>) -> Self {
        let page = self.shared.page.clone();
        Self { shared: Arc::clone(&self.shared), _witness: Some(Arc::new(Witness { page, met_end })) }
    }

    pub(crate) fn target(&self) -> &TargetId {
        &self.shared.target
    }

    /// The protocol session of the page itself.
    pub(crate) fn page(&self) -> &Session {
        &self.shared.page
    }

    /// Waits until all events are taken in that the browser sent before the reply that the caller just had.
    pub(crate) async fn caught_up(&self) {
        self.shared.events.caught_up().await;
    }

    /// The same for the list of tabs.
    pub(crate) async fn siblings_caught_up(&self) {
        self.shared.roll.caught_up().await;
    }

    /// What is known of the page, to look at or to wait on.
    pub(crate) fn state(&self) -> Watched<PageState> {
        self.shared.state.clone()
    }

    pub(crate) fn artifacts(&self) -> &Artifacts {
        &self.shared.artifacts
    }

    /// The tabs of the same context, this one among them.
    pub(crate) fn siblings(&self) -> &Watched<Tabs> {
        &self.shared.siblings
    }

    /// What the context may upload.
    pub(crate) fn uploads(&self) -> &Arc<Uploads> {
        &self.shared.uploads
    }

    /// The downloads of the same context.
    pub(crate) fn downloads(&self) -> &Downloads {
        &self.shared.downloads
    }

    pub(crate) fn cursors(&self) -> &Mutex<Cursors> {
        &self.shared.cursors
    }

    pub(crate) fn refs(&self) -> &Mutex<RefTable> {
        &self.shared.refs
    }

    /// Keeps what an action watched until the dialog that took it over is answered.
    pub(crate) fn keep_interrupted(&self, interrupted: Interrupted) {
        *self.shared.interrupted.lock().unwrap_or_else(PoisonError::into_inner) = interrupted;
    }

    pub(crate) fn take_interrupted(&self) -> Interrupted {
        std::mem::take(&mut *self.shared.interrupted.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whose tab this is and what it may load.
    pub(crate) fn charter(&self) -> Arc<Charter> {
        self.shared.charter.borrow().clone()
    }

    /// What the gate recorded when it refused this tab's session a host last.
    pub(crate) fn last_refusal(&self, host: &str, port: u16) -> Option<Arc<LedgerEntry>> {
        self.shared.ledger.last_refusal(&self.charter().session, host, port)
    }

    /// The frame, as it is known now.
    pub(crate) fn frame(&self, id: &FrameId) -> Option<FrameState> {
        self.shared.state.borrow().frame(id).cloned()
    }

    /// Waits until something about the page is so.
    ///
    /// # Errors
    /// [`Error::PageGone`] when the tab is closed first, [`Error::TimedOut`].
    pub(crate) async fn until(
        &self,
        what: &'static str,
        deadline: Deadline,
        mut condition: impl FnMut(&PageState) -> bool,
    ) -> Result<(), Error> {
        let mut state = self.state();
        let closed = {
            let waiting = state.wait_for(|state| condition(state) || state.closed);
            match deadline.bound(what, waiting).await? {
                Ok(state) => !condition(&state),
                Err(_) => true,
            }
        };
        if closed { Err(self.gone()) } else { Ok(()) }
    }

    /// Waits for the page's first frame tree, and for its process to be alive.
    pub(crate) async fn ready(&self, deadline: Deadline) -> Result<(), Error> {
        self.until("the page", deadline, |state| state.ready).await?;
        if self.shared.state.borrow().closed { Err(self.gone()) } else { Ok(()) }
    }

    /// Everything that must hold before the page is read or acted on: it is alive, its URL is within
    /// the policy, and no dialog holds it up.
    pub(crate) async fn enter(&self, deadline: Deadline) -> Result<(), Error> {
        self.ready(deadline).await?;
        let state = self.shared.state.borrow();
        if state.crashed {
            return Err(Error::PageGone("its process crashed; navigate to load it again".to_owned()));
        }
        if let Some(dialog) = &state.dialog {
            return Err(Error::DialogOpen(dialog.clone()));
        }
        drop(state);
        self.standing()
    }

    /// Whether the tab may be focused, read and acted on: neither the policy nor the gate refuses what it shows, or
    /// is about to show as its first document.
    pub(crate) fn standing(&self) -> Result<(), Error> {
        let (url, refused) = {
            let state = self.shared.state.borrow();
            let frame = state.main_frame();
            let from_gate = state.response(&frame.document).is_some_and(|response| response.from_gate.is_some());
            (state.address().to_owned(), frame.failed || from_gate)
        };
        self.check(&url).map_err(Error::OffPolicy)?;
        match self.gate_refusal(&url).filter(|_| refused) {
            Some(error @ Error::RefusedByGate { .. }) => Err(error),
            _ => Ok(()),
        }
    }

    /// Whether the policy lets this tab show `url`. A blank page is nobody's.
    pub(crate) fn check(&self, url: &str) -> Result<(), Refusal> {
        if is_blank(url) {
            return Ok(());
        }
        // Documents that a page makes itself carry the origin of their maker, which was checked.
        if url.starts_with("blob:") || url.starts_with("data:") || url == "about:srcdoc" {
            let origin = self.shared.state.borrow().main_frame().origin.clone();
            if origin == "://" || origin == "null" || origin.is_empty() {
                return Ok(());
            }
            return self.charter().policy.check_url(&origin, Purpose::Document).map(drop);
        }
        self.charter().policy.check_url(url, Purpose::Document).map(drop)
    }

    /// The URL and title as the browser itself shows them; the page is not asked, so that this works with
    /// an open dialog and with a page that is stuck.
    pub(crate) async fn entry(&self, deadline: Deadline) -> Result<(String, String), Error> {
        let history = loop {
            match self.page().call(GetNavigationHistory {}, deadline.remaining()).await {
                // While one document takes the place of another the tab shows neither for a moment.
                Err(CallError::Refused { message, .. })
                    if message.starts_with(BETWEEN_DOCUMENTS) && !deadline.has_passed() =>
                {
                    tokio::time::sleep(ASK_AGAIN).await;
                }
                history => break history?,
            }
        };
        let NavigationEntry { url, title, .. } =
            history.entries.into_iter().nth(history.current_index).unwrap_or_default();
        // Where a document has no title, the browser shows its address there.
        let (address, shown) = (strip_scheme(&url), strip_scheme(&title));
        let authority = address.find(['/', '?', '#']).unwrap_or(address.len());
        let untitled = shown.len() >= authority.max(1) && address.starts_with(shown);
        let title = if untitled { String::new() } else { bounded(&title, TITLE_LIMIT) };
        Ok((bounded(&url, URL_LIMIT), title))
    }

    /// Ends a script that holds the page up, so that the page can be left. Once a load of the same process is on its
    /// way that is too late: the browser then holds back all commands for the page.
    pub(crate) async fn unstick(&self) {
        use bathy_cdp::protocol::runtime::{Evaluate, TerminateExecution};
        let probe = Evaluate { expression: "1".to_owned(), silent: Some(true), ..Evaluate::default() };
        if self.page().call(probe, LIVENESS).await.is_err() {
            // An error means that the page got out of it meanwhile or is gone; both are fine.
            let _ = self.page().call(TerminateExecution {}, LIVENESS).await;
        }
    }

    fn gone(&self) -> Error {
        if self.page().connection().is_closed() {
            Error::BrowserGone("its connection is closed".to_owned())
        } else {
            Error::PageGone("the tab was closed".to_owned())
        }
    }
}

/// Whether this is the empty page that a tab starts with. Before that is there, the browser writes the lack of a URL as a
/// scheme and a path of no letters.
pub(crate) fn is_blank(url: &str) -> bool {
    matches!(url, "" | ":" | "about:blank") || url.starts_with("about:blank#")
}

fn strip_scheme(url: &str) -> &str {
    url.split_once("://").map_or(url, |(_, rest)| rest)
}

/// The first `limit` characters.
pub(crate) fn bounded(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => text[..end].to_owned(),
        None => text.to_owned(),
    }
}
