//! Waiting until what an action started is done, and saying what it changed.

use std::time::Duration;

use futures::future::join_all;
use serde::Deserialize;
use serde_json::json;

use super::delivery::{crash, unless_interrupted};
use super::target::words;
use super::{Acted, Changes};
use crate::session::summary;
use crate::tab::{FrameState, PageState, is_blank};
use crate::world::{World, WorldError};
use crate::{Deadline, Error, Tab, WaitUntil};

/// How long the answers to requests that an action made are waited for.
const REQUESTS: Duration = Duration::from_secs(2);
/// The same for requests that follow from those.
const MORE_REQUESTS: Duration = Duration::from_millis(300);
/// How long a page may take to come to rest, in milliseconds.
const REST_MS: u32 = 300;
/// The same once answers to its requests have come.
const MORE_REST_MS: u32 = 100;
/// How often requests are followed by others before the rest is left to run.
const ROUNDS: u32 = 3;
/// How long a new tab may take until it has an address.
const NEW_TAB: Duration = Duration::from_millis(500);
/// How long a navigation may take to begin once the page has asked for it.
const BEGINS: Duration = Duration::from_millis(500);
/// How long a browser whose tabs close may take to be known to be gone.
const ENDS: Duration = Duration::from_millis(250);
/// How long a tab that closes itself may take to be gone.
const CLOSES: Duration = Duration::from_secs(1);
/// The longest answer on changed outline lines, in characters.
const OUTLINE_CHARS: u32 = 1_500;

/// What there was before an action, and what was learned of it since.
pub(super) struct Before {
    url: String,
    commits: u64,
    same_document: u64,
    departures: u64,
    dialogs: u64,
    downloads: u64,
    file_choosers: u64,
    requests: u64,
    opened: u64,
    watches: Vec<Watch>,
    /// The page said that it closes its tab.
    closing: bool,
    changes: Changes,
}

/// A watched document.
struct Watch {
    frame: FrameState,
    world: World,
    mark: u32,
}

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
}

#[derive(Deserialize)]
struct PressAnswer {
    outcome: String,
    line: Option<String>,
}

impl Before {
    /// Remarks that the ref now stands for the twin of an element that was replaced.
    pub(super) fn note_followed(&mut self, twin: Option<&str>) {
        if twin.is_some() {
            self.note("the page had replaced the element; its only twin was taken instead");
        }
    }

    /// How many documents the main frame had shown.
    pub(super) fn commits(&self) -> u64 {
        self.commits
    }

    /// Adds a remark of ours.
    pub(super) fn note(&mut self, note: &str) {
        if !self.changes.notes.iter().any(|known| known == note) {
            self.changes.notes.push(note.to_owned());
        }
    }
}

impl Tab {
    /// Takes note of what there is before an action in a frame.
    pub(super) async fn before(&self, frame: Option<&FrameState>, deadline: Deadline) -> Before {
        self.watched(self.unwatched(), frame, deadline).await
    }

    /// Watches the main document, and that of a frame, from now on.
    pub(super) async fn watched(&self, mut before: Before, frame: Option<&FrameState>, deadline: Deadline) -> Before {
        let main = self.state().borrow().main_frame().clone();
        let inner = frame.filter(|frame| frame.id != main.id).cloned();
        let frames: Vec<FrameState> = std::iter::once(main).chain(inner).collect();
        // A document that cannot be watched yields no changed lines; that is no reason not to act.
        let watches = join_all(frames.into_iter().map(|frame| watch(frame, deadline)));
        // A dialog that opens meanwhile is found by whoever goes on.
        let watches = unless_interrupted(self, watches).await.ok().flatten().unwrap_or_default();
        before.watches = watches.into_iter().flatten().collect();
        before
    }

    /// The same where no document can be asked.
    pub(super) fn unwatched(&self) -> Before {
        let opened = self.siblings().borrow().opened;
        let state = self.state();
        let state = state.borrow();
        Before {
            url: state.main_frame().url.clone(),
            commits: state.commits,
            same_document: state.same_document,
            departures: state.departures,
            dialogs: state.dialogs.total(),
            downloads: state.downloads.total(),
            file_choosers: state.file_choosers,
            requests: state.requests.started(),
            opened,
            watches: Vec::new(),
            closing: false,
            changes: Changes::default(),
        }
    }

    /// Waits until what the action started is done and says what it changed.
    pub(super) async fn after(&self, mut before: Before, deadline: Deadline) -> Result<Acted, Error> {
        self.settle(&mut before, deadline).await?;
        self.tell(before, deadline).await
    }

