//! What the page script cannot find out by itself, and the protocol can: the listeners that pages have
//! put on elements, and closed shadow roots. Without them a reading is poorer, not wrong, so a failure
//! here is no failure of the reading.

use std::collections::{BTreeMap, HashMap};

use bathy_cdp::protocol::RemoteObjectId;
use bathy_cdp::protocol::dom::{DescribeNode, Node, ResolveNode};
use bathy_cdp::protocol::dom_debugger::GetEventListeners;
use bathy_cdp::protocol::runtime::{CallArgument, CallFunctionOn, Evaluate, ReleaseObject, ReleaseObjectGroup};
use futures::future::join_all;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::Deadline;
use crate::world::{World, WorldError, by_value};

/// New nodes up to this many are asked for one by one; for more the whole document is described once.
const FEW: usize = 2;
/// Where the document is too deep to be described, at most so many nodes are asked for.
const MANY: usize = 100;
/// What a reading may wait for this.
const PATIENCE: std::time::Duration = std::time::Duration::from_millis(700);
const GROUP: &str = "bathysphere-adopted";

/// The events of a pointer; others do not make an element something to click on.
const POINTER_EVENTS: [&str; 12] = [
    "auxclick",
    "click",
    "contextmenu",
    "dblclick",
    "dragstart",
    "drop",
    "mousedown",
    "mouseup",
    "pointerdown",
    "pointerup",
    "touchend",
    "touchstart",
];

/// Tells the page script which elements of its document listen for a pointer.
pub(crate) async fn listeners(world: &World, deadline: Deadline) {
    let deadline = deadline.at_most(PATIENCE);
    if let Err(reason) = adopt_listeners(world, deadline).await {
        tracing::debug!(%reason, "the listeners of a document stay unknown");
    }
}

/// Tells the page script of the closed shadow roots of its document. True when there are new ones.
pub(crate) async fn closed_roots(world: &World, deadline: Deadline) -> bool {
    let deadline = deadline.at_most(PATIENCE);
    adopt_closed_roots(world, deadline).await.unwrap_or_else(|reason| {
        tracing::debug!(%reason, "closed shadow roots stay closed");
        false
    })
}

#[derive(Serialize)]
struct Nodes<'a> {
    nodes: &'a [i64],
}

#[derive(Deserialize)]
struct Unknown {
    unknown: Vec<i64>,
}

