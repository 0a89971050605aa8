//! Domain `DOM`: nodes by handle, where script cannot reach.

use super::macros::{commands, known, objects};
use super::runtime::{ExecutionContextId, RemoteObject};
use super::{FrameId, Nothing, RemoteObjectId};

objects! {
    /// A node.
    Node {
        /// A number that stays while the node lives.
        backend_node_id: i64,
        /// `nodeType` of the DOM standard.
        node_type: i64,
        /// Its name.
        node_name: String,
        ;
        /// Its children.
        children: Vec<Node>,
        /// Its shadow roots.
        shadow_roots: Vec<Node>,
        /// `open`, `closed` or `user-agent`, of a shadow root.
        shadow_root_type: String,
        /// The frame that it owns.
        frame_id: FrameId,
        /// The document of the frame that it owns.
        content_document: Box<Node>,
    }
    /// The answer to [`GetDocument`].
    Document {
        /// The root.
        root: Node,
    }
    /// The answer to [`DescribeNode`].
    Description {
        /// The node.
        node: Node,
    }
    /// The answer to [`ResolveNode`].
    Resolved {
        /// The handle.
        object: RemoteObject,
    }
    /// The boxes of an element; a quad is four corners, x before y, clockwise from the top left one.
    BoxModel {
        /// Corners of the content box, in CSS pixels of the viewport of the session's topmost frame.
        content: Vec<f64>,
    }
    /// The answer to [`GetBoxModel`].
    Boxes {
        /// The boxes.
        model: BoxModel,
    }
    /// The answer to [`GetFrameOwner`].
    FrameOwner {
        /// The element that holds the frame.
        backend_node_id: i64,
    }
}

commands! {
    /// The document of this session.
    "DOM.getDocument" GetDocument {
        ;
        /// How deep; -1 for all.
        depth: i64,
        /// Whether frames and shadow roots are entered.
        pierce: bool,
    } -> Document;
    /// Describes a node.
    "DOM.describeNode" DescribeNode {
        ;
        /// The node, by number.
        backend_node_id: i64,
        /// The node, by handle.
        object_id: RemoteObjectId,
        /// How deep; -1 for all.
        depth: i64,
        /// Whether frames and shadow roots are entered.
        pierce: bool,
    } -> Description;
    /// A handle on a node in a given context.
    "DOM.resolveNode" ResolveNode {
        ;
        /// The node, by number.
        backend_node_id: i64,
        /// The context that the handle is for.
        execution_context_id: ExecutionContextId,
        /// A name under which handles can be released together.
        object_group: String,
    } -> Resolved;
    /// The element that holds a frame.
    "DOM.getFrameOwner" GetFrameOwner {
        /// The frame.
        frame_id: FrameId,
    } -> FrameOwner;
    /// Where the boxes of an element are, transformed as they are drawn.
    "DOM.getBoxModel" GetBoxModel {
        ;
        /// The element, by number.
        backend_node_id: i64,
    } -> Boxes;
    /// Gives a file input its files.
    "DOM.setFileInputFiles" SetFileInputFiles {
        /// Absolute paths, as the browser sees them.
        files: Vec<String>,
        ;
        /// The input, by number.
        backend_node_id: i64,
        /// The input, by handle.
        object_id: RemoteObjectId,
    } -> Nothing;
}

const EVENTS: &[(&str, &[&str])] = &[];

known!();
