//! The US keyboard: which key is meant by a name or a character, and what it says of itself.
//!
//! Names are those of UI Events (`KeyboardEvent.key` and `.code`); key codes are those of Windows, as browsers
//! report them on every system.

use std::str::FromStr;

use super::Modifiers;
use crate::Error;

/// A key or a chord, such as `Enter`, `a`, `Control+Shift+ArrowLeft`; names are those of UI Events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    pub(super) stroke: Stroke,
    pub(super) modifiers: Modifiers,
}

/// One key, as it is told to the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stroke {
    /// `KeyboardEvent.key`.
    pub(super) key: String,
    /// `KeyboardEvent.code`; empty for a character that no key of this keyboard has.
    pub(super) code: String,
    /// `KeyboardEvent.keyCode`.
    pub(super) key_code: u32,
    /// What it types.
    pub(super) text: Option<String>,
    /// Whether Shift is held to get it.
    pub(super) shifted: bool,
    /// `KeyboardEvent.location`.
    pub(super) location: u32,
}

/// How alike an unknown name and a known one must be for a proposal, from 0 to 1.
const ALIKE: f64 = 0.7;

/// The protocol's bit for Shift.
pub(super) const SHIFT_BIT: u32 = 8;

/// A key with a name: name, code, key code, text, location.
type Named = (&'static str, &'static str, u32, &'static str, u32);

const TAB: Named = ("Tab", "Tab", 9, "", 0);
const ENTER: Named = ("Enter", "Enter", 13, "\r", 0);
const SHIFT: Named = ("Shift", "ShiftLeft", 16, "", 1);
const CONTROL: Named = ("Control", "ControlLeft", 17, "", 1);
const ALT: Named = ("Alt", "AltLeft", 18, "", 1);
const META: Named = ("Meta", "MetaLeft", 91, "", 1);

const NAMED: &[Named] = &[
    ("Backspace", "Backspace", 8, "", 0),
    TAB,
    ENTER,
    SHIFT,
    CONTROL,
    ALT,
    ("Pause", "Pause", 19, "", 0),
    ("CapsLock", "CapsLock", 20, "", 0),
    ("Escape", "Escape", 27, "", 0),
    ("PageUp", "PageUp", 33, "", 0),
    ("PageDown", "PageDown", 34, "", 0),
    ("End", "End", 35, "", 0),
    ("Home", "Home", 36, "", 0),
    ("ArrowLeft", "ArrowLeft", 37, "", 0),
    ("ArrowUp", "ArrowUp", 38, "", 0),
    ("ArrowRight", "ArrowRight", 39, "", 0),
    ("ArrowDown", "ArrowDown", 40, "", 0),
    ("PrintScreen", "PrintScreen", 44, "", 0),
    ("Insert", "Insert", 45, "", 0),
    ("Delete", "Delete", 46, "", 0),
    META,
    ("ContextMenu", "ContextMenu", 93, "", 0),
    ("F1", "F1", 112, "", 0),
    ("F2", "F2", 113, "", 0),
    ("F3", "F3", 114, "", 0),
    ("F4", "F4", 115, "", 0),
    ("F5", "F5", 116, "", 0),
    ("F6", "F6", 117, "", 0),
    ("F7", "F7", 118, "", 0),
    ("F8", "F8", 119, "", 0),
    ("F9", "F9", 120, "", 0),
    ("F10", "F10", 121, "", 0),
    ("F11", "F11", 122, "", 0),
    ("F12", "F12", 123, "", 0),
    ("NumLock", "NumLock", 144, "", 0),
    ("ScrollLock", "ScrollLock", 145, "", 0),
];

/// Keys of one character: without Shift, with Shift, code, key code.
const PRINTED: &[(char, char, &str, u32)] = &[
    (' ', ' ', "Space", 32),
    ('0', ')', "Digit0", 48),
    ('1', '!', "Digit1", 49),
    ('2', '@', "Digit2", 50),
    ('3', '#', "Digit3", 51),
    ('4', '$', "Digit4", 52),
    ('5', '%', "Digit5", 53),
    ('6', '^', "Digit6", 54),
    ('7', '&', "Digit7", 55),
    ('8', '*', "Digit8", 56),
    ('9', '(', "Digit9", 57),
    (';', ':', "Semicolon", 186),
    ('=', '+', "Equal", 187),
    (',', '<', "Comma", 188),
    ('-', '_', "Minus", 189),
    ('.', '>', "Period", 190),
    ('/', '?', "Slash", 191),
    ('`', '~', "Backquote", 192),
    ('[', '{', "BracketLeft", 219),
    ('\\', '|', "Backslash", 220),
    (']', '}', "BracketRight", 221),
    ('\'', '"', "Quote", 222),
];

/// Other names that people and models use.
const ALIASES: &[(&str, &str)] = &[
    ("Ctrl", "Control"),
    ("Cmd", "Meta"),
    ("Command", "Meta"),
    ("Super", "Meta"),
    ("Win", "Meta"),
    ("Option", "Alt"),
    ("Esc", "Escape"),
    ("Return", "Enter"),
    ("Del", "Delete"),
    ("Up", "ArrowUp"),
    ("Down", "ArrowDown"),
    ("Left", "ArrowLeft"),
    ("Right", "ArrowRight"),
    ("PgUp", "PageUp"),
    ("PgDn", "PageDown"),
    ("Space", " "),
    ("Spacebar", " "),
    ("Plus", "+"),
];

impl FromStr for Key {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        // The last part may be the plus sign itself.
        let (chord, name) = match text.strip_suffix('+') {
            Some(rest) if rest.is_empty() || rest.ends_with('+') => (rest.trim_end_matches('+'), "+"),
            _ => text.rsplit_once('+').unwrap_or(("", text)),
        };
        let mut modifiers = Modifiers::default();
        for part in chord.split('+').filter(|_| !chord.is_empty()) {
            match named(part.trim()).map(|stroke| stroke.key).as_deref() {
                Some("Alt") => modifiers.alt = true,
                Some("Control") => modifiers.control = true,
                Some("Meta") => modifiers.meta = true,
                Some("Shift") => modifiers.shift = true,
                _ => return Err(unknown(part, &["Alt", "Control", "Meta", "Shift"])),
            }
        }
        let trimmed = if name.chars().count() == 1 { name } else { name.trim() };
        let mut stroke = Stroke::named(trimmed).ok_or_else(|| unknown(trimmed, &names()))?;
        let letter = stroke.code.starts_with("Key");
        if modifiers.shift {
            stroke = stroke.with_shift();
        } else if letter && modifiers != Modifiers::default() {
            // `Control+A` names the key, not the capital letter.
            stroke = Stroke::named(&stroke.key.to_lowercase()).unwrap_or(stroke);
        }
        Ok(Self { stroke, modifiers })
    }
}

