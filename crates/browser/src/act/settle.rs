//! Waiting until what an action started is done.
//!
//! What is waited for: a navigation that the page asked for or that is on its way; the answers to requests that were made
//! since the action, and to those that follow from them; a frame and the timers that are due at once; changes of the
//! document until it rests; a sign of work (`aria-busy`, a progress bar, an animation without end) that was not there
//! before; and, where an element is bound to have an effect and shows none, its first sign. The limit: what a timer does
//! later, after an action that showed no sign of anything, is not waited for, since browsers do not tell of timers.

use std::time::Duration;

use futures::future::{join_all, select_all};
use serde::Deserialize;
use serde_json::json;

use super::before::{Before, Expects};
use super::delivery::unless_interrupted;
use super::target::{Followed, words};
use crate::tab::PageState;
use crate::world::WorldError;
use crate::{Deadline, Error, Tab};

/// How long the answers to requests that an action made, and to those that follow from them, are waited for.
const REQUESTS: Duration = Duration::from_secs(2);
/// The same for requests that the page also made before, as one that polls does.
const POLLS: Duration = Duration::from_millis(300);
/// How long a page may take to come to rest, in milliseconds.
const REST_MS: u32 = 300;
/// The same once answers to its requests have come.
const MORE_REST_MS: u32 = 100;
/// How often requests are followed by others before the rest is left to run.
const ROUNDS: u32 = 6;
/// The same for requests that the page also made before.
const POLL_ROUNDS: u32 = 3;
/// How long an effect that is bound to come may take to show its first sign.
const FIRST_SIGN: Duration = Duration::from_millis(350);
/// How long a navigation may take to begin once the page has asked for it.
const BEGINS: Duration = Duration::from_millis(500);
/// How long a download may take to begin once the load of a document came to nothing.
const DOWNLOAD_BEGINS: Duration = Duration::from_millis(200);
/// How long a site may take to answer once a link to a download was followed.
const DOWNLOAD_ANSWERS: Duration = Duration::from_secs(1);
/// How long a tab that closes itself may take to be gone.
const CLOSES: Duration = Duration::from_secs(1);
/// The longest answer on changed outline lines, in characters.
const OUTLINE_CHARS: u32 = 1_500;

/// Where a press that was watched over went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Press {
    /// To the element, as far as is known.
    Landed,
    /// To something else, which did not get it. With its outline line.
    Elsewhere(String),
    /// The element's document has not seen it.
    Lost,
}

#[derive(Deserialize)]
struct Settled {
    lines: Vec<String>,
    more: usize,
    quiet: bool,
    press: PressAnswer,
    /// The document closes its own window.
    closing: bool,
    /// A link to a download was followed.
    download: Option<Followed>,
}

#[derive(Deserialize)]
struct PressAnswer {
    outcome: String,
    line: Option<String>,
}

impl Tab {
    /// Waits until nothing that the action started is pending.
    pub(super) async fn settle(&self, before: &mut Before, deadline: Deadline) -> Result<Press, Error> {
        let mut press = Press::Landed;
        let mut mark = before.requests;
        let patience = deadline.at_most(REQUESTS);
        for round in 1..=ROUNDS {
            if self.moved(before) {
                break;
            }
            let rest = if round == 1 { REST_MS } else { MORE_REST_MS };
            let Some(seen) = unless_interrupted(self, self.look(before, rest, deadline)).await? else {
                break;
            };
            if let (1, Some(found)) = (round, seen?) {
                press = found;
            }
            self.departed(before, deadline).await?;
            if matches!(press, Press::Elsewhere(_)) || self.moved(before) {
                break;
            }
            let until = self.state().borrow().requests.started();
            if !self.answered(before, (mark, until), round, patience).await? && !self.stirs(before, deadline).await? {
                break;
            }
            mark = until;
        }
        self.download_begins(before, deadline).await;
        if self.moved(before) {
            let arrived = self.arrive(before, deadline).await;
            if let (Some(Followed { url, name }), Err(error)) =
                (before.following.as_ref().or(before.aimed.as_ref()), &arrived)
                && matches!(error, Error::Refused(_) | Error::RefusedByGate { .. })
            {
                self.downloads().refuse(url, name, &error.to_string(), self.target()).await;
            }
            arrived?;
            // The document may have turned out to be a download on the way.
            self.download_begins(before, deadline).await;
        }
        Ok(press)
    }

