//! Why something did not go out: one vocabulary for the ledger, the gate's own pages and the header on them.

use std::fmt;
use std::net::SocketAddr;

use bathy_policy::Refusal;
use hyper::StatusCode;
use serde::{Deserialize, Serialize};

/// What kept a connection or a request from going through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Code {
    /// The policy does not list the host.
    HostNotAllowed,
    /// The host is, or resolves to, an address that is not on the public internet.
    PrivateNetwork,
    /// The address of the gate that was used belongs to no open session.
    NoSession,
    /// The process at the other end of the connection runs as another user than the browser.
    StrangePeer,
    /// The request head cannot be understood as a request to a proxy.
    MalformedRequest,
    /// A limit of the gate was reached.
    LimitReached,
    /// The name has no address, or the resolver failed.
    NameNotResolved,
    /// No address of the host accepts the connection.
    ConnectionFailed,
    /// Something outside took longer than its deadline.
    TimedOut,
    /// The operator's upstream proxy refused, or cannot be reached.
    UpstreamProxyFailed,
    /// The site's answer broke off or is not HTTP.
    BrokenResponse,
    /// The browser gave up, or its session ended, before the exchange was over.
    Closed,
}

impl Code {
    /// The code as it stands in the ledger and in the header `x-bathysphere-refusal`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::HostNotAllowed => "host-not-allowed",
            Self::PrivateNetwork => "private-network",
            Self::NoSession => "no-session",
            Self::StrangePeer => "strange-peer",
            Self::MalformedRequest => "malformed-request",
            Self::LimitReached => "limit-reached",
            Self::NameNotResolved => "name-not-resolved",
            Self::ConnectionFailed => "connection-failed",
            Self::TimedOut => "timed-out",
            Self::UpstreamProxyFailed => "upstream-proxy-failed",
            Self::BrokenResponse => "broken-response",
            Self::Closed => "closed",
        }
    }

    /// Whether the gate itself said no, rather than the network.
    pub fn is_refusal(self) -> bool {
        match self {
            Self::HostNotAllowed
            | Self::PrivateNetwork
            | Self::NoSession
            | Self::StrangePeer
            | Self::MalformedRequest
            | Self::LimitReached => true,
            Self::NameNotResolved
            | Self::ConnectionFailed
            | Self::TimedOut
            | Self::UpstreamProxyFailed
            | Self::BrokenResponse
            | Self::Closed => false,
        }
    }

    pub(crate) fn status(self) -> StatusCode {
        match self {
            Self::HostNotAllowed | Self::PrivateNetwork | Self::NoSession | Self::StrangePeer => StatusCode::FORBIDDEN,
            Self::MalformedRequest => StatusCode::BAD_REQUEST,
            Self::LimitReached => StatusCode::SERVICE_UNAVAILABLE,
            Self::TimedOut => StatusCode::GATEWAY_TIMEOUT,
            Self::NameNotResolved
            | Self::ConnectionFailed
            | Self::UpstreamProxyFailed
            | Self::BrokenResponse
            | Self::Closed => StatusCode::BAD_GATEWAY,
        }
    }
}

/// What the policy's refusal is called in the ledger.
impl From<&Refusal> for Code {
    fn from(refusal: &Refusal) -> Self {
        match refusal {
            Refusal::HostNotAllowed { .. } => Self::HostNotAllowed,
            Refusal::PrivateName { .. }
            | Refusal::PrivateAddress { .. }
            | Refusal::PrivateHostNotListed { .. }
            | Refusal::ForeignAddress { .. } => Self::PrivateNetwork,
            Refusal::NoAddress { .. } => Self::NameNotResolved,
            Refusal::UrlTooLong { .. }
            | Refusal::Unparseable(_)
            | Refusal::UnsupportedScheme { .. }
            | Refusal::UserInfo
            | Refusal::UnusableHost(_) => Self::MalformedRequest,
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// A [`Code`] with the sentence that explains it and, where one is to blame, the address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) code: Code,
    pub(crate) reason: String,
    pub(crate) address: Option<SocketAddr>,
}

impl Failure {
    pub(crate) fn new(code: Code, reason: impl fmt::Display) -> Self {
        Self { code, reason: reason.to_string(), address: None }
    }

    pub(crate) fn at(self, address: SocketAddr) -> Self {
        Self { address: Some(address), ..self }
    }
}