impl Modifiers {
    /// The keys that are held, with the protocol's bits for them.
    pub(super) fn held(self) -> impl Iterator<Item = (Stroke, u32)> {
        let all =
            [(self.alt, ALT, 1), (self.control, CONTROL, 2), (self.meta, META, 4), (self.shift, SHIFT, SHIFT_BIT)];
        all.into_iter().filter(|(held, ..)| *held).map(|(_, key, bit)| (Stroke::of(&key), bit))
    }

    /// The protocol's bits for the keys that are held.
    pub(super) fn bits(self) -> u32 {
        self.held().map(|(_, bit)| bit).sum()
    }
}

impl Stroke {
    /// The key that types this character; one without a place on the keyboard where there is none.
    pub(super) fn typing(character: char) -> Self {
        match character {
            '\n' | '\r' => Self::of(&ENTER),
            '\t' => Self::of(&TAB),
            _ => printed(character).unwrap_or_else(|| Self {
                key: character.to_string(),
                code: String::new(),
                key_code: 0,
                text: Some(character.to_string()),
                shifted: false,
                location: 0,
            }),
        }
    }

    fn named(name: &str) -> Option<Self> {
        let mut characters = name.chars();
        match (characters.next(), characters.next()) {
            (Some(character), None) if !character.is_control() => Some(Self::typing(character)),
            _ => named(name),
        }
    }

    /// What the same key is while Shift is held.
    fn with_shift(self) -> Self {
        let character = self.key.chars().next().filter(|_| self.key.chars().count() == 1);
        let upper = character.and_then(|character| match character {
            'a'..='z' => printed(character.to_ascii_uppercase()),
            _ => PRINTED.iter().find(|(plain, ..)| *plain == character).and_then(|(_, shifted, ..)| printed(*shifted)),
        });
        upper.unwrap_or(self)
    }

    fn of((name, code, key_code, text, location): &Named) -> Self {
        Self {
            key: (*name).to_owned(),
            code: (*code).to_owned(),
            key_code: *key_code,
            text: (!text.is_empty()).then(|| (*text).to_owned()),
            shifted: false,
            location: *location,
        }
    }
}

/// A key by its name, its code or an alias, in any case.
fn named(name: &str) -> Option<Stroke> {
    if let Some((_, meant)) = ALIASES.iter().find(|(alias, _)| alias.eq_ignore_ascii_case(name)) {
        return Stroke::named(meant);
    }
    if let Some(key) =
        NAMED.iter().find(|(key, code, ..)| key.eq_ignore_ascii_case(name) || code.eq_ignore_ascii_case(name))
    {
        return Some(Stroke::of(key));
    }
    let letter = name.strip_prefix("Key").filter(|rest| rest.len() == 1).and_then(|rest| rest.chars().next());
    if let Some(letter) = letter.filter(char::is_ascii_uppercase) {
        return printed(letter.to_ascii_lowercase());
    }
    PRINTED.iter().find(|(.., code, _)| code.eq_ignore_ascii_case(name)).and_then(|(plain, ..)| printed(*plain))
}

