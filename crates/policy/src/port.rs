//! The optional `:port` at the end of a pattern.

/// Splits `text`, `text:port`, `[text]` or `[text]:port` into the text without brackets and the port.
///
/// A text with several colons and no brackets is an IPv6 address or network without a port. `None` when the port is not
/// a number from 1 to 65535 or something else follows the brackets.
pub(crate) fn split_port(text: &str) -> Option<(&str, Option<u16>)> {
    if let Some(rest) = text.strip_prefix('[') {
        let (inner, after) = rest.split_once(']')?;
        return match after.strip_prefix(':') {
            Some(port) => Some((inner, Some(parse_port(port)?))),
            None => after.is_empty().then_some((inner, None)),
        };
    }
    match text.split_once(':') {
        Some((front, port)) if !port.contains(':') => Some((front, Some(parse_port(port)?))),
        _ => Some((text, None)),
    }
}

fn parse_port(text: &str) -> Option<u16> {
    // The standard library's parser also takes a sign.
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok().filter(|port| *port != 0)
}
