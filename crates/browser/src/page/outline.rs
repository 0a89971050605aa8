//! The outline of a document, or what matters of it now, with that of the frames in it, each read at once with its siblings.

use std::sync::Arc;

use bathy_cdp::protocol::{FrameId, LoaderId};
use futures::future::{BoxFuture, FutureExt};
use serde::{Deserialize, Serialize};

use super::asking::{self, Listening};
use super::inside::Absent;
use super::{Element, inside, marks};
use crate::tab::FrameState;
use crate::world::{Reply, World, WorldError};
use crate::{Deadline, Tab};

/// A frame gets at least this many characters.
const FRAME_SHARE: usize = 400;
/// How long the page script may walk. Whoever goes on far down the page has to walk there first.
const WALK_MS: u64 = 25;
const WALK_ON_MS: u64 = 3_000;

/// How a document is looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Look {
    /// Everything, in reading order.
    #[default]
    Outline,
    /// What matters now.
    Observation,
}

/// What the page script is asked for.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    #[serde(skip)]
    pub(crate) look: Look,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) depth: Option<u32>,
    pub(crate) interactive: bool,
    /// Of an observation: also what is out of view.
    pub(crate) full: bool,
    pub(crate) max_chars: usize,
    pub(crate) from: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fold: Option<u32>,
    pub(crate) budget_ms: u64,
}

/// What the page script answers.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    lines: Vec<String>,
    next: Option<u64>,
    above: u64,
    below: u64,
    at_least: bool,
    fold: u32,
    frames: Vec<u32>,
}

/// The lines of a document, and where to go on in it.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    pub(crate) lines: Vec<String>,
    pub(crate) truncated: bool,
    pub(crate) next: Option<Next>,
}

/// Where the outline of a document goes on.
#[derive(Debug, Clone)]
pub(crate) struct Next {
    pub(crate) from: u64,
    pub(crate) fold: u32,
    pub(crate) nodes: u64,
    pub(crate) at_least: bool,
}

/// Outlines a frame's document and what is in its frames.
pub(crate) fn read(
    tab: &Tab,
    frame: FrameState,
    mut request: Request,
    listening: Option<Listening>,
    level: usize,
    deadline: Deadline,
) -> BoxFuture<'_, Result<Reading, WorldError>> {
    async move {
        let listening = match listening {
            Some(listening) => listening,
            None => asking::listening(tab, &frame, deadline).await,
        };
        request.budget_ms = if request.from.is_some() { WALK_ON_MS } else { WALK_MS };
        let function = match request.look {
            Look::Outline => "outline",
            Look::Observation => "observe",
        };
        let call = (function, &request);
        let reply = asking::read(tab, &frame, call, Some(&listening), inside::FRAME_LIMIT, deadline).await?;
        let Reply { answer, frames, .. }: Reply<Answer> = reply;
        let used: usize = answer.lines.iter().map(String::len).sum();
        let left = request.max_chars.saturating_sub(used);
        // More frames than there is room for would make the answer longer than it may be.
        let most = (left / FRAME_SHARE).clamp(1, inside::FRAME_LIMIT);
        let held = &frames[..most.min(frames.len())];
        let inner = inside::readings(tab, &answer.frames, held, level, deadline, |child, count, patience| {
            let max_chars = (left / count).max(FRAME_SHARE);
            let Request { look, depth, interactive, full, .. } = request;
            let request = Request { look, depth, interactive, full, max_chars, ..Request::default() };
            let listening = (child.session.id() == frame.session.id()).then(|| Arc::clone(&listening));
            read(tab, child, request, listening, level + 1, patience)
        });
        let inner = inner.await;
        let mut reading = Reading {
            truncated: answer.next.is_some() || answer.below > 0 || answer.above > 0 && request.from.is_none(),
            ..Reading::default()
        };
        if answer.above > 0 && request.from.is_none() {
            let some = if answer.at_least { "at least " } else { "" };
            reading
                .lines
                .push(format!("… {some}{} nodes above; scroll to the top or outline with a cursor", answer.above));
        }
        let mut refs = tab.refs().lock().await;
        for line in &answer.lines {
            let written = marks::with_refs(line, &mut refs, &frame.id, &frame.document);
            let owner = marks::frame_owner(line);
            let mut by_ref = || {
                let element = owner.map(|id| Element { frame: frame.id.clone(), document: frame.document.clone(), id });
                element.map(|element| refs.name(&element).to_string()).unwrap_or_default()
            };
            match owner.and_then(|owner| inner.get(&owner)) {
                Some(Ok(child)) => {
                    let indent = " ".repeat(line.len() - line.trim_start().len() + 2);
                    reading.lines.push(written);
                    reading.lines.extend(child.lines.iter().map(|line| format!("{indent}{line}")));
                    reading.truncated |= child.truncated;
                    if let Some(Next { nodes, at_least, .. }) = &child.next {
                        let some = if *at_least { "at least " } else { "" };
                        let rest = format!("… {some}{nodes} more nodes in this frame; outline {}", by_ref());
                        reading.lines.push(format!("{indent}{rest}"));
                    }
                }
                Some(Err(Absent::NotEntered)) => {
                    reading.truncated = true;
                    reading.lines.push(format!("{written} {} (not entered)", by_ref()));
                }
                Some(Err(reason)) => reading.lines.push(format!("{written} ({})", reason.words())),
                None => reading.lines.push(written),
            }
        }
        reading.next =
            answer.next.map(|from| Next { from, fold: answer.fold, nodes: answer.below, at_least: answer.at_least });
        Ok(reading)
    }
    .boxed()
}

/// The frame that an element holds, where it holds one.
pub(crate) async fn frame_in(
    tab: &Tab,
    frame: &FrameState,
    id: u32,
    deadline: Deadline,
) -> Result<Option<FrameState>, WorldError> {
    let held = World::of(frame, deadline).await?.frame_in(id, deadline).await?;
    Ok(held.and_then(|id| tab.frame(&id)))
}

/// A document of a frame, as a cursor remembers it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) frame: FrameId,
    pub(crate) document: LoaderId,
}
