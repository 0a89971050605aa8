//! What is inside of the frames of a document: all of them read at once, none of them waited for long.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bathy_cdp::protocol::FrameId;
use futures::future::{BoxFuture, join_all};
use tokio::sync::watch;

use crate::tab::FrameState;
use crate::world::WorldError;
use crate::{Deadline, Tab};

/// A frame that does not answer for so long, while no other does either, is not waited for.
const PATIENCE: Duration = Duration::from_secs(2);
/// Nor is one for longer than this that did not answer before.
const PATIENCE_WITH_SILENT: Duration = Duration::from_millis(200);
/// Frames below this depth are not entered; each can be read by its ref.
const DEPTH_LIMIT: usize = 12;
/// Nor are frames of one document beyond this.
pub(crate) const FRAME_LIMIT: usize = 40;

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
            Self::NotEntered => "not entered",
            Self::Loading => "loading",
            Self::Silent => "does not answer",
        }
    }
}

/// Reads the frames that these elements hold. `read` is given a frame, how many there are to share what room is left,
/// and its deadline.
pub(crate) async fn readings<'a, T>(
    tab: &Tab,
    owners: &[u32],
    held: &[Option<FrameId>],
    level: usize,
    deadline: Deadline,
    read: impl Fn(FrameState, usize, Deadline) -> BoxFuture<'a, Result<T, WorldError>>,
) -> HashMap<u32, Result<T, Absent>> {
    let count = held.iter().flatten().count();
    let progress = watch::Sender::new(());
    let readings = owners.iter().enumerate().map(|(index, owner)| {
        let frame = held.get(index).cloned().flatten().filter(|_| level < DEPTH_LIMIT).and_then(|id| tab.frame(&id));
        let blank = frame.as_ref().is_some_and(FrameState::is_waited_for);
        let foothold = frame.as_ref().map(|frame| Arc::clone(&frame.foothold));
        let known_silent = foothold.as_ref().is_some_and(|foothold| foothold.is_silent());
        let patience = if known_silent { PATIENCE_WITH_SILENT } else { PATIENCE };
        let reading = frame.filter(|_| !blank).map(|frame| read(frame, count, deadline));
        let (progress, mut others) = (&progress, progress.subscribe());
        async move {
            let reading = match reading {
                None if blank => Err(Absent::Loading),
                None => Err(Absent::NotEntered),
                Some(reading) => {
                    tokio::pin!(reading);
                    loop {
                        // Frames of one process answer in turn: it is alive as long as another one does.
                        tokio::select! {
                            read = &mut reading => break match read {
                                Ok(reading) => Ok(reading),
                                Err(WorldError::DocumentGone) => Err(Absent::Loading),
                                Err(_) => Err(Absent::Silent),
                            },
                            Ok(()) = others.changed() => {}
                            () = tokio::time::sleep(patience) => break Err(Absent::Silent),
                        }
                    }
                }
            };
            if reading.is_ok() {
                progress.send_replace(());
            }
            if let Some(foothold) = foothold {
                foothold.set_silent(matches!(reading, Err(Absent::Silent)));
            }
            (*owner, reading)
        }
    });
    join_all(readings).await.into_iter().collect()
}