    /// Waits until nothing that the action started is pending.
    pub(super) async fn settle(&self, before: &mut Before, deadline: Deadline) -> Result<Press, Error> {
        let mut press = Press::Landed;
        let mut mark = before.requests;
        for round in 1..=ROUNDS {
            if self.moved(before) {
                break;
            }
            let Some(seen) =
                unless_interrupted(self, self.look(before, if round == 1 { REST_MS } else { MORE_REST_MS }, deadline))
                    .await?
            else {
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
            let patience = if round == 1 { REQUESTS } else { MORE_REQUESTS };
            if !self.answered(before, mark, until, deadline.at_most(patience)).await? {
                break;
            }
            mark = until;
        }
        if self.moved(before) {
            self.arrive(before, deadline).await?;
        }
        Ok(press)
    }

    /// Waits a moment for the watched documents and compares them. None where the press was seen before.
    async fn look(&self, before: &mut Before, rest_ms: u32, deadline: Deadline) -> Result<Option<Press>, Error> {
        let settled = join_all(before.watches.iter().map(|watch| async move {
            let argument = json!({ "mark": watch.mark, "maxChars": OUTLINE_CHARS, "timeoutMs": rest_ms });
            watch.world.call::<_, Settled>("settle", &argument, deadline).await
        }));
        let leaves = self.until("the document", deadline, |state| state.commits > before.commits);
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

    /// Waits for the answers to the requests that were started between two marks. False where there are none.
    async fn answered(&self, before: &Before, mark: u64, until: u64, patience: Deadline) -> Result<bool, Error> {
        if !self.state().borrow().requests.data_since(mark, until) {
            return Ok(false);
        }
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

    /// Whether the main frame is on its way to another document, or there.
    fn moved(&self, before: &Before) -> bool {
        let state = self.state();
        let state = state.borrow();
        !state.closed && state.dialog.is_none() && (state.pending.is_some() || state.commits > before.commits)
    }

    /// Whether nothing is known to have changed, once the page has settled.
    pub(super) fn unchanged(&self, before: &Before) -> bool {
        let opened = self.siblings().borrow().opened;
        let state = self.state();
        let state = state.borrow();
        before.changes.outline.is_empty()
            && opened == before.opened
            && !state.closed
            && state.commits == before.commits
            && state.main_frame().url == before.url
            && state.dialogs.total() == before.dialogs
            && state.downloads.total() == before.downloads
            && state.file_choosers == before.file_choosers
    }

    /// Waits for the new document and holds it to the policy.
    async fn arrive(&self, before: &mut Before, deadline: Deadline) -> Result<(), Error> {
        let complete = match self.loaded(WaitUntil::Load, deadline).await {
            Ok(complete) => complete,
            Err(Error::TimedOut { .. }) => {
                before.note("the next document is still on its way");
                false
            }
            Err(Error::PageGone(_)) if self.state().borrow().closed => return Ok(()),
            Err(error) => return Err(error),
        };
        before.changes.still_busy = !complete;
        let state = self.state();
        if state.borrow().dialog.is_some() || state.borrow().commits == before.commits {
            return Ok(());
        }
        let landed = self.landed()?;
        before.changes.status_code = landed.status_code;
        before.changes.outline.clear();
        before.changes.more_outline = 0;
        if landed.url == before.url {
            before.note("the page was loaded anew");
        }
        Ok(())
    }

    /// The page after an action.
    pub(super) async fn tell(&self, before: Before, deadline: Deadline) -> Result<Acted, Error> {
        if self.state().borrow().closed && !before.closing {
            let connection = self.page().connection();
            if deadline.at_most(ENDS).bound("the browser", connection.closed()).await.is_ok() {
                return Err(Error::BrowserGone("it ended during the action".to_owned()));
            }
        }
        let mut changes = before.changes;
        self.tell_tabs(before.opened, &mut changes, deadline).await;
        {
            let state = self.state();
            let state = state.borrow();
            changes.dialogs = state.dialogs.since(before.dialogs).cloned().collect();
            changes.downloads = state.downloads.since(before.downloads).cloned().collect();
            changes.file_chooser = state.file_choosers > before.file_choosers;
            if state.crashed {
                return Err(crash());
            }
        }
        let url = self.url();
        changes.url = (url != before.url).then(|| url.clone());
        let title = match self.entry(deadline.with_grace()).await {
            Ok((_, title)) => title,
            Err(error) if !self.state().borrow().closed => return Err(error),
            Err(_) => String::new(),
        };
        changes.tab_closed = self.state().borrow().closed;
        Ok(Acted { url, title, changes })
    }

    /// The tabs that opened meanwhile, once they have an address.
    async fn tell_tabs(&self, opened: u64, changes: &mut Changes, deadline: Deadline) {
        let tabs = self.siblings().borrow().clone();
        let new = usize::try_from(tabs.opened.saturating_sub(opened)).unwrap_or(usize::MAX);
        if new == 0 {
            return;
        }
        let listed = tabs.list.len();
        let patience = deadline.with_grace().at_most(NEW_TAB);
        let fresh = tabs.list.iter().enumerate().skip(listed.saturating_sub(new));
        let told = join_all(fresh.map(|(index, tab)| async move {
            let addressed = |state: &PageState| !is_blank(&state.main_frame().url);
            // A window may well be opened without an address.
            let _ = tab.until("a new tab", patience, addressed).await;
            (!tab.state().borrow().closed).then_some((index, tab))
        }));
        for (index, tab) in told.await.into_iter().flatten() {
            let active = Some(tab.target()) == tabs.active.as_ref();
            changes.new_tabs.push(summary(tab, index, active, patience).await);
        }
        if changes.new_tabs.len() < new {
            changes.notes.push("a tab opened and closed again".to_owned());
        }
    }
}

async fn watch(frame: FrameState, deadline: Deadline) -> Option<Watch> {
    #[derive(Deserialize)]
    struct Watching {
        mark: u32,
    }
    let world = World::of(&frame, deadline).await.ok()?;
    let watching: Watching = world.call("watch", &json!({}), deadline).await.ok()?;
    Some(Watch { frame, world, mark: watching.mark })
}
