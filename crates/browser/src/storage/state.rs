//! The format of the file.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};
use url::Url;

/// A storage state: everything that a file holds, checked. Members that are not ours to know are kept as they are.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StorageState {
    #[serde(default)]
    pub(super) cookies: Vec<Cookie>,
    #[serde(default)]
    pub(super) origins: Vec<OriginState>,
    #[serde(flatten)]
    other: Map<String, Value>,
}

/// Says how much there is and nothing of it: the values are credentials.
impl fmt::Debug for StorageState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StorageState({} cookies, {} origins)", self.cookies.len(), self.origins.len())
    }
}

/// A cookie as the file holds it.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Cookie {
    pub(super) name: String,
    pub(super) value: String,
    /// The host; a leading dot lets subdomains have it, too.
    pub(super) domain: String,
    #[serde(default = "root")]
    pub(super) path: String,
    /// Seconds since 1970, or -1 for the length of a session.
    #[serde(default = "session_long", serialize_with = "whole_if_possible")]
    pub(super) expires: f64,
    #[serde(default)]
    pub(super) http_only: bool,
    #[serde(default)]
    pub(super) secure: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) same_site: Option<SameSite>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) partition_key: Option<PartitionKey>,
    /// Playwright's name for what the partition key of the protocol holds besides.
    #[serde(rename = "_crHasCrossSiteAncestor", default, skip_serializing_if = "Option::is_none")]
    pub(super) has_cross_site_ancestor: Option<bool>,
    #[serde(flatten)]
    pub(super) other: Map<String, Value>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum SameSite {
    Strict,
    Lax,
    None,
}

impl SameSite {
    pub(super) const ALL: [Self; 3] = [Self::Strict, Self::Lax, Self::None];

    /// The protocol's and the file's word.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Strict => "Strict",
            Self::Lax => "Lax",
            Self::None => "None",
        }
    }
}

/// The top-level site of a partitioned cookie: a text in Playwright's files, an object in the protocol.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum PartitionKey {
    Site(String),
    #[serde(rename_all = "camelCase")]
    Whole {
        top_level_site: String,
        #[serde(default)]
        has_cross_site_ancestor: bool,
    },
}

/// What makes a cookie the same cookie (RFC 6265 §5.3 step 11, and its partition).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CookieKey {
    name: String,
    domain: String,
    path: String,
    partition: Option<(String, bool)>,
}

impl Cookie {
    pub(super) fn key(&self) -> CookieKey {
        CookieKey {
            name: self.name.clone(),
            domain: self.domain.to_ascii_lowercase(),
            path: self.path.clone(),
            partition: self.partition(),
        }
    }

    /// The top-level site, and whether a frame of another site stands between it and the cookie's.
    pub(super) fn partition(&self) -> Option<(String, bool)> {
        self.partition_key.as_ref().map(|key| match key {
            PartitionKey::Site(site) => (site.clone(), self.has_cross_site_ancestor.unwrap_or(true)),
            PartitionKey::Whole { top_level_site, has_cross_site_ancestor } => {
                (top_level_site.clone(), *has_cross_site_ancestor)
            }
        })
    }

    /// The host without the dot that lets subdomains have it.
    pub(super) fn host(&self) -> &str {
        self.domain.strip_prefix('.').unwrap_or(&self.domain)
    }

    fn problem(&self) -> Option<(&'static str, &'static str)> {
        let unfit = |text: &str| text.chars().any(|c| c.is_control() || c == ';');
        if self.host().is_empty() || unfit(&self.domain) || self.domain.contains([' ', '/', ':', '@']) && !self.is_v6()
        {
            Some(("domain", "it is not a host such as `example.com` or `.example.com`"))
        } else if unfit(&self.name) || self.name.contains('=') || self.name.is_empty() && self.value.is_empty() {
            Some(("name", "it is not the name of a cookie"))
        } else if unfit(&self.value) {
            Some(("value", "it holds control characters or a semicolon"))
        } else if !self.path.starts_with('/') || unfit(&self.path) {
            Some(("path", "it does not start with `/`"))
        } else if !self.expires.is_finite() {
            Some(("expires", "it is not a time in seconds since 1970, or -1"))
        } else {
            None
        }
    }

    fn is_v6(&self) -> bool {
        self.domain.starts_with('[') && self.domain.ends_with(']')
    }
}

/// What pages of an origin keep.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OriginState {
    pub(super) origin: String,
    #[serde(default)]
    pub(super) local_storage: Vec<Item>,
    /// Ours: of the tab that showed the origin last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) session_storage: Vec<Item>,
    #[serde(rename = "indexedDB", default, skip_serializing_if = "Vec::is_empty")]
    pub(super) databases: Vec<Value>,
    #[serde(flatten)]
    pub(super) other: Map<String, Value>,
}

