//! Loading documents.

use std::time::Duration;

use bathy_cdp::CallError;
use bathy_cdp::protocol::LoaderId;
use bathy_cdp::protocol::page::{GetNavigationHistory, Navigate, NavigateToHistoryEntry, Reload, StopLoading};
use bathy_policy::{CheckedUrl, Host, Policy, Purpose, Refusal};
use url::Url;

use crate::tab::{PageState, is_blank};
use crate::{Deadline, Dialog, Download, Error, Tab};

/// A document whose load has made no progress for so long, after it could be read, counts as loaded.
const STALLED: Duration = Duration::from_millis(1_500);
/// A document that cannot be read and has waited for nothing for so long is held up by a script of its own.
const STUCK: Duration = Duration::from_secs(4);
/// How long a page may take to let go before it is looked whether its own handlers of that loop.
const LETTING_GO: Duration = Duration::from_millis(500);
/// How long a download may take to begin once the browser has said that there is one.
const BEGINS: Duration = Duration::from_secs(1);
/// For the wait until the network is idle.
const IDLE: Duration = Duration::from_millis(500);
/// How often a condition is looked at that time alone can change.
const TICK: Duration = Duration::from_millis(50);
/// The browser's word for a tunnel that the proxy did not open.
const TUNNEL_REFUSED: &str = "net::ERR_TUNNEL_CONNECTION_FAILED";

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
    pub download: Option<Download>,
    /// The page was still loading when its budget ended; what there is can be read.
    pub still_loading: bool,
    /// Dialogs that opened meanwhile: alerts closed by themselves, or the one that is open now.
    pub dialogs: Vec<Dialog>,
}

impl Tab {
    /// Loads a URL. The policy is asked before the request and after the landing.
    ///
    /// # Errors
    /// [`Error::Refused`], [`Error::RefusedByGate`], [`Error::InvalidUrl`], [`Error::UnsupportedScheme`],
    /// [`Error::NavigationFailed`], [`Error::DialogOpen`], [`Error::TimedOut`], [`Error::PageGone`].
    pub async fn navigate(&self, url: &str, until: WaitUntil, deadline: Deadline) -> Result<Navigation, Error> {
        let checked = allowed(&self.charter().policy, url)?;
        let url = checked.url().to_string();
        let mut leaving = self.leave(Some(&url), deadline).await?;
        let navigate = Navigate { url: url.clone(), frame_id: None };
        let call = self.page().call(navigate, deadline.remaining());
        let navigated = match self.while_it_lets_go(self.unless_dialog(call, &leaving)).await? {
            Ok(navigated) => navigated,
            Err(CallError::TimedOut { .. }) => return Err(deadline.error("the document")),
            Err(error) => return Err(error.into()),
        };
        match navigated.error_text {
            None => {}
            // The answer was empty (204, 205), or it became a download.
            Some(text) if text == "net::ERR_ABORTED" => {
                if navigated.is_download == Some(true) {
                    self.downloads().begins(leaving.downloads, deadline.at_most(BEGINS)).await;
                }
                return self.stayed(&leaving, deadline).await;
            }
            Some(text) => {
                leaving.stop = None;
                // Where redirects led before that may be told behind the reply.
                self.caught_up().await;
                return Err(self.failure(&self.asked_for(&navigated.loader_id.unwrap_or_default(), url), &text));
            }
        }
        if let Some(loader) = navigated.loader_id {
            // A page that loads itself anew may get ahead of it once more.
            self.caught_up().await;
            let committed = |state: &PageState| {
                state.main_frame().document == loader
                    || state.commits > leaving.commits && !state.is_pending(&loader)
                    || state.dialog.is_some()
            };
            self.while_it_lets_go(self.until("the document", deadline, committed)).await?;
        }
        self.land(leaving, until, deadline).await
    }

    /// Moves in the session history.
    ///
    /// # Errors
    /// As [`Tab::navigate`]; [`Error::ActionFailed`] where there is nowhere to go.
    pub async fn history(
        &self,
        action: HistoryAction,
        until: WaitUntil,
        deadline: Deadline,
    ) -> Result<Navigation, Error> {
        let leaving = self.leave(None, deadline).await?;
        self.while_it_lets_go(self.depart(action, &leaving, deadline)).await?;
        self.land(leaving, until, deadline).await
    }

