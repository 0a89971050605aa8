//! Which frame an element of its parent holds.

use std::collections::HashMap;

use bathy_cdp::protocol::FrameId;
use bathy_cdp::protocol::dom::DescribeNode;
use bathy_cdp::protocol::runtime::{GetProperties, ReleaseObjectGroup};
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
    let list = world
        .handle(
            "function(ids) { return bathy.elements(ids); }",
            ids,
            GROUP,
            deadline,
        )
        .await?;
    let session = world.session();
    let list = GetProperties {
        object_id: list.object_id.unwrap_or_default(),
        own_properties: Some(true),
    };
    let properties = session.call(list, deadline.remaining()).await?.result;
    let described = properties.into_iter().filter_map(|property| {
        let owner = *owners.get(property.name.parse::<usize>().ok()?)?;
        let object_id = property.value?.object_id?;
        Some(async move {
            let describe = DescribeNode {
                object_id: Some(object_id),
                depth: Some(0),
                ..DescribeNode::default()
            };
            let node = session
                .call(describe, deadline.remaining())
                .await
                .ok()?
                .node;
            Some((owner, node.frame_id?))
        })
    });
    let frames = join_all(described).await.into_iter().flatten().collect();
    session.send(&ReleaseObjectGroup {
        object_group: GROUP.to_owned(),
    });
    Ok(frames)
}
