//! Domain `DOMDebugger`: which elements pages listen on.

use super::RemoteObjectId;
use super::macros::{commands, known, objects};

objects! {
    /// A listener.
    EventListener {
        /// The type of the events, such as `click`.
        r#type: String,
        ;
        /// The node that has it.
        backend_node_id: i64,
    }
    /// The answer to [`GetEventListeners`].
    Listeners {
        /// In document order of their nodes.
        listeners: Vec<EventListener>,
    }
}

commands! {
    /// The listeners of a node, and of those in it.
    "DOMDebugger.getEventListeners" GetEventListeners {
        /// The node. One of an isolated world makes Chromium 156 spoil that world: it gives nodes wrappers of the main
        /// world's prototypes there. Ask with a handle of the main world.
        object_id: RemoteObjectId,
        ;
        /// How deep; -1 for all.
        depth: i64,
        /// Whether frames and shadow roots are entered, and the listeners of every world are told.
        pierce: bool,
    } -> Listeners;
}

const EVENTS: &[(&str, &[&str])] = &[];

known!();
