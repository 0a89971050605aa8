//! Rules of the allowlists: which hosts, and on which port.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::host::{Host, HostError, is_below};
use crate::port::split_port;

/// One rule of `allowedHosts`.
///
/// `example.com` means itself and every subdomain, on label borders. `*.example.com` means the subdomains alone. An IP
/// address means itself. Each may end in `:port` and then holds for that port alone; an IPv6 address with a port stands
/// in brackets.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct HostPattern {
    scope: Scope,
    port: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Scope {
    /// The name and everything below it.
    Tree(String),
    /// What lies below the name, without the name.
    Below(String),
    /// One address, IPv4-mapped ones as IPv4.
    Address(IpAddr),
}

/// One rule of `allowedResourceHosts`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum ResourcePattern {
    /// `*`: every host with public addresses.
    Any,
    /// The hosts of a pattern.
    Host(HostPattern),
}

/// Why a text is not a rule for hosts.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum HostPatternError {
    /// `*` alone, where a list of documents stands.
    #[error("`*` is not a host; leave the list empty to allow any public host")]
    AnyHost,
    /// A star anywhere but as the whole first label of a name.
    #[error(
        "`{0}` has a misplaced star; write `example.com` for a host with its subdomains or `*.example.com` for its subdomains alone"
    )]
    Star(String),
    /// A scheme, a path, a user name or another part of a URL.
    #[error("`{0}` is more than a host; write the host alone, such as `example.com` or `example.com:8443`")]
    NotAHost(String),
    /// A network of addresses.
    #[error("`{0}` is a network; list single addresses here and open networks with allowedNetworks")]
    Network(String),
    /// The port is not a number from 1 to 65535.
    #[error("`{0}` has a bad port; write a number from 1 to 65535 after the colon")]
    Port(String),
    /// The host part is no host.
    #[error("`{text}` is not a host: {error}")]
    Host {
        /// The rule as given.
        text: String,
        /// What is wrong with its host.
        error: HostError,
    },
}

impl HostPattern {
    /// Whether the rule holds for this host on this port.
    pub fn matches(&self, host: &Host, port: u16) -> bool {
        if self.port.is_some_and(|own| own != port) {
            return false;
        }
        match (&self.scope, host.name(), host.address()) {
            (Scope::Tree(own), Some(name), _) => name == own || is_below(name, own),
            (Scope::Below(own), Some(name), _) => is_below(name, own),
            (Scope::Address(own), _, Some(address)) => *own == address.to_canonical(),
            _ => false,
        }
    }

    /// Whether every host and port of `narrower` is also one of this rule.
    pub fn covers(&self, narrower: &Self) -> bool {
        if self.port.is_some() && self.port != narrower.port {
            return false;
        }
        match (&self.scope, &narrower.scope) {
            (Scope::Tree(own), Scope::Tree(other) | Scope::Below(other)) | (Scope::Below(own), Scope::Below(other)) => {
                own == other || is_below(other, own)
            }
            (Scope::Below(own), Scope::Tree(other)) => is_below(other, own),
            (Scope::Address(own), Scope::Address(other)) => own == other,
            _ => false,
        }
    }
}

impl FromStr for HostPattern {
    type Err = HostPatternError;

    /// Parses a rule; white space around it is dropped.
    fn from_str(text: &str) -> Result<Self, HostPatternError> {
        let text = text.trim();
        if text == "*" {
            return Err(HostPatternError::AnyHost);
        }
        refuse_url_parts(text)?;
        let (front, port) = split_port(text).ok_or_else(|| HostPatternError::Port(shown(text)))?;
        let host_error = |error| HostPatternError::Host { text: shown(text), error };
        if let Ok(address) = front.parse::<Ipv6Addr>() {
            let scope = Scope::Address(IpAddr::V6(address).to_canonical());
            return Ok(Self { scope, port });
        }
        if text.starts_with('[') {
            return Err(host_error(HostError::Malformed(url::ParseError::InvalidIpv6Address)));
        }
        let (below, bare) = match front.strip_prefix("*.") {
            Some(bare) => (true, bare),
            None => (false, front),
        };
        if bare.contains('*') {
            return Err(HostPatternError::Star(shown(text)));
        }
        let host = Host::parse(bare).map_err(host_error)?;
        let scope = match (host.name(), host.address()) {
            (Some(name), _) if below => Scope::Below(name.to_owned()),
            (Some(name), _) => Scope::Tree(name.to_owned()),
            (None, Some(address)) if !below => Scope::Address(address.to_canonical()),
            _ => return Err(HostPatternError::Star(shown(text))),
        };
        Ok(Self { scope, port })
    }
}

fn refuse_url_parts(text: &str) -> Result<(), HostPatternError> {
    if text.parse::<ipnet::IpNet>().is_ok() {
        return Err(HostPatternError::Network(shown(text)));
    }
    if text.contains(['/', '\\', '@', '?', '#']) {
        return Err(HostPatternError::NotAHost(shown(text)));
    }
    Ok(())
}

/// The text of a rule for an error message: bounded, and without control characters.
pub(crate) fn shown(text: &str) -> String {
    const MAXIMUM_CHARACTERS: usize = 80;
    let mut shown: String =
        text.chars().take(MAXIMUM_CHARACTERS).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if text.chars().nth(MAXIMUM_CHARACTERS).is_some() {
        shown.push('…');
    }
    shown
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.scope {
            Scope::Tree(name) => f.write_str(name)?,
            Scope::Below(name) => write!(f, "*.{name}")?,
            Scope::Address(address) => Host::from(*address).fmt(f)?,
        }
        match self.port {
            Some(port) => write!(f, ":{port}"),
            None => Ok(()),
        }
    }
}

impl TryFrom<String> for HostPattern {
    type Error = HostPatternError;

    fn try_from(text: String) -> Result<Self, HostPatternError> {
        text.parse()
    }
}

impl From<HostPattern> for String {
    fn from(pattern: HostPattern) -> Self {
        pattern.to_string()
    }
}

impl FromStr for ResourcePattern {
    type Err = HostPatternError;

    /// Parses a rule; white space around it is dropped.
    fn from_str(text: &str) -> Result<Self, HostPatternError> {
        match text.trim() {
            "*" => Ok(Self::Any),
            text => text.parse().map(Self::Host),
        }
    }
}

impl fmt::Display for ResourcePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("*"),
            Self::Host(pattern) => pattern.fmt(f),
        }
    }
}

impl TryFrom<String> for ResourcePattern {
    type Error = HostPatternError;

    fn try_from(text: String) -> Result<Self, HostPatternError> {
        text.parse()
    }
}

impl From<ResourcePattern> for String {
    fn from(pattern: ResourcePattern) -> Self {
        pattern.to_string()
    }
}
