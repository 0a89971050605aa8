//! The text of a document with the text of the frames in it.

use futures::future::{BoxFuture, FutureExt};
use serde::{Deserialize, Serialize};

use super::{asking, inside, marks};
use crate::tab::FrameState;
use crate::world::{Reply, WorldError};
use crate::{Deadline, Tab};

/// What the page script is asked for.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<u32>,
    pub(crate) format: &'static str,
    pub(crate) max_chars: usize,
    pub(crate) offset: u64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    text: String,
    next: Option<u64>,
    frames: Vec<u32>,
}

/// Text, and where it goes on.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    pub(crate) text: String,
    pub(crate) next: Option<u64>,
    pub(crate) truncated: bool,
}

/// Reads a frame's document and what is in its frames.
pub(crate) fn read(
    tab: &Tab,
    frame: FrameState,
    request: Request,
    level: usize,
    deadline: Deadline,
) -> BoxFuture<'_, Result<Reading, WorldError>> {
    async move {
        let reply = asking::read(tab, &frame, ("text", &request), None, inside::FRAME_LIMIT, deadline).await?;
        let Reply { answer, frames, .. }: Reply<Answer> = reply;
        let left = request.max_chars.saturating_sub(answer.text.len());
        let inner = inside::readings(tab, &answer.frames, &frames, level, deadline, |frame, count, patience| {
            let request = Request { format: request.format, max_chars: left / count, ..Request::default() };
            read(tab, frame, request, level + 1, patience)
        });
        let inner = inner.await;
        let mut reading = Reading { next: answer.next, truncated: answer.next.is_some(), ..Reading::default() };
        for line in answer.text.split_inclusive('\n') {
            match marks::frame_owner(line) {
                None => reading.text.push_str(line),
                Some(owner) => {
                    if let Some(Ok(child)) = inner.get(&owner)
                        && !child.text.is_empty()
                    {
                        reading.text.push_str(child.text.trim_end());
                        reading.text.push('\n');
                        reading.truncated |= child.truncated;
                    }
                }
            }
        }
        Ok(reading)
    }
    .boxed()
}
