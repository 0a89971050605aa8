//! What was decided, and why.

use std::fmt;
use std::net::IpAddr;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use thiserror::Error;

use crate::address::AddressClass;
use crate::host::{Host, HostError};
use crate::host_pattern::HostPattern;
use crate::network_pattern::NetworkPattern;

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// A document in a tab or a frame: held to `allowedHosts`.
    Document,
    /// Anything a page loads besides: held to `allowedHosts` and `allowedResourceHosts` together.
    Resource,
}

/// A verdict with its reason.
///
/// It serialises as `{"verdict": "allowed" | "refused", "code": …, "reason": …}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The request may go out.
    Allowed(AllowReason),
    /// The request may not go out.
    Refused(Refusal),
}

/// The rule that lets a host pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AllowReason {
    /// `allowedHosts` is empty.
    AnyHost,
    /// A rule of `allowedHosts`.
    ListedHost(HostPattern),
    /// A rule of `allowedResourceHosts`.
    ListedResource(HostPattern),
    /// `*` in `allowedResourceHosts`, which means public hosts alone.
    AnyResource,
}

/// The rule that lets an address pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressReason {
    /// The address is public.
    Public,
    /// `allowPrivateNetwork` is set.
    PrivateNetwork,
    /// A rule of `allowedNetworks`.
    ListedNetwork(NetworkPattern),
}

/// Why a request may not go out.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// The URL is longer than [`crate::MAXIMUM_URL_BYTES`].
    #[error("the URL is too long ({bytes} bytes)")]
    UrlTooLong {
        /// How long it is, in bytes.
        bytes: usize,
    },
    /// The text is not an absolute URL.
    #[error("the URL cannot be parsed: {0}")]
    Unparseable(url::ParseError),
    /// The scheme is not one that leaves through the gate.
    #[error("the scheme `{scheme}` is not allowed")]
    UnsupportedScheme {
        /// The scheme, cut when it is very long.
        scheme: String,
    },
    /// The URL carries a user name or a password, which is how one host is made to look like another.
    #[error("the URL carries a user name or a password")]
    UserInfo,
    /// The host has no canonical form.
    #[error("{0}")]
    UnusableHost(#[from] HostError),
    /// No rule lists the host on this port.
    #[error("{host} on port {port} is not on the list of allowed hosts")]
    HostNotAllowed {
        /// The host.
        host: Host,
        /// Its port.
        port: u16,
        /// What the request was for.
        purpose: Purpose,
    },
    /// The name means a private place whatever a resolver says, and that place is not open.
    #[error("{host} is a {class} name, and that network is not open")]
    PrivateName {
        /// The host.
        host: Host,
        /// The kind of place it means.
        class: AddressClass,
    },
    /// An address of the host is not public, and the operator did not open it.
    #[error("{} is a {class} address, and that network is not open", Addressed(host, *address))]
    PrivateAddress {
        /// The host.
        host: Host,
        /// The address that is refused.
        address: IpAddr,
        /// The kind of place it is.
        class: AddressClass,
    },
    /// The network is open, but the host passes by `*` alone, which means public hosts.
    #[error("{host} leads to a {class} place, and `*` allows public hosts alone")]
    PrivateHostNotListed {
        /// The host.
        host: Host,
        /// The kind of place it leads to.
        class: AddressClass,
    },
    /// The resolver gave no address for the host.
    #[error("{host} has no address")]
    NoAddress {
        /// The host.
        host: Host,
    },
    /// The host is a literal address and the resolver answered with another one.
    #[error("{host} was resolved to another address, {address}")]
    ForeignAddress {
        /// The host.
        host: Host,
        /// The other address.
        address: IpAddr,
    },
}

impl Decision {
    /// Whether the request may go out.
    pub fn is_allowed(&self) -> bool {
        matches!(self, Self::Allowed(_))
    }

    /// The reason as one steady word, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Allowed(reason) => reason.code(),
            Self::Refused(refusal) => refusal.code(),
        }
    }
}

impl AllowReason {
    /// The reason as one steady word, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::AnyHost => "any-host",
            Self::ListedHost(_) => "listed-host",
            Self::ListedResource(_) => "listed-resource",
            Self::AnyResource => "any-resource",
        }
    }
}

impl Refusal {
    /// The reason as one steady word, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UrlTooLong { .. } => "url-too-long",
            Self::Unparseable(_) => "unparseable",
            Self::UnsupportedScheme { .. } => "unsupported-scheme",
            Self::UserInfo => "user-info",
            Self::UnusableHost(_) => "unusable-host",
            Self::HostNotAllowed { .. } => "host-not-allowed",
            Self::PrivateName { .. } => "private-name",
            Self::PrivateAddress { .. } => "private-address",
            Self::PrivateHostNotListed { .. } => "private-host-not-listed",
            Self::NoAddress { .. } => "no-address",
            Self::ForeignAddress { .. } => "foreign-address",
        }
    }
}

impl<T> From<Result<T, Refusal>> for Decision
where
    T: Into<AllowReason>,
{
    fn from(result: Result<T, Refusal>) -> Self {
        match result {
            Ok(reason) => Self::Allowed(reason.into()),
            Err(refusal) => Self::Refused(refusal),
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Allowed(reason) => reason.fmt(f),
            Self::Refused(refusal) => refusal.fmt(f),
        }
    }
}

impl fmt::Display for AllowReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AnyHost => f.write_str("any host is allowed"),
            Self::ListedHost(pattern) => write!(f, "`{pattern}` is an allowed host"),
            Self::ListedResource(pattern) => write!(f, "`{pattern}` is an allowed resource host"),
            Self::AnyResource => f.write_str("resources may come from any public host"),
        }
    }
}

impl fmt::Display for AddressReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Public => f.write_str("the address is public"),
            Self::PrivateNetwork => f.write_str("the private network is allowed"),
            Self::ListedNetwork(pattern) => write!(f, "`{pattern}` is an allowed network"),
        }
    }
}

impl Serialize for Decision {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Decision", 3)?;
        fields.serialize_field("verdict", if self.is_allowed() { "allowed" } else { "refused" })?;
        fields.serialize_field("code", self.code())?;
        fields.serialize_field("reason", &format_args!("{self}"))?;
        fields.end()
    }
}

/// An address with the name that led to it, where there is one.
struct Addressed<'a>(&'a Host, IpAddr);

impl fmt::Display for Addressed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.name() {
            Some(name) => write!(f, "{} (for {name})", self.1),
            None => write!(f, "{}", self.1),
        }
    }
}
