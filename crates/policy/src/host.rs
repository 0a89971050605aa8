//! Hosts in the one spelling that all rules compare.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The longest host text that is looked at, in bytes: room for a full DNS name with every character percent-encoded.
const MAXIMUM_TEXT_BYTES: usize = 4096;
/// The longest DNS name, in bytes and without the trailing dot (RFC 1035 §2.3.4).
const MAXIMUM_NAME_BYTES: usize = 253;
/// The longest label of a DNS name, in bytes (RFC 1035 §2.3.4).
const MAXIMUM_LABEL_BYTES: usize = 63;

/// A host in canonical form: a DNS name in lower case, IDNA ASCII form and without a trailing dot, or an IP address.
///
/// It is made by parsing alone, so two hosts that a browser treats as the same compare equal. It displays as it stands
/// in a URL, an IPv6 address in brackets.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Host(Form);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Form {
    Name(String),
    Address(IpAddr),
}

/// Why a text is not a host.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum HostError {
    /// There is no host where one is needed.
    #[error("the host is missing")]
    Missing,
    /// The WHATWG host parser refuses the text.
    #[error("the host is malformed: {0}")]
    Malformed(url::ParseError),
    /// Two dots follow each other, or the name starts with one.
    #[error("the host has an empty label between its dots")]
    EmptyLabel,
    /// The WHATWG host parser lets the character pass, but no DNS host name has it.
    #[error("the host has the character {0:?}, which no host name may have")]
    Character(char),
    /// A label, or the whole name, is longer than DNS carries.
    #[error("the host is too long for a DNS name")]
    TooLong,
}

impl Host {
    /// Parses the host of a URL or of an HTTP authority, without its port.
    ///
    /// The text is read by the WHATWG host parser for special schemes, so percent-encoding, full-width digits and the
    /// hexadecimal, octal, short and decimal spellings of IPv4 addresses become what a browser makes of them. An IPv6
    /// address stands in brackets. One trailing dot is dropped.
    ///
    /// # Errors
    /// See [`HostError`]. This is stricter than the WHATWG parser where that parser lets through what DNS cannot carry.
    pub fn parse(text: &str) -> Result<Self, HostError> {
        if text.is_empty() {
            return Err(HostError::Missing);
        }
        if text.len() > MAXIMUM_TEXT_BYTES {
            return Err(HostError::TooLong);
        }
        match url::Host::parse(text).map_err(HostError::Malformed)? {
            url::Host::Domain(name) => Ok(Self(Form::Name(canonical_name(name)?))),
            url::Host::Ipv4(address) => Ok(Self::from(IpAddr::V4(address))),
            url::Host::Ipv6(address) => Ok(Self::from(IpAddr::V6(address))),
        }
    }

    /// The canonical host of a parsed URL, whatever its scheme.
    ///
    /// # Errors
    /// [`HostError::Missing`] when the URL has no host, else as [`Host::parse`].
    pub fn of_url(url: &url::Url) -> Result<Self, HostError> {
        // Hosts of non-special schemes are opaque to the URL parser; parsing the text again makes them canonical too.
        Self::parse(url.host_str().ok_or(HostError::Missing)?)
    }

    /// The address, when the host is a literal one.
    pub fn address(&self) -> Option<IpAddr> {
        match &self.0 {
            Form::Name(_) => None,
            Form::Address(address) => Some(*address),
        }
    }

    /// The DNS name, when the host is one.
    pub fn name(&self) -> Option<&str> {
        match &self.0 {
            Form::Name(name) => Some(name),
            Form::Address(_) => None,
        }
    }

    /// Whether the host is `localhost` or a name below it, which means loopback whatever a resolver says (RFC 6761 §6.3).
    pub fn is_localhost(&self) -> bool {
        self.name().is_some_and(|name| name == "localhost" || is_below(name, "localhost"))
    }
}

/// Whether `name` lies strictly below `parent`, on a label border. Both are canonical names.
pub(crate) fn is_below(name: &str, parent: &str) -> bool {
    name.strip_suffix(parent).is_some_and(|front| front.len() > 1 && front.ends_with('.'))
}

fn canonical_name(mut name: String) -> Result<String, HostError> {
    if name.ends_with('.') {
        name.pop();
    }
    if name.split('.').any(str::is_empty) {
        return Err(HostError::EmptyLabel);
    }
    // Letters, digits and hyphens (RFC 952, RFC 1123 §2.1), and the underscore that real sites use against the rule.
    let foreign = |c: char| !(c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_' || c == '.');
    if let Some(character) = name.chars().find(|&c| foreign(c)) {
        return Err(HostError::Character(character));
    }
    if name.len() > MAXIMUM_NAME_BYTES || name.split('.').any(|label| label.len() > MAXIMUM_LABEL_BYTES) {
        return Err(HostError::TooLong);
    }
    Ok(name)
}

impl From<IpAddr> for Host {
    fn from(address: IpAddr) -> Self {
        Self(Form::Address(address))
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Form::Name(name) => f.write_str(name),
            Form::Address(IpAddr::V4(address)) => write!(f, "{address}"),
            // The WHATWG serialiser: hexadecimal groups throughout, where the standard library mixes in dotted decimals.
            Form::Address(IpAddr::V6(address)) => url::Host::<String>::Ipv6(*address).fmt(f),
        }
    }
}

impl FromStr for Host {
    type Err = HostError;

    fn from_str(text: &str) -> Result<Self, HostError> {
        Self::parse(text)
    }
}

impl TryFrom<String> for Host {
    type Error = HostError;

    fn try_from(text: String) -> Result<Self, HostError> {
        Self::parse(&text)
    }
}

impl From<Host> for String {
    fn from(host: Host) -> Self {
        host.to_string()
    }
}
