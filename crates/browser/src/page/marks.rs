//! The page script's marks: `U+0001 e ID U+0002` stands for an element, `U+0001 f ID U+0002` for what
//! a frame's owner holds. No string of a page holds either control character when it gets here.

use bathy_cdp::protocol::{FrameId, LoaderId};

use super::{Element, RefTable};

const OPEN: char = '\u{1}';
const CLOSE: char = '\u{2}';

/// Writes the refs of elements of one document in place of their marks, and drops frame marks.
pub(crate) fn with_refs(text: &str, refs: &mut RefTable, frame: &FrameId, document: &LoaderId) -> String {
    let mut written = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(OPEN) {
        written.push_str(before);
        let (mark, after) = after.split_once(CLOSE).unwrap_or_default();
        rest = after;
        if let Some(id) = mark.strip_prefix('e').and_then(|id| id.parse().ok()) {
            let element = Element { frame: frame.clone(), document: document.clone(), id };
            written.push_str(&refs.name(&element).to_string());
        }
    }
    written.push_str(rest);
    if written.ends_with(' ') { written.trim_end().to_owned() } else { written }
}

/// The owner whose frame's contents belong below this line, by the page script's id.
pub(crate) fn frame_owner(line: &str) -> Option<u32> {
    let (_, mark) = line.split_once("\u{1}f")?;
    mark.split_once(CLOSE)?.0.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_become_refs_and_nothing_of_them_is_left() {
        let mut refs = RefTable::default();
        let (frame, document) = (FrameId("f".to_owned()), LoaderId("d".to_owned()));
        let line = "  iframe \"pay\" \u{1}e7\u{2} cross-origin \u{1}f7\u{2}";
        assert_eq!(frame_owner(line), Some(7));
        assert_eq!(with_refs(line, &mut refs, &frame, &document), "  iframe \"pay\" @e1 cross-origin");
        assert_eq!(with_refs("torn \u{1}e9", &mut refs, &frame, &document), "torn");
        assert_eq!(frame_owner("button \u{1}e7\u{2}"), None);
    }
}
