//! Dragging: by the pointer in several steps, and HTML drag and drop, whose events the browser sends.

use std::time::Duration;

use bathy_cdp::Session;
use bathy_cdp::protocol::input::{DispatchDragEvent, DragData, DragEventType, SetInterceptDrags};

use super::delivery::{Delivery, deliver};
use super::place::{Met, Place, Surroundings};
use super::pointer::{Pressed, Reach};
use super::settle::Press;
use super::target::{Aim, Point, Ready};
use super::{Acted, Modifiers, Target};
use crate::tab::PageState;
use crate::{Deadline, Error, Tab};

/// Moves between the press and the drop.
const STEPS: u32 = 8;
/// How far the pointer moves first, so that the page takes it for a drag, in CSS pixels.
const START: f64 = 12.0;
/// How long the browser may take to say that a drag began.
const BEGINS: Duration = Duration::from_millis(120);
/// Where on the target it ends, from its near edge: past the middle, so that a list takes it for the place behind.
const PAST_MIDDLE: f64 = 0.7;

impl Tab {
    /// Drags one element onto another and lets it go there, beyond the middle as seen from where it came.
    ///
    /// # Errors
    /// As [`Tab::click`].
    pub async fn drag(&self, from: &Target, to: &Target, deadline: Deadline) -> Result<Acted, Error> {
        self.enter(deadline).await?;
        let source = Aim::take(self, from, deadline).await?;
        let target = Aim::take(self, to, deadline).await?;
        let mut before = self.before(Some(&source.frame), deadline).await;
        // Both must be in view, as far as that is possible: the source is looked at last, so that it is for sure.
        let over = target.prepare("hover", deadline).await?;
        Surroundings::of(&target, deadline).await?.place(over.point, deadline).await?;
        let ready = source.prepare("drag", deadline).await?;
        let reach = Reach { action: "drag", guard: true, modifiers: Modifiers::default() };
        let start = reach.go(&source, ready, deadline).await?;
        before.note_followed(start.followed.as_deref());
        let end = destination(&target, &start.place, deadline).await?;
        source.check_document()?;
        carry(self, start.place.on_page(), end, deadline).await?;
        if let Press::Elsewhere(cover) = self.settle(&mut before, deadline).await? {
            return Err(Error::Obscured { target: source.name(), cover });
        }
        self.tell(before, deadline).await
    }
}

/// Where on the target the drag ends, once nothing has to be scrolled any more.
async fn destination(target: &Aim<'_>, start: &Place, deadline: Deadline) -> Result<Point, Error> {
    let Ready { rect, point, .. } = target.prepare("hover", deadline).await?;
    let surroundings = Surroundings::of(target, deadline).await?;
    let middle = surroundings.place(rect.centre(), deadline).await?.on_page();
    let from = start.on_page();
    let (right, down) = (middle.x - from.x, middle.y - from.y);
    let beyond =
        |low: f64, length: f64, way: f64| low + length * if way > 0.0 { PAST_MIDDLE } else { 1.0 - PAST_MIDDLE };
    let wanted = if down.abs() >= right.abs() {
        Point { x: rect.centre().x, y: beyond(rect.y, rect.height, down) }
    } else {
        Point { x: beyond(rect.x, rect.width, right), y: rect.centre().y }
    };
    for point in [wanted, point] {
        let place = surroundings.place(point, deadline).await?;
        if matches!(surroundings.meet(target, &place, false, deadline).await?, Met::Target) {
            return Ok(place.on_page());
        }
    }
    Ok(surroundings.place(point, deadline).await?.on_page())
}

/// Presses at one point, moves, and lets go at another.
async fn carry(tab: &Tab, from: Point, to: Point, deadline: Deadline) -> Result<Delivery, Error> {
    let intercept = Intercept::begin(tab, deadline).await?;
    let begun = tab.state().borrow().drags.total();
    let (mut pressed, down) = Pressed::press(tab, from, deadline).await?;
    if down == Delivery::Interrupted {
        return Ok(down);
    }
    let length = (to.x - from.x).hypot(to.y - from.y).max(1.0);
    let start = (START / length).min(1.0);
    let path = (0..=STEPS).map(|step| {
        let share = start + (1.0 - start) * f64::from(step) / f64::from(STEPS);
        Point { x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share }
    });
    let mut dragged: Option<DragData> = None;
    for (step, at) in path.enumerate() {
        if let Some(data) = &dragged {
            let kind = if step == 1 { DragEventType::DragEnter } else { DragEventType::DragOver };
            if carried(tab, kind, at, data, deadline).await? == Delivery::Interrupted {
                return Ok(Delivery::Interrupted);
            }
            continue;
        }
        if pressed.drag_to(tab, at, deadline).await? == Delivery::Interrupted {
            return Ok(Delivery::Interrupted);
        }
        if step == 0 {
            dragged = began(tab, begun, deadline).await;
        }
    }
    if let Some(data) = &dragged {
        // A list may have moved under the pointer: where it is now is entered once more.
        carried(tab, DragEventType::DragOver, to, data, deadline).await?;
        carried(tab, DragEventType::Drop, to, data, deadline).await?;
    } else {
        pressed.drag_to(tab, to, deadline).await?;
    }
    let released = pressed.release(tab, deadline).await;
    drop(intercept);
    released
}

/// What is dragged, where the page began an HTML drag.
async fn began(tab: &Tab, begun: u64, deadline: Deadline) -> Option<DragData> {
    let started = |state: &PageState| state.drags.total() > begun;
    tab.until("the drag", deadline.at_most(BEGINS), started).await.ok()?;
    tab.state().borrow().drags.since(begun).last().cloned()
}

async fn carried(
    tab: &Tab,
    kind: DragEventType,
    at: Point,
    data: &DragData,
    deadline: Deadline,
) -> Result<Delivery, Error> {
    let event = DispatchDragEvent { r#type: kind, x: at.x, y: at.y, data: data.clone(), modifiers: None };
    deliver(tab, event, deadline).await
}

/// While it lives, the browser reports drags instead of handing them to the system.
struct Intercept(Session);

impl Intercept {
    async fn begin(tab: &Tab, deadline: Deadline) -> Result<Self, Error> {
        tab.page().call(SetInterceptDrags { enabled: true }, deadline.remaining()).await?;
        Ok(Self(tab.page().clone()))
    }
}

impl Drop for Intercept {
    fn drop(&mut self) {
        self.0.send(&SetInterceptDrags { enabled: false });
    }
}
