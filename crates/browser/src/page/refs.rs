//! Which number stands for which element. A number is never used again in its tab, so that a ref of
//! an earlier document can be told to be stale.

use std::collections::{BTreeMap, HashMap};

use bathy_cdp::protocol::{FrameId, LoaderId};

use crate::Ref;

/// Numbers beyond this push out the oldest.
const LIMIT: usize = 200_000;

/// An element of a document of a frame, by the page script's own id.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Element {
    pub(crate) frame: FrameId,
    pub(crate) document: LoaderId,
    pub(crate) id: u32,
}

/// The numbers given out in a tab.
#[derive(Debug, Default)]
pub(crate) struct RefTable {
    last: u32,
    elements: BTreeMap<u32, Element>,
    numbers: HashMap<Element, u32>,
}

impl RefTable {
    /// The ref of an element, a new one if it has none.
    pub(crate) fn name(&mut self, element: &Element) -> Ref {
        if let Some(number) = self.numbers.get(element) {
            return Ref::new(*number);
        }
        self.last += 1;
        self.numbers.insert(element.clone(), self.last);
        self.elements.insert(self.last, element.clone());
        if self.elements.len() > LIMIT
            && let Some((_, oldest)) = self.elements.pop_first()
        {
            self.numbers.remove(&oldest);
        }
        Ref::new(self.last)
    }

    /// The element that a ref was given for; none where no such ref was ever given out here.
    pub(crate) fn element(&self, reference: Ref) -> Option<&Element> {
        self.elements.get(&reference.number())
    }

    /// Whether the number was given out once, even if it is forgotten by now.
    pub(crate) fn was_given(&self, reference: Ref) -> bool {
        (1..=self.last).contains(&reference.number())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_element_keeps_its_number_and_no_number_names_two() {
        let mut table = RefTable::default();
        let element = |document: &str, id| Element {
            frame: FrameId("frame".to_owned()),
            document: LoaderId(document.to_owned()),
            id,
        };
        let first = table.name(&element("one", 7));
        assert_eq!(first, table.name(&element("one", 7)));
        let other = table.name(&element("two", 7));
        assert_ne!(first, other);
        assert_eq!(table.element(first), Some(&element("one", 7)));
        assert!(table.was_given(other) && !table.was_given(Ref::new(3)) && !table.was_given(Ref::new(0)));
    }
}
