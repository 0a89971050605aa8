//! Pictures of a page.

use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
pub use bathy_cdp::protocol::page::ScreenshotFormat;
use bathy_cdp::protocol::page::{CaptureScreenshot, GetLayoutMetrics, Rectangle, Viewport};
use bytes::Bytes;

use crate::artifact::ArtifactName;
use crate::{Deadline, Error, Tab, Target};

/// The longest side of a picture in pixels, and the most pixels: beyond either, model interfaces scale it down themselves.
const LONGEST_SIDE: f64 = 1_568.0;
const MOST_PIXELS: f64 = 1_150_000.0;
/// What is scaled down further than this cannot be read any more; it is taken in several pictures instead.
const SMALLEST_SCALE: f64 = 0.5;
/// The most pictures of one page.
const MOST_PICTURES: u32 = 6;
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
    /// Pixels of the picture for each CSS pixel; 1 where it was not scaled.
    pub scale: f64,
    /// The pictures that follow on this one, where one would be too small to read.
    pub more: Vec<Picture>,
    /// CSS pixels at the end of the page that no picture shows.
    pub left_out: f64,
    /// The URL of the page.
    pub url: String,
    /// Its title, raw text of the page.
    pub title: String,
}

/// A further picture of the same page.
#[derive(Debug, Clone)]
pub struct Picture {
    /// Where it was written.
    pub path: PathBuf,
    /// The picture itself.
    pub bytes: Bytes,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
}

impl Tab {
    /// Takes a picture and writes it as an artifact.
    ///
    /// # Errors
    /// [`Error::Artifact`], [`Error::TimedOut`], [`Error::OffPolicy`], [`Error::RefStale`],
    /// [`Error::NotActionable`] for an element that is not visible, [`Error::DialogOpen`].
    pub async fn screenshot(&self, options: ScreenshotOptions, deadline: Deadline) -> Result<Screenshot, Error> {
        self.enter(deadline).await?;
        let area = match &options.target {
            Some(target) => Some(self.area(target, deadline).await?),
            None => None,
        };
        let metrics = self.page().call(GetLayoutMetrics {}, deadline.remaining()).await?;
        let view = metrics.css_layout_viewport;
        let shown = Rectangle { x: view.page_x, y: view.page_y, width: view.client_width, height: view.client_height };
        let in_view = area.is_none() && !options.full_page;
        let region = match area {
            Some(area) => Rectangle { x: area.x + view.page_x, y: area.y + view.page_y, ..area },
            None if options.full_page => metrics.css_content_size,
            None => shown,
        };
        let plan = Plan::of(&region);
        let format = options.format.unwrap_or(ScreenshotFormat::Png);
        let mut pictures = Vec::new();
        for clip in &plan.clips {
            pictures.push(self.picture(format, clip, in_view, deadline).await?);
        }
        let (url, title) = self.entry(deadline.with_grace()).await?;
        let Picture { path, bytes, width, height } = pictures.remove(0);
        let (scale, left_out, (_, mime_type)) = (plan.scale, plan.left_out, words(format));
        Ok(Screenshot { path, bytes, mime_type, width, height, scale, more: pictures, left_out, url, title })
    }

    /// Takes one picture. Where the device has more pixels than the page, it is taken anew at a smaller scale.
    async fn picture(
        &self,
        format: ScreenshotFormat,
        clip: &Viewport,
        in_view: bool,
        deadline: Deadline,
    ) -> Result<Picture, Error> {
        let torn = |error: &dyn std::fmt::Display| Error::ActionFailed(format!("the picture is torn: {error}"));
        let mut clip = clip.clone();
        loop {
            // Without a clip the view is taken with its scroll bars, as a person sees it.
            let clipped = !in_view || clip.scale < 1.0;
            let capture = CaptureScreenshot {
                format: Some(format),
                quality: (format != ScreenshotFormat::Png).then_some(QUALITY),
                clip: clipped.then(|| clip.clone()),
                capture_beyond_viewport: Some(clipped),
                optimize_for_speed: Some(true),
            };
            let data = self.page().call(capture, deadline.remaining()).await?.data;
            let bytes = Bytes::from(BASE64.decode(data).map_err(|error| torn(&error))?);
            let size = imagesize::blob_size(&bytes).map_err(|error| torn(&error))?;
            let [width, height] = [size.width, size.height].map(|side| u32::try_from(side).unwrap_or(u32::MAX));
            // A pixel more is the browser's rounding.
            let fits = fitting(f64::from(width) - 1.0, f64::from(height) - 1.0);
            if fits < 1.0 && clip.scale > 0.01 {
                clip.scale *= fits;
                continue;
            }
            let name = ArtifactName::fresh("screenshot", words(format).0);
            let path = self.artifacts().write(name, bytes.clone()).await?;
            return Ok(Picture { path, bytes, width, height });
        }
    }
}

