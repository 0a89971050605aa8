//! Cookies in the format that Netscape wrote and curl, wget and browser extensions still do.

use serde_json::Map;

use super::state::{Cookie, StorageState};

/// A line that is no cookie.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct NetscapeError {
    /// Its number, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub reason: String,
}

/// Reads a `cookies.txt`: domain, whether subdomains get it, path, whether it is secure, expiry, name and value, with tabs
/// between them. `#HttpOnly_` before the domain is curl's way to say so.
///
/// # Errors
/// [`NetscapeError`] for the first line that cannot be read.
pub fn from_netscape(text: &str) -> Result<StorageState, NetscapeError> {
    let mut cookies = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let failed = |reason: &str| NetscapeError { line: index + 1, reason: reason.to_owned() };
        let (http_only, line) = match line.strip_prefix("#HttpOnly_") {
            Some(rest) => (true, rest),
            None => (false, line),
        };
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let mut fields: Vec<&str> = line.split('\t').collect();
        if fields.len() == 6 {
            // Some writers leave the tab before an empty value out.
            fields.push("");
        }
        let [domain, subdomains, path, secure, expires, name, value] = fields[..] else {
            return Err(failed("it has not seven fields with tabs between them"));
        };
        let yes = |text: &str| match text {
            "TRUE" => Ok(true),
            "FALSE" => Ok(false),
            _ => Err(failed("its second and fourth fields are not TRUE or FALSE")),
        };
        let host = domain.trim_start_matches('.');
        let expires: f64 = expires.parse().map_err(|_| failed("its fifth field is not a time in seconds"))?;
        cookies.push(Cookie {
            name: name.to_owned(),
            value: value.to_owned(),
            domain: if yes(subdomains)? { format!(".{host}") } else { host.to_owned() },
            path: path.to_owned(),
            expires: if expires > 0.0 { expires } else { -1.0 },
            http_only,
            secure: yes(secure)?,
            same_site: None,
            partition_key: None,
            has_cross_site_ancestor: None,
            other: Map::new(),
        });
        let last = StorageState::of_cookies(cookies.iter().rev().take(1).cloned().collect());
        last.check().map_err(|error| failed(&error.reason))?;
    }
    Ok(StorageState::of_cookies(cookies))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_curl_is_read() {
        let text = "# Netscape HTTP Cookie File\n\n.example.com\tTRUE\t/\tTRUE\t1796079324\tsid\tabc\n\
                    #HttpOnly_a.test\tFALSE\t/x\tFALSE\t0\tshort\t\n";
        let state = from_netscape(text).unwrap();
        let told: Vec<_> = state
            .cookies
            .iter()
            .map(|cookie| {
                (cookie.domain.as_str(), cookie.name.as_str(), cookie.secure, cookie.http_only, cookie.expires)
            })
            .collect();
        assert_eq!(
            told,
            [(".example.com", "sid", true, false, 1_796_079_324.0), ("a.test", "short", false, true, -1.0)]
        );
    }

    #[test]
    fn a_line_that_is_no_cookie_is_named() {
        for (text, expected) in [
            ("# x\nnothing", "line 2: it has not seven fields with tabs between them"),
            ("a.test\tyes\t/\tTRUE\t0\ta\tb", "line 1: its second and fourth fields are not TRUE or FALSE"),
            ("a.test\tTRUE\t/\tTRUE\tsoon\ta\tb", "line 1: its fifth field is not a time in seconds"),
            ("\tTRUE\t/\tTRUE\t0\ta\tb", "line 1: it is not a host such as `example.com` or `.example.com`"),
        ] {
            assert_eq!(from_netscape(text).unwrap_err().to_string(), expected);
        }
    }
}
