//! The mask over everything that leaves.

use std::collections::BTreeMap;

use aho_corasick::{AhoCorasick, MatchKind};
use serde_json::Value;

use super::forms::Letter;
use super::{Secrets, forms};
use crate::escape;

/// The fewest letters that are looked for: fewer are everywhere. So many of a secret's beginning or end are taken for it
/// where a text was cut.
pub(super) const SHORTEST: usize = 4;
/// How many encodings are undone that were put on top of each other.
const LAYERS: usize = 3;
/// More bytes than one letter takes in any encoding.
const ENCODED_LETTER: usize = 10;
/// What stands where a text was cut.
const CUT: char = '…';

/// Finds secrets in all their forms, over line breaks, spaces, quotes and invisible characters, whatever the case.
pub(super) struct Mask {
    finder: AhoCorasick,
    /// What the finder looks for, and whose it is.
    patterns: Vec<(Vec<char>, usize)>,
    names: Vec<String>,
}

impl Mask {
    pub(super) fn new<'a>(secrets: impl Iterator<Item = (&'a str, &'a str)>) -> Result<Self, String> {
        let (mut owners, mut names) = (BTreeMap::new(), Vec::new());
        for (index, (name, value)) in secrets.enumerate() {
            for form in forms::of(value) {
                let folded = Folded::of(&forms::letters(&form));
                if folded.letters.len() >= SHORTEST {
                    owners.entry(folded.joined()).or_insert(index);
                }
            }
            names.push(name.to_owned());
        }
        let finder = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(owners.keys())
            .map_err(|error| format!("the secrets cannot be looked for: {error}"))?;
        let patterns = owners.into_iter().map(|(pattern, owner)| (pattern.chars().collect(), owner)).collect();
        Ok(Self { finder, patterns, names })
    }

    /// The text with each secret replaced by its name.
    pub(super) fn text(&self, text: &str) -> String {
        if self.patterns.is_empty() {
            return text.to_owned();
        }
        let mut masked = String::with_capacity(text.len());
        let mut end = 0;
        for (from, to, owner) in self.places(text) {
            if from >= end {
                masked.push_str(&text[end..from]);
                masked.push_str(&Secrets::placeholder(&self.names[owner]));
            }
            // What overlaps with one that was replaced goes along with it.
            end = end.max(to);
        }
        masked.push_str(&text[end..]);
        masked
    }

    /// Where secrets are, in whatever form, and whose: from and to, in bytes.
    pub(super) fn places(&self, text: &str) -> Vec<(usize, usize, usize)> {
        let mut ranges = self.found(text);
        ranges.extend(self.parts(text));
        ranges.sort_unstable();
        ranges
    }

    /// Every text in a value, numbers and names of members included.
    pub(super) fn data(&self, data: &mut Value) {
        match data {
            Value::String(text) => *text = self.text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.data(item)),
            Value::Object(members) => {
                let named = std::mem::take(members);
                for (name, mut member) in named {
                    self.data(&mut member);
                    members.insert(self.text(&name), member);
                }
            }
            Value::Number(number) => {
                let text = number.to_string();
                let masked = self.text(&text);
                if masked != text {
                    *data = Value::String(masked);
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// Where whole secrets are: from, to and whose.
    fn found(&self, text: &str) -> Vec<(usize, usize, usize)> {
        let mut ranges = Vec::new();
        for Folded { letters } in Folded::layers(text) {
            let mut joined = String::with_capacity(letters.len());
            // Which letter each byte of the joined text is of.
            let mut owners = Vec::with_capacity(letters.len());
            for (index, letter) in letters.iter().enumerate() {
                joined.push(letter.character);
                owners.resize(joined.len(), index);
            }
            for found in self.finder.find_iter(&joined) {
                let (first, last) = (letters[owners[found.start()]], letters[owners[found.end() - 1]]);
                ranges.push((first.start, last.end, self.patterns[found.pattern().as_usize()].1));
            }
        }
        ranges
    }

    /// Where secrets begin that a cut ended, and end that a cut began: at the ends of lines, and at the sign of a cut.
    fn parts(&self, text: &str) -> Vec<(usize, usize, usize)> {
        let mut ranges = Vec::new();
        let mut start = 0;
        for piece in text.split_inclusive([CUT, '\n']) {
            let piece_text = piece.trim_end_matches([CUT, '\n']);
            // A cut may have gone through an encoded letter.
            let whole = piece_text.rfind(['%', '&', '\\']).filter(|at| piece_text.len() - at < ENCODED_LETTER);
            let variants = [Some(piece_text), whole.map(|at| &piece_text[..at])];
            for Folded { letters } in variants.into_iter().flatten().flat_map(Folded::layers) {
                if letters.len() >= SHORTEST {
                    self.parts_of(&letters, start, &mut ranges);
                }
            }
            start += piece.len();
        }
        ranges
    }

    fn parts_of(&self, letters: &[Letter], start: usize, ranges: &mut Vec<(usize, usize, usize)>) {
        let same =
            |letters: &[Letter], part: &[char]| letters.iter().map(|letter| letter.character).eq(part.iter().copied());
        let (first, last) = (letters[0], letters[letters.len() - 1]);
        for (pattern, owner) in &self.patterns {
            let lengths = SHORTEST..=letters.len().min(pattern.len() - 1);
            // Most pieces are told apart by one letter.
            let begins = |length: &usize| {
                last.character == pattern[length - 1] && same(&letters[letters.len() - length..], &pattern[..*length])
            };
            let ends = |length: &usize| {
                first.character == pattern[pattern.len() - length]
                    && same(&letters[..*length], &pattern[pattern.len() - length..])
            };
            if let Some(length) = lengths.clone().rev().find(begins) {
                ranges.push((start + letters[letters.len() - length].start, start + last.end, *owner));
            }
            if let Some(length) = lengths.rev().find(ends) {
                ranges.push((start + first.start, start + letters[length - 1].end, *owner));
            }
        }
    }
}

/// Whether a character says nothing of its own in a text that was broken, spaced out, quoted or escaped.
pub(super) fn is_filler(character: char) -> bool {
    character.is_whitespace() || matches!(character, '\\' | '"' | '\'' | '+') || escape::is_invisible(character)
}

/// Letters without fillers, in lower case.
struct Folded {
    letters: Vec<Letter>,
}

impl Folded {
    fn of(letters: &[Letter]) -> Self {
        let kept = letters.iter().filter(|letter| !is_filler(letter.character));
        let lower =
            kept.flat_map(|letter| letter.character.to_lowercase().map(|character| Letter { character, ..*letter }));
        Self { letters: lower.collect() }
    }

    /// The text as it is, and with one, two and three layers of encoding undone.
    fn layers(text: &str) -> Vec<Self> {
        let mut letters = forms::letters(text);
        let mut layers = vec![Self::of(&letters)];
        for _ in 0..LAYERS {
            let decoded = forms::decoded(&letters);
            if decoded.len() == letters.len() {
                break;
            }
            layers.push(Self::of(&decoded));
            letters = decoded;
        }
        layers
    }

    fn joined(&self) -> String {
        self.letters.iter().map(|letter| letter.character).collect()
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use serde_json::json;

    use super::*;

    const VALUE: &str = "Pa$$ \"w<ö>rd\"/1&2";

    fn mask(value: &str) -> Mask {
        Mask::new([("shop", value), ("other", "unrelated-thing")].into_iter()).unwrap()
    }

    #[test]
    fn every_form_of_a_value_is_replaced_by_its_name() {
        let reversed: String = VALUE.chars().rev().collect();
        let json = serde_json::to_string(VALUE).unwrap();
        let query: String = url::form_urlencoded::byte_serialize(VALUE.as_bytes()).collect();
        let base64 = base64::engine::general_purpose::STANDARD.encode(format!("ann:{VALUE}!"));
        let entities: String = VALUE.chars().map(|c| format!("&#{};", u32::from(c))).collect();
        let hex: String = VALUE.bytes().map(|byte| format!("{byte:02X}")).collect();
        let quoted = escape::quoted(VALUE, 100);
        let spaced: String = VALUE.chars().flat_map(|c| [c, ' ']).collect();
        let broken = VALUE.replace('d', "d\n\u{200b}");
        let mask = mask(VALUE);
        for form in [
            VALUE,
            &VALUE.to_uppercase(),
            &reversed,
            &json,
            &serde_json::to_string(&json).unwrap(),
            &escape::quoted(&serde_json::to_string(&json).unwrap(), 200),
            &query,
            &url::form_urlencoded::byte_serialize(query.as_bytes()).collect::<String>(),
            "Pa%24%24%20%22w%3c%c3%b6%3erd%22%2f1%262",
            "Pa$$ &quot;w&lt;ö&gt;rd&quot;/1&amp;2",
            "Pa$$ \"w&lt;ö>rd\"/1&amp;2",
            "Pa$$ \\u0022w\\u003c\\u00F6\\u003erd\\u0022/1\\u00262",
            &base64,
            &entities,
            &hex,
            &quoted,
            &spaced,
            &broken,
        ] {
            let masked = mask.text(&format!("before {form} after"));
            assert!(masked.contains("[secret shop]"), "{form}: {masked}");
            assert!(masked.starts_with("before ") && masked.ends_with(" after"), "{form}: {masked}");
            for part in ["ö", "Pa$$", "rd\"/", "c3b6"] {
                assert!(!masked.to_lowercase().contains(&part.to_lowercase()), "{form}: {masked}");
            }
        }
        assert_eq!(mask.text("nothing of that kind, Pa and rd"), "nothing of that kind, Pa and rd");
    }

    #[test]
    fn what_a_cut_left_of_a_value_is_replaced_too() {
        let mask = mask("correct-horse-battery");
        for text in ["title: \"my correct-horse-b…\"", "it ends in correct-horse-bat", "orse-battery begins\nthe text"]
        {
            let masked = mask.text(text);
            assert!(masked.contains("[secret shop]") && !masked.contains("orse"), "{masked}");
        }
        assert_eq!(mask.text("a correct answer…"), "a correct answer…");
    }

    #[test]
    fn data_is_masked_wherever_it_has_text() {
        let mask = mask("12345678");
        let mut data = json!({"a": ["x12345678y", 12_345_678, true], "k12345678": {"n": 1}});
        mask.data(&mut data);
        assert_eq!(data, json!({"a": ["x[secret shop]y", "[secret shop]", true], "k[secret shop]": {"n": 1}}));
    }

    #[test]
    fn several_secrets_are_told_apart_and_the_longest_match_wins() {
        let mask = Mask::new([("short", "hunter"), ("long", "hunter2222")].into_iter()).unwrap();
        assert_eq!(mask.text("hunter2222 hunter hunter2222"), "[secret long] [secret short] [secret long]");
    }
}