async fn adopt_listeners(world: &World, deadline: Deadline) -> Result<(), WorldError> {
    let session = world.session();
    // `document` of a window cannot be redefined, so no script of the page runs for this. The handle has no group, or
    // each listener would come with a handle on its function.
    let document = Evaluate { expression: "document".to_owned(), silent: Some(true), ..Evaluate::default() };
    let document = session.call(document, deadline.remaining()).await?.result;
    let Some(object_id) = document.object_id else {
        return Ok(());
    };
    let ask = GetEventListeners { object_id: object_id.clone(), depth: Some(-1), pierce: Some(true) };
    let found = session.call(ask, deadline.remaining()).await;
    session.send(&ReleaseObject { object_id });
    let mut types: BTreeMap<i64, Vec<String>> = BTreeMap::new();
    for listener in found?.listeners {
        let Some(node) = listener.backend_node_id else {
            continue;
        };
        if POINTER_EVENTS.contains(&listener.r#type.as_str()) {
            let known = types.entry(node).or_default();
            if !known.contains(&listener.r#type) {
                known.push(listener.r#type);
            }
        }
    }
    if types.is_empty() {
        return Ok(());
    }
    let nodes: Vec<i64> = types.keys().copied().collect();
    let Unknown { unknown } = world.call("newNodes", &Nodes { nodes: &nodes }, deadline).await?;
    if unknown.is_empty() {
        return Ok(());
    }
    if unknown.len() > FEW
        && let Ok(tree) = described(world, deadline).await
    {
        let listeners: Vec<_> = unknown
            .iter()
            .filter_map(|node| {
                let place = tree.place(*node)?;
                Some(json!({ "path": place.path, "tag": place.tag, "types": types.get(node) }))
            })
            .collect();
        let adopt = json!({ "listeners": listeners });
        let _: serde_json::Value = world.call("adoptListeners", &adopt, deadline).await?;
        return Ok(());
    }
    let unknown = &unknown[..unknown.len().min(MANY)];
    let handles = handles(world, unknown, deadline).await;
    let of_each: Vec<_> = handles.iter().map(|(node, _)| types.get(node)).collect();
    let mut arguments = vec![by_value(json!(of_each))];
    arguments.extend(handles.into_iter().map(|(_, handle)| handle));
    let function = "function(types, ...nodes) { return bathy.adoptListenerNodes(types, ...nodes); }";
    adopt(world, function, arguments, deadline).await
}

async fn adopt_closed_roots(world: &World, deadline: Deadline) -> Result<bool, WorldError> {
    let roots = match described(world, deadline).await {
        Ok(tree) => tree.closed_roots,
        Err(reason) => {
            tracing::debug!(%reason, "a document cannot be described");
            Vec::new()
        }
    };
    let roots = &roots[..roots.len().min(MANY)];
    let handles = handles(world, roots, deadline).await;
    let some = !handles.is_empty();
    let arguments = handles.into_iter().map(|(_, handle)| handle).collect();
    // None at all is told too, so that the script does not ask again.
    let function = "function(...roots) { return bathy.adoptClosedRoots(...roots); }";
    adopt(world, function, arguments, deadline).await?;
    Ok(some)
}

async fn adopt(
    world: &World,
    function: &str,
    arguments: Vec<CallArgument>,
    deadline: Deadline,
) -> Result<(), WorldError> {
    let call = CallFunctionOn {
        function_declaration: function.to_owned(),
        execution_context_id: Some(world.context()),
        arguments: Some(arguments),
        return_by_value: Some(true),
        silent: Some(true),
        ..CallFunctionOn::default()
    };
    let session = world.session();
    let called = session.call(call, deadline.remaining()).await;
    session.send(&ReleaseObjectGroup { object_group: GROUP.to_owned() });
    called?;
    Ok(())
}

/// Handles on those nodes that are in this world's document.
async fn handles(world: &World, nodes: &[i64], deadline: Deadline) -> Vec<(i64, CallArgument)> {
    let session = world.session();
    let handles = nodes.iter().map(|&node| async move {
        let resolve = ResolveNode {
            backend_node_id: Some(node),
            execution_context_id: Some(world.context()),
            object_group: Some(GROUP.to_owned()),
        };
        let resolved = session.call(resolve, deadline.remaining()).await.ok()?;
        let handle = CallArgument { value: None, object_id: Some(resolved.object.object_id?) };
        Some((node, handle))
    });
    join_all(handles).await.into_iter().flatten().collect()
}

/// Where the nodes of a document are.
#[derive(Debug, Default)]
pub(super) struct Tree {
    places: HashMap<i64, Place>,
    /// Outer ones first.
    closed_roots: Vec<i64>,
}

/// The way to a node: the index among element children at each step, -1 into the shadow root.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) path: Vec<i64>,
    pub(super) tag: String,
}

const ELEMENT: i64 = 1;
const INTO_SHADOW: i64 = -1;

impl Tree {
    pub(super) fn place(&self, node: i64) -> Option<&Place> {
        self.places.get(&node)
    }

    fn of(document: Node) -> Self {
        let mut tree = Self::default();
        let mut left = vec![(document, Vec::new())];
        while let Some((node, path)) = left.pop() {
            for root in node.shadow_roots.into_iter().flatten() {
                match root.shadow_root_type.as_deref() {
                    Some("user-agent") => continue,
                    Some("closed") => tree.closed_roots.push(root.backend_node_id),
                    _ => {}
                }
                let mut inner = path.clone();
                inner.push(INTO_SHADOW);
                left.push((root, inner));
            }
            let children = node.children.into_iter().flatten();
            let elements = children.filter(|child| child.node_type == ELEMENT);
            for (index, child) in (0..).zip(elements) {
                let mut inner = path.clone();
                inner.push(index);
                left.push((child, inner));
            }
            if node.node_type == ELEMENT {
                let place = Place { path, tag: node.node_name.to_lowercase() };
                tree.places.insert(node.backend_node_id, place);
            }
        }
        tree
    }
}

/// Describes the document of a world, its shadow roots included.
pub(super) async fn described(world: &World, deadline: Deadline) -> Result<Tree, WorldError> {
    let document = world.handle("function() { return document; }", Vec::new(), GROUP, deadline).await?;
    let describe = DescribeNode {
        object_id: Some(document.object_id.unwrap_or_else(|| RemoteObjectId(String::new()))),
        depth: Some(-1),
        pierce: Some(true),
        ..DescribeNode::default()
    };
    let described = world.session().call(describe, deadline.remaining()).await?;
    Ok(Tree::of(described.node))
}
