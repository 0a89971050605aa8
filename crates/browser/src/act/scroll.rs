//! Scrolling: by the wheel, which needs no focus, or to an end or an element.

use bathy_cdp::protocol::input::{DispatchMouseEvent, MouseEventType};
use serde::Deserialize;
use serde_json::{Value, json};

use super::delivery::deliver;
use super::place::Surroundings;
use super::target::{Aim, Point};
use super::{Acted, ScrollDirection, ScrollPosition, Target};
use crate::{Deadline, Error, Tab};

/// The farthest that one call scrolls, in CSS pixels.
const FARTHEST: f64 = 1_000_000.0;

/// Where the wheel goes and what it would scroll.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wheel {
    point_x: f64,
    point_y: f64,
    /// Most of a view.
    step: f64,
    #[serde(flatten)]
    position: ScrollPosition,
}

#[derive(Deserialize)]
struct Scrolled {
    moved: bool,
    #[serde(flatten)]
    position: ScrollPosition,
}

impl Tab {
    /// Scrolls the page, or what is inside of an element, by so many CSS pixels (most of a viewport when
    /// absent). With a target and no direction the target is brought into view.
    ///
    /// # Errors
    /// As [`Tab::click`]; [`Error::InvalidArgument`] for an amount that is no sensible number of pixels, or
    /// without a direction and a target.
    pub async fn scroll(
        &self,
        direction: Option<ScrollDirection>,
        amount: Option<f64>,
        target: Option<&Target>,
        deadline: Deadline,
    ) -> Result<(Acted, ScrollPosition), Error> {
        if let Some(amount) = amount.filter(|amount| !(0.0..=FARTHEST).contains(amount)) {
            return Err(Error::InvalidArgument(format!("an amount is 0 to {FARTHEST} CSS pixels, not {amount}")));
        }
        self.enter(deadline).await?;
        let root = Target::Selector(":root".to_owned());
        let aim = Aim::take(self, target.unwrap_or(&root), deadline).await?;
        let mut before = self.before(Some(&aim.frame), deadline).await;
        // Without a target it is the page that scrolls, or what fills it.
        let id = target.map_or(Value::Null, |_| json!(aim.id));
        let position = match direction {
            None if target.is_none() => {
                return Err(Error::InvalidArgument("give a direction or an element to scroll to".to_owned()));
            }
            None => {
                let ready = aim.prepare("scroll", deadline).await?;
                before.note_followed(ready.followed.as_deref());
                Surroundings::of(&aim, deadline).await?.place(ready.point, deadline).await?;
                by_script(&aim, &id, "down", Some(0.0), deadline).await?.position
            }
            Some(direction @ (ScrollDirection::Top | ScrollDirection::Bottom)) => {
                by_script(&aim, &id, direction.word(), None, deadline).await?.position
            }
            Some(direction) => by_wheel(&aim, &id, direction, amount, deadline).await?,
        };
        Ok((self.after(before, deadline).await?, position))
    }
}

async fn by_wheel(
    aim: &Aim<'_>,
    id: &Value,
    direction: ScrollDirection,
    amount: Option<f64>,
    deadline: Deadline,
) -> Result<ScrollPosition, Error> {
    let word = direction.word();
    let wheel: Wheel = aim.call("scrollPoint", &json!({ "id": id, "direction": word }), deadline).await?;
    let distance = amount.unwrap_or(wheel.step);
    // At its end the wheel would scroll what is around it.
    if direction.at_end(&wheel.position) && !id.is_null() {
        return Ok(wheel.position);
    }
    let point = Point { x: wheel.point_x, y: wheel.point_y };
    let at = Surroundings::of(aim, deadline).await?.place(point, deadline).await?.on_page();
    let (right, down) = direction.towards();
    let turn = DispatchMouseEvent {
        r#type: MouseEventType::MouseWheel,
        x: at.x,
        y: at.y,
        delta_x: Some(right * distance),
        delta_y: Some(down * distance),
        ..DispatchMouseEvent::default()
    };
    deliver(aim.tab, turn, deadline).await?;
    let from = json!({ "id": id, "direction": word, "x": wheel.position.x, "y": wheel.position.y });
    let scrolled: Scrolled = aim.call("scrolled", &from, deadline).await?;
    if scrolled.moved || direction.at_end(&wheel.position) {
        return Ok(scrolled.position);
    }
    // Something that takes the wheel lies over it, or the page swallows the wheel.
    Ok(by_script(aim, id, word, Some(distance), deadline).await?.position)
}

async fn by_script(
    aim: &Aim<'_>,
    id: &Value,
    direction: &str,
    amount: Option<f64>,
    deadline: Deadline,
) -> Result<Scrolled, Error> {
    aim.call("scroll", &json!({ "id": id, "direction": direction, "amount": amount }), deadline).await
}

impl ScrollDirection {
    fn word(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
            Self::Left => "left",
            Self::Right => "right",
            Self::Top => "top",
            Self::Bottom => "bottom",
        }
    }

    /// A step in this direction: to the right, downwards.
    fn towards(self) -> (f64, f64) {
        match self {
            Self::Up | Self::Top => (0.0, -1.0),
            Self::Down | Self::Bottom => (0.0, 1.0),
            Self::Left => (-1.0, 0.0),
            Self::Right => (1.0, 0.0),
        }
    }

    /// Whether there is nothing farther in this direction. Positions may be fractions of a pixel short of it.
    fn at_end(self, position: &ScrollPosition) -> bool {
        match self {
            Self::Up | Self::Top => position.y < 1.0,
            Self::Down | Self::Bottom => position.y > position.max_y - 1.0,
            Self::Left => position.x < 1.0,
            Self::Right => position.x > position.max_x - 1.0,
        }
    }
}