    /// Waits a moment for the watched documents and compares them. None where the press was seen before.
    async fn look(&self, before: &mut Before, rest_ms: u32, deadline: Deadline) -> Result<Option<Press>, Error> {
        let settled = join_all(before.watches.iter().map(|watch| async move {
            let argument = json!({ "mark": watch.mark, "maxChars": OUTLINE_CHARS, "timeoutMs": rest_ms });
            watch.world.call::<_, Settled>("settle", &argument, deadline).await
        }));
        let leaves = |state: &PageState| state.commits > before.commits || state.pending.is_some();
        let leaves = self.until("the document", deadline, leaves);
        let settled = tokio::select! {
            biased;
            settled = settled => settled,
            left = leaves => return match left {
                Ok(()) | Err(Error::PageGone(_)) => Ok(None),
                Err(Error::TimedOut { .. }) => Err(deadline.error("the page's answer after the input")),
                Err(error) => Err(error),
            },
        };
        let (mut outline, mut more, mut busy, mut closing) = (Vec::new(), 0, false, false);

        let mut replaced = false;
        // What cannot be asked may have got it.
        let mut press = settled.iter().all(Result::is_ok).then_some(Press::Lost);
        for (watch, settled) in before.watches.iter().zip(settled) {
            match settled {
                Ok(settled) => {
                    for line in &settled.lines {
                        outline.push(words(self, &watch.frame, line).await);
                    }
                    more += settled.more;
                    busy |= !settled.quiet;
                    if settled.download.is_some() {
                        before.following = settled.download;
                    }
                    closing |= settled.closing && watch.frame.parent.is_none();
                    let cover = settled.press.line.unwrap_or_default();
                    match settled.press.outcome.as_str() {
                        "target" => press = Some(Press::Landed),
                        "other" => {
                            let cover = words(self, &watch.frame, cover.trim_start()).await;
                            press = Some(Press::Elsewhere(cover));
                        }
                        _ => {}
                    }
                }
                Err(WorldError::DocumentGone) if watch.frame.parent.is_some() => {
                    replaced = true;
                }
                Err(WorldError::DocumentGone | WorldError::Script(_)) => {}
                Err(error) => return Err(error.about_page(deadline)),
            }
        }
        before.changes.outline = outline;
        before.changes.more_outline = more;
        before.changes.still_busy = busy;
        if replaced {
            before.note("the frame loaded another document");
        }
        if closing {
            before.closing = true;
            let closed = self.until("the tab to close", deadline.at_most(CLOSES), |state| state.closed);
            // A page may also say so and stay, with a question on leaving.
            let _ = closed.await;
        }
        Ok(press)
    }

