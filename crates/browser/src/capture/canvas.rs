//! Drawing on a picture that was taken, in this process: the page never sees it.

use std::io::Cursor;

use bathy_cdp::protocol::page::ScreenshotFormat;
use bytes::Bytes;
use image::codecs::jpeg::JpegEncoder;
use image::{ImageError, ImageFormat, Rgb, RgbImage};

use super::{QUALITY, font};

/// What covers a text that must not be seen.
const COVER: Rgb<u8> = Rgb([32, 32, 32]);
/// Of boxes and their labels, by turns: neighbours differ, and white letters can be read on each.
const COLOURS: [Rgb<u8>; 6] = [
    Rgb([170, 0, 80]),
    Rgb([0, 90, 200]),
    Rgb([0, 120, 50]),
    Rgb([140, 0, 170]),
    Rgb([170, 80, 0]),
    Rgb([0, 115, 125]),
];
const LETTERS: Rgb<u8> = Rgb([255, 255, 255]);
/// How thick a box's line is.
const LINE: u32 = 2;
/// Around the letters of a label.
const MARGIN: u32 = 2;
/// Pictures whose shorter side is below this have labels of half the size.
const SMALL: u32 = 200;

/// Pixels of a picture, from the upper left corner; right and bottom are not part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Area {
    pub(super) left: u32,
    pub(super) top: u32,
    pub(super) right: u32,
    pub(super) bottom: u32,
}

impl Area {
    fn overlaps(&self, other: &Self) -> bool {
        self.left < other.right && other.left < self.right && self.top < other.bottom && other.top < self.bottom
    }
}

/// A picture that is drawn on.
pub(super) struct Canvas {
    pixels: RgbImage,
    /// Where labels are.
    taken: Vec<Area>,
}

impl Canvas {
    /// From a PNG.
    pub(super) fn new(png: &[u8]) -> Result<Self, ImageError> {
        let pixels = image::load_from_memory_with_format(png, ImageFormat::Png)?.into_rgb8();
        Ok(Self { pixels, taken: Vec::new() })
    }

    /// Leaves nothing to be seen there.
    pub(super) fn cover(&mut self, area: Area) {
        self.fill(area, COVER);
    }

    /// Draws boxes, and beside each its label, which lies over no other one where there is room.
    pub(super) fn label(&mut self, boxes: &[(Area, String)]) {
        let colours = COLOURS.iter().cycle();
        for ((area, _), colour) in boxes.iter().zip(colours.clone()) {
            self.frame(*area, *colour);
        }
        for ((area, text), colour) in boxes.iter().zip(colours) {
            let place = self.room(*area, text);
            self.fill(place, *colour);
            self.write(place, text);
            self.taken.push(place);
        }
    }

    /// Encodes it.
    pub(super) fn encode(self, format: ScreenshotFormat) -> Result<Bytes, ImageError> {
        let mut bytes = Cursor::new(Vec::new());
        match format {
            ScreenshotFormat::Jpeg => {
                self.pixels.write_with_encoder(JpegEncoder::new_with_quality(&mut bytes, QUALITY))?;
            }
            // Without loss, which is the one way that WebP is written in Rust.
            ScreenshotFormat::Webp => self.pixels.write_to(&mut bytes, ImageFormat::WebP)?,
            ScreenshotFormat::Png | ScreenshotFormat::Other => self.pixels.write_to(&mut bytes, ImageFormat::Png)?,
        }
        Ok(bytes.into_inner().into())
    }

    /// How many pixels a dot of a letter has.
    fn dot(&self) -> u32 {
        if self.pixels.width().min(self.pixels.height()) < SMALL { 1 } else { 2 }
    }

    /// Where a box's label goes: above its upper left corner, or at the next best place, all of it in the picture.
    fn room(&self, area: Area, text: &str) -> Area {
        let (dot, letters) = (self.dot(), u32::try_from(text.chars().count()).unwrap_or(u32::MAX));
        let width = letters.saturating_mul((font::COLUMNS + 1) * dot).saturating_sub(dot) + 2 * MARGIN;
        let height = font::ROWS * dot + 2 * MARGIN;
        let at = |left: u32, top: u32| {
            let left = left.min(self.pixels.width().saturating_sub(width));
            let top = top.min(self.pixels.height().saturating_sub(height));
            Area { left, top, right: left + width, bottom: top + height }
        };
        let Area { left, top, right, bottom } = area;
        let above = top.checked_sub(height);
        let places = [
            above.map(|top| at(left, top)),
            above.map(|top| at(right.saturating_sub(width).max(left), top)),
            left.checked_sub(width).map(|left| at(left, top)),
            Some(at(right, top)),
            Some(at(left, bottom)),
            Some(at(left, top)),
            Some(at(right.saturating_sub(width), bottom.saturating_sub(height))),
        ];
        let free = |place: &Area| !self.taken.iter().any(|taken| taken.overlaps(place));
        let mut places = places.into_iter().flatten();
        let first = places.clone().find(free);
        first.or_else(|| places.next_back()).unwrap_or_else(|| at(left, top))
    }

