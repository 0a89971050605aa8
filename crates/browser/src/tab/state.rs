//! What is known of a page from its events, without asking it.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use bathy_cdp::Session;
use bathy_cdp::protocol::input::DragData;
use bathy_cdp::protocol::{FrameId, LoaderId};

use super::is_blank;
use super::requests::Requests;
use crate::Dialog;
use crate::world::Foothold;

/// Frames beyond this are not tracked: the page is hostile or broken.
const FRAME_LIMIT: usize = 2_000;
/// How many of the latest dialogs, downloads and document responses are kept.
const RECENT: usize = 16;

/// The page as its events tell it. Only the tab's task writes it.
#[derive(Debug)]
pub(crate) struct PageState {
    /// The first frame tree has come.
    pub(crate) ready: bool,
    pub(crate) main: FrameId,
    frames: HashMap<FrameId, FrameState>,
    /// The dialog that is open now.
    pub(crate) dialog: Option<Dialog>,
    /// All dialogs, those closed by themselves too.
    pub(crate) dialogs: Recent<Dialog>,
    /// Alerts of the document that is shown.
    pub(crate) alerts: u32,
    pub(crate) requests: Requests,
    /// The main frame is on its way to another document.
    pub(crate) pending: Option<Pending>,
    /// Documents that the main frame has shown so far.
    pub(crate) commits: u64,
    /// Address changes of the main frame within its document.
    pub(crate) same_document: u64,
    /// Documents that the page in the main frame has asked for, in its own tab.
    pub(crate) departures: u64,
    /// Documents, of any frame, that were on their way and gave nothing to show: downloads among them.
    pub(crate) abandoned: u64,
    /// File choosers that were asked for.
    pub(crate) file_choosers: u64,
    /// The latest of them.
    pub(crate) chooser: Option<Chooser>,
    /// HTML drags that began while drags were intercepted.
    pub(crate) drags: Recent<DragData>,
    pub(crate) responses: Recent<DocumentResponse>,
    /// The URL that the latest load of the main frame asked for last, behind all redirects.
    pub(crate) asked: Option<(LoaderId, String)>,
    /// The page's process crashed; a navigation starts another.
    pub(crate) crashed: bool,
    /// The tab is closed.
    pub(crate) closed: bool,
}

/// A navigation of the main frame that has not shown its document yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pending {
    pub(crate) url: String,
    pub(crate) loader: LoaderId,
}

/// A file chooser that was asked for and did not open.
#[derive(Debug, Clone)]
pub(crate) struct Chooser {
    pub(crate) frame: FrameId,
    pub(crate) session: Session,
    /// The browser's number of the file input; none where no input asks.
    pub(crate) node: Option<i64>,
}

/// What the network said of a document of the main frame.
#[derive(Debug, Clone)]
pub(crate) struct DocumentResponse {
    pub(crate) loader: LoaderId,
    pub(crate) status: u16,
    /// The gate answered in place of the site.
    pub(crate) from_gate: Option<String>,
}

/// The latest of a series, and how many there were in all.
#[derive(Debug)]
pub(crate) struct Recent<T> {
    total: u64,
    items: VecDeque<T>,
}

impl<T> Default for Recent<T> {
    fn default() -> Self {
        Self { total: 0, items: VecDeque::new() }
    }
}

impl<T> Recent<T> {
    pub(crate) fn push(&mut self, item: T) {
        self.total += 1;
        self.items.push_back(item);
        if self.items.len() > RECENT {
            self.items.pop_front();
        }
    }

    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// Those that came after the first `seen`, as far as they are kept.
    pub(crate) fn since(&self, seen: u64) -> impl Iterator<Item = &T> {
        let new = usize::try_from(self.total.saturating_sub(seen)).unwrap_or(usize::MAX);
        self.items.iter().skip(self.items.len().saturating_sub(new))
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.items.iter()
    }
}

