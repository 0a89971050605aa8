//! How a region is taken, within the limits of models.

use bathy_cdp::protocol::page::{Rectangle, Viewport};

/// The longest side of a picture in pixels, and the most pixels: beyond either, model interfaces scale it down themselves.
const LONGEST_SIDE: f64 = 1_568.0;
const MOST_PIXELS: f64 = 1_150_000.0;
/// What is scaled down further than this cannot be read any more; it is taken in several pictures instead.
const SMALLEST_SCALE: f64 = 0.5;
/// The most pictures of one page.
const MOST_PICTURES: u32 = 6;

/// How a region is taken: in one picture, or in several along its longer side.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) clips: Vec<Viewport>,
    /// Pixels for each CSS pixel.
    pub(super) scale: f64,
    /// CSS pixels at the end that no picture shows.
    pub(super) left_out: f64,
}

impl Plan {
    pub(super) fn of(region: &Rectangle) -> Self {
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
pub(super) fn fitting(width: f64, height: f64) -> f64 {
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
