//! JavaScript dialogs as state.

use bathy_cdp::protocol::page::DialogType;

/// A dialog that a page has opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dialog {
    /// Its kind.
    pub kind: DialogKind,
    /// What it says; raw text of the page.
    pub message: String,
    /// The text that a prompt proposes.
    pub default_text: Option<String>,
    /// Whether it was closed by itself, as an alert is.
    pub closed: bool,
}

/// A kind of dialog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DialogKind {
    /// `alert()`: closed at once and reported.
    Alert,
    /// `confirm()`.
    Confirm,
    /// `prompt()`.
    Prompt,
    /// A page that asks to stay.
    BeforeUnload,
}

impl DialogKind {
    /// The word of the web platform for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Alert => "alert",
            Self::Confirm => "confirm",
            Self::Prompt => "prompt",
            Self::BeforeUnload => "beforeunload",
        }
    }
}

impl From<DialogType> for DialogKind {
    fn from(kind: DialogType) -> Self {
        match kind {
            DialogType::Alert => Self::Alert,
            DialogType::Prompt => Self::Prompt,
            DialogType::BeforeUnload => Self::BeforeUnload,
            DialogType::Confirm | DialogType::Other => Self::Confirm,
        }
    }
}
