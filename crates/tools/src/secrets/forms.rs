//! The forms in which a value may come back: encodings that pages, browsers and we ourselves use.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};

/// How many times encodings are put on top of each other: a percent-encoded value in JSON, say.
const DEPTH: usize = 2;

/// Every form of a value that is looked for.
pub(super) fn of(value: &str) -> BTreeSet<String> {
    let mut forms = BTreeSet::from([value.to_owned(), value.chars().rev().collect()]);
    let squeezed = value.split_whitespace().collect::<Vec<_>>().join(" ");
    forms.insert(squeezed);
    let mut latest = forms.clone();
    for _ in 0..DEPTH {
        let encoded: BTreeSet<String> = latest.iter().flat_map(|text| encodings(text)).collect();
        latest = encoded.difference(&forms).cloned().collect();
        forms.extend(latest.iter().cloned());
    }
    // Encodings that hide where letters begin are not put on top of others.
    for text in [value, &value.chars().rev().collect::<String>()] {
        forms.extend(base64_cores(text.as_bytes()));
        let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        forms.extend(base64_cores(&wide));
        forms.insert(text.bytes().map(|byte| format!("{byte:02x}")).collect());
    }
    forms
}

/// Encodings letter by letter.
fn encodings(text: &str) -> Vec<String> {
    vec![
        // encodeURIComponent, a form's body, every letter but the plainest, and all of them.
        percent(text, |c| c.is_ascii_alphanumeric() || "-_.!~*'()".contains(c)),
        percent(text, |c| c.is_ascii_alphanumeric() || "*-._ ".contains(c)).replace(' ', "+"),
        percent(text, |c| c.is_ascii_alphanumeric() || "-._~!$&'()*+,;=:@/?".contains(c)),
        percent(text, |c| c.is_ascii_alphanumeric()),
        percent(text, |_| false),
        each(text, |c| match c {
            '&' => Some("&amp;".to_owned()),
            '<' => Some("&lt;".to_owned()),
            '>' => Some("&gt;".to_owned()),
            '"' => Some("&quot;".to_owned()),
            '\'' => Some("&#39;".to_owned()),
            _ => None,
        }),
        each(text, |c| Some(format!("&#{};", u32::from(c)))),
        each(text, |c| Some(format!("&#x{:x};", u32::from(c)))),
        // JSON and JavaScript, with what they must escape and with all of it.
        each(text, |c| matches!(c, '"' | '\\').then(|| format!("\\{c}"))),
        each(text, |c| matches!(c, '\'' | '\\').then(|| format!("\\{c}"))),
        each(text, |c| matches!(c, '"' | '\\' | '/').then(|| format!("\\{c}"))),
        each(text, |c| (!c.is_ascii()).then(|| utf16_escapes(c))),
        each(text, |c| (!c.is_ascii() || "<>&'\"\\".contains(c)).then(|| utf16_escapes(c))),
        each(text, |c| Some(utf16_escapes(c))),
        each(text, |c| Some(format!("\\u{{{:x}}}", u32::from(c)))),
        each(text, |c| Some(c.to_string().bytes().map(|byte| format!("\\x{byte:02x}")).collect())),
    ]
}

fn each(text: &str, form: impl Fn(char) -> Option<String>) -> String {
    text.chars().map(|c| form(c).unwrap_or_else(|| c.to_string())).collect()
}

fn percent(text: &str, plain: impl Fn(char) -> bool) -> String {
    each(text, |c| (!plain(c)).then(|| c.to_string().bytes().map(|byte| format!("%{byte:02X}")).collect()))
}

fn utf16_escapes(c: char) -> String {
    let mut units = [0; 2];
    c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect()
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

    #[test]
    fn base64_is_found_at_every_place_in_a_longer_text() {
        let forms = of("s3cret-value");
        for before in ["", "x", "xy", "xyz", "user:"] {
            let encoded = STANDARD.encode(format!("{before}s3cret-value and more"));
            assert!(forms.iter().any(|form| encoded.contains(form)), "{encoded}");
        }
    }
}