/// A frame and its document.
#[derive(Debug, Clone)]
pub(crate) struct FrameState {
    pub(crate) id: FrameId,
    pub(crate) parent: Option<FrameId>,
    /// In the order in which they were attached.
    pub(crate) children: Vec<FrameId>,
    /// The session of the process that renders it.
    pub(crate) session: Session,
    /// The load of its document.
    pub(crate) document: LoaderId,
    pub(crate) url: String,
    pub(crate) origin: String,
    /// The document is an error page of the browser's.
    pub(crate) failed: bool,
    pub(crate) milestones: Milestones,
    /// What the page script has in this document.
    pub(crate) foothold: Arc<Foothold>,
    /// It is on its way to another document, which has not answered yet.
    pub(crate) loading: bool,
    /// Milestones of a document that is not shown yet.
    next: Option<(LoaderId, Milestones)>,
}

/// How far a document has got.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Milestones {
    pub(crate) dom_content_loaded: bool,
    pub(crate) load: bool,
}

impl Milestones {
    fn reach(&mut self, name: &str) {
        match name {
            "DOMContentLoaded" => self.dom_content_loaded = true,
            "load" => {
                self.dom_content_loaded = true;
                self.load = true;
            }
            _ => {}
        }
    }
}

impl PageState {
    pub(crate) fn new(main: FrameId, session: Session) -> Self {
        let frame = FrameState::new(main.clone(), None, session);
        Self {
            ready: false,
            frames: HashMap::from([(main.clone(), frame)]),
            main,
            dialog: None,
            dialogs: Recent::default(),
            alerts: 0,
            requests: Requests::default(),
            pending: None,
            commits: 0,
            same_document: 0,
            departures: 0,
            abandoned: 0,
            file_choosers: 0,
            chooser: None,
            drags: Recent::default(),
            responses: Recent::default(),
            asked: None,
            crashed: false,
            closed: false,
        }
    }

    pub(crate) fn main_frame(&self) -> &FrameState {
        &self.frames[&self.main]
    }

    /// The URL of its document, or the one that its first document comes from.
    pub(crate) fn address(&self) -> &str {
        let shown = &self.main_frame().url;
        let first = self.pending.as_ref().filter(|_| is_blank(shown));
        first.map_or(shown, |pending| &pending.url)
    }

    pub(crate) fn frame(&self, id: &FrameId) -> Option<&FrameState> {
        self.frames.get(id)
    }

    /// Every frame, each after the one that holds it.
    pub(crate) fn frames(&self) -> Vec<&FrameState> {
        let mut ordered = Vec::with_capacity(self.frames.len());
        let mut open = vec![&self.main];
        while let Some(id) = open.pop() {
            if let Some(frame) = self.frames.get(id) {
                ordered.push(frame);
                open.extend(frame.children.iter().rev());
            }
        }
        ordered
    }

    /// The response that the document of the main frame came with.
    pub(crate) fn response(&self, loader: &LoaderId) -> Option<&DocumentResponse> {
        self.responses.iter().rev().find(|response| response.loader == *loader)
    }

    pub(crate) fn attach(&mut self, id: FrameId, parent: FrameId, session: Session) {
        if self.frames.len() >= FRAME_LIMIT {
            return;
        }
        let Some(holder) = self.frames.get_mut(&parent) else {
            return;
        };
        if !holder.children.contains(&id) {
            holder.children.push(id.clone());
        }
        self.frames.entry(id.clone()).or_insert_with(|| FrameState::new(id, Some(parent), session));
    }

    pub(crate) fn detach(&mut self, id: &FrameId) {
        if let Some(parent) = self.frames.get(id).and_then(|frame| frame.parent.clone())
            && let Some(holder) = self.frames.get_mut(&parent)
        {
            holder.children.retain(|child| child != id);
        }
        self.remove_below(id);
        if *id != self.main {
            self.frames.remove(id);
        }
    }

    /// Takes away everything that the frame's former document held.
    pub(crate) fn remove_below(&mut self, id: &FrameId) {
        let mut open = self.frames.get_mut(id).map(|frame| std::mem::take(&mut frame.children)).unwrap_or_default();
        while let Some(child) = open.pop() {
            if let Some(frame) = self.frames.remove(&child) {
                open.extend(frame.children);
            }
        }
    }

