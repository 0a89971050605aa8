//! Keeping certain texts out of pictures and prints: where a page has them, and whether it may be printed.
//!
//! The page tells what it has in writing, and they are looked for here: no page is ever told what must not be seen.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use serde::{Deserialize, Serialize};

use super::View;
use crate::geometry::{Rect, Size};
use crate::page::asking;
use crate::page::chart::Chart;
use crate::tab::FrameState;
use crate::world::{Reply, World, WorldError};
use crate::{Deadline, Error, Tab};

/// What a frame may take to say what it has in writing.
const PATIENCE: Duration = Duration::from_secs(3);
/// How far what is drawn may reach beyond the rectangle of its text, in CSS pixels.
const OVERHANG: f64 = 2.0;

/// Finds texts that no picture and no print may have. A cheap handle.
#[derive(Clone)]
pub struct Conceal {
    find: Arc<Find>,
}

type Find = dyn Fn(&str) -> Vec<Range<usize>> + Send + Sync;

impl Conceal {
    /// `find` gives the ranges of bytes of a text that must not be seen.
    pub fn new(find: impl Fn(&str) -> Vec<Range<usize>> + Send + Sync + 'static) -> Self {
        Self { find: Arc::new(find) }
    }

    /// A long text takes a while, which nothing else is to wait for.
    async fn search(&self, text: String) -> Result<Vec<(usize, usize)>, Error> {
        let conceal = self.clone();
        let search = tokio::task::spawn_blocking(move || conceal.units(&text));
        search.await.map_err(|error| Error::ActionFailed(error.to_string()))
    }

    /// Those ranges in UTF-16 units, in which pages count.
    fn units(&self, text: &str) -> Vec<(usize, usize)> {
        let units = |from: usize, to: usize| text[from..to].encode_utf16().count();
        let mut ranges = (self.find)(text);
        ranges.sort_unstable_by_key(|range| range.start);
        let (mut byte, mut unit) = (0, 0);
        let ranges = ranges.into_iter().map(|Range { start, end }| {
            unit += units(byte, start);
            byte = start;
            (unit, unit + units(start, end))
        });
        ranges.collect()
    }
}

impl fmt::Debug for Conceal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conceal").finish_non_exhaustive()
    }
}

/// Why a page can be had neither as a picture nor in print, though no text may be seen there that must not be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unconcealed {
    /// A print would hold it as text.
    #[error("the page holds a secret, which a PDF would show")]
    Printed,
    /// It is somewhere else each time.
    #[error("a secret on the page does not stay in its place, so a picture could show it")]
    Moving,
    /// Its rectangle is not known.
    #[error("a secret on the page is drawn where it cannot be covered, so a picture would show it")]
    Astray,
    /// A frame does not say what it shows.
    #[error("a part of the page does not say what it shows, which could be a secret")]
    Silent,
    /// There is too much to search.
    #[error("the page holds more text than can be searched for secrets")]
    Excess,
}

/// What must be covered, and how the page was scrolled then.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Covers {
    pub(super) view: View,
    /// In CSS pixels of the page's viewport.
    pub(super) rects: Vec<Rect>,
}

impl Covers {
    /// Whether these are still the places.
    pub(super) fn hold(&self, later: &Self) -> bool {
        let near = |a: f64, b: f64| (a - b).abs() < 1.0;
        let same = |(a, b): (&Rect, &Rect)| {
            near(a.x, b.x) && near(a.y, b.y) && near(a.width, b.width) && near(a.height, b.height)
        };
        // How the page is scrolled matters where something is covered.
        self.rects.len() == later.rects.len()
            && self.rects.iter().zip(&later.rects).all(same)
            && (self.rects.is_empty() || self.view == later.view)
    }
}

#[derive(Serialize)]
struct Request {
    print: bool,
}

#[derive(Debug, Deserialize)]
struct Writing {
    text: String,
    mark: u32,
    view: View,
}

#[derive(Serialize)]
struct Sought<'a> {
    mark: u32,
    ranges: &'a [(usize, usize)],
}

#[derive(Debug, Deserialize)]
struct Spots {
    rects: Vec<Rect>,
    astray: bool,
}

/// A frame with a text that must not be seen.
struct Finding {
    frame: FrameState,
    mark: u32,
    ranges: Vec<(usize, usize)>,
}