impl OriginState {
    pub(super) fn is_empty(&self) -> bool {
        self.local_storage.is_empty()
            && self.session_storage.is_empty()
            && self.databases.is_empty()
            && self.other.is_empty()
    }
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Item {
    pub(super) name: String,
    pub(super) value: String,
}

/// A text that is no storage state.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {reason}")]
pub struct StorageStateError {
    /// Where: a path such as `cookies[2].domain`, with line and column where the parser knows them.
    pub place: String,
    /// What is wrong there.
    pub reason: String,
}

impl StorageState {
    /// Reads and checks a file's text.
    ///
    /// # Errors
    /// [`StorageStateError`] with the place.
    pub fn parse(text: &str) -> Result<Self, StorageStateError> {
        let mut reader = serde_json::Deserializer::from_str(text);
        let state: Self = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
            let path = error.path().to_string();
            let path = path.trim_end_matches(".?").trim_end_matches('?');
            let inner = error.into_inner();
            let position = format!("line {} column {}", inner.line(), inner.column());
            // The parser's own words end in the position, which stands at the place already.
            let reason = inner.to_string();
            let reason = reason.rsplit_once(" at line ").map_or(reason.as_str(), |(words, _)| words).to_owned();
            let place = if path == "." || path.is_empty() { position } else { format!("{path} ({position})") };
            StorageStateError { place, reason: without_values(&reason) }
        })?;
        reader.end().map_err(|error| StorageStateError {
            place: format!("line {} column {}", error.line(), error.column()),
            reason: "there is something after the end".to_owned(),
        })?;
        state.check()?;
        Ok(state)
    }

    /// The file's text.
    pub fn to_text(&self) -> String {
        // Plain structures with string keys can always be written.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// How many cookies and origins there are.
    pub fn counts(&self) -> (usize, usize) {
        (self.cookies.len(), self.origins.len())
    }

    /// Takes over everything of another state; where both have a cookie or an item, the other's wins.
    pub fn merge(&mut self, other: Self) {
        let keys: BTreeSet<_> = other.cookies.iter().map(Cookie::key).collect();
        self.cookies.retain(|cookie| !keys.contains(&cookie.key()));
        self.cookies.extend(other.cookies);
        for theirs in other.origins {
            let Some(ours) = self.origins.iter_mut().find(|ours| ours.origin == theirs.origin) else {
                self.origins.push(theirs);
                continue;
            };
            take_over(&mut ours.local_storage, theirs.local_storage, |item| item.name.clone());
            take_over(&mut ours.session_storage, theirs.session_storage, |item| item.name.clone());
            take_over(&mut ours.databases, theirs.databases, database_name);
            ours.other.extend(theirs.other);
        }
        self.other.extend(other.other);
    }

    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn of_cookies(cookies: Vec<Cookie>) -> Self {
        Self { cookies, ..Self::default() }
    }

    pub(super) fn check(&self) -> Result<(), StorageStateError> {
        let failed = |place: String, reason: &str| Err(StorageStateError { place, reason: reason.to_owned() });
        for (index, cookie) in self.cookies.iter().enumerate() {
            if let Some((member, reason)) = cookie.problem() {
                return failed(format!("cookies[{index}].{member}"), reason);
            }
        }
        let mut seen = BTreeSet::new();
        for (index, origin) in self.origins.iter().enumerate() {
            let serialized = Url::parse(&origin.origin).ok().map(|url| url.origin().ascii_serialization());
            let is_web = origin.origin.starts_with("http://") || origin.origin.starts_with("https://");
            if !is_web || serialized.as_deref() != Some(&origin.origin) {
                let reason = "it is not an origin such as `https://example.com`, without a path";
                return failed(format!("origins[{index}].origin"), reason);
            }
            if !seen.insert(&origin.origin) {
                return failed(format!("origins[{index}].origin"), "this origin is there twice");
            }
            for (number, database) in origin.databases.iter().enumerate() {
                if database_name(database).is_empty() || !database.get("stores").is_some_and(Value::is_array) {
                    let place = format!("origins[{index}].indexedDB[{number}]");
                    return failed(place, "it is not a database with `name`, `version` and `stores`");
                }
            }
        }
        Ok(())
    }
}

fn take_over<T>(ours: &mut Vec<T>, theirs: Vec<T>, key: impl Fn(&T) -> String) {
    let names: BTreeSet<_> = theirs.iter().map(&key).collect();
    ours.retain(|item| !names.contains(&key(item)));
    ours.extend(theirs);
}

