//! Which elements of a picture can be acted on, and where they are in it.

use std::collections::HashMap;
use std::sync::Arc;

use bathy_cdp::protocol::FrameId;
use futures::future::{BoxFuture, FutureExt, join_all};
use serde::{Deserialize, Serialize};

use super::View;
use crate::geometry::{Map, Point, Rect, Size};
use crate::page::asking::{self, Listening};
use crate::page::chart::Chart;
use crate::page::{Element, inside, marks};
use crate::tab::FrameState;
use crate::world::{Reply, World, WorldError};
use crate::{Deadline, Error, Ref, Tab};

/// More labels than this nobody reads.
const MOST_LABELS: usize = 100;
/// How long the page script may look, in each frame.
const WALK_MS: u64 = 1_000;

/// An element that is labelled in a picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// Its ref, which is what the label says.
    pub reference: Ref,
    /// Its role and name, quoted and escaped.
    pub line: String,
}

/// What is to be labelled.
#[derive(Debug)]
pub(super) struct Labelling {
    pub(super) view: View,
    pub(super) labels: Vec<(Label, Rect)>,
    /// How many more there are, at least.
    pub(super) more: u64,
}

#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct Request {
    /// In the main frame, the part of the page that is taken; elsewhere what the frame shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    area: Option<Rect>,
    limit: usize,
    budget_ms: u64,
}

#[derive(Debug, Deserialize)]
struct Answer {
    labels: Vec<Candidate>,
    more: u64,
    frames: Vec<u32>,
    view: View,
}

#[derive(Debug, Clone, Deserialize)]
struct Candidate {
    id: u32,
    line: String,
    rect: Rect,
    point: Option<Point>,
}

/// A frame that was read, and the element of its parent that holds it.
struct Reading {
    frame: FrameState,
    answer: Answer,
    owner: Option<u32>,
}

/// What can be acted on in this part of the page, in CSS pixels of its viewport.
pub(super) async fn label(tab: &Tab, area: Option<Rect>, deadline: Deadline) -> Result<Labelling, Error> {
    let main = tab.state().borrow().main_frame().clone();
    let request = Request { area, limit: MOST_LABELS, budget_ms: WALK_MS };
    let readings = read(tab, main, request, None, 0, deadline);
    let readings = deadline.bound("the labels", readings).await?.map_err(|error| error.about_page(deadline))?;
    let placed = place(&readings, area.is_some(), deadline).await;
    let mut labelling = Labelling { view: readings[0].answer.view, labels: Vec::new(), more: 0 };
    let mut refs = tab.refs().lock().await;
    for (Reading { frame, answer, .. }, placed) in readings.iter().zip(placed) {
        labelling.more += answer.more;
        for (candidate, rect) in answer.labels.iter().zip(placed) {
            let Some(rect) = rect else { continue };
            if labelling.labels.len() >= MOST_LABELS {
                labelling.more += 1;
                continue;
            }
            let element = Element { frame: frame.id.clone(), document: frame.document.clone(), id: candidate.id };
            let line = marks::with_refs(&candidate.line, &mut refs, &frame.id, &frame.document);
            labelling.labels.push((Label { reference: refs.name(&element), line }, rect));
        }
    }
    Ok(labelling)
}

/// Asks a frame and then those that it shows; a parent stands before what it holds.
fn read(
    tab: &Tab,
    frame: FrameState,
    request: Request,
    listening: Option<Listening>,
    level: usize,
    deadline: Deadline,
) -> BoxFuture<'_, Result<Vec<Reading>, WorldError>> {
    async move {
        let listening = match listening {
            Some(listening) => listening,
            None => asking::listening(tab, &frame, deadline).await,
        };
        let call = ("labels", &request);
        let reply = asking::read(tab, &frame, call, Some(&listening), inside::FRAME_LIMIT, deadline).await?;
        let Reply { answer, frames, .. }: Reply<Answer> = reply;
        let inner = inside::readings(tab, &answer.frames, &frames, level, deadline, |child, _, patience| {
            let listening = (child.session.id() == frame.session.id()).then(|| Arc::clone(&listening));
            read(tab, child, Request { area: None, ..request.clone() }, listening, level + 1, patience)
        });
        let mut inner = inner.await;
        let owners = answer.frames.clone();
        let mut readings = vec![Reading { frame, answer, owner: None }];
        for owner in owners {
            if let Some(Ok(mut held)) = inner.remove(&owner) {
                held[0].owner = Some(owner);
                readings.extend(held);
            }
        }
        Ok(readings)
    }
    .boxed()
}

