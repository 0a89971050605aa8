//! The pointer: where it goes, what it would meet there, and the buttons.

use std::time::Duration;

use bathy_cdp::Session;
use bathy_cdp::protocol::input::{DispatchMouseEvent, MouseButton, MouseEventType};
use tokio::time::Instant;

use super::delivery::{Delivery, deliver};
use super::place::{Met, Place, Surroundings};
use super::target::{Aim, Point, Ready};
use super::{Acted, Button, ClickOptions, Modifiers, Target};
use crate::{Deadline, Error, Tab};

/// How long a cover that is on its way out is waited for.
const COVER_LEAVES: Duration = Duration::from_millis(330);
/// How long a frame of another process is waited for to be where it was scrolled to, for the browser too.
const FRAME_ARRIVES: Duration = Duration::from_secs(1);
/// How often a covered place is looked at again.
const LOOK_AGAIN: Duration = Duration::from_millis(25);
/// How far from the element the first of two moves ends, in CSS pixels.
const APPROACH: f64 = 3.0;

impl Tab {
    /// Moves the pointer over an element.
    ///
    /// # Errors
    /// As [`Tab::click`].
    pub async fn hover(&self, target: &Target, deadline: Deadline) -> Result<Acted, Error> {
        self.enter(deadline).await?;
        let aim = Aim::take(self, target, deadline).await?;
        let (mut before, ready) = aim.approach("hover", deadline).await?;
        let reached = Reach { action: "hover", guard: false, modifiers: Modifiers::default() };
        let ready = reached.go(&aim, ready, deadline).await?;
        before.note_followed(ready.followed.as_deref());
        self.after(before, deadline).await
    }
}

/// A way of the pointer to an element.
pub(super) struct Reach {
    pub(super) action: &'static str,
    /// Whether the press that follows is watched over.
    pub(super) guard: bool,
    pub(super) modifiers: Modifiers,
}

/// The pointer is over the element.
pub(super) struct Reached {
    pub(super) place: Place,
    pub(super) followed: Option<String>,
}

impl Reach {
    /// Moves the pointer to an element and makes sure that it meets the element there. What opens under the
    /// pointer is gone round where a part of the element stays free.
    pub(super) async fn go(&self, aim: &Aim<'_>, ready: Ready, deadline: Deadline) -> Result<Reached, Error> {
        let surroundings = Surroundings::of(aim, deadline).await?;
        let patience = Instant::now() + COVER_LEAVES;
        let arrival = Instant::now() + FRAME_ARRIVES;
        let mut ready = ready;
        let mut here = None;
        loop {
            let place = surroundings.place(ready.point, deadline).await?;
            // Over a known cover the pointer does not go: a notice may stay for as long as the pointer is over it.
            if ready.clear {
                self.travel(aim.tab, here, place.on_page(), deadline).await?;
                here = Some(place.on_page());
            }
            match surroundings.meet(aim, &place, self.guard, deadline).await? {
                Met::Target if ready.clear => {
                    // A page may well keep the pointer's moves from us.
                    if surroundings.pointed(&place, deadline).await? || Instant::now() >= arrival {
                        return Ok(Reached { place, followed: ready.followed });
                    }
                    here = None;
                    deadline.bound("the frame", tokio::time::sleep(LOOK_AGAIN)).await?;
                }
                Met::Cover(cover) if Instant::now() >= patience => {
                    return Err(Error::Obscured { target: aim.name(), cover });
                }
                // It has just become free, or may be soon.
                Met::Target => {}
                Met::Cover(_) => {
                    deadline.bound("the cover", tokio::time::sleep(LOOK_AGAIN)).await?;
                }
            }
            let followed = ready.followed;
            ready = aim.prepare(self.action, deadline).await?;
            ready.followed = ready.followed.or(followed);
        }
    }

