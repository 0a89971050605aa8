//! Reading a page: outline and text.

use std::fmt;
use std::str::FromStr;

use crate::page::cursors::Continuation;
use crate::page::outline::{Look, Place};
use crate::page::{outline, text};
use crate::tab::FrameState;
use crate::world::WorldError;
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
        let digits = text.trim().strip_prefix('@').unwrap_or(text.trim()).strip_prefix('e');
        digits
            .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
            .and_then(|digits| digits.parse().ok())
            .map(Self)
            .ok_or_else(|| Error::InvalidArgument(format!("`{}` is not a ref such as @e12", text.escape_debug())))
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

/// What matters on a page now: what is in view and can be acted on, topmost layer first, and what changed since the last look;
/// lines as those of an [`Outline`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observation {
    /// The URL of the document.
    pub url: String,
    /// Its title, raw text of the page.
    pub title: String,
    /// The lines.
    pub text: String,
    /// Whether something was left out.
    pub truncated: bool,
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
    /// [`Error::DialogOpen`], [`Error::TimedOut`], [`Error::OffPolicy`], [`Error::NoSuchElement`],
    /// [`Error::RefStale`], [`Error::InvalidArgument`] for a cursor that is not known, [`Error::PageGone`].
    pub async fn outline(&self, options: OutlineOptions, deadline: Deadline) -> Result<Outline, Error> {
        self.enter(deadline).await?;
        let start = self.start(options.reference, options.cursor.as_deref(), deadline).await?;
        let request = outline::Request {
            id: start.id,
            depth: options.depth,
            interactive: options.interactive,
            max_chars: options.max_chars,
            from: start.from,
            fold: start.fold,
            ..outline::Request::default()
        };
        let place = start.place();
        let reading = outline::read(self, start.frame, request, None, 0, deadline);
        let mut reading = deadline
            .bound("the outline", reading)
            .await?
            .map_err(|error| read_error(error, options.reference, deadline))?;
        let cursor = match reading.next.take() {
            None => None,
            Some(next) => {
                let continuation = Continuation { place, id: start.id, from: next.from, fold: Some(next.fold) };
                let cursor = self.cursors().lock().await.name(continuation);
                let some = if next.at_least { "at least " } else { "" };
                reading.lines.push(format!("… {some}{} more nodes; continue with cursor {cursor}", next.nodes));
                Some(cursor)
            }
        };
        let (url, title) = self.entry(deadline.with_grace()).await?;
        let truncated = reading.truncated || cursor.is_some();
        Ok(Outline { url, title, text: reading.lines.join("\n"), truncated, cursor })
    }

    /// Tells what matters on the page now, in at most `max_chars` characters: of what is in view, or of the whole page where it
    /// is to be `full`.
    ///
    /// # Errors
    /// As [`Tab::outline`].
    pub async fn observe(&self, full: bool, max_chars: usize, deadline: Deadline) -> Result<Observation, Error> {
        self.enter(deadline).await?;
        let request = outline::Request { look: Look::Observation, full, max_chars, ..outline::Request::default() };
        let frame = self.state().borrow().main_frame().clone();
        let reading = outline::read(self, frame, request, None, 0, deadline);
        let reading = deadline.bound("the observation", reading).await?;
        let reading = reading.map_err(|error| error.about_page(deadline))?;
        let (url, title) = self.entry(deadline.with_grace()).await?;
        Ok(Observation { url, title, text: reading.lines.join("\n"), truncated: reading.truncated })
    }

    /// Reads the visible text of the page and the frames in it.
    ///
    /// # Errors
    /// As [`Tab::outline`].
    pub async fn text(&self, options: TextOptions, deadline: Deadline) -> Result<PageText, Error> {
        self.enter(deadline).await?;
        let start = self.start(options.reference, options.cursor.as_deref(), deadline).await?;
        let request = text::Request {
            id: start.id,
            format: match options.format {
                TextFormat::Text => "text",
                TextFormat::Markdown => "markdown",
            },
            max_chars: options.max_chars,
            offset: start.from.unwrap_or_default(),
        };
        let place = start.place();
        let reading = text::read(self, start.frame, request, 0, deadline);
        let reading = deadline
            .bound("the text", reading)
            .await?
            .map_err(|error| read_error(error, options.reference, deadline))?;
        let cursor = match reading.next {
            None => None,
            Some(from) => {
                let continuation = Continuation { place, id: start.id, from, fold: None };
                Some(self.cursors().lock().await.name(continuation))
            }
        };
        let (url, title) = self.entry(deadline.with_grace()).await?;
        Ok(PageText { url, title, text: reading.text, truncated: reading.truncated, cursor })
    }

    /// Where a reading begins: at a cursor, at an element, in the frame that an element holds, or at the top.
    async fn start(&self, reference: Option<Ref>, cursor: Option<&str>, deadline: Deadline) -> Result<Start, Error> {
        if let Some(cursor) = cursor {
            let unknown = || {
                Error::InvalidArgument(format!("cursor `{}` is not known; read from the start", cursor.escape_debug()))
            };
            let found = self.cursors().lock().await.find(cursor).ok_or_else(unknown)?;
            let frame = self.frame(&found.place.frame).filter(|frame| frame.document == found.place.document);
            let gone =
                || Error::InvalidArgument(format!("cursor `{cursor}` is of a page that is gone; read from the start"));
            return Ok(Start {
                frame: frame.ok_or_else(gone)?,
                id: found.id,
                from: Some(found.from),
                fold: found.fold,
            });
        }
        let Some(reference) = reference else {
            let frame = self.state().borrow().main_frame().clone();
            return Ok(Start { frame, id: None, from: None, fold: None });
        };
        let (frame, id) = self.locate(reference).await?;
        let inner = outline::frame_in(self, &frame, id, deadline).await;
        let inner = inner.map_err(|error| read_error(error, Some(reference), deadline))?;
        Ok(match inner {
            Some(inner) => Start { frame: inner, id: None, from: None, fold: None },
            None => Start { frame, id: Some(id), from: None, fold: None },
        })
    }

    /// The frame and the page script's id of the element that a ref was given for, while its document is shown.
    pub(crate) async fn locate(&self, reference: Ref) -> Result<(FrameState, u32), Error> {
        let refs = self.refs().lock().await;
        let Some(element) = refs.element(reference) else {
            return Err(if refs.was_given(reference) {
                Error::RefStale { reference, reason: "it is too old".to_owned() }
            } else {
                Error::NoSuchElement(reference.to_string())
            });
        };
        let frame = self.frame(&element.frame).filter(|frame| frame.document == element.document);
        let frame = frame.ok_or_else(|| Error::RefStale { reference, reason: "its document is gone".to_owned() })?;
        Ok((frame, element.id))
    }
}

/// Where a reading begins.
struct Start {
    frame: FrameState,
    id: Option<u32>,
    from: Option<u64>,
    fold: Option<u32>,
}

impl Start {
    fn place(&self) -> Place {
        Place { frame: self.frame.id.clone(), document: self.frame.document.clone() }
    }
}

fn read_error(error: WorldError, reference: Option<Ref>, deadline: Deadline) -> Error {
    match (error, reference) {
        (WorldError::Script(error), Some(reference)) if error.code == "stale" => {
            Error::RefStale { reference, reason: "its element is gone".to_owned() }
        }
        (error, _) => error.about_page(deadline),
    }
}