/// Where the candidates of each reading are on the page; nothing for those that something around their frame hides.
async fn place(readings: &[Reading], whole: bool, deadline: Deadline) -> Vec<Vec<Option<Rect>>> {
    let frames: Vec<FrameState> = readings.iter().map(|reading| reading.frame.clone()).collect();
    let chart = Chart::of(&frames, deadline).await;
    let sizes: HashMap<FrameId, Size> =
        readings.iter().map(|one| (one.frame.id.clone(), one.answer.view.size)).collect();
    let index: HashMap<&FrameId, usize> = readings.iter().enumerate().map(|(at, one)| (&one.frame.id, at)).collect();
    let maps: Vec<Option<Map>> = readings.iter().map(|one| chart.map(&one.frame.id, &sizes)).collect();
    let mut placed: Vec<Vec<Option<Rect>>> = Vec::new();
    // What each frame is to be asked: which of its frame owners is met at a point, and for which candidate.
    let mut questions: Vec<Vec<(Spot, (usize, usize))>> = readings.iter().map(|_| Vec::new()).collect();
    for (at, reading) in readings.iter().enumerate() {
        let mut row = Vec::new();
        for (number, candidate) in reading.answer.labels.iter().enumerate() {
            let mut rect = maps[at].map(|map| map.cover(&candidate.rect));
            let point = maps[at].zip(candidate.point).map(|(map, point)| map.there(point));
            let mut inner = reading;
            while let Some(outer) = inner.frame.parent.as_ref().and_then(|parent| index.get(parent)).copied() {
                let view = readings[outer].answer.view.size;
                let view = Rect { x: 0.0, y: 0.0, width: view.width, height: view.height };
                let met = maps[outer].zip(point).and_then(|(map, point)| map.back(point));
                let shown =
                    met.filter(|Point { x, y }| (0.0..view.width).contains(x) && (0.0..view.height).contains(y));
                match (shown, inner.owner) {
                    (Some(Point { x, y }), Some(id)) => questions[outer].push((Spot { id, x, y }, (at, number))),
                    // Outside of the viewport nothing is met, but it may be in a picture of the page.
                    _ if whole && readings[outer].frame.parent.is_none() => {}
                    _ => rect = None,
                }
                if !(whole && readings[outer].frame.parent.is_none()) {
                    rect = rect.zip(maps[outer]).and_then(|(rect, map)| rect.intersection(&map.cover(&view)));
                }
                inner = &readings[outer];
            }
            row.push(rect);
        }
        placed.push(row);
    }
    let answers = readings.iter().zip(&questions).map(|(reading, questions)| met(&reading.frame, questions, deadline));
    for hidden in join_all(answers).await.into_iter().flatten() {
        placed[hidden.0][hidden.1] = None;
    }
    placed
}

/// A point at which a frame owner should be met.
#[derive(Debug, Clone, Copy, Serialize)]
struct Spot {
    id: u32,
    x: f64,
    y: f64,
}

/// The candidates whose frame is not met where they are.
async fn met(frame: &FrameState, questions: &[(Spot, (usize, usize))], deadline: Deadline) -> Vec<(usize, usize)> {
    #[derive(Deserialize)]
    struct Stands {
        stands: Vec<bool>,
    }
    #[derive(Serialize)]
    struct Points {
        points: Vec<Spot>,
    }
    if questions.is_empty() {
        return Vec::new();
    }
    let points = Points { points: questions.iter().map(|(spot, _)| *spot).collect() };
    let answer = async { World::of(frame, deadline).await?.call("stands", &points, deadline).await };
    let Stands { stands } = answer.await.unwrap_or_else(|_: WorldError| Stands { stands: Vec::new() });
    let stands = stands.into_iter().chain(std::iter::repeat(false));
    questions.iter().zip(stands).filter(|(_, stands)| !stands).map(|((_, candidate), _)| *candidate).collect()
}
