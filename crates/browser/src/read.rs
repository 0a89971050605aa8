//! Reading a page: outline and text.

use std::fmt;
use std::str::FromStr;

use crate::{Deadline, Error, Tab};

/// A handle for one element of one document, written `@e12`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ref(u32);

impl Ref {
    pub(crate) fn new(number: u32) -> Self {
        Self(number)
    }

    pub(crate) fn number(self) -> u32 {
        self.0
    }
}

impl fmt::Display for Ref {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@e{}", self.0)
    }
}

impl FromStr for Ref {
    type Err = Error;

    /// Takes `@e12`, and `e12` since models drop the sign.
    fn from_str(text: &str) -> Result<Self, Error> {
        let digits = text
            .trim()
            .strip_prefix('@')
            .unwrap_or(text.trim())
            .strip_prefix('e');
        digits
            .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
            .and_then(|digits| digits.parse().ok())
            .map(Self)
            .ok_or_else(|| {
                Error::InvalidArgument(format!(
                    "`{}` is not a ref such as @e12",
                    text.escape_debug()
                ))
            })
    }
}

/// What to outline.
#[derive(Debug, Clone, Default)]
pub struct OutlineOptions {
    /// Only what is inside of this element.
    pub reference: Option<Ref>,
    /// How many levels.
    pub depth: Option<u32>,
    /// Only what can be acted on.
    pub interactive: bool,
    /// Where an earlier outline ended.
    pub cursor: Option<String>,
    /// The most characters.
    pub max_chars: usize,
}

/// An outline: lines of ours, in which strings of the page are quoted and escaped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outline {
    /// The URL of the document.
    pub url: String,
    /// Its title, raw text of the page.
    pub title: String,
    /// The lines.
    pub text: String,
    /// Whether something was left out.
    pub truncated: bool,
    /// Where to go on.
    pub cursor: Option<String>,
}

/// A way to write text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TextFormat {
    /// Plain.
    #[default]
    Text,
    /// Markdown.
    Markdown,
}

/// What text to read.
#[derive(Debug, Clone, Default)]
pub struct TextOptions {
    /// How it is written.
    pub format: TextFormat,
    /// Only what is inside of this element.
    pub reference: Option<Ref>,
    /// Where an earlier reading ended.
    pub cursor: Option<String>,
    /// The most characters.
    pub max_chars: usize,
}

/// Visible text in reading order; raw text of the page without control and invisible characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageText {
    /// The URL of the document.
    pub url: String,
    /// Its title, raw text of the page.
    pub title: String,
    /// The text.
    pub text: String,
    /// Whether something was left out.
    pub truncated: bool,
    /// Where to go on.
    pub cursor: Option<String>,
}

impl Tab {
    /// Outlines the page and the frames in it.
    ///
    /// # Errors
    /// [`Error::DialogOpen`], [`Error::TimedOut`], [`Error::OffPolicy`], [`Error::RefStale`], [`Error::PageGone`].
    pub async fn outline(
        &self,
        _options: OutlineOptions,
        _deadline: Deadline,
    ) -> Result<Outline, Error> {
        todo!()
    }

    /// Reads the visible text of the page and the frames in it.
    ///
    /// # Errors
    /// As [`Tab::outline`].
    pub async fn text(
        &self,
        _options: TextOptions,
        _deadline: Deadline,
    ) -> Result<PageText, Error> {
        todo!()
    }
}