    /// Moves in the session history until the page is on another document, or elsewhere in its own.
    async fn depart(&self, action: HistoryAction, leaving: &Leaving, deadline: Deadline) -> Result<(), Error> {
        let page = self.page();
        if action == HistoryAction::Reload {
            let call = page.call(Reload::default(), deadline.remaining());
            self.unless_dialog(call, leaving).await??;
        } else {
            let history = page.call(GetNavigationHistory {}, deadline.remaining()).await?;
            let position = match action {
                HistoryAction::Back => history.current_index.checked_sub(1),
                _ => history.current_index.checked_add(1),
            };
            let entry = position.and_then(|position| history.entries.get(position));
            let entry = entry.filter(|entry| !is_blank(&entry.url)).ok_or_else(|| {
                let way = if action == HistoryAction::Back { "back" } else { "forward" };
                Error::ActionFailed(format!("there is no page to go {way} to"))
            })?;
            allowed(&self.charter().policy, &entry.url)?;
            let call = page.call(NavigateToHistoryEntry { entry_id: entry.id }, deadline.remaining());
            self.unless_dialog(call, leaving).await??;
        }
        let arrived = |state: &PageState| {
            state.commits > leaving.commits || state.same_document > leaving.same_document || state.dialog.is_some()
        };
        self.until("the document", deadline, arrived).await
    }

    /// The document's title, raw text of the page.
    ///
    /// # Errors
    /// [`Error::TimedOut`], [`Error::OffPolicy`].
    pub async fn title(&self, deadline: Deadline) -> Result<String, Error> {
        self.standing()?;
        Ok(self.entry(deadline).await?.1)
    }

