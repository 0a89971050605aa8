//! From a ref or a selector to an element of a frame that is ready for an action.

use futures::future::join_all;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::Target;
use super::delivery::unless_interrupted;
pub(super) use crate::geometry::{Point, Rect};
use crate::page::ScriptError;
use crate::page::marks::with_refs;
use crate::tab::FrameState;
use crate::world::{World, WorldError};
use crate::{Deadline, Error, Ref, Tab};

/// How long an element may take to become visible, still and enabled, in milliseconds.
const READY_MS: u64 = 1_500;

/// An element that an action is aimed at.
pub(super) struct Aim<'a> {
    pub(super) tab: &'a Tab,
    pub(super) frame: FrameState,
    pub(super) world: World,
    /// The page script's own id.
    pub(super) id: u32,
    target: &'a Target,
}

/// What the page script says of an element that is ready.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Ready {
    pub(super) kind: Kind,
    /// A point of the element, in CSS pixels of its frame's viewport.
    #[serde(flatten)]
    pub(super) point: Point,
    pub(super) rect: Rect,
    /// Whether a pointer at the point would meet the element.
    pub(super) clear: bool,
    /// Whether an action on it is bound to have an effect, if not at once.
    pub(super) promising: bool,
    /// Since when the document is watched, where that was asked for.
    pub(super) mark: u32,
    /// The outline line of the twin that the ref was followed to.
    pub(super) followed: Option<String>,
    /// The link to a download that it is, or is part of.
    pub(super) download: Option<Followed>,
}

/// A link to a download.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Followed {
    pub(super) url: String,
    /// The name that the page proposes; empty for that of the URL.
    pub(super) name: String,
}

/// A sort of element, as far as acting on it differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    Text,
    ContentEditable,
    Frame,
    #[serde(other)]
    Other,
}

impl<'a> Aim<'a> {
    /// Finds the element. A ref must be of a document that is still shown; a selector is looked for in the main
    /// frame first and then in all others.
    pub(super) async fn take(tab: &'a Tab, target: &'a Target, deadline: Deadline) -> Result<Self, Error> {
        match target {
            Target::Ref(reference) => {
                let (frame, id) = tab.locate(*reference).await?;
                let world = World::of(&frame, deadline).await.map_err(|error| match error {
                    WorldError::DocumentGone => stale(*reference, "its document is gone"),
                    error => error.about_page(deadline),
                })?;
                Ok(Self { tab, frame, world, id, target })
            }
            Target::Selector(selector) => {
                let frames: Vec<FrameState> = tab.state().borrow().frames().into_iter().cloned().collect();
                let (main, others) = frames.split_at(1);
                for group in [main, others] {
                    let searches = group.iter().map(|frame| find(frame, selector, deadline));
                    for (frame, found) in group.iter().zip(join_all(searches).await) {
                        if let Some((world, id)) = found? {
                            return Ok(Self { tab, frame: frame.clone(), world, id, target });
                        }
                    }
                }
                Err(Error::NoSuchElement(format!("the selector `{}`", selector.escape_debug())))
            }
        }
    }

    /// The same aim at another element of the same document.
    pub(super) fn at(&self, id: u32) -> Self {
        Self { tab: self.tab, frame: self.frame.clone(), world: self.world.clone(), id, target: self.target }
    }

    /// Waits until the element is attached, visible, still and enabled, scrolled into its frame's view.
    pub(super) async fn prepare(&self, action: &str, deadline: Deadline) -> Result<Ready, Error> {
        self.get_ready(action, false, deadline).await
    }

    /// The same, and watches the document from before that on.
    pub(super) async fn prepare_watched(&self, action: &str, deadline: Deadline) -> Result<Ready, Error> {
        self.get_ready(action, true, deadline).await
    }

    async fn get_ready(&self, action: &str, watch: bool, deadline: Deadline) -> Result<Ready, Error> {
        let budget = u64::try_from(deadline.remaining().as_millis()).unwrap_or(u64::MAX);
        let argument = json!({ "id": self.id, "action": action, "timeoutMs": READY_MS.min(budget), "watch": watch });
        self.call("prepare", &argument, deadline).await
    }

    /// Gives the element the focus.
    pub(super) async fn focus(&self, deadline: Deadline) -> Result<(), Error> {
        #[derive(Deserialize)]
        struct Focus {
            focused: bool,
        }
        let focus: Focus = self.call("focus", &json!({ "id": self.id }), deadline).await?;
        if focus.focused { Ok(()) } else { Err(self.not("an element that takes the focus")) }
    }

