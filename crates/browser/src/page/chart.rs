//! Where the frames of a page are drawn in its viewport, whichever processes draw them.

use std::collections::HashMap;

use bathy_cdp::CallError;
use bathy_cdp::protocol::FrameId;
use bathy_cdp::protocol::dom::{GetBoxModel, GetFrameOwner};
use futures::future::join_all;

use crate::Deadline;
use crate::geometry::{Map, Size};
use crate::tab::FrameState;
use crate::world::WorldError;

/// What the browser says of an element that has no place in layout.
const NO_LAYOUT: &str = "box model";
/// How far the fourth corner of a quad may be from where the other three say, in CSS pixels.
const ROUNDING: f64 = 1.0;

/// The frames of a page, two commands for each.
#[derive(Debug)]
pub(crate) struct Chart {
    frames: HashMap<FrameId, Charted>,
}

#[derive(Debug)]
struct Charted {
    /// The frame in whose viewport it is drawn: the topmost one that the parent's process draws. None for the main frame.
    surface: Option<FrameId>,
    drawn: Drawn,
}

/// What is known of how a frame is drawn.
#[derive(Debug)]
enum Drawn {
    /// Its viewport's corners on its surface, clockwise.
    Quad([f64; 8]),
    Nowhere,
    Unknown,
}

impl Chart {
    /// Asks where frames are. Their parents must be among them.
    pub(crate) async fn of(frames: &[FrameState], deadline: Deadline) -> Self {
        let known: HashMap<&FrameId, &FrameState> = frames.iter().map(|frame| (&frame.id, frame)).collect();
        let parent = |frame: &FrameState| frame.parent.as_ref().and_then(|id| known.get(id).copied());
        let charted = frames.iter().map(|frame| async move {
            let Some(holder) = parent(frame) else {
                // A frame whose parent is not known cannot be placed.
                let drawn = if frame.parent.is_some() { Drawn::Unknown } else { Drawn::Nowhere };
                return (frame.id.clone(), Charted { surface: None, drawn });
            };
            let mut surface = holder;
            while let Some(outer) = parent(surface).filter(|outer| outer.session.id() == surface.session.id()) {
                surface = outer;
            }
            let drawn = drawn(frame, holder, deadline).await.unwrap_or(Drawn::Unknown);
            (frame.id.clone(), Charted { surface: Some(surface.id.clone()), drawn })
        });
        Self { frames: join_all(charted).await.into_iter().collect() }
    }

    /// Whether nothing of a frame is in any picture, as far as is known.
    pub(crate) fn is_nowhere(&self, id: &FrameId) -> bool {
        self.surfaces(id).any(|charted| charted.surface.is_some() && matches!(charted.drawn, Drawn::Nowhere))
    }

    /// From a frame's viewport to the page's. None where that is not known, or no affine map.
    pub(crate) fn map(&self, id: &FrameId, sizes: &HashMap<FrameId, Size>) -> Option<Map> {
        let mut map = Map::SAME;
        let mut id = id;
        for charted in self.surfaces(id) {
            let (Some(surface), Drawn::Quad(quad)) = (&charted.surface, &charted.drawn) else {
                return (charted.surface.is_none() && !matches!(charted.drawn, Drawn::Unknown)).then_some(map);
            };
            map = map.then(&Map::onto(quad, *sizes.get(id)?));
            id = surface;
        }
        None
    }

    /// The frame and those on whose viewports it is drawn, innermost first.
    fn surfaces<'a>(&'a self, id: &'a FrameId) -> impl Iterator<Item = &'a Charted> {
        std::iter::successors(self.frames.get(id), |charted| self.frames.get(charted.surface.as_ref()?))
    }
}

async fn drawn(frame: &FrameState, holder: &FrameState, deadline: Deadline) -> Result<Drawn, WorldError> {
    let owner = GetFrameOwner { frame_id: frame.id.clone() };
    let node = holder.session.call(owner, deadline.remaining()).await?.backend_node_id;
    let boxes = GetBoxModel { backend_node_id: Some(node) };
    let quad = match holder.session.call(boxes, deadline.remaining()).await {
        Ok(boxes) => boxes.model.content,
        Err(CallError::Refused { message, .. }) if message.contains(NO_LAYOUT) => return Ok(Drawn::Nowhere),
        Err(error) => return Err(error.into()),
    };
    let Ok(quad) = <[f64; 8]>::try_from(quad) else { return Ok(Drawn::Unknown) };
    let [left, top, right, right_top, far, far_top, bottom, bottom_left] = quad;
    let (width, height) = ((right - left).hypot(right_top - top), (bottom - left).hypot(bottom_left - top));
    if width < 1.0 || height < 1.0 {
        return Ok(Drawn::Nowhere);
    }
    let off = (right + bottom - left - far).abs().max((right_top + bottom_left - top - far_top).abs());
    Ok(if off > ROUNDING { Drawn::Unknown } else { Drawn::Quad(quad) })
}
