//! The forms in which a value may come back. Those that write letter by letter are undone by [`decoded`]; those that
//! hide where letters begin are looked for as they are.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};

/// A character, and the bytes of a text that it stands for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Letter {
    pub(super) character: char,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The letters of a text.
pub(super) fn letters(text: &str) -> Vec<Letter> {
    let letter = |(start, character): (usize, char)| Letter { character, start, end: start + character.len_utf8() };
    text.char_indices().map(letter).collect()
}

/// Every form of a value that is looked for.
pub(super) fn of(value: &str) -> Vec<String> {
    let reversed: String = value.chars().rev().collect();
    let mut forms = vec![value.to_owned(), reversed.clone()];
    for text in [value, &reversed] {
        forms.extend(base64_cores(text.as_bytes()));
        let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        forms.extend(base64_cores(&wide));
        forms.push(text.bytes().map(|byte| format!("{byte:02x}")).collect());
    }
    forms
}

/// The letters with one layer of encoding undone: percent signs (RFC 3986), character references (HTML), and escapes of
/// JSON, JavaScript and Rust. What is not encoded stays.
pub(super) fn decoded(letters: &[Letter]) -> Vec<Letter> {
    let mut decoded = Vec::with_capacity(letters.len());
    let mut at = 0;
    while at < letters.len() {
        let rest = &letters[at..];
        let (characters, length) = match rest[0].character {
            '%' => percent(rest),
            '&' => reference(rest),
            '\\' => escape(rest),
            _ => None,
        }
        .unwrap_or_else(|| (rest[0].character.to_string(), 1));
        let (start, end) = (rest[0].start, rest[length - 1].end);
        decoded.extend(characters.chars().map(|character| Letter { character, start, end }));
        at += length;
    }
    decoded
}

/// What stands at the beginning of the letters for something else, and how many letters that takes.
type Decoded = Option<(String, usize)>;

fn percent(letters: &[Letter]) -> Decoded {
    let mut bytes = Vec::new();
    for triple in letters.chunks_exact(3) {
        let ('%', Some(byte)) = (triple[0].character, number(&triple[1..], 16)) else { break };
        bytes.push(u8::try_from(byte).ok()?);
    }
    // A run of them may end in the middle of a letter, or be none in UTF-8.
    (!bytes.is_empty()).then(|| (String::from_utf8_lossy(&bytes).into_owned(), bytes.len() * 3))
}

fn reference(letters: &[Letter]) -> Decoded {
    const NAMED: [(&str, char); 7] =
        [("amp", '&'), ("lt", '<'), ("gt", '>'), ("quot", '"'), ("apos", '\''), ("nbsp", ' '), ("num", '#')];
    let end = letters.iter().take(12).position(|letter| letter.character == ';')?;
    let name: String = letters[1..end].iter().map(|letter| letter.character.to_ascii_lowercase()).collect();
    let character = match name.strip_prefix('#') {
        Some(digits) if digits.starts_with('x') => number(&letters[3..end], 16).and_then(char::from_u32),
        Some(_) => number(&letters[2..end], 10).and_then(char::from_u32),
        None => NAMED.iter().find(|(known, _)| *known == name).map(|(_, character)| *character),
    };
    character.map(|character| (character.to_string(), end + 1))
}

fn escape(letters: &[Letter]) -> Decoded {
    let unit = |letters: &[Letter]| match letters.get(..6)?.split_at(2) {
        ([a, b], digits) if a.character == '\\' && b.character == 'u' => u16::try_from(number(digits, 16)?).ok(),
        _ => None,
    };
    match letters.get(1)?.character {
        'u' if letters.get(2)?.character == '{' => {
            let end = letters.iter().take(11).position(|letter| letter.character == '}')?;
            Some((char::from_u32(number(&letters[3..end], 16)?)?.to_string(), end + 1))
        }
        'u' => {
            let first = unit(letters)?;
            let pair = unit(&letters[6..]).and_then(|second| String::from_utf16(&[first, second]).ok());
            match (String::from_utf16(&[first]), pair) {
                (Ok(alone), _) => Some((alone, 6)),
                (Err(_), Some(pair)) => Some((pair, 12)),
                (Err(_), None) => None,
            }
        }
        'x' => Some((char::from_u32(number(letters.get(2..4)?, 16)?)?.to_string(), 4)),
        escaped @ ('\\' | '"' | '\'' | '/' | '`') => Some((escaped.to_string(), 2)),
        _ => None,
    }
}

fn number(digits: &[Letter], radix: u32) -> Option<u32> {
    let text: String = digits.iter().map(|letter| letter.character).collect();
    // Signs are no digits here.
    text.chars().all(|c| c.is_ascii_alphanumeric()).then(|| u32::from_str_radix(&text, radix).ok())?
}

/// What base64 makes of bytes wherever they stand in a longer text: the letters that no neighbour has a part in.
fn base64_cores(bytes: &[u8]) -> Vec<String> {
    let mut cores = Vec::new();
    for shift in 0..3 {
        let mut shifted = vec![0; shift];
        shifted.extend_from_slice(bytes);
        for engine in [&STANDARD, &URL_SAFE] {
            let encoded = engine.encode(&shifted);
            // RFC 4648 §4: each letter carries six bits.
            let first = (shift * 8).div_ceil(6);
            let last = (shift + bytes.len()) * 8 / 6;
            cores.push(encoded[first..last].to_owned());
        }
    }
    cores
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        decoded(&letters(text)).iter().map(|letter| letter.character).collect()
    }

    #[test]
    fn one_layer_of_any_encoding_is_undone_and_broken_ones_stay() {
        for (encoded, plain) in [
            ("a%20%c3%BC!", "a ü!"),
            ("%41%zz%4", "A%zz%4"),
            ("&lt;&#65;&#x42;&AMP;&nothing;&", "<AB&&nothing;&"),
            (r#"\u0041\u{42}\x43\\u0044\""#, r#"ABC\u0044""#),
            (r"\ud83d\ude00 \ud83d \u00 \", "😀 \\ud83d \\u00 \\"),
            ("plain", "plain"),
        ] {
            assert_eq!(read(encoded), plain, "{encoded}");
        }
        let twice = decoded(&decoded(&letters("x%2541y")));
        let middle = twice[1];
        assert_eq!((middle.character, middle.start, middle.end), ('A', 1, 6));
    }

    #[test]
    fn base64_is_found_at_every_place_in_a_longer_text() {
        let forms = of("s3cret-value");
        for before in ["", "x", "xy", "xyz", "user:"] {
            let encoded = STANDARD.encode(format!("{before}s3cret-value and more"));
            assert!(forms.iter().any(|form| encoded.contains(form)), "{encoded}");
        }
    }
}
