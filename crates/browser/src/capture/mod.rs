//! Pictures of a page.

mod annotate;
mod canvas;
mod conceal;
mod font;
mod plan;

use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
pub use bathy_cdp::protocol::page::ScreenshotFormat;
use bathy_cdp::protocol::page::{CaptureScreenshot, GetLayoutMetrics, Rectangle, Viewport};
use bytes::Bytes;
use serde::Deserialize;

pub use annotate::Label;
pub use conceal::{Conceal, Unconcealed};

use crate::artifact::ArtifactName;
use crate::geometry::{Point, Rect, Size};
use crate::{Deadline, Error, Tab, Target};
use annotate::Labelling;
use canvas::{Area, Canvas};
use conceal::Covers;
use plan::{Plan, fitting};

/// Quality of formats that have one, in 0..=100.
const QUALITY: u8 = 80;
/// How often a page that moves is taken anew.
const ATTEMPTS: usize = 4;

/// What to take.
#[derive(Debug, Clone, Default)]
pub struct ScreenshotOptions {
    /// Only this element.
    pub target: Option<Target>,
    /// The whole page instead of what is visible, scaled to fit model limits.
    pub full_page: bool,
    /// PNG when absent.
    pub format: Option<ScreenshotFormat>,
    /// Whether what can be acted on is labelled with its refs.
    pub annotate: bool,
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
    /// What is labelled, in reading order within each frame.
    pub labels: Vec<Label>,
    /// How many elements more could have been, at least.
    pub unlabelled: u64,
    /// How many places are covered since they show what must not be seen.
    pub covered: usize,
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
    /// Takes a picture and writes it as an artifact. What must not be seen is covered.
    ///
    /// # Errors
    /// [`Error::Artifact`], [`Error::TimedOut`], [`Error::OffPolicy`], [`Error::RefStale`],
    /// [`Error::NotActionable`] for an element that is not visible, [`Error::DialogOpen`], [`Error::Unconcealed`] where
    /// something cannot be covered.
    pub async fn screenshot(&self, options: ScreenshotOptions, deadline: Deadline) -> Result<Screenshot, Error> {
        self.enter(deadline).await?;
        let mut shots = self.settled_shots(&options, deadline).await?;
        let (labels, covered) = shots.draw(&options).await?;
        let mut pictures = Vec::new();
        for Shot { bytes, width, height, .. } in shots.taken {
            let name = ArtifactName::fresh("screenshot", words(options.format()).0);
            let path = self.artifacts().write(name, bytes.clone()).await?;
            pictures.push(Picture { path, bytes, width, height });
        }
        let (url, title) = self.entry(deadline.with_grace()).await?;
        let Picture { path, bytes, width, height } = pictures.remove(0);
        let Plan { scale, left_out, .. } = shots.plan;
        let unlabelled = shots.labelling.map_or(0, |labelling| labelling.more);
        let (_, mime_type) = words(options.format());
        let more = pictures;
        Ok(Screenshot {
            path,
            bytes,
            mime_type,
            width,
            height,
            scale,
            more,
            left_out,
            labels,
            unlabelled,
            covered,
            url,
            title,
        })
    }

    /// Takes what is asked for; again while what must be covered moves meanwhile.
    async fn settled_shots(&self, options: &ScreenshotOptions, deadline: Deadline) -> Result<Shots, Error> {
        let conceal = self.charter().conceal.clone();
        let Some(conceal) = conceal else {
            return self.shots(options, None, deadline).await;
        };
        let mut last = Unconcealed::Moving;
        for _ in 0..ATTEMPTS {
            let shots = self.shots(options, Some(&conceal), deadline).await;
            let after = match &shots {
                Ok(_) => conceal.covers(self, deadline).await,
                Err(_) => Err(Error::Unconcealed(last)),
            };
            match (shots, after) {
                (Ok(shots), Ok(after)) if shots.covers.as_ref().is_some_and(|covers| covers.hold(&after)) => {
                    return Ok(shots);
                }
                (Ok(_), Ok(_)) => last = Unconcealed::Moving,
                (Err(Error::Unconcealed(reason)), _) | (Ok(_), Err(Error::Unconcealed(reason))) => last = reason,
                (Err(error), _) | (_, Err(error)) => return Err(error),
            }
            // What does not answer now does not soon, and has cost its time.
            if deadline.has_passed() || matches!(last, Unconcealed::Silent | Unconcealed::Excess) {
                break;
            }
        }
        Err(Error::Unconcealed(last))
    }