    fn write(&mut self, place: Area, text: &str) {
        let dot = self.dot();
        let mut left = place.left + MARGIN;
        for letter in text.chars() {
            for (row, bits) in (0..).zip(font::glyph(letter).unwrap_or_default()) {
                for column in (0..font::COLUMNS).filter(|column| bits >> (font::COLUMNS - 1 - column) & 1 == 1) {
                    let (left, top) = (left + column * dot, place.top + MARGIN + row * dot);
                    self.fill(Area { left, top, right: left + dot, bottom: top + dot }, LETTERS);
                }
            }
            left += (font::COLUMNS + 1) * dot;
        }
    }

    fn frame(&mut self, area: Area, colour: Rgb<u8>) {
        let Area { left, top, right, bottom } = area;
        let (inner_left, inner_right) = (left.saturating_add(LINE).min(right), right.saturating_sub(LINE).max(left));
        let (inner_top, inner_bottom) = (top.saturating_add(LINE).min(bottom), bottom.saturating_sub(LINE).max(top));
        self.fill(Area { bottom: inner_top, ..area }, colour);
        self.fill(Area { top: inner_bottom, ..area }, colour);
        self.fill(Area { right: inner_left, ..area }, colour);
        self.fill(Area { left: inner_right, ..area }, colour);
    }

    fn fill(&mut self, area: Area, colour: Rgb<u8>) {
        for y in area.top..area.bottom.min(self.pixels.height()) {
            for x in area.left..area.right.min(self.pixels.width()) {
                self.pixels.put_pixel(x, y, colour);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blank(width: u32, height: u32) -> Canvas {
        let pixels = RgbImage::from_pixel(width, height, Rgb([255, 255, 255]));
        let mut png = Cursor::new(Vec::new());
        pixels.write_to(&mut png, ImageFormat::Png).unwrap();
        Canvas::new(png.get_ref()).unwrap()
    }

    #[test]
    fn labels_are_whole_and_apart_wherever_their_boxes_are() {
        let mut canvas = blank(400, 300);
        let boxes: Vec<_> = (0..24)
            .map(|index| {
                let (left, top) = (index % 6 * 70, index / 6 * 80);
                (Area { left, top, right: (left + 40).min(400), bottom: (top + 20).min(300) }, format!("e{index}"))
            })
            .collect();
        canvas.label(&boxes);
        for (index, place) in canvas.taken.iter().enumerate() {
            assert!(place.right <= 400 && place.bottom <= 300, "{place:?}");
            assert!(!canvas.taken[..index].iter().any(|other| other.overlaps(place)), "{place:?}");
        }
        assert_eq!(canvas.taken.len(), 24);
    }

    #[test]
    fn a_cover_is_opaque_in_every_format_and_nothing_beyond_the_picture_is_drawn() {
        for (format, kind) in [
            (ScreenshotFormat::Png, ImageFormat::Png),
            (ScreenshotFormat::Jpeg, ImageFormat::Jpeg),
            (ScreenshotFormat::Webp, ImageFormat::WebP),
        ] {
            let mut canvas = blank(60, 40);
            canvas.cover(Area { left: 30, top: 20, right: 900, bottom: 900 });
            canvas.label(&[(Area { left: 55, top: 35, right: 60, bottom: 40 }, "e123456789".to_owned())]);
            let bytes = canvas.encode(format).unwrap();
            let read = image::load_from_memory_with_format(&bytes, kind).unwrap().into_rgb8();
            assert_eq!(read.dimensions(), (60, 40), "{kind:?}");
            let near = |pixel: &Rgb<u8>, colour: [u8; 3]| pixel.0.iter().zip(colour).all(|(a, b)| a.abs_diff(b) < 30);
            assert!(near(read.get_pixel(45, 22), COVER.0), "{kind:?}");
            assert!(near(read.get_pixel(4, 4), [255; 3]), "{kind:?}");
        }
    }

    #[test]
    fn every_letter_of_a_ref_looks_like_no_other() {
        let glyphs: Vec<_> = "e0123456789".chars().map(|letter| font::glyph(letter).unwrap()).collect();
        for (index, glyph) in glyphs.iter().enumerate() {
            assert!(!glyphs[..index].contains(glyph));
        }
    }
}