/// The name of a database; empty where it has none.
pub(super) fn database_name(database: &Value) -> String {
    database.get("name").and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// The parser quotes texts of a wrong type, which may be a credential.
fn without_values(reason: &str) -> String {
    match reason.split_once("string \"").zip(reason.rsplit_once("\", ")) {
        Some(((before, _), (_, after))) => format!("{before}string, {after}"),
        None => reason.to_owned(),
    }
}

fn root() -> String {
    "/".to_owned()
}

/// Writes -1 as other writers do, not as -1.0.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
fn whole_if_possible<S: Serializer>(seconds: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    match format!("{seconds:.0}").parse::<i64>() {
        Ok(whole) if seconds.fract() == 0.0 => serializer.serialize_i64(whole),
        _ => serializer.serialize_f64(*seconds),
    }
}

fn session_long() -> f64 {
    -1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Playwright 1.57 writes it, a member of a later version included.
    const PLAYWRIGHTS: &str = r#"{
      "cookies": [
        {"name": "sid", "value": "a=b", "domain": ".example.com", "path": "/", "expires": 1796079324.92, "httpOnly": true,
         "secure": true, "sameSite": "Lax"},
        {"name": "part", "value": "1", "domain": "widget.test", "path": "/", "expires": -1, "httpOnly": false,
         "secure": true, "sameSite": "None", "partitionKey": "https://top.test", "_crHasCrossSiteAncestor": true}
      ],
      "origins": [{
        "origin": "https://example.com",
        "localStorage": [{"name": "token", "value": "t"}],
        "indexedDB": [{"name": "db", "version": 1, "stores": []}],
        "opfs": [{"path": "a", "type": "directory"}]
      }]
    }"#;

    #[test]
    fn a_file_of_playwright_is_read_and_written_with_all_that_it_holds() {
        let state = StorageState::parse(PLAYWRIGHTS).unwrap();
        assert_eq!(state.counts(), (2, 1));
        let written: Value = serde_json::from_str(&state.to_text()).unwrap();
        let original: Value = serde_json::from_str(PLAYWRIGHTS).unwrap();
        assert_eq!(written, original);
    }

    #[test]
    fn a_damaged_file_is_told_with_its_place_and_without_its_values() {
        let table = [
            ("", "line 1 column 0: EOF while parsing a value"),
            ("{\"cookies\": [", "cookies (line 1 column 13): EOF while parsing a list"),
            ("[]", "line 1 column 0: invalid type: sequence"),
            (r#"{"cookies": "s3cret"}"#, "cookies (line 1 column 20): invalid type: string, expected a sequence"),
            (
                r#"{"cookies": [{"name": "a", "value": "b", "domain": "x", "sameSite": "Loose"}]}"#,
                "cookies[0].sameSite (line 1 column 75): unknown variant",
            ),
            (r#"{"cookies": [{"name": "a", "value": "b"}]}"#, "cookies[0] (line 1 column 40): missing field `domain`"),
            (
                r#"{"cookies": [{"name": "a", "value": "b", "domain": "http://x/"}]}"#,
                "cookies[0].domain: it is not a host",
            ),
            (r#"{"origins": [{"origin": "https://a.test/path"}]}"#, "origins[0].origin: it is not an origin such as"),
            (
                r#"{"origins": [{"origin": "https://a.test"}, {"origin": "https://a.test"}]}"#,
                "origins[1].origin: this origin is there twice",
            ),
            ("{} {}", "line 1 column 4: there is something after the end"),
        ];
        for (text, expected) in table {
            let error = StorageState::parse(text).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
            assert!(!error.contains("s3cret"), "{error}");
        }
    }

    #[test]
    fn a_merge_takes_over_what_is_new_and_keeps_the_rest() {
        let mut state = StorageState::parse(PLAYWRIGHTS).unwrap();
        let other = r#"{"cookies": [{"name": "sid", "value": "new", "domain": ".example.com"},
            {"name": "sid", "value": "host-only", "domain": "example.com"}],
            "origins": [{"origin": "https://example.com", "localStorage": [{"name": "more", "value": "m"}]}]}"#;
        state.merge(StorageState::parse(other).unwrap());
        let values: Vec<_> = state.cookies.iter().map(|cookie| cookie.value.as_str()).collect();
        assert_eq!(values, ["1", "new", "host-only"]);
        let names: Vec<_> = state.origins[0].local_storage.iter().map(|item| item.name.as_str()).collect();
        assert_eq!(names, ["token", "more"]);
        assert_eq!(state.origins[0].databases.len(), 1);
    }
}
