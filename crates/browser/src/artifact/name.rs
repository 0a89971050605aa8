//! Names of artifacts: one path segment, safe on every file system.

use std::fmt;

/// The longest name in bytes, with room for a number: file systems take 255.
const LONGEST: usize = 240;
/// The longest ending of a name that is kept when the name is cut, in bytes.
const LONGEST_ENDING: usize = 32;
/// The name of what has none.
const NAMELESS: &str = "download";
/// Names that are devices on Windows, whatever follows after a dot.
const DEVICES: [&str; 6] = ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"];
/// Letters that show nothing: the Hangul fillers.
const EMPTY_LETTERS: [char; 4] = ['\u{115f}', '\u{1160}', '\u{3164}', '\u{ffa0}'];

/// A safe single path segment, made by us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ArtifactName {
    stem: String,
    /// With its dot, or empty.
    ending: String,
    /// Tells it from others of the same name.
    number: Option<u32>,
}

impl ArtifactName {
    /// A fresh name such as `screenshot-20261130-191545-k3x9.png`; both parts are words of ours.
    pub(crate) fn fresh(kind: &'static str, extension: &'static str) -> Self {
        let now = time::OffsetDateTime::now_utc();
        let mark = random_letters(4);
        let stem = format!(
            "{kind}-{:04}{:02}{:02}-{:02}{:02}{:02}-{mark}",
            now.year(),
            u8::from(now.month()),
            now.day(),
            now.hour(),
            now.minute(),
            now.second()
        );
        Self { stem, ending: format!(".{extension}"), number: None }
    }

    /// The nearest safe name to one that a site proposes. Of a path it is the last part; letters and digits of any
    /// script stay, and what could hide, turn, split or command becomes `_`.
    pub(crate) fn near(proposed: &str) -> Self {
        let last = proposed.rsplit(['/', '\\']).find(|part| !part.trim_matches(['.', ' ']).is_empty());
        let mut safe = String::new();
        for character in last.unwrap_or_default().chars() {
            match character {
                _ if stays(character) => safe.push(character),
                _ if safe.ends_with('_') => {}
                _ => safe.push('_'),
            }
        }
        // A leading dot hides a file, a leading dash makes it an option; Windows drops dots and spaces at the end.
        let safe = safe.trim_matches(|c: char| matches!(c, '.' | ' ')).trim_start_matches('-');
        let (stem, ending) = match safe.rfind('.') {
            Some(dot) if safe.len() - dot <= LONGEST_ENDING => safe.split_at(dot),
            _ => (safe, ""),
        };
        let stem = cut(stem, LONGEST - ending.len()).trim_end();
        let stem = match stem {
            "" | "_" => NAMELESS.to_owned(),
            _ if is_device(stem) => format!("_{stem}"),
            _ => stem.to_owned(),
        };
        Self { stem, ending: ending.to_owned(), number: None }
    }

    /// The same with a number in it: `report (2).csv`.
    pub(crate) fn numbered(&self, number: u32) -> Self {
        Self { number: Some(number), ..self.clone() }
    }
}

impl fmt::Display for ArtifactName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { stem, ending, number } = self;
        match number {
            Some(number) => write!(f, "{stem} ({number}){ending}"),
            None => write!(f, "{stem}{ending}"),
        }
    }
}

/// Letters that tell a name from others, and that nobody can guess where they are many.
pub(crate) fn random_letters(count: usize) -> String {
    (0..count).map(|_| char::from(rand::random_range(b'a'..=b'z'))).collect()
}

fn stays(character: char) -> bool {
    let letter = character.is_alphanumeric() && !EMPTY_LETTERS.contains(&character);
    letter || matches!(character, ' ' | '.' | '-' | '_' | '(' | ')' | '[' | ']' | '+' | '=' | '@' | ',')
}

fn is_device(stem: &str) -> bool {
    let first = stem.split('.').next().unwrap_or_default().trim_end().to_uppercase();
    let port = |prefix: &str| {
        let number = first.strip_prefix(prefix);
        number.is_some_and(|number| number.chars().count() == 1 && number.chars().all(char::is_numeric))
    };
    DEVICES.contains(&first.as_str()) || port("COM") || port("LPT")
}

/// The first `limit` bytes, or less where a character would be torn.
fn cut(text: &str, limit: usize) -> &str {
    let mut end = text.len().min(limit);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_site_proposes_becomes_one_safe_segment() {
        let table = [
            ("report.csv", "report.csv"),
            ("Quarterly report (final).tar.gz", "Quarterly report (final).tar.gz"),
            ("../../etc/passwd", "passwd"),
            ("/etc/passwd", "passwd"),
            ("C:\\Windows\\system32\\cmd.exe", "cmd.exe"),
            ("folder/", "folder"),
            ("..", "download"),
            ("", "download"),
            ("///", "download"),
            (".bashrc", "bashrc"),
            ("...hidden. . ", "hidden"),
            ("-rf", "rf"),
            ("a\u{0}b\nc\td", "a_b_c_d"),
            ("invoice\u{202e}fdp.exe", "invoice_fdp.exe"),
            ("zero\u{200b}width\u{feff}\u{e0041}.txt", "zero_width_.txt"),
            ("a\u{2028}b\u{2029}c", "a_b_c"),
            ("\u{3164}.txt", "download.txt"),
            ("a<b>c:d\"e|f?g*h.txt", "a_b_c_d_e_f_g_h.txt"),
            ("$(rm -rf ~)`x`;&.sh", "_(rm -rf _)_x_.sh"),
            ("Übersicht 東京 отчёт.pdf", "Übersicht 東京 отчёт.pdf"),
            ("CON", "_CON"),
            ("nul.txt", "_nul.txt"),
            ("com1.tar.gz", "_com1.tar.gz"),
            ("LPT¹", "_LPT¹"),
            ("aux .c", "_aux.c"),
            ("CONIN$", "CONIN_"),
            ("console.log", "console.log"),
            ("com10", "com10"),
        ];
        for (proposed, expected) in table {
            assert_eq!(ArtifactName::near(proposed).to_string(), expected, "{proposed:?}");
        }
    }

    #[test]
    fn a_long_name_is_cut_between_characters_and_keeps_its_ending_and_room_for_a_number() {
        for letter in ["a", "ö", "東", "𝔸"] {
            let name = ArtifactName::near(&format!("{}.pdf", letter.repeat(300)));
            let numbered = name.numbered(9_999).to_string();
            assert!(numbered.len() <= 255 && name.to_string().len() > 200, "{} bytes", numbered.len());
            assert!(numbered.ends_with(" (9999).pdf"), "{numbered}");
        }
        let endless = ArtifactName::near(&format!("a.{}", "b".repeat(400))).to_string();
        assert!(endless.len() <= LONGEST, "{} bytes", endless.len());
    }
}
