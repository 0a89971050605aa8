//! Scrolls.

use bathy_browser::{ScrollDirection, ScrollPosition, Target};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Failure;
use crate::action::Call;
use crate::answer::Text;
use crate::changes::ChangesView;
use crate::target::RefArgument;
use crate::tool::{About, Common, Effect, Output, PageTool, Tool};

struct Scroll;

inventory::submit!(Tool::in_session::<Scroll>());

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Params {
    direction: Option<Direction>,
    /// Pixels.
    #[schemars(range(min = 1, max = 1_000_000))]
    amount: Option<f64>,
    /// Scroll in it; without direction, to it.
    r#ref: Option<RefArgument>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Direction {
    Up,
    Down,
    Left,
    Right,
    Top,
    Bottom,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Scrolled {
    url: String,
    title: String,
    position: Position,
    #[serde(skip_serializing_if = "ChangesView::is_empty")]
    changes: ChangesView,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Position {
    x: f64,
    y: f64,
    max_x: f64,
    max_y: f64,
}

impl From<ScrollPosition> for Position {
    fn from(position: ScrollPosition) -> Self {
        Self { x: position.x, y: position.y, max_x: position.max_x, max_y: position.max_y }
    }
}

impl From<Direction> for ScrollDirection {
    fn from(direction: Direction) -> Self {
        match direction {
            Direction::Up => Self::Up,
            Direction::Down => Self::Down,
            Direction::Left => Self::Left,
            Direction::Right => Self::Right,
            Direction::Top => Self::Top,
            Direction::Bottom => Self::Bottom,
        }
    }
}

impl PageTool for Scroll {
    const ABOUT: About = About {
        name: "browser_scroll",
        aliases: &[],
        title: "Scroll",
        description: "Scrolls the page or an element.",
        effect: Effect::Act,
        idempotent: false,
        verb: "scroll",
        example: r#"{"direction": "down"}"#,
        everyday: true,
        common: Common::Page,
    };
    type Params = Params;
    type Output = Scrolled;

    async fn run(call: Call, params: Params) -> Result<Scrolled, Failure> {
        if params.direction.is_none() && params.r#ref.is_none() {
            return Err(Failure::invalid("neither `direction` nor `ref` is given")
                .with_hint("Give `direction` to scroll the page, or `ref` to bring an element into view."));
        }
        let direction = params.direction.map(ScrollDirection::from);
        let target = params.r#ref.map(|reference| Target::Ref(reference.0));
        let tab = call.tab().await?;
        let (acted, position) = tab.scroll(direction, params.amount, target.as_ref(), call.deadline()).await?;
        Ok(Scrolled { url: acted.url, title: acted.title, position: position.into(), changes: acted.changes.into() })
    }
}

impl Output for Scrolled {
    fn write(&self, text: &mut Text) {
        let Position { x, y, max_x, max_y } = &self.position;
        text.fact("position", format_args!("{y:.0} of {max_y:.0} px down, {x:.0} of {max_x:.0} px right"));
        if !self.changes.is_empty() {
            self.changes.write_facts(text);
        }
        text.page(&self.url, &self.title);
        self.changes.write_page(text);
    }
}
