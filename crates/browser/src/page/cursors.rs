//! Cursors: short words for where a reading ended, good for the document that they were made in.

use std::collections::VecDeque;

use super::outline::Place;

/// How many of the latest cursors of a tab are good.
const LIMIT: usize = 64;

/// Where a reading goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Continuation {
    pub(crate) place: Place,
    /// The element that was read, by the page script's id; the whole document when absent.
    pub(crate) id: Option<u32>,
    pub(crate) from: u64,
    /// Of an outline: how repeated siblings were shown.
    pub(crate) fold: Option<u32>,
}

/// The cursors of a tab.
#[derive(Debug, Default)]
pub(crate) struct Cursors {
    last: u32,
    known: VecDeque<(u32, Continuation)>,
}

impl Cursors {
    pub(crate) fn name(&mut self, continuation: Continuation) -> String {
        self.last += 1;
        self.known.push_back((self.last, continuation));
        if self.known.len() > LIMIT {
            self.known.pop_front();
        }
        format!("c{:x}", self.last)
    }

    pub(crate) fn find(&self, cursor: &str) -> Option<Continuation> {
        let number = u32::from_str_radix(cursor.trim().strip_prefix('c')?, 16).ok()?;
        self.known.iter().find(|(known, _)| *known == number).map(|(_, continuation)| continuation.clone())
    }
}
