//! What there was before an action, to be compared with what there is after it.

use bathy_cdp::protocol::TargetId;
use futures::future::join_all;
use serde::Deserialize;
use serde_json::json;

use super::Changes;
use super::delivery::unless_interrupted;
use super::target::{Aim, Followed, Ready};
use crate::tab::FrameState;
use crate::world::World;
use crate::{Deadline, Error, Tab};

/// What there was before an action, and what was learned of it since.
pub(super) struct Before {
    pub(super) url: String,
    pub(super) commits: u64,
    pub(super) same_document: u64,
    pub(super) departures: u64,
    pub(super) dialogs: u64,
    pub(super) downloads: usize,
    /// Documents that came to nothing.
    pub(super) abandoned: u64,
    /// The tabs that there were besides.
    pub(super) others: Vec<TargetId>,
    pub(super) file_choosers: u64,
    pub(super) requests: u64,
    pub(super) opened: u64,
    pub(super) refused: u64,
    pub(super) watches: Vec<Watch>,
    pub(super) expects: Expects,
    /// The action is aimed at a link to a download.
    pub(super) aimed: Option<Followed>,
    /// A link to a download was followed.
    pub(super) following: Option<Followed>,
    /// The page said that it closes its tab.
    pub(super) closing: bool,
    pub(super) changes: Changes,
}

/// What an action is bound to lead to, if not at once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Expects {
    /// Nothing that is known of.
    #[default]
    Nothing,
    /// Something: a link leads elsewhere, a button sends a form.
    Effect,
    /// Something, if the field that has the focus sends its form by Enter.
    Sending,
    /// A list of suggestions for what was typed.
    Suggestions,
}

/// A watched document.
#[derive(Debug)]
pub(super) struct Watch {
    pub(super) frame: FrameState,
    pub(super) world: World,
    pub(super) mark: u32,
}

/// Documents that an action watched until a dialog took it over. What happens around the dialog is told when it is answered.
#[derive(Debug, Default)]
pub(crate) struct Interrupted(Vec<Watch>);

impl Interrupted {
    pub(super) fn of(watches: Vec<Watch>) -> Self {
        Self(watches)
    }
}

impl Before {
    /// Remarks that the ref now stands for the twin of an element that was replaced.
    pub(super) fn note_followed(&mut self, twin: Option<&str>) {
        if twin.is_some() {
            self.note("the page had replaced the element; its only twin was taken instead");
        }
    }

    /// Adds a remark of ours.
    pub(super) fn note(&mut self, note: &str) {
        if !self.changes.notes.iter().any(|known| known == note) {
            self.changes.notes.push(note.to_owned());
        }
    }
}

impl Aim<'_> {
    /// Takes note of what there is and gets the element ready, side by side.
    pub(super) async fn approach(&self, action: &str, deadline: Deadline) -> Result<(Before, Ready), Error> {
        let mut before = self.tab.unwatched();
        let main = self.tab.state().borrow().main_frame().clone();
        let around = async { if main.id == self.frame.id { None } else { watch(main, deadline).await } };
        let around = unless_interrupted(self.tab, around);
        let (around, ready) = futures::join!(around, self.prepare_watched(action, deadline));
        let ready = ready?;
        before.note_followed(ready.followed.as_deref());
        before.aimed.clone_from(&ready.download);
        before.watches.extend(around.ok().flatten().flatten());
        before.watches.push(Watch { frame: self.frame.clone(), world: self.world.clone(), mark: ready.mark });
        Ok((before, ready))
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

    /// Goes on watching what an action watched until a dialog took it over; else compares with what was seen last.
    pub(super) async fn resumed(&self, mut before: Before, deadline: Deadline) -> Before {
        let Interrupted(watches) = self.take_interrupted();
        let shown =
            |watch: &Watch| self.frame(&watch.frame.id).is_some_and(|frame| frame.document == watch.frame.document);
        before.watches = watches.into_iter().filter(shown).collect();
        if !before.watches.is_empty() {
            return before;
        }
        let main = self.state().borrow().main_frame().clone();
        let watch = unless_interrupted(self, rewatch(main, deadline)).await;
        before.watches.extend(watch.ok().flatten().flatten());
        before
    }

    /// The same where no document can be asked.
    pub(super) fn unwatched(&self) -> Before {
        let (opened, refused, others) = {
            let tabs = self.siblings().borrow();
            let others = tabs.list.iter().map(Self::target).filter(|target| *target != self.target());
            (tabs.opened, tabs.refused, others.cloned().collect())
        };
        let downloads = self.downloads().begun();
        let state = self.state();
        let state = state.borrow();
        Before {
            url: state.main_frame().url.clone(),
            commits: state.commits,
            same_document: state.same_document,
            departures: state.departures,
            dialogs: state.dialogs.total(),
            downloads,
            abandoned: state.abandoned,
            others,
            file_choosers: state.file_choosers,
            requests: state.requests.started(),
            opened,
            refused,
            watches: Vec::new(),
            expects: Expects::Nothing,
            aimed: None,
            following: None,
            closing: false,
            changes: Changes::default(),
        }
    }
}

async fn watch(frame: FrameState, deadline: Deadline) -> Option<Watch> {
    watch_from(frame, false, deadline).await
}

/// Watches from when the document was looked at last.
async fn rewatch(frame: FrameState, deadline: Deadline) -> Option<Watch> {
    watch_from(frame, true, deadline).await
}

async fn watch_from(frame: FrameState, last: bool, deadline: Deadline) -> Option<Watch> {
    #[derive(Deserialize)]
    struct Watching {
        mark: u32,
    }
    let world = World::of(&frame, deadline).await.ok()?;
    let watching: Watching = world.call("watch", &json!({ "last": last }), deadline).await.ok()?;
    Some(Watch { frame, world, mark: watching.mark })
}
