//! Points and boxes, and how the viewport of a frame lies in that of another one.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub(crate) struct Size {
    pub(crate) width: f64,
    pub(crate) height: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Rect {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

impl Rect {
    pub(crate) fn centre(&self) -> Point {
        Point { x: self.x + self.width / 2.0, y: self.y + self.height / 2.0 }
    }

    /// What both have; none where that is nothing.
    pub(crate) fn intersection(&self, other: &Self) -> Option<Self> {
        let (x, y) = (self.x.max(other.x), self.y.max(other.y));
        let width = (self.x + self.width).min(other.x + other.width) - x;
        let height = (self.y + self.height).min(other.y + other.height) - y;
        (width > 0.0 && height > 0.0).then_some(Self { x, y, width, height })
    }

    /// The same at another place.
    pub(crate) fn moved(&self, by: Point) -> Self {
        Self { x: self.x + by.x, y: self.y + by.y, ..*self }
    }

    /// The smallest box around these corners.
    fn around(corners: [Point; 4]) -> Self {
        let [mut low, mut high] = [corners[0]; 2];
        for corner in corners {
            low = Point { x: low.x.min(corner.x), y: low.y.min(corner.y) };
            high = Point { x: high.x.max(corner.x), y: high.y.max(corner.y) };
        }
        Self { x: low.x, y: low.y, width: high.x - low.x, height: high.y - low.y }
    }
}

/// An affine map: where the origin goes, and how far a step of one along each axis goes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Map {
    origin: Point,
    along_x: Point,
    along_y: Point,
}

impl Map {
    /// The map that changes nothing.
    pub(crate) const SAME: Self =
        Self { origin: Point { x: 0.0, y: 0.0 }, along_x: Point { x: 1.0, y: 0.0 }, along_y: Point { x: 0.0, y: 1.0 } };

    /// Onto the corners that a box of this size has there, clockwise from its upper left one.
    pub(crate) fn onto(quad: &[f64; 8], size: Size) -> Self {
        let [left, top, right, right_top, _, _, bottom, bottom_left] = *quad;
        let (width, height) = (size.width.max(1.0), size.height.max(1.0));
        Self {
            origin: Point { x: left, y: top },
            along_x: Point { x: (right - left) / width, y: (right_top - top) / width },
            along_y: Point { x: (bottom - left) / height, y: (bottom_left - top) / height },
        }
    }

    pub(crate) fn there(&self, point: Point) -> Point {
        Point {
            x: self.origin.x + self.along_x.x * point.x + self.along_y.x * point.y,
            y: self.origin.y + self.along_x.y * point.x + self.along_y.y * point.y,
        }
    }

    /// None where everything is drawn on one line.
    pub(crate) fn back(&self, point: Point) -> Option<Point> {
        let area = self.along_x.x * self.along_y.y - self.along_x.y * self.along_y.x;
        let (x, y) = (point.x - self.origin.x, point.y - self.origin.y);
        (area.abs() > f64::EPSILON).then(|| Point {
            x: (x * self.along_y.y - y * self.along_y.x) / area,
            y: (y * self.along_x.x - x * self.along_x.y) / area,
        })
    }

    /// The smallest upright box around where a box goes.
    pub(crate) fn cover(&self, rect: &Rect) -> Rect {
        let (right, bottom) = (rect.x + rect.width, rect.y + rect.height);
        let corners = [(rect.x, rect.y), (right, rect.y), (right, bottom), (rect.x, bottom)];
        Rect::around(corners.map(|(x, y)| self.there(Point { x, y })))
    }

    /// This map and then another one.
    pub(crate) fn then(&self, outer: &Self) -> Self {
        let turned = |step: Point| Point {
            x: outer.along_x.x * step.x + outer.along_y.x * step.y,
            y: outer.along_x.y * step.x + outer.along_y.y * step.y,
        };
        Self { origin: outer.there(self.origin), along_x: turned(self.along_x), along_y: turned(self.along_y) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turned_and_scaled_map_leads_back() {
        let map = Map {
            origin: Point { x: 10.0, y: 20.0 },
            along_x: Point { x: 0.4, y: 0.3 },
            along_y: Point { x: -0.3, y: 0.4 },
        };
        let point = Point { x: 7.0, y: -3.0 };
        let back = map.back(map.there(point)).unwrap();
        assert!((back.x - point.x).abs() < 1e-9 && (back.y - point.y).abs() < 1e-9);
        let line = Map { along_y: map.along_x, ..map };
        assert_eq!(line.back(point), None);
    }

    #[test]
    fn maps_one_after_the_other_are_one_map() {
        let quad = [10.0, 20.0, 10.0, 120.0, -40.0, 120.0, -40.0, 20.0];
        let turned = Map::onto(&quad, Size { width: 200.0, height: 100.0 });
        let shifted = Map { origin: Point { x: 5.0, y: 6.0 }, ..Map::SAME };
        let point = Point { x: 20.0, y: 10.0 };
        assert_eq!(turned.then(&shifted).there(point), shifted.there(turned.there(point)));
        let rect = Rect { x: 0.0, y: 0.0, width: 200.0, height: 100.0 };
        assert_eq!(turned.cover(&rect), Rect { x: -40.0, y: 20.0, width: 50.0, height: 100.0 });
    }
}
