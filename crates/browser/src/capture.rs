//! Pictures of a page.

use std::path::PathBuf;

use bytes::Bytes;

pub use bathy_cdp::protocol::page::ScreenshotFormat;

use crate::{Deadline, Error, Tab, Target};

/// What to take.
#[derive(Debug, Clone, Default)]
pub struct ScreenshotOptions {
    /// Only this element.
    pub target: Option<Target>,
    /// The whole page instead of what is visible, scaled to fit model limits.
    pub full_page: bool,
    /// PNG when absent.
    pub format: Option<ScreenshotFormat>,
}

/// A picture.
#[derive(Debug, Clone)]
pub struct Screenshot {
    /// Where it was written.
    pub path: PathBuf,
    /// The picture itself.
    pub bytes: Bytes,
    /// `image/png` and the like.
    pub mime_type: &'static str,
    /// Width in pixels of the picture.
    pub width: u32,
    /// Height in pixels of the picture.
    pub height: u32,
    /// The URL of the page.
    pub url: String,
    /// Its title, raw text of the page.
    pub title: String,
}

impl Tab {
    /// Takes a picture and writes it as an artifact.
    ///
    /// # Errors
    /// [`Error::Artifact`], [`Error::TimedOut`], [`Error::OffPolicy`], [`Error::RefStale`], [`Error::DialogOpen`].
    pub async fn screenshot(
        &self,
        _options: ScreenshotOptions,
        _deadline: Deadline,
    ) -> Result<Screenshot, Error> {
        todo!()
    }
}