    async fn travel(&self, tab: &Tab, from: Option<Point>, to: Point, deadline: Deadline) -> Result<(), Error> {
        let near = Point { x: (to.x - APPROACH).max(0.0), y: (to.y - APPROACH).max(0.0) };
        let first = async {
            match from {
                Some(_) => Ok(Delivery::Arrived),
                None => deliver(tab, moved(near, None, self.modifiers), deadline).await,
            }
        };
        let (first, second) = futures::join!(first, deliver(tab, moved(to, None, self.modifiers), deadline));
        match (first?, second?) {
            (Delivery::Arrived, Delivery::Arrived) => Ok(()),
            _ => Err(tab.interruption()),
        }
    }
}

/// A button that is down. Dropped, it is let go.
pub(super) struct Pressed {
    page: Session,
    release: Option<DispatchMouseEvent>,
}

impl Pressed {
    /// Presses the first button.
    pub(super) async fn press(tab: &Tab, at: Point, deadline: Deadline) -> Result<(Self, Delivery), Error> {
        let [press, release] = press_and_release(at, ClickOptions::default(), 1);
        let pressed = Self { page: tab.page().clone(), release: Some(release) };
        let delivery = deliver(tab, press, deadline).await?;
        Ok((pressed, delivery))
    }

    /// Moves with the button down.
    pub(super) async fn drag_to(&mut self, tab: &Tab, at: Point, deadline: Deadline) -> Result<Delivery, Error> {
        if let Some(release) = &mut self.release {
            (release.x, release.y) = (at.x, at.y);
        }
        deliver(tab, moved(at, Some(Button::Left), Modifiers::default()), deadline).await
    }

    /// Lets the button go.
    pub(super) async fn release(mut self, tab: &Tab, deadline: Deadline) -> Result<Delivery, Error> {
        match self.release.take() {
            Some(release) => deliver(tab, release, deadline).await,
            None => Ok(Delivery::Arrived),
        }
    }
}

impl Drop for Pressed {
    fn drop(&mut self) {
        if let Some(release) = &self.release {
            self.page.send(release);
        }
    }
}

/// Presses a button and lets it go, for the `count`th time in a row. Both are sent at once, so that whoever drops
/// the call leaves no button down.
pub(super) async fn click(
    tab: &Tab,
    at: Point,
    options: ClickOptions,
    count: u32,
    deadline: Deadline,
) -> Result<Delivery, Error> {
    let [press, release] = press_and_release(at, options, count).map(|event| deliver(tab, event, deadline));
    let (down, up) = futures::join!(press, release);
    Ok(if down? == Delivery::Interrupted { Delivery::Interrupted } else { up? })
}

fn press_and_release(at: Point, options: ClickOptions, count: u32) -> [DispatchMouseEvent; 2] {
    let ClickOptions { button, modifiers, .. } = options;
    let steps = [(MouseEventType::MousePressed, button.bit()), (MouseEventType::MouseReleased, 0)];
    steps.map(|(kind, buttons)| DispatchMouseEvent {
        r#type: kind,
        x: at.x,
        y: at.y,
        modifiers: Some(modifiers.bits()),
        button: Some(button.word()),
        buttons: Some(buttons),
        click_count: Some(count),
        ..DispatchMouseEvent::default()
    })
}

fn moved(to: Point, held: Option<Button>, modifiers: Modifiers) -> DispatchMouseEvent {
    DispatchMouseEvent {
        r#type: MouseEventType::MouseMoved,
        x: to.x,
        y: to.y,
        modifiers: Some(modifiers.bits()),
        button: Some(held.map_or(MouseButton::None, Button::word)),
        buttons: Some(held.map_or(0, Button::bit)),
        ..DispatchMouseEvent::default()
    }
}

impl Button {
    fn word(self) -> MouseButton {
        match self {
            Self::Left => MouseButton::Left,
            Self::Middle => MouseButton::Middle,
            Self::Right => MouseButton::Right,
        }
    }

    fn bit(self) -> u32 {
        match self {
            Self::Left => 1,
            Self::Right => 2,
            Self::Middle => 4,
        }
    }
}