    async fn shots(
        &self,
        options: &ScreenshotOptions,
        conceal: Option<&Conceal>,
        deadline: Deadline,
    ) -> Result<Shots, Error> {
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
            None => shown.clone(),
        };
        let plan = Plan::of(&region);
        let labelling = if options.annotate {
            let area = Rect { x: region.x, y: region.y, width: region.width, height: region.height };
            Some(annotate::label(self, (!in_view).then_some(area), deadline).await?)
        } else {
            None
        };
        let covers = match conceal {
            Some(conceal) => Some(conceal.covers(self, deadline).await?),
            None => None,
        };
        let drawn = labelling.is_some() || covers.as_ref().is_some_and(|covers| !covers.rects.is_empty());
        // What is drawn on is encoded here.
        let format = if drawn { ScreenshotFormat::Png } else { options.format() };
        let mut taken = Vec::new();
        for clip in &plan.clips {
            taken.push(self.shot(format, clip, &shown, in_view, deadline).await?);
        }
        Ok(Shots { plan, taken, labelling, covers })
    }

    /// Takes one picture. Where the device has more pixels than the page, it is taken anew at a smaller scale.
    async fn shot(
        &self,
        format: ScreenshotFormat,
        clip: &Viewport,
        shown: &Rectangle,
        in_view: bool,
        deadline: Deadline,
    ) -> Result<Shot, Error> {
        let mut clip = clip.clone();
        // What is beyond the view can be had only if the page is told of another size for a moment.
        let beyond = clip.x < shown.x
            || clip.y < shown.y
            || clip.x + clip.width > shown.x + shown.width
            || clip.y + clip.height > shown.y + shown.height;
        loop {
            // Without a clip the view is taken with its scroll bars, as a person sees it.
            let clipped = !in_view || clip.scale < 1.0;
            let capture = CaptureScreenshot {
                format: Some(format),
                quality: (format != ScreenshotFormat::Png).then_some(u32::from(QUALITY)),
                clip: clipped.then(|| clip.clone()),
                capture_beyond_viewport: Some(clipped && beyond),
                optimize_for_speed: Some(true),
            };
            let data = self.page().call(capture, deadline.remaining()).await?.data;
            let bytes = Bytes::from(BASE64.decode(data).map_err(torn)?);
            let size = imagesize::blob_size(&bytes).map_err(torn)?;
            let [width, height] = [size.width, size.height].map(|side| u32::try_from(side).unwrap_or(u32::MAX));
            // A pixel more is the browser's rounding.
            let fits = fitting(f64::from(width) - 1.0, f64::from(height) - 1.0);
            if fits < 1.0 && clip.scale > 0.01 {
                clip.scale *= fits;
                continue;
            }
            return Ok(Shot { bytes, width, height, clip: clipped.then_some(clip) });
        }
    }
}

impl ScreenshotOptions {
    fn format(&self) -> ScreenshotFormat {
        self.format.unwrap_or(ScreenshotFormat::Png)
    }
}

/// What was taken, and what is to be drawn on it.
struct Shots {
    plan: Plan,
    taken: Vec<Shot>,
    labelling: Option<Labelling>,
    covers: Option<Covers>,
}

/// A picture as the browser took it.
struct Shot {
    bytes: Bytes,
    width: u32,
    height: u32,
    /// The part of the page that it shows; the view where that was taken as it is.
    clip: Option<Viewport>,
}

