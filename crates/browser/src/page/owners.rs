//! Which element holds a frame.

use bathy_cdp::protocol::dom::ResolveNode;
use bathy_cdp::protocol::runtime::{CallArgument, CallFunctionOn, ReleaseObjectGroup};

use crate::Deadline;
use crate::world::{World, WorldError};

const GROUP: &str = "bathysphere-owners";

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
        function_declaration: world.declare("element", "bathy.name(element)"),
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