fn printed(character: char) -> Option<Stroke> {
    let stroke = |code: String, key_code, shifted| Stroke {
        key: character.to_string(),
        code,
        key_code,
        text: Some(character.to_string()),
        shifted,
        location: 0,
    };
    if character.is_ascii_alphabetic() {
        let upper = character.to_ascii_uppercase();
        return Some(stroke(format!("Key{upper}"), u32::from(upper), character.is_ascii_uppercase()));
    }
    let (plain, _, code, key_code) =
        PRINTED.iter().find(|(plain, shifted, ..)| *plain == character || *shifted == character)?;
    Some(stroke((*code).to_owned(), *key_code, *plain != character))
}

fn names() -> Vec<&'static str> {
    NAMED.iter().map(|(name, ..)| *name).chain(ALIASES.iter().map(|(alias, _)| *alias)).collect()
}

fn unknown(name: &str, known: &[&str]) -> Error {
    let shown: String = name.chars().take(40).collect();
    let shown = shown.escape_debug();
    let nearest = known
        .iter()
        .map(|known| (strsim::jaro_winkler(&known.to_lowercase(), &name.to_lowercase()), known))
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .filter(|(likeness, _)| *likeness >= ALIKE);
    Error::InvalidArgument(match nearest {
        Some((_, nearest)) => format!("no key is named `{shown}`; did you mean `{nearest}`?"),
        None => format!(
            "no key is named `{shown}`; give one character or a name such as Enter, Tab, ArrowDown, F5, Control+a"
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> Key {
        text.parse().unwrap()
    }

    #[test]
    fn every_name_and_character_is_its_own_key() {
        for (text, key_name, code, key_code, typed) in [
            (".", ".", "Period", 190, Some(".")),
            ("Delete", "Delete", "Delete", 46, None),
            ("a", "a", "KeyA", 65, Some("a")),
            ("A", "A", "KeyA", 65, Some("A")),
            ("@", "@", "Digit2", 50, Some("@")),
            ("Enter", "Enter", "Enter", 13, Some("\r")),
            ("enter", "Enter", "Enter", 13, Some("\r")),
            ("Space", " ", "Space", 32, Some(" ")),
            (" ", " ", "Space", 32, Some(" ")),
            ("F12", "F12", "F12", 123, None),
            ("KeyS", "s", "KeyS", 83, Some("s")),
            ("Esc", "Escape", "Escape", 27, None),
            ("+", "+", "Equal", 187, Some("+")),
            ("é", "é", "", 0, Some("é")),
        ] {
            let Key { stroke, modifiers } = key(text);
            assert_eq!(
                (stroke.key.as_str(), stroke.code.as_str(), stroke.key_code),
                (key_name, code, key_code),
                "{text}"
            );
            assert_eq!(stroke.text.as_deref(), typed, "{text}");
            assert_eq!(modifiers, Modifiers::default(), "{text}");
        }
    }

    #[test]
    fn chords_hold_their_modifiers() {
        let held = |text: &str| {
            let Key { stroke, modifiers } = key(text);
            (stroke.key, modifiers.alt, modifiers.control, modifiers.meta, modifiers.shift)
        };
        assert_eq!(held("Control+a"), ("a".to_owned(), false, true, false, false));
        assert_eq!(held("Control+A"), ("a".to_owned(), false, true, false, false));
        assert_eq!(held("ctrl + shift + ArrowLeft"), ("ArrowLeft".to_owned(), false, true, false, true));
        assert_eq!(held("Shift+Tab"), ("Tab".to_owned(), false, false, false, true));
        assert_eq!(held("Shift+a"), ("A".to_owned(), false, false, false, true));
        assert_eq!(held("Shift+1"), ("!".to_owned(), false, false, false, true));
        assert_eq!(held("Control++"), ("+".to_owned(), false, true, false, false));
        assert_eq!(held("Cmd+Option+."), (".".to_owned(), true, false, true, false));
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_nearest_one() {
        for (text, part) in [
            ("Entr", "`Enter`"),
            ("ArowDown", "`ArrowDown`"),
            ("Controll+a", "`Control`"),
            ("F13x", "`F1"),
            ("", "give one character"),
            ("hello world", "no key is named"),
            ("a+b", "no key is named `a`"),
            ("\u{7}", "no key is named"),
        ] {
            let error = text.parse::<Key>().unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
