//! Makes text of a page, of a model or of the system safe to stand in ours.

/// Short text on a line of ours: in quotes, one line, nothing invisible, at most `limit` characters of the text.
pub(crate) fn quoted(text: &str, limit: usize) -> String {
    let mut out = String::with_capacity(text.len().min(limit) + 2);
    out.push('"');
    push_line(&mut out, text, limit, true);
    out.push('"');
    out
}

/// Short text within a sentence of ours: one line, nothing invisible, at most `limit` characters of the text.
pub(crate) fn inline(text: &str, limit: usize) -> String {
    let mut out = String::with_capacity(text.len().min(limit));
    push_line(&mut out, text, limit, false);
    out
}

/// Text of several lines: line breaks stay, all other control and invisible characters go.
pub(crate) fn block(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    let mut previous = '\n';
    while let Some(character) = characters.next() {
        match character {
            '\r' => {
                if characters.peek() != Some(&'\n') {
                    out.push('\n');
                }
                previous = '\n';
            }
            '\n' | '\u{2028}' | '\u{2029}' | '\u{85}' | '\u{b}' | '\u{c}' => {
                out.push('\n');
                previous = '\n';
            }
            '\t' => out.push('\t'),
            _ if joins(character, previous) => {
                out.push(character);
                previous = '\n';
            }
            _ if is_invisible(character) => {}
            _ => {
                out.push(character);
                previous = character;
            }
        }
    }
    out
}

fn push_line(out: &mut String, text: &str, limit: usize, quotes: bool) {
    let mut characters = text.chars();
    let mut previous = '\n';
    for character in characters.by_ref().take(limit) {
        match character {
            '"' | '\\' if quotes => out.extend(['\\', character]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ if joins(character, previous) => out.push(character),
            _ if is_invisible(character) => out.extend(character.escape_unicode()),
            _ => out.push(character),
        }
        previous = if joins(character, previous) { '\n' } else { character };
    }
    if characters.next().is_some() {
        out.push('…');
    }
}

/// Joiners and the emoji selector belong to the writing of some scripts; one is taken after a letter that is not ASCII.
fn joins(character: char, previous: char) -> bool {
    matches!(character, '\u{200c}' | '\u{200d}' | '\u{fe0f}') && !previous.is_ascii() && !is_invisible(previous)
}

/// Controls, and characters that take no place or turn the direction of others (Unicode `Default_Ignorable_Code_Point`
/// and the separators of lines and paragraphs).
pub(crate) fn is_invisible(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_text_cannot_leave_its_line_or_its_quotes() {
        assert_eq!(quoted("a\"b\\c\nd\re\u{2028}f", 100), r#""a\"b\\c\nd\re\u{2028}f""#);
    }

    #[test]
    fn what_cannot_be_seen_is_written_out_in_lines_and_dropped_from_blocks() {
        for hidden in ['\0', '\u{1b}', '\u{202e}', '\u{2066}', '\u{200b}', '\u{feff}', '\u{e0041}', '\u{ad}', '\u{9b}']
        {
            let text = format!("a{hidden}b");
            assert!(!inline(&text, 100).contains(hidden), "{hidden:?}");
            assert!(inline(&text, 100).contains("\\u{"), "{hidden:?}");
            assert_eq!(block(&text), "ab", "{hidden:?}");
        }
    }

    #[test]
    fn a_block_keeps_its_lines_whatever_separates_them() {
        assert_eq!(block("a\r\nb\rc\u{2028}d\u{b}e\tf\n\ng"), "a\nb\nc\nd\ne\tf\n\ng");
    }

    #[test]
    fn joiners_stay_where_scripts_need_them_and_never_pile_up() {
        assert_eq!(block("می\u{200c}خواهم"), "می\u{200c}خواهم");
        assert_eq!(block("👩\u{200d}👧"), "👩\u{200d}👧");
        assert_eq!(block("é\u{200d}\u{200d}\u{200d}x"), "é\u{200d}x");
        assert_eq!(block("a\u{200d}b"), "ab");
    }

    #[test]
    fn long_text_is_cut_by_characters_and_says_so() {
        assert_eq!(quoted("äöüß", 2), "\"äö…\"");
        assert_eq!(inline("äö", 2), "äö");
    }
}
