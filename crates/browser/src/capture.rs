//! Pictures of a page.

use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
pub use bathy_cdp::protocol::page::ScreenshotFormat;
use bathy_cdp::protocol::page::{CaptureScreenshot, GetLayoutMetrics, Rectangle, Viewport};
use bytes::Bytes;

use crate::artifact::ArtifactName;
use crate::{Deadline, Error, Tab, Target};

/// The longest side of a picture in pixels; the common limit of model interfaces.
const LONGEST_SIDE: f64 = 8_000.0;
/// Quality of formats that have one, in 0..=100.
const QUALITY: u32 = 80;

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
    /// [`Error::Artifact`], [`Error::TimedOut`], [`Error::OffPolicy`], [`Error::RefStale`],
    /// [`Error::NotActionable`] for an element that is not visible, [`Error::DialogOpen`].
    pub async fn screenshot(&self, options: ScreenshotOptions, deadline: Deadline) -> Result<Screenshot, Error> {
        self.enter(deadline).await?;
        let metrics = async || self.page().call(GetLayoutMetrics {}, deadline.remaining()).await;
        let region = match &options.target {
            Some(target) => {
                let area = self.area(target, deadline).await?;
                let view = metrics().await?.css_layout_viewport;
                Some(Rectangle { x: area.x + view.page_x, y: area.y + view.page_y, ..area })
            }
            None if options.full_page => Some(metrics().await?.css_content_size),
            None => None,
        };
        let format = options.format.unwrap_or(ScreenshotFormat::Png);
        let capture = CaptureScreenshot {
            format: Some(format),
            quality: (format != ScreenshotFormat::Png).then_some(QUALITY),
            clip: region.as_ref().map(fitted),
            capture_beyond_viewport: Some(region.is_some()),
            optimize_for_speed: Some(true),
        };
        let data = self.page().call(capture, deadline.remaining()).await?.data;
        let bytes =
            BASE64.decode(data).map_err(|error| Error::ActionFailed(format!("the picture is torn: {error}")))?;
        let bytes = Bytes::from(bytes);
        let size = imagesize::blob_size(&bytes)
            .map_err(|error| Error::ActionFailed(format!("the picture is torn: {error}")))?;
        let [width, height] = [size.width, size.height].map(|side| u32::try_from(side).unwrap_or(u32::MAX));
        let (extension, mime_type) = match format {
            ScreenshotFormat::Jpeg => ("jpg", "image/jpeg"),
            ScreenshotFormat::Webp => ("webp", "image/webp"),
            ScreenshotFormat::Png | ScreenshotFormat::Other => ("png", "image/png"),
        };
        let path = self.artifacts().write(ArtifactName::fresh("screenshot", extension), bytes.clone()).await?;
        let (url, title) = self.entry(deadline.with_grace()).await?;
        Ok(Screenshot { path, bytes, mime_type, width, height, url, title })
    }
}

/// The region as it is to be taken: at least a pixel, scaled down to the longest side that is allowed.
fn fitted(region: &Rectangle) -> Viewport {
    let [width, height] = [region.width, region.height].map(|side| side.max(1.0));
    let scale = (LONGEST_SIDE / width.max(height)).min(1.0);
    Viewport { x: region.x, y: region.y, width, height, scale }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_never_empty_and_never_too_large() {
        for (width, height) in [(0.0, 0.0), (1280.0, 800.0), (1280.0, 200_000.0), (90_000.0, 10.0)] {
            let fitted = fitted(&Rectangle { x: 0.0, y: 0.0, width, height });
            assert!(fitted.width >= 1.0 && fitted.height >= 1.0);
            assert!(fitted.width.max(fitted.height) * fitted.scale <= LONGEST_SIDE + 0.5);
        }
    }
}
