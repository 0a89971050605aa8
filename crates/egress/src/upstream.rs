//! The operator's own proxy behind the gate, and what goes past it.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use bathy_policy::{Host, HostError, HostPattern, HostPatternError, NetworkPattern, NetworkPatternError};
use thiserror::Error;
use url::Url;

/// A proxy that the gate itself goes through (`proxyServer`). It is given checked addresses, never names, so that what
/// it connects to is what the policy saw.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Upstream {
    /// An HTTP proxy that takes `CONNECT`, for plain HTTP as well.
    Http(UpstreamServer),
    /// The same over TLS.
    Https(UpstreamServer),
    /// A SOCKS5 proxy (RFC 1928), with a user name and password (RFC 1929) where they are given.
    Socks5(UpstreamServer),
}

/// Where the proxy is and who we are to it.
#[derive(Clone, PartialEq, Eq)]
pub struct UpstreamServer {
    pub(crate) host: Host,
    pub(crate) port: u16,
    pub(crate) credentials: Option<Credentials>,
}

#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Credentials {
    pub(crate) user: String,
    pub(crate) password: String,
}

/// A text that does not name a proxy we can use. The text itself is not repeated, since it may hold a password.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum UpstreamError {
    /// It is not a URL.
    #[error("the proxy is not a URL ({0}); write http://HOST:PORT, https://HOST:PORT or socks5://HOST:PORT")]
    Url(url::ParseError),
    /// The scheme is another one.
    #[error(
        "a proxy of the kind `{0}` is not supported; write http://HOST:PORT, https://HOST:PORT or socks5://HOST:PORT"
    )]
    Scheme(String),
    /// The host is missing or malformed.
    #[error("the proxy's host cannot be used: {0}")]
    Host(#[from] HostError),
    /// There is more than scheme, user, password, host and port.
    #[error("the proxy has a path, query or fragment; write http://HOST:PORT, https://HOST:PORT or socks5://HOST:PORT")]
    Path,
    /// The user name or password is not percent-encoded UTF-8, or for SOCKS5 longer than 255 bytes.
    #[error(
        "the proxy's user name or password is not usable: it must be percent-encoded UTF-8, for SOCKS5 of 1 to 255 bytes each"
    )]
    Credentials,
}

impl FromStr for Upstream {
    type Err = UpstreamError;

    /// Reads `http://[user:password@]host[:port]`, `https://…` or `socks5://…` (also `socks5h`, and `host:port` for HTTP).
    fn from_str(text: &str) -> Result<Self, UpstreamError> {
        let text = text.trim();
        let url = if text.contains("://") { Url::parse(text) } else { Url::parse(&format!("http://{text}")) }
            .map_err(UpstreamError::Url)?;
        let (kind, default_port): (fn(UpstreamServer) -> Self, u16) = match url.scheme() {
            "http" => (Self::Http, 80),
            "https" => (Self::Https, 443),
            "socks5" | "socks5h" => (Self::Socks5, 1080),
            other => return Err(UpstreamError::Scheme(other.chars().take(32).collect())),
        };
        if !matches!(url.path(), "" | "/") || url.query().is_some() || url.fragment().is_some() {
            return Err(UpstreamError::Path);
        }
        let server = UpstreamServer {
            host: Host::of_url(&url)?,
            port: url.port().unwrap_or(default_port),
            credentials: credentials(&url)?,
        };
        let fits = |text: &str| (1..=255).contains(&text.len());
        let upstream = kind(server);
        match &upstream {
            Self::Socks5(UpstreamServer { credentials: Some(given), .. })
                if !fits(&given.user) || !fits(&given.password) =>
            {
                Err(UpstreamError::Credentials)
            }
            _ => Ok(upstream),
        }
    }
}

fn credentials(url: &Url) -> Result<Option<Credentials>, UpstreamError> {
    if url.username().is_empty() && url.password().is_none() {
        return Ok(None);
    }
    let decode = |text: &str| {
        percent_encoding::percent_decode_str(text)
            .decode_utf8()
            .map(std::borrow::Cow::into_owned)
            .map_err(|_| UpstreamError::Credentials)
    };
    let password = decode(url.password().unwrap_or_default())?;
    Ok(Some(Credentials { user: decode(url.username())?, password }))
}

impl Upstream {
    pub(crate) fn server(&self) -> &UpstreamServer {
        match self {
            Self::Http(server) | Self::Https(server) | Self::Socks5(server) => server,
        }
    }
}

impl UpstreamServer {
    /// The host as certificates name it: an IPv6 address without brackets.
    pub(crate) fn name(&self) -> String {
        self.host.address().map_or_else(|| self.host.to_string(), |address| address.to_string())
    }
}

impl fmt::Display for Upstream {
    /// Without user name and password.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match self {
            Self::Http(_) => "http",
            Self::Https(_) => "https",
            Self::Socks5(_) => "socks5",
        };
        let UpstreamServer { host, port, .. } = self.server();
        write!(formatter, "{scheme}://{host}:{port}")
    }
}

impl fmt::Debug for Upstream {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Upstream({self})")
    }
}

impl fmt::Debug for UpstreamServer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "UpstreamServer({}:{})", self.host, self.port)
    }
}

/// Hosts and networks that are reached without the upstream proxy (`proxyBypass`). Passing the proxy by is no
/// permission: the policy is asked all the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bypass {
    rules: Vec<Rule>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Rule {
    /// Names without a dot, `localhost`, and loopback addresses.
    Local,
    Host(HostPattern),
    Network(NetworkPattern),
}

/// A bypass rule that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BypassError {
    /// Neither a host nor a pattern for hosts.
    #[error("`{rule}` in the proxy bypass list is not a host: {source}")]
    Host {
        /// The rule.
        rule: String,
        /// What is wrong with it.
        source: HostPatternError,
    },
    /// Not a network.
    #[error("`{rule}` in the proxy bypass list is not a network: {source}")]
    Network {
        /// The rule.
        rule: String,
        /// What is wrong with it.
        source: NetworkPatternError,
    },
}

impl FromStr for Bypass {
    type Err = BypassError;

    /// Reads a comma-separated list of `host`, `*.suffix`, `.suffix`, `host:port`, CIDR networks, and `<local>`. A bare
    /// host includes its subdomains, as in `allowedHosts`.
    fn from_str(text: &str) -> Result<Self, BypassError> {
        let rules = text.split([',', ';']).map(str::trim).filter(|rule| !rule.is_empty()).map(parse_rule);
        Ok(Self { rules: rules.collect::<Result<_, _>>()? })
    }
}

fn parse_rule(rule: &str) -> Result<Rule, BypassError> {
    if rule.eq_ignore_ascii_case("<local>") {
        return Ok(Rule::Local);
    }
    if rule.contains('/') {
        return rule
            .parse()
            .map(Rule::Network)
            .map_err(|source| BypassError::Network { rule: rule.to_owned(), source });
    }
    let host = if rule.starts_with('.') { format!("*{rule}") } else { rule.to_owned() };
    host.parse().map(Rule::Host).map_err(|source| BypassError::Host { rule: rule.to_owned(), source })
}

impl Bypass {
    /// Whether `address`, to which `host` was resolved, is to be reached directly.
    pub(crate) fn covers(&self, host: &Host, port: u16, address: IpAddr) -> bool {
        self.rules.iter().any(|rule| match rule {
            Rule::Local => host.is_localhost() || host.name().map_or(address.is_loopback(), |name| !name.contains('.')),
            Rule::Host(pattern) => pattern.matches(host, port),
            Rule::Network(pattern) => pattern.contains(address, port),
        })
    }
}