    /// Calls a function of the page script in the element's document. A dialog that opens meanwhile ends the call.
    pub(super) async fn call<A, R>(&self, function: &str, argument: &A, deadline: Deadline) -> Result<R, Error>
    where
        A: Serialize + Sync,
        R: DeserializeOwned,
    {
        let answer = unless_interrupted(self.tab, self.world.call(function, argument, deadline)).await?;
        match answer {
            Some(Ok(answer)) => Ok(answer),
            Some(Err(error)) => Err(self.failure(error, deadline).await),
            None => Err(self.tab.interruption()),
        }
    }

    /// Whether the element's document is still the one that its frame shows.
    pub(super) fn check_document(&self) -> Result<(), Error> {
        let shown = self.tab.frame(&self.frame.id).is_some_and(|frame| frame.document == self.frame.document);
        if shown { Ok(()) } else { Err(self.gone("its document went away during the action")) }
    }

    /// Text of the page script with refs in place of its marks.
    pub(super) async fn words(&self, text: &str) -> String {
        words(self.tab, &self.frame, text).await
    }

    /// How the model named the element.
    pub(super) fn name(&self) -> String {
        match self.target {
            Target::Ref(reference) => reference.to_string(),
            Target::Selector(selector) => selector.clone(),
        }
    }

    /// The error for an element that cannot take the action because it is not `wanted`.
    pub(super) fn not(&self, wanted: &str) -> Error {
        Error::NotActionable { target: self.name(), reason: format!("not {wanted}") }
    }

    fn gone(&self, reason: &str) -> Error {
        match self.target {
            Target::Ref(reference) => stale(*reference, reason),
            Target::Selector(selector) => {
                Error::NoSuchElement(format!("the selector `{}`: {reason}", selector.escape_debug()))
            }
        }
    }

    pub(super) async fn failure(&self, error: WorldError, deadline: Deadline) -> Error {
        let ScriptError { code, message, line } = match error {
            WorldError::Script(error) => error,
            WorldError::DocumentGone if self.tab.state().borrow().closed => return self.tab.interruption(),
            WorldError::DocumentGone => return self.gone("its document is gone"),
            error => return error.about_page(deadline),
        };
        let message = self.words(&message).await;
        let line = match line {
            Some(line) => format!(": {}", self.words(line.trim_start()).await),
            None => String::new(),
        };
        let refused = |reason: &str| Error::NotActionable { target: self.name(), reason: format!("{reason}{line}") };
        match code.as_str() {
            "stale" => self.gone(&message),
            "none" => Error::NoSuchElement(message),
            "option" => {
                let (problem, options) = message.split_once("; ").unwrap_or((message.as_str(), ""));
                Error::Unfit { problem: problem.to_owned(), shown: format!("{options}{line}") }
            }
            "invalid" if line.is_empty() => Error::InvalidArgument(message),
            "invalid" => Error::Unfit { problem: message, shown: line.trim_start_matches(": ").to_owned() },
            "hidden" => refused(&format!("not visible, {message}")),
            "disabled" => refused(&format!("disabled, {message}")),
            "readonly" => refused("readonly"),
            "unstable" => refused("still moving"),
            "unreachable" => refused(&format!("out of reach, {message}")),
            "kind" => refused(&format!("of the wrong kind, {message}")),
            "timeout" => deadline.error("the element"),
            _ => Error::ActionFailed(message),
        }
    }
}

impl Tab {
    /// The error for a call that cannot go on because a dialog is open or the page is gone.
    pub(crate) fn interruption(&self) -> Error {
        let state = self.state();
        let state = state.borrow();
        match &state.dialog {
            Some(dialog) => Error::DialogOpen(dialog.clone()),
            None if self.page().connection().is_closed() => Error::BrowserGone("it ended during the action".to_owned()),
            None => Error::PageGone("the tab was closed during the action".to_owned()),
        }
    }
}

/// Text of the page script in a frame, with refs in place of its marks.
pub(super) async fn words(tab: &Tab, frame: &FrameState, text: &str) -> String {
    with_refs(text, &mut *tab.refs().lock().await, &frame.id, &frame.document)
}

/// The element of a frame that a selector means. Frames that cannot be asked have none.
async fn find(frame: &FrameState, selector: &str, deadline: Deadline) -> Result<Option<(World, u32)>, Error> {
    #[derive(Deserialize)]
    struct Found {
        id: u32,
    }
    let main = frame.parent.is_none();
    let search = async {
        let world = World::of(frame, deadline).await?;
        let found: Found = world.call("resolve", &json!({ "selector": selector }), deadline).await?;
        Ok((world, found.id))
    };
    match search.await {
        Ok(found) => Ok(Some(found)),
        Err(WorldError::Script(error)) if error.code == "none" => Ok(None),
        Err(WorldError::Script(error)) if error.code == "invalid" => Err(Error::InvalidArgument(error.message)),
        Err(error) if main => Err(error.about_page(deadline)),
        Err(_) => Ok(None),
    }
}

fn stale(reference: Ref, reason: &str) -> Error {
    Error::RefStale { reference, reason: reason.to_owned() }
}