impl Shots {
    /// Draws what is to be drawn, and says what is labelled and how many places are covered.
    async fn draw(&mut self, options: &ScreenshotOptions) -> Result<(Vec<Label>, usize), Error> {
        let none = Vec::new();
        let (view, labels) = match &self.labelling {
            Some(labelling) => (Some(labelling.view), &labelling.labels),
            None => (None, &none),
        };
        let covers = self.covers.as_ref().filter(|covers| !covers.rects.is_empty());
        let (format, mut covered, mut labelled) = (options.format(), 0, vec![false; labels.len()]);
        for shot in &mut self.taken {
            let covering: Vec<Area> = covers.map_or_else(Vec::new, |covers| {
                covers.rects.iter().filter_map(|rect| shot.area(rect, covers.view)).collect()
            });
            let mut boxes = Vec::new();
            for ((label, rect), labelled) in labels.iter().zip(&mut labelled) {
                if let Some(area) = view.and_then(|view| shot.area(rect, view)) {
                    *labelled = true;
                    boxes.push((area, label.reference.to_string().trim_start_matches('@').to_owned()));
                }
            }
            covered += covering.len();
            if view.is_none() && covers.is_none() {
                continue;
            }
            let bytes = shot.bytes.clone();
            let drawing = tokio::task::spawn_blocking(move || {
                let mut canvas = Canvas::new(&bytes)?;
                for area in covering {
                    canvas.cover(area);
                }
                canvas.label(&boxes);
                canvas.encode(format)
            });
            shot.bytes = drawing.await.map_err(torn)?.map_err(torn)?;
        }
        let labels = labels.iter().zip(labelled).filter(|(_, labelled)| *labelled);
        Ok((labels.map(|((label, _), _)| label.clone()).collect(), covered))
    }
}

impl Shot {
    /// The pixels that show a part of the page's viewport; none where that is not in the picture.
    fn area(&self, rect: &Rect, view: View) -> Option<Area> {
        let (rect, shown) = match &self.clip {
            Some(Viewport { x, y, width, height, .. }) => {
                (rect.moved(view.scroll), Rect { x: *x, y: *y, width: *width, height: *height })
            }
            None => (*rect, Rect { x: 0.0, y: 0.0, width: view.size.width, height: view.size.height }),
        };
        let part = rect.intersection(&shown)?;
        let (across, down) = (f64::from(self.width) / shown.width, f64::from(self.height) / shown.height);
        let area = Area {
            left: pixel(((part.x - shown.x) * across).floor()),
            top: pixel(((part.y - shown.y) * down).floor()),
            right: pixel(((part.x + part.width - shown.x) * across).ceil()).min(self.width),
            bottom: pixel(((part.y + part.height - shown.y) * down).ceil()).min(self.height),
        };
        (area.left < area.right && area.top < area.bottom).then_some(area)
    }
}

/// A frame's viewport as the page script saw it.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
struct View {
    /// How far its document is scrolled, in CSS pixels.
    #[serde(flatten)]
    scroll: Point,
    /// In CSS pixels, scroll bars included.
    #[serde(flatten)]
    size: Size,
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded by the picture's sides")]
fn pixel(place: f64) -> u32 {
    place.clamp(0.0, f64::from(u32::MAX)) as u32
}

fn torn(error: impl std::fmt::Display) -> Error {
    Error::ActionFailed(format!("the picture is torn: {error}"))
}

/// The ending of a format's files, and its media type.
fn words(format: ScreenshotFormat) -> (&'static str, &'static str) {
    match format {
        ScreenshotFormat::Jpeg => ("jpg", "image/jpeg"),
        ScreenshotFormat::Webp => ("webp", "image/webp"),
        ScreenshotFormat::Png | ScreenshotFormat::Other => ("png", "image/png"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_are_where_their_elements_are_whatever_the_scroll_and_the_device() {
        let view = View { scroll: Point { x: 0.0, y: 500.0 }, size: Size { width: 800.0, height: 600.0 } };
        let rect = Rect { x: 10.0, y: 20.0, width: 30.0, height: 40.0 };
        let shot = |width, height, clip| Shot { bytes: Bytes::new(), width, height, clip };
        let area = |left, top, right, bottom| Some(Area { left, top, right, bottom });
        // The view as it is, and on a device of two pixels for each.
        assert_eq!(shot(800, 600, None).area(&rect, view), area(10, 20, 40, 60));
        assert_eq!(shot(1600, 1200, None).area(&rect, view), area(20, 40, 80, 120));
        // A part of the page at half its size, and one that has an edge of it alone, or nothing.
        let clip = |y| Some(Viewport { x: 0.0, y, width: 400.0, height: 100.0, scale: 0.5 });
        assert_eq!(shot(200, 50, clip(500.0)).area(&rect, view), area(5, 10, 20, 30));
        assert_eq!(shot(200, 50, clip(550.0)).area(&rect, view), area(5, 0, 20, 5));
        assert_eq!(shot(200, 50, clip(600.0)).area(&rect, view), None);
        assert_eq!(shot(200, 50, clip(0.0)).area(&rect, view), None);
    }
}
