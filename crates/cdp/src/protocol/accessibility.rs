//! Domain `Accessibility`: the browser's own view of roles and names, as the oracle of our outline.

use serde_json::Value;

use super::FrameId;
use super::macros::{commands, known, objects};

objects! {
    /// A computed value.
    AxValue {
        /// Its type.
        r#type: String,
        ;
        /// The value.
        value: Value,
    }
    /// A property such as `level` or `checked`.
    AxProperty {
        /// Its name.
        name: String,
        /// Its value.
        value: AxValue,
    }
    /// A node of the accessibility tree.
    AxNode {
        /// Its id.
        node_id: String,
        /// Whether assistive technology leaves it out.
        ignored: bool,
        ;
        /// Its role.
        role: AxValue,
        /// Its name.
        name: AxValue,
        /// Its description.
        description: AxValue,
        /// Its value.
        value: AxValue,
        /// Its states.
        properties: Vec<AxProperty>,
        /// Its parent.
        parent_id: String,
        /// Its children.
        child_ids: Vec<String>,
        /// The DOM node.
        #[serde(rename = "backendDOMNodeId")]
        backend_d_o_m_node_id: i64,
    }
    /// The answer to [`GetFullAxTree`].
    AxTree {
        /// All nodes.
        nodes: Vec<AxNode>,
    }
}

commands! {
    /// The whole tree of a frame.
    "Accessibility.getFullAXTree" GetFullAxTree {
        ;
        /// How deep.
        depth: i64,
        /// The frame; the main one when absent.
        frame_id: FrameId,
    } -> AxTree;
}

const EVENTS: &[(&str, &[&str])] = &[];

known!();