/// The ending of a format's files, and its media type.
fn words(format: ScreenshotFormat) -> (&'static str, &'static str) {
    match format {
        ScreenshotFormat::Jpeg => ("jpg", "image/jpeg"),
        ScreenshotFormat::Webp => ("webp", "image/webp"),
        ScreenshotFormat::Png | ScreenshotFormat::Other => ("png", "image/png"),
    }
}

/// How a region is taken: in one picture, or in several along its longer side.
#[derive(Debug)]
struct Plan {
    clips: Vec<Viewport>,
    scale: f64,
    left_out: f64,
}

impl Plan {
    fn of(region: &Rectangle) -> Self {
        let [width, height] = [region.width, region.height].map(|side| side.max(1.0));
        let one = fitting(width, height);
        let (long, short) = (width.max(height), width.min(height));
        if one >= SMALLEST_SCALE || short * SMALLEST_SCALE > LONGEST_SIDE {
            let clip = Viewport { x: region.x, y: region.y, width, height, scale: one };
            return Self { clips: vec![clip], scale: one, left_out: 0.0 };
        }
        // The largest scale at which all of it can be taken, or else as much as can be read.
        let length = |scale: f64| (LONGEST_SIDE / scale).min(MOST_PIXELS / (short * scale * scale)).floor().min(long);
        let most = f64::from(MOST_PICTURES);
        let usable = [1.0, 0.75].into_iter().filter(|scale| short * scale <= LONGEST_SIDE);
        let scale = usable.into_iter().find(|scale| length(*scale) * most >= long).unwrap_or(SMALLEST_SCALE);
        let step = length(scale);
        let mut clips = Vec::new();
        let mut done = 0.0;
        for _ in 0..MOST_PICTURES {
            let part = step.min(long - done);
            if part < 1.0 {
                break;
            }
            clips.push(if height >= width {
                Viewport { x: region.x, y: region.y + done, width, height: part, scale }
            } else {
                Viewport { x: region.x + done, y: region.y, width: part, height, scale }
            });
            done += part;
        }
        Self { clips, scale, left_out: (long - done).max(0.0) }
    }
}

/// The scale at which a picture of this size is within the limits; 1 where it is.
fn fitting(width: f64, height: f64) -> f64 {
    (LONGEST_SIDE / width.max(height)).min((MOST_PIXELS / (width * height).max(1.0)).sqrt()).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_never_empty_never_too_large_and_cover_what_they_say() {
        let sizes = [(0.0, 0.0), (1280.0, 800.0), (1280.0, 3000.0), (1280.0, 9_000.0), (1280.0, 200_000.0)];
        for (width, height) in sizes.into_iter().chain([(90_000.0, 10.0), (50_000.0, 50_000.0), (10.0, 90_000.0)]) {
            let plan = Plan::of(&Rectangle { x: 0.0, y: 0.0, width, height });
            assert!((1..=6).contains(&plan.clips.len()), "{plan:?}");
            let mut covered = 0.0;
            for clip in &plan.clips {
                let [wide, high] = [clip.width, clip.height].map(|side| side * clip.scale);
                assert!(clip.width >= 1.0 && clip.height >= 1.0, "{clip:?}");
                assert!(wide.max(high) <= LONGEST_SIDE + 1.0 && wide * high <= MOST_PIXELS + 2_000.0, "{clip:?}");
                covered += clip.width * clip.height;
            }
            let [wide, high] = [width.max(1.0), height.max(1.0)];
            let left_out = plan.left_out * wide.min(high);
            assert!((covered + left_out - wide * high).abs() < 2.0 * wide.max(high), "{width} × {height}: {plan:?}");
        }
    }
}
