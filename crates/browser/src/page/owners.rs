//! Which frame an element of its parent holds, and which element holds a frame.

use std::collections::HashMap;

use bathy_cdp::protocol::FrameId;
use bathy_cdp::protocol::dom::{DescribeNode, ResolveNode};
use bathy_cdp::protocol::runtime::{CallArgument, CallFunctionOn, GetProperties, ReleaseObjectGroup};
use futures::future::join_all;
use serde_json::json;

use crate::Deadline;
use crate::world::{World, WorldError, by_value};

const GROUP: &str = "bathysphere-owners";

/// The frames that these elements hold; those that hold none are left out.
pub(crate) async fn frames_of(
    world: &World,
    owners: &[u32],
    deadline: Deadline,
) -> Result<HashMap<u32, FrameId>, WorldError> {
    if owners.is_empty() {
        return Ok(HashMap::new());
    }
    let ids = vec![by_value(json!(owners))];
    let list = world.handle("function(ids) { return bathy.elements(ids); }", ids, GROUP, deadline).await?;
    let session = world.session();
    let list = GetProperties { object_id: list.object_id.unwrap_or_default(), own_properties: Some(true) };
    let properties = session.call(list, deadline.remaining()).await?.result;
    let described = properties.into_iter().filter_map(|property| {
        let owner = *owners.get(property.name.parse::<usize>().ok()?)?;
        let object_id = property.value?.object_id?;
        Some(async move {
            let describe = DescribeNode { object_id: Some(object_id), depth: Some(0), ..DescribeNode::default() };
            let node = session.call(describe, deadline.remaining()).await.ok()?.node;
            Some((owner, node.frame_id?))
        })
    });
    let frames = join_all(described).await.into_iter().flatten().collect();
    session.send(&ReleaseObjectGroup { object_group: GROUP.to_owned() });
    Ok(frames)
}

/// An element that holds a frame.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Owner {
    /// The page script's id.
    pub(crate) id: u32,
    /// The browser's number for it.
    pub(crate) node: i64,
}

/// The page script's id for an element that the browser has a number for.
pub(crate) async fn owner_of(world: &World, node: i64, deadline: Deadline) -> Result<Owner, WorldError> {
    let session = world.session();
    // Of its own, since others may be under way in this session.
    let group = format!("{GROUP}-{node}");
    let resolve = ResolveNode {
        backend_node_id: Some(node),
        execution_context_id: Some(world.context()),
        object_group: Some(group.clone()),
    };
    let handle = session.call(resolve, deadline.remaining()).await?.object.object_id;
    let name = CallFunctionOn {
        function_declaration: "function(element) { return bathy.name(element); }".to_owned(),
        execution_context_id: Some(world.context()),
        arguments: Some(vec![CallArgument { value: None, object_id: handle }]),
        return_by_value: Some(true),
        silent: Some(true),
        ..CallFunctionOn::default()
    };
    let named = session.call(name, deadline.remaining()).await;
    session.send(&ReleaseObjectGroup { object_group: group });
    let id = named?.result.value.and_then(|id| id.as_u64()).and_then(|id| u32::try_from(id).ok());
    let id = id.ok_or_else(|| WorldError::Broken("an owner has no id".to_owned()))?;
    Ok(Owner { id, node })
}