    /// Where the page has asked for another document, waits until the browser takes it up.
    async fn departed(&self, before: &Before, deadline: Deadline) -> Result<(), Error> {
        self.caught_up().await;
        let (departures, same_document, commits) = (before.departures, before.same_document, before.commits);
        if self.state().borrow().departures == departures {
            return Ok(());
        }
        let known = |state: &PageState| {
            state.pending.is_some()
                || state.commits > commits
                || state.same_document > same_document
                || state.dialog.is_some()
        };
        match self.until("the next document", deadline.at_most(BEGINS), known).await {
            // What was asked for may have been given up at once.
            Ok(()) | Err(Error::TimedOut { .. } | Error::PageGone(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Waits for the answers to the requests that were started between two marks. False where there are none, or none
    /// that are worth waiting for in this round.
    async fn answered(
        &self,
        before: &Before,
        (mark, until): (u64, u64),
        round: u32,
        patience: Deadline,
    ) -> Result<bool, Error> {
        let (any, new) = {
            let state = self.state();
            let requests = &state.borrow().requests;
            (requests.data_since(mark, until), requests.new_data_since(before.requests, mark, until))
        };
        let polls = round > 1 && !new;
        if !any || polls && round > POLL_ROUNDS {
            return Ok(false);
        }
        let patience = if polls { patience.at_most(POLLS) } else { patience };
        let rests = |state: &PageState| {
            !state.requests.data_since(mark, until)
                || state.dialog.is_some()
                || state.pending.is_some()
                || state.commits > before.commits
        };
        match self.until("the page's requests", patience, rests).await {
            Ok(()) | Err(Error::TimedOut { .. } | Error::PageGone(_)) => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// Waits for the first sign of an effect that is bound to come. False where none is, or none came.
    async fn stirs(&self, before: &mut Before, deadline: Deadline) -> Result<bool, Error> {
        let expects = std::mem::take(&mut before.expects);
        let came = match expects {
            Expects::Nothing => true,
            Expects::Effect | Expects::Sending => !self.unchanged(before),
            Expects::Suggestions => before.changes.outline.iter().any(|line| line.starts_with('+')),
        };
        let requests = self.state().borrow().requests.started();
        if came || requests > before.requests {
            return Ok(false);
        }
        let patience = deadline.at_most(FIRST_SIGN);
        let milliseconds = u64::try_from(patience.remaining().as_millis()).unwrap_or_default();
        let pages = before.watches.iter().map(|watch| {
            // Suggestions follow on what the typing itself changed.
            let mark = (expects != Expects::Suggestions).then_some(watch.mark);
            let argument = json!({ "mark": mark, "timeoutMs": milliseconds, "enter": expects == Expects::Sending });
            Box::pin(async move {
                #[derive(Deserialize)]
                struct Stirred {
                    stirred: bool,
                }
                match watch.world.call::<_, Stirred>("stir", &argument, patience.with_grace()).await {
                    Ok(Stirred { stirred }) => stirred,
                    // The document may have gone.
                    Err(_) => true,
                }
            })
        });
        let pages = async {
            let mut pages: Vec<_> = pages.collect();
            while !pages.is_empty() {
                let (stirred, _, others) = select_all(pages).await;
                if stirred {
                    return true;
                }
                pages = others;
            }
            false
        };
        let known = |state: &PageState| happened(before, state) || state.requests.started() > requests;
        let known = self.until("the first sign of an effect", patience, known);
        let mut siblings = self.siblings().clone();
        let opened = siblings.wait_for(|tabs| tabs.opened > before.opened);
        Ok(tokio::select! {
            biased;
            known = known => known.is_ok(),
            Ok(_) = opened => true,
            stirred = pages => stirred,
        })
    }

    /// Where the action may have begun a download, waits until it has, or until it turns out to be a page.
    async fn download_begins(&self, before: &mut Before, deadline: Deadline) {
        self.caught_up().await;
        if self.moved(before) {
            return;
        }
        let patience = if before.following.is_some() {
            DOWNLOAD_ANSWERS
        } else if self.state().borrow().abandoned > before.abandoned {
            DOWNLOAD_BEGINS
        } else {
            return;
        };
        let patience = deadline.at_most(patience);
        let commits = before.commits;
        let page = |state: &PageState| state.pending.is_some() || state.commits > commits || state.dialog.is_some();
        let begun = tokio::select! {
            begun = self.downloads().begins(before.downloads, patience) => begun,
            page = self.until("a download", patience, page) => page.is_ok(),
        };
        if !begun && before.following.is_some() {
            before.note("a download was asked for and has not begun yet; browser_downloads tells");
        }
    }

    /// Whether the main frame is on its way to another document, or there.
    fn moved(&self, before: &Before) -> bool {
        let state = self.state();
        let state = state.borrow();
        !state.closed && state.dialog.is_none() && (state.pending.is_some() || state.commits > before.commits)
    }

    /// Whether nothing is known to have changed, once the page has settled.
    pub(super) fn unchanged(&self, before: &Before) -> bool {
        let quiet = {
            let tabs = self.siblings().borrow();
            tabs.opened == before.opened && tabs.refused == before.refused
        };
        let state = self.state();
        let state = state.borrow();
        before.changes.outline.is_empty()
            && quiet
            && before.following.is_none()
            && self.downloads().begun() == before.downloads
            && !state.closed
            && !happened(before, &state)
    }
}

/// Whether the browser has told of something that an action may have led to.
fn happened(before: &Before, state: &PageState) -> bool {
    state.pending.is_some()
        || state.commits != before.commits
        || state.same_document != before.same_document
        || state.main_frame().url != before.url
        || state.dialogs.total() != before.dialogs
        || state.file_choosers != before.file_choosers
}
