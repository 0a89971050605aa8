//! Acting on a page as a person would, and saying what came of it.

mod answer;
mod area;
mod before;
mod click;
mod delivery;
mod drag;
mod fill;
mod keyboard;
mod keys;
mod place;
mod pointer;
mod scroll;
mod secret;
mod select;
mod settle;
mod target;
mod tell;
mod upload;

pub(crate) use before::Interrupted;
pub(crate) use delivery::unless_interrupted;
pub use keys::Key;
pub use secret::FieldValue;

use crate::{Dialog, Error, Ref, TabSummary};

/// What an action is aimed at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// An element that was shown before.
    Ref(Ref),
    /// The first visible element of the main frame, or else of any frame, that matches a CSS selector.
    Selector(String),
}

/// A mouse button.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Button {
    /// The first.
    #[default]
    Left,
    /// The wheel.
    Middle,
    /// The second.
    Right,
}

/// Modifier keys that are held.
#[expect(clippy::struct_excessive_bools, reason = "each key is held or not, whatever the others are")]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Modifiers {
    /// Alt, or Option.
    pub alt: bool,
    /// Control.
    pub control: bool,
    /// Meta: Command, or the Windows key.
    pub meta: bool,
    /// Shift.
    pub shift: bool,
}

/// How to click.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClickOptions {
    /// The button.
    pub button: Button,
    /// 1 for a click, 2 for a double click, up to 3.
    pub count: u32,
    /// Held keys.
    pub modifiers: Modifiers,
}

impl Default for ClickOptions {
    fn default() -> Self {
        Self { button: Button::Left, count: 1, modifiers: Modifiers::default() }
    }
}

/// How to fill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FillOptions {
    /// Whether what is there goes first.
    pub clear: bool,
    /// Whether each character is a key press of its own.
    pub keys: bool,
}

impl Default for FillOptions {
    fn default() -> Self {
        Self { clear: true, keys: false }
    }
}

/// Which way to scroll.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScrollDirection {
    /// Towards the start.
    Up,
    /// Towards the end.
    Down,
    /// To the left.
    Left,
    /// To the right.
    Right,
    /// To the very start.
    Top,
    /// To the very end.
    Bottom,
}

/// What an action changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// The new URL, where it changed.
    pub url: Option<String>,
    /// HTTP status of the new document.
    pub status_code: Option<u16>,
    /// Tabs that opened.
    pub new_tabs: Vec<TabSummary>,
    /// The tab itself was closed.
    pub tab_closed: bool,
    /// Dialogs that opened: alerts closed by themselves, or the one that is open now.
    pub dialogs: Vec<Dialog>,
    /// Names of downloads that began, raw text of the page.
    pub downloads: Vec<String>,
    /// A file chooser was asked for; it did not open.
    pub file_chooser: bool,
    /// Outline lines that came (`+ `) or went (`- `), bounded.
    pub outline: Vec<String>,
    /// How many more lines changed than are listed.
    pub more_outline: usize,
    /// The page was still busy when the budget for settling ended.
    pub still_busy: bool,
    /// Remarks of ours, such as that a ref was followed to its twin.
    pub notes: Vec<String>,
}

/// The page after an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Acted {
    /// Its URL.
    pub url: String,
    /// Its title, raw text of the page.
    pub title: String,
    /// What changed.
    pub changes: Changes,
}

/// The page after a field was filled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filled {
    /// The page.
    pub acted: Acted,
    /// What the field holds now, raw text of the page.
    pub value: String,
}

/// The page after a form was filled.
#[derive(Debug, Clone)]
pub struct FormFilled {
    /// The page.
    pub acted: Acted,
    /// What each field holds now, raw text of the page, or why it could not be filled; in the order given.
    pub fields: Vec<Result<String, Error>>,
}

/// The page after options were selected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selected {
    /// The page.
    pub acted: Acted,
    /// Labels of what is selected now, raw text of the page.
    pub selected: Vec<String>,
}

/// Where a scroll ended, in CSS pixels.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ScrollPosition {
    /// From the left.
    pub x: f64,
    /// From the top.
    pub y: f64,
    /// The farthest `x`.
    pub max_x: f64,
    /// The farthest `y`.
    pub max_y: f64,
}