    /// Waits until the document has got as far as was asked for. A page that never gets there is not
    /// waited for once it can be read and its network has stalled; then the answer is false.
    pub(crate) async fn loaded(&self, until: WaitUntil, deadline: Deadline) -> Result<bool, Error> {
        let reached = move |state: &PageState| {
            let milestones = state.main_frame().milestones;
            state.dialog.is_some()
                || state.pending.is_none()
                    && match until {
                        WaitUntil::Commit => true,
                        WaitUntil::DomContentLoaded => milestones.dom_content_loaded,
                        WaitUntil::Load => milestones.load,
                        WaitUntil::NetworkIdle => {
                            milestones.dom_content_loaded && state.requests.idle().is_some_and(|idle| idle >= IDLE)
                        }
                    }
        };
        let stalled = |state: &PageState| {
            let readable = state.main_frame().milestones.dom_content_loaded;
            until == WaitUntil::Load && readable && state.requests.since_last_event() >= STALLED
                || !readable && state.requests.idle().is_some_and(|idle| idle >= STUCK)
        };
        loop {
            match self.until("the load", deadline.at_most(TICK), reached).await {
                Ok(()) => return Ok(true),
                Err(Error::TimedOut { .. }) => {
                    let state = self.state();
                    let state = state.borrow();
                    if stalled(&state) || deadline.has_passed() && state.pending.is_none() {
                        return Ok(false);
                    }
                    if deadline.has_passed() {
                        return Err(deadline.error("the document"));
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// The error for a document that did not come, in the words of whoever refused it.
    pub(crate) fn failure(&self, url: &str, text: &str) -> Error {
        if text == TUNNEL_REFUSED
            && let Some(error) = self.gate_refusal(url)
        {
            return error;
        }
        if text == "net::ERR_BLOCKED_BY_CLIENT"
            && let Err(refusal) = self.check(url)
        {
            return Error::Refused(refusal);
        }
        Error::NavigationFailed { url: url.to_owned(), reason: text.to_owned() }
    }

    /// The URL that a load asked for last, behind all redirects; `url` where nothing is known of it.
    fn asked_for(&self, loader: &LoaderId, url: String) -> String {
        let state = self.state();
        let state = state.borrow();
        state.asked.as_ref().filter(|asked| asked.0 == *loader).map_or(url, |asked| asked.1.clone())
    }

    /// Why the gate did not let this URL through: the policy's word where that can tell by the URL alone, whoever was
    /// first to say it, else what the gate recorded of its last refusal of the host.
    pub(crate) fn gate_refusal(&self, url: &str) -> Option<Error> {
        if let Err(refusal) = self.check(url) {
            return Some(Error::Refused(refusal));
        }
        let url = Url::parse(url).ok()?;
        let host = Host::of_url(&url).ok()?.to_string();
        let entry = self.last_refusal(&host, url.port_or_known_default()?)?;
        let code = entry.code?;
        let reason = entry.reason.clone().unwrap_or_else(|| code.to_string());
        Some(if code.is_refusal() {
            Error::RefusedByGate { host, code, reason }
        } else {
            Error::NavigationFailed { url: url.to_string(), reason }
        })
    }

    /// Takes note of what there was before a navigation, and frees the page from a script that would hold it up.
    async fn leave(&self, to: Option<&str>, deadline: Deadline) -> Result<Leaving, Error> {
        self.ready(deadline).await?;
        if let Some(dialog) = self.state().borrow().dialog.clone() {
            return Err(Error::DialogOpen(dialog));
        }
        let origin = self.state().borrow().main_frame().origin.clone();
        if to.is_none_or(|to| may_share_process(&origin, to)) {
            self.unstick().await;
        }
        let state = self.state();
        let state = state.borrow();
        Ok(Leaving {
            commits: state.commits,
            same_document: state.same_document,
            dialogs: state.dialogs.total(),
            downloads: self.downloads().begun(),
            stop: Some(self.clone()),
        })
    }

    /// Awaits what is to lead away from the page, whose own handlers of that may loop for ever.
    async fn while_it_lets_go<T>(&self, going: impl Future<Output = T>) -> T {
        let freeing = async {
            loop {
                tokio::time::sleep(LETTING_GO).await;
                // While a site is waited for, commands for the page are held back; they would meet the next document.
                if !self.state().borrow().awaits_site() {
                    self.unstick().await;
                }
            }
        };
        tokio::select! {
            biased;
            gone = going => gone,
            never = freeing => never,
        }
    }

    /// Awaits a navigation command, which a page that asks to stay holds up with a dialog.
    async fn unless_dialog<T>(&self, call: impl Future<Output = T>, leaving: &Leaving) -> Result<T, Error> {
        let mut state = self.state();
        let dialog = async {
            let asked = |state: &PageState| state.dialog.is_some() && state.dialogs.total() > leaving.dialogs;
            // The guard must not live on into another await: the call could not move between threads.
            let dialog = state.wait_for(asked).await.ok().and_then(|state| state.dialog.clone());
            match dialog {
                Some(dialog) => dialog,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            answer = call => Ok(answer),
            dialog = dialog => Err(Error::DialogOpen(dialog)),
        }
    }

    /// The page is on a new document: waits for it, and holds it to the policy.
    async fn land(&self, mut leaving: Leaving, until: WaitUntil, deadline: Deadline) -> Result<Navigation, Error> {
        let complete = self.loaded(until, deadline).await?;
        leaving.stop = None;
        let landed = self.landed()?;
        self.report(&leaving, landed, !complete, deadline).await
    }

    /// The document that the page has come to, held to the policy.
    pub(crate) fn landed(&self) -> Result<Landed, Error> {
        let state = self.state();
        let (landed, failed, from_gate) = {
            let state = state.borrow();
            let frame = state.main_frame();
            let response = state.response(&frame.document);
            let landed = Landed {
                url: frame.url.clone(),
                loader: frame.document.clone(),
                status_code: response.map(|response| response.status),
            };
            (landed, frame.failed, response.is_some_and(|response| response.from_gate.is_some()))
        };
        if from_gate {
            return Err(self.refused_page(&landed.url));
        }
        self.check(&landed.url).map_err(Error::Refused)?;
        if failed {
            return Err(self.failure(&landed.url, "the document could not be loaded"));
        }
        Ok(landed)
    }

    /// The error for a page that the gate wrote in place of a site.
    pub(crate) fn refused_page(&self, url: &str) -> Error {
        self.gate_refusal(url).unwrap_or_else(|| Error::NavigationFailed {
            url: url.to_owned(),
            reason: "the gate could not reach the host".to_owned(),
        })
    }

    async fn report(
        &self,
        leaving: &Leaving,
        landed: Landed,
        still_loading: bool,
        deadline: Deadline,
    ) -> Result<Navigation, Error> {
        let (_, title) = self.entry(deadline.with_grace()).await?;
        let url = self.url();
        let state = self.state();
        let state = state.borrow();
        let moved = state.commits > leaving.commits && state.main_frame().document == landed.loader;
        Ok(Navigation {
            url,
            title,
            status_code: landed.status_code.filter(|_| moved),
            download: None,
            still_loading,
            dialogs: state.dialogs.since(leaving.dialogs).cloned().collect(),
        })
    }

    /// Nothing came to be shown: the page is what it was.
    async fn stayed(&self, leaving: &Leaving, deadline: Deadline) -> Result<Navigation, Error> {
        let own = |download: &Download| download.tab.as_ref() == Some(self.target());
        let download = self.downloads().since(leaving.downloads).into_iter().find(own);
        let (url, title) = self.entry(deadline.with_grace()).await?;
        let dialogs = self.state().borrow().dialogs.since(leaving.dialogs).cloned().collect();
        Ok(Navigation { url, title, status_code: None, download, still_loading: false, dialogs })
    }
}

/// Whether a document of this origin may be run by the process that is to show `to`, so that it can hold that up.
/// Chromium keeps sites apart; hosts that differ in their last two labels are of different sites, whatever the public
/// suffix. A blank page of nobody's runs no script.
fn may_share_process(origin: &str, to: &str) -> bool {
    let site = |url: &str| {
        let host = Url::parse(url).ok()?.host_str()?.to_owned();
        let mut labels = host.rsplitn(3, '.');
        Some((labels.next()?.to_owned(), labels.next().map(str::to_owned)))
    };
    if matches!(origin, "" | "://") {
        return false;
    }
    match (site(origin), site(to)) {
        (Some(from), Some(to)) => from == to,
        _ => true,
    }
}

/// What is to be loaded, held to the policy.
pub(crate) fn allowed(policy: &Policy, url: &str) -> Result<CheckedUrl, Error> {
    policy.check_url(url, Purpose::Document).map_err(|refusal| match refusal {
        Refusal::UnsupportedScheme { scheme } => Error::UnsupportedScheme(scheme),
        Refusal::UrlTooLong { .. } | Refusal::Unparseable(_) | Refusal::UserInfo | Refusal::UnusableHost(_) => {
            Error::InvalidUrl(refusal.to_string())
        }
        refusal => Error::Refused(refusal),
    })
}

/// A document that the main frame shows.
pub(crate) struct Landed {
    pub(crate) url: String,
    loader: LoaderId,
    pub(crate) status_code: Option<u16>,
}

/// What there was before a navigation. Dropped before the landing, it stops the load.
struct Leaving {
    commits: u64,
    same_document: u64,
    dialogs: u64,
    downloads: usize,
    stop: Option<Tab>,
}

impl Drop for Leaving {
    fn drop(&mut self) {
        if let Some(tab) = &self.stop {
            tab.page().send(&StopLoading {});
        }
    }
}

#[cfg(test)]
mod tests {
    use super::may_share_process;

    #[test]
    fn only_documents_that_a_process_may_share_are_asked_whether_they_live() {
        for (origin, to, expected) in [
            ("http://127.0.0.1:80", "http://127.0.0.1:81/", true),
            ("https://a.example.co.uk", "https://b.example.co.uk/", true),
            ("https://one.co.uk", "https://two.co.uk/", true),
            ("https://one.example", "https://two.example/", false),
            ("https://localhost", "https://localhost/", true),
            ("://", "http://127.0.0.1/", false),
            ("null", "http://127.0.0.1/", true),
        ] {
            assert_eq!(may_share_process(origin, to), expected, "{origin} {to}");
        }
    }
}
