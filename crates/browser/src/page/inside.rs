//! What is inside of the frames of a document: all of them read at once, none of them waited for long.

use std::collections::HashMap;
use std::time::Duration;

use futures::future::{BoxFuture, join_all};

use super::owners;
use crate::tab::FrameState;
use crate::world::{World, WorldError};
use crate::{Deadline, Tab};

/// A frame that does not answer for so long is not waited for.
const PATIENCE: Duration = Duration::from_secs(1);
/// Frames below this depth are not entered; each can be read by its ref.
const DEPTH_LIMIT: usize = 12;
/// Nor are frames of one document beyond this.
const FRAME_LIMIT: usize = 50;

/// Why a frame was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Absent {
    NotEntered,
    Loading,
    Silent,
}

impl Absent {
    /// For a remark behind the frame's line.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::NotEntered => "not entered; outline it by its ref",
            Self::Loading => "loading",
            Self::Silent => "does not answer",
        }
    }
}

/// Reads the frames that these elements hold. `read` is given a frame, how many there are to share what room is left,
/// and its deadline.
pub(crate) async fn readings<'a, T>(
    tab: &Tab,
    world: &World,
    owners: &[u32],
    level: usize,
    deadline: Deadline,
    read: impl Fn(FrameState, usize, Deadline) -> BoxFuture<'a, Result<T, WorldError>>,
) -> HashMap<u32, Result<T, Absent>> {
    let entered = if level < DEPTH_LIMIT { &owners[..owners.len().min(FRAME_LIMIT)] } else { &[] };
    let held = owners::frames_of(world, entered, deadline).await.unwrap_or_default();
    let readings = owners.iter().map(|owner| {
        let frame = held.get(owner).and_then(|id| tab.frame(id));
        let patience = deadline.at_most(PATIENCE);
        let reading = frame.map(|frame| read(frame, held.len(), patience));
        async move {
            let Some(reading) = reading else { return (*owner, Err(Absent::NotEntered)) };
            let reading = match tokio::time::timeout(patience.remaining(), reading).await {
                Ok(Ok(reading)) => Ok(reading),
                Ok(Err(WorldError::DocumentGone)) => Err(Absent::Loading),
                Ok(Err(_)) | Err(_) => Err(Absent::Silent),
            };
            (*owner, reading)
        }
    });
    join_all(readings).await.into_iter().collect()
}
