//! What passed the policy.

use std::fmt;
use std::net::SocketAddr;

use url::Url;

use crate::address::{AddressClass, classify};
use crate::decision::{AddressReason, AllowReason};
use crate::host::Host;

/// A URL whose spelling passed the policy. Its host is in canonical form; a name is still to be resolved, and its
/// addresses checked by [`crate::Policy::check_addresses`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedUrl {
    pub(crate) url: Url,
    pub(crate) host: Host,
    pub(crate) port: u16,
    pub(crate) reason: AllowReason,
}

impl CheckedUrl {
    /// The URL, its host in canonical form.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// The host.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// The port, from the URL or from its scheme.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The rule that let the host pass.
    pub fn reason(&self) -> &AllowReason {
        &self.reason
    }
}

impl fmt::Display for CheckedUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.url.fmt(f)
    }
}

impl From<CheckedUrl> for AllowReason {
    fn from(checked: CheckedUrl) -> Self {
        checked.reason
    }
}

/// An address and port that may be connected to. Only [`crate::Policy::check_addresses`] makes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckedAddress {
    pub(crate) socket_address: SocketAddr,
    pub(crate) reason: AddressReason,
}

impl CheckedAddress {
    /// Where to connect; IPv4-mapped addresses are given as IPv4.
    pub fn socket_address(&self) -> SocketAddr {
        self.socket_address
    }

    /// The kind of place it is.
    pub fn class(&self) -> AddressClass {
        classify(self.socket_address.ip())
    }

    /// The rule that let the address pass.
    pub fn reason(&self) -> &AddressReason {
        &self.reason
    }
}

impl From<CheckedAddress> for SocketAddr {
    fn from(checked: CheckedAddress) -> Self {
        checked.socket_address
    }
}

impl fmt::Display for CheckedAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.socket_address.fmt(f)
    }
}