impl Conceal {
    /// What must be covered in a picture of the page.
    pub(super) async fn covers(&self, tab: &Tab, deadline: Deadline) -> Result<Covers, Error> {
        let mut frames = frames(tab);
        let chart = Chart::of(&frames, deadline.at_most(PATIENCE)).await;
        // What takes no part in a picture need not answer.
        frames.retain(|frame| !chart.is_nowhere(&frame.id));
        let writings = writings(tab, &frames, false, deadline.at_most(PATIENCE)).await;
        let (mut views, mut findings) = (HashMap::new(), Vec::new());
        for (frame, writing) in frames.iter().zip(writings) {
            let Writing { text, mark, view } = writing?;
            views.insert(frame.id.clone(), view);
            let ranges = self.search(text).await?;
            if !ranges.is_empty() {
                findings.push(Finding { frame: frame.clone(), mark, ranges });
            }
        }
        let view = frames.first().and_then(|main| views.get(&main.id)).copied();
        let view = view.ok_or(Error::Unconcealed(Unconcealed::Silent))?;
        let sizes: HashMap<_, Size> = views.into_iter().map(|(id, view)| (id, view.size)).collect();
        let mut rects = Vec::new();
        let patience = deadline.at_most(PATIENCE);
        for (finding, spots) in join_all(findings.iter().map(|finding| finding.spots(patience))).await {
            let spots = spots?;
            let map = chart.map(&finding.frame.id, &sizes).filter(|_| !spots.astray);
            let map = map.ok_or(Error::Unconcealed(Unconcealed::Astray))?;
            rects.extend(spots.rects.iter().map(|rect| map.cover(&wider(rect))));
        }
        Ok(Covers { view, rects })
    }

    /// Whether the page may be printed.
    pub(crate) async fn check_print(&self, tab: &Tab, deadline: Deadline) -> Result<(), Error> {
        for writing in writings(tab, &frames(tab), true, deadline.at_most(PATIENCE)).await {
            if !self.search(writing?.text).await?.is_empty() {
                return Err(Error::Unconcealed(Unconcealed::Printed));
            }
        }
        Ok(())
    }
}

impl Finding {
    async fn spots(&self, deadline: Deadline) -> (&Self, Result<Spots, Error>) {
        let sought = Sought { mark: self.mark, ranges: &self.ranges };
        let spots = async { World::of(&self.frame, deadline).await?.call("spots", &sought, deadline).await };
        (self, spots.await.map_err(|_: WorldError| Error::Unconcealed(Unconcealed::Silent)))
    }
}

/// The frames of a page that have a document, the main frame first.
fn frames(tab: &Tab) -> Vec<FrameState> {
    let state = tab.state();
    let state = state.borrow();
    state.frames().into_iter().filter(|frame| frame.parent.is_none() || !frame.is_waited_for()).cloned().collect()
}

/// What frames have in writing; all of it, or none.
async fn writings(tab: &Tab, frames: &[FrameState], print: bool, deadline: Deadline) -> Vec<Result<Writing, Error>> {
    let writings = frames.iter().map(|frame| async move {
        let reply: Result<Reply<Writing>, _> =
            asking::read(tab, frame, ("writing", &Request { print }), None, 0, deadline).await;
        let silent = Error::Unconcealed(Unconcealed::Silent);
        match reply {
            // A closed root that nobody entered.
            Ok(Reply { nodes, .. }) if nodes.iter().any(|node| node.closed_root.is_some()) => Err(silent),
            Ok(Reply { answer, .. }) => Ok(answer),
            Err(WorldError::Script(error)) if error.code == "excess" => Err(Error::Unconcealed(Unconcealed::Excess)),
            Err(reason) => {
                tracing::debug!(%reason, "what a frame has in writing stays unknown");
                Err(silent)
            }
        }
    });
    join_all(writings).await
}

fn wider(rect: &Rect) -> Rect {
    Rect {
        x: rect.x - OVERHANG,
        y: rect.y - OVERHANG,
        width: rect.width + 2.0 * OVERHANG,
        height: rect.height + 2.0 * OVERHANG,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_counted_as_pages_count() {
        let conceal = Conceal::new(|text| text.match_indices("key").map(|(at, word)| at..at + word.len()).collect());
        assert_eq!(conceal.units("a😀 key ü key"), [(4, 7), (10, 13)]);
        assert_eq!(conceal.units("nothing"), []);
    }
}