    /// The frame is rendered in the process of this session from now on.
    pub(crate) fn swap(&mut self, id: &FrameId, session: &Session) {
        if let Some(frame) = self.frames.get_mut(id) {
            frame.session = session.clone();
            frame.foothold = Arc::default();
        }
    }

    /// A frame shows a document.
    pub(crate) fn commit(&mut self, shown: &bathy_cdp::protocol::page::Frame, session: &Session) {
        if !self.frames.contains_key(&shown.id) {
            let Some(parent) = shown.parent_id.clone() else {
                return;
            };
            self.attach(shown.id.clone(), parent, session.clone());
        }
        let new_document = self.frames.get(&shown.id).is_some_and(|frame| frame.document != shown.loader_id);
        if new_document {
            self.remove_below(&shown.id);
        }
        let Some(frame) = self.frames.get_mut(&shown.id) else {
            return;
        };
        frame.session = session.clone();
        frame.url = format!("{}{}", shown.url, shown.url_fragment.as_deref().unwrap_or_default());
        frame.origin.clone_from(&shown.security_origin);
        frame.failed = shown.unreachable_url.is_some();
        if frame.failed
            && let Some(url) = &shown.unreachable_url
        {
            frame.url.clone_from(url);
        }
        frame.loading = false;
        if new_document {
            frame.milestones = match frame.next.take() {
                Some((loader, milestones)) if loader == shown.loader_id => milestones,
                _ => Milestones::default(),
            };
            frame.document = shown.loader_id.clone();
            frame.foothold = Arc::default();
        }
        if shown.id == self.main && new_document {
            self.commits += 1;
            // The next one may be on its way already.
            self.pending.take_if(|pending| pending.loader == shown.loader_id);
            self.alerts = 0;
            self.crashed = false;
        }
    }

    /// A frame has asked for another document, or its load has come to an end.
    pub(crate) fn load(&mut self, id: &FrameId, loading: bool) {
        if let Some(frame) = self.frames.get_mut(id) {
            frame.loading = loading;
        }
    }

    pub(crate) fn reach(&mut self, id: &FrameId, loader: &LoaderId, name: &str) {
        let Some(frame) = self.frames.get_mut(id) else {
            return;
        };
        if frame.document == *loader {
            frame.milestones.reach(name);
        } else {
            let next = frame.next.get_or_insert_with(|| (loader.clone(), Milestones::default()));
            if next.0 != *loader {
                *next = (loader.clone(), Milestones::default());
            }
            next.1.reach(name);
        }
    }

    pub(crate) fn move_within(&mut self, id: &FrameId, url: String) {
        if let Some(frame) = self.frames.get_mut(id) {
            frame.url = url;
        }
        if *id == self.main {
            self.same_document += 1;
        }
    }

    /// Whether a document that the main frame is to show was asked for and nothing has come of it yet.
    pub(crate) fn awaits_site(&self) -> bool {
        self.asked.as_ref().is_some_and(|(loader, _)| self.is_pending(loader) && self.response(loader).is_none())
    }

    /// Whether the main frame is on its way to this document.
    pub(crate) fn is_pending(&self, loader: &LoaderId) -> bool {
        self.pending.as_ref().is_some_and(|pending| pending.loader == *loader)
    }

    /// A navigation of the main frame came to nothing: a download, an empty answer, a stop.
    pub(crate) fn give_up(&mut self, loader: Option<&LoaderId>) {
        self.pending.take_if(|pending| loader.is_none_or(|loader| pending.loader == *loader));
    }
}

impl FrameState {
    /// Whether it shows nothing as yet since its first document has not answered.
    pub(crate) fn is_waited_for(&self) -> bool {
        self.loading && super::is_blank(&self.url)
    }

    fn new(id: FrameId, parent: Option<FrameId>, session: Session) -> Self {
        Self {
            id,
            parent,
            children: Vec::new(),
            session,
            document: LoaderId::default(),
            url: String::new(),
            origin: String::new(),
            failed: false,
            milestones: Milestones::default(),
            foothold: Arc::default(),
            loading: false,
            next: None,
        }
    }
}
