//! What the page script cannot find out by itself, and the protocol can: which elements listen for a pointer, and closed
//! shadow roots. Without it a reading is poorer, not wrong, so a failure here is no failure of the reading.
//!
//! The script hands out the elements that it came upon and has doubts about; their description tells the browser's numbers
//! for them, which the list of listeners is made of, and their closed roots. That costs a reading one more call where
//! something was found, and one for each closed root when it is seen first; how large the page is does not matter.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bathy_cdp::protocol::dom::ResolveNode;
use bathy_cdp::protocol::dom_debugger::GetEventListeners;
use bathy_cdp::protocol::runtime::{CallArgument, ReleaseObjectGroup};
use futures::future::join_all;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::tab::FrameState;
use crate::world::{Reply, Told, World, WorldError};
use crate::{Deadline, Tab};

/// So few new nodes are asked for one by one, which spares the main frame a second reading.
const FEW: usize = 4;
/// At most so many closed roots are entered in one round, and so many rounds lead into roots within roots.
const ROOTS: usize = 200;
const ROUNDS: usize = 12;
/// Listening nodes beyond this are not told.
const MOST_LISTENING: usize = 5_000;
/// What a reading waits for each of these answers.
const PATIENCE: Duration = Duration::from_millis(700);
const GROUP: &str = "bathysphere-asked";

/// The events of a pointer; others do not make an element something to click on.
const POINTER_EVENTS: [&str; 11] = [
    "auxclick",
    "click",
    "contextmenu",
    "dblclick",
    "dragstart",
    "mousedown",
    "mouseup",
    "pointerdown",
    "pointerup",
    "touchend",
    "touchstart",
];

/// The browser's numbers of the nodes that listen for a pointer, in all frames of one process, in ascending order.
pub(crate) type Listening = Arc<Vec<i64>>;

/// What listens in the frame's process; nothing where the browser does not say.
pub(crate) async fn listening(tab: &Tab, frame: &FrameState, deadline: Deadline) -> Listening {
    let patience = deadline.at_most(PATIENCE);
    let root = root_of(tab, frame);
    // The world is needed next; where it cannot be had, the reading says so.
    let (found, _) = tokio::join!(ask_listening(&root, patience), World::of(frame, deadline));
    let mut numbers = found.unwrap_or_else(|reason| {
        tracing::debug!(%reason, "the listeners of a document stay unknown");
        Vec::new()
    });
    numbers.sort_unstable();
    numbers.dedup();
    numbers.truncate(MOST_LISTENING);
    Arc::new(numbers)
}

async fn ask_listening(root: &FrameState, deadline: Deadline) -> Result<Vec<i64>, WorldError> {
    let object_id = root.foothold.document(&root.session, deadline).await?;
    let ask = GetEventListeners { object_id, depth: Some(-1), pierce: Some(true) };
    let found = root.session.call(ask, deadline.remaining()).await?.listeners;
    let pointer = found.into_iter().filter(|listener| POINTER_EVENTS.contains(&listener.r#type.as_str()));
    Ok(pointer.filter_map(|listener| listener.backend_node_id).collect())
}

/// The topmost frame of the same process, whose document holds all others of it.
fn root_of(tab: &Tab, frame: &FrameState) -> FrameState {
    let mut root = frame.clone();
    while let Some(parent) = root.parent.as_ref().and_then(|id| tab.frame(id)) {
        if parent.session.id() != root.session.id() {
            break;
        }
        root = parent;
    }
    root
}

/// Calls a function of the page script that reads, until it has been told what it would need to know.
pub(crate) async fn read<A, R>(
    tab: &Tab,
    frame: &FrameState,
    (function, argument): (&str, &A),
    listening: Option<&Listening>,
    frames: usize,
    deadline: Deadline,
) -> Result<Reply<R>, WorldError>
where
    A: Serialize + Sync,
    R: DeserializeOwned,
{
    let world = World::of(frame, deadline).await?;
    let numbers = listening.map(|numbers| numbers.as_ref().clone());
    let mut handles = Handles::new(&world, deadline);
    let nodes = match listening {
        Some(numbers) => few(tab, frame, numbers, &mut handles).await,
        None => Vec::new(),
    };
    let mut told = Told { listening: numbers.clone(), nodes, roots: Vec::new() };
    for round in 0.. {
        let left = deadline.remaining();
        let reply: Reply<R> = world.read(function, argument, told, frames, deadline).await?;
        let roots: Vec<i64> = reply.nodes.iter().filter_map(|node| node.closed_root).take(ROOTS).collect();
        let listens = |number: i64| numbers.as_ref().is_some_and(|numbers| numbers.binary_search(&number).is_ok());
        let news = !roots.is_empty() || reply.nodes.iter().any(|node| listens(node.number));
        // What took long takes long again.
        let late = deadline.remaining() < 2 * left.saturating_sub(deadline.remaining());
        if !news || round == ROUNDS || late {
            return Ok(reply);
        }
        let roots = handles.of(&roots).await.into_iter().map(|(_, handle)| handle).collect();
        told = Told { listening: numbers.clone(), nodes: Vec::new(), roots };
    }
    unreachable!("the last round returns")
}

/// Handles on what listens newly, where that is little and can only be in this frame.
async fn few(
    tab: &Tab,
    frame: &FrameState,
    numbers: &Listening,
    handles: &mut Handles<'_>,
) -> Vec<(i64, CallArgument)> {
    let alone = |id| tab.frame(id).is_none_or(|child| child.session.id() != frame.session.id());
    if frame.parent.is_some() || !frame.children.iter().all(alone) {
        return Vec::new();
    }
    let new = frame.foothold.unknown(numbers);
    if new.len() > FEW {
        return Vec::new();
    }
    frame.foothold.learn(&new);
    handles.of(&new).await
}

/// Handles on nodes, let go of when the reading is over.
struct Handles<'a> {
    world: &'a World,
    group: String,
    deadline: Deadline,
    some: bool,
}

impl<'a> Handles<'a> {
    fn new(world: &'a World, deadline: Deadline) -> Self {
        /// Others may be under way in the same session.
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let group = format!("{GROUP}-{}", NEXT.fetch_add(1, Ordering::Relaxed));
        Self { world, group, deadline, some: false }
    }

    /// Handles on those nodes that are in this world's document.
    async fn of(&mut self, nodes: &[i64]) -> Vec<(i64, CallArgument)> {
        let patience = self.deadline.at_most(PATIENCE);
        self.some |= !nodes.is_empty();
        let Self { world, group, .. } = &*self;
        let handles = nodes.iter().map(|&node| {
            let resolve = ResolveNode {
                backend_node_id: Some(node),
                execution_context_id: Some(world.context()),
                object_group: Some(group.clone()),
            };
            async move {
                let resolved = world.session().call(resolve, patience.remaining()).await.ok()?;
                Some((node, CallArgument { value: None, object_id: Some(resolved.object.object_id?) }))
            }
        });
        join_all(handles).await.into_iter().flatten().collect()
    }
}

impl Drop for Handles<'_> {
    fn drop(&mut self) {
        if self.some {
            self.world.session().send(&ReleaseObjectGroup { object_group: self.group.clone() });
        }
    }
}
