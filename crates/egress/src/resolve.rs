//! From names to addresses. What an answer says is checked by the policy, whoever gave it.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;

use bathy_policy::{Host, HostError};
use hickory_resolver::TokioResolver;
use hickory_resolver::config::{ConnectionConfig, LookupIpStrategy, NameServerConfig, ResolveHosts, ResolverConfig};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use thiserror::Error;

/// A future that is owned and can move between threads.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Looks names up. The gate asks once for each connection it makes and never asks for literal addresses.
pub trait Resolve: Send + Sync + 'static {
    /// All addresses of `host`, a DNS name in canonical spelling without a trailing dot.
    ///
    /// # Errors
    /// When the look-up fails. The gate puts a deadline on the call and drops the future when it passes.
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>>;
}

/// The machine's own resolver (`getaddrinfo`): hosts file, mDNS, VPN and split DNS included.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            let mut addresses: Vec<IpAddr> = Vec::new();
            for address in tokio::net::lookup_host((host, 0)).await? {
                if !addresses.contains(&address.ip()) {
                    addresses.push(address.ip());
                }
            }
            Ok(addresses)
        })
    }
}

/// Names with addresses that the operator wrote down (`hostOverrides`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostOverrides {
    addresses: HashMap<Host, Vec<IpAddr>>,
}

/// An override that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum HostOverrideError {
    /// The name is not a host.
    #[error("`{name}` in the host overrides is not a host name: {source}")]
    Name {
        /// What stands there.
        name: String,
        /// What is wrong with it.
        source: HostError,
    },
    /// The name is an address, which is never looked up.
    #[error("`{0}` in the host overrides is an address; only names can be overridden")]
    Address(Host),
    /// There is no address.
    #[error("`{0}` in the host overrides has no address; give at least one")]
    Empty(Host),
}

impl HostOverrides {
    /// Reads overrides from pairs of a name and its addresses; a name that comes twice gets the addresses of both.
    ///
    /// # Errors
    /// When a name is not a DNS name, or has no address.
    pub fn new<N: AsRef<str>>(pairs: impl IntoIterator<Item = (N, Vec<IpAddr>)>) -> Result<Self, HostOverrideError> {
        let mut overrides = Self::default();
        for (name, addresses) in pairs {
            let name = name.as_ref();
            let host = Host::parse(name).map_err(|source| HostOverrideError::Name { name: name.to_owned(), source })?;
            if host.address().is_some() {
                return Err(HostOverrideError::Address(host));
            }
            if addresses.is_empty() {
                return Err(HostOverrideError::Empty(host));
            }
            overrides.addresses.entry(host).or_default().extend(addresses);
        }
        Ok(overrides)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.addresses.is_empty()
    }
}

/// Answers from [`HostOverrides`], and asks another resolver for the rest.
#[derive(Clone)]
pub struct OverrideResolver {
    overrides: HashMap<String, Vec<IpAddr>>,
    inner: Arc<dyn Resolve>,
}

impl OverrideResolver {
    /// Puts `overrides` in front of `inner`.
    pub fn new(overrides: HostOverrides, inner: Arc<dyn Resolve>) -> Self {
        let overrides =
            overrides.addresses.into_iter().map(|(host, addresses)| (host.to_string(), addresses)).collect();
        Self { overrides, inner }
    }
}

impl Resolve for OverrideResolver {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        match self.overrides.get(host) {
            Some(addresses) => {
                let addresses = addresses.clone();
                Box::pin(async move { Ok(addresses) })
            }
            None => self.inner.resolve(host),
        }
    }
}

/// Asks one DNS server, over UDP and over TCP where an answer is too long. Nothing is cached: the gate asks once for each
/// connection, and a server on the machine or its network caches for everybody.
#[derive(Clone)]
pub struct NameServerResolver {
    server: SocketAddr,
    resolver: TokioResolver,
}

impl NameServerResolver {
    /// A client of the DNS server at `server`.
    ///
    /// # Errors
    /// When the client cannot be set up.
    pub fn new(server: SocketAddr) -> io::Result<Self> {
        let mut connections = vec![ConnectionConfig::udp(), ConnectionConfig::tcp()];
        for connection in &mut connections {
            connection.port = server.port();
        }
        let servers = vec![NameServerConfig::new(server.ip(), true, connections)];
        let mut builder = TokioResolver::builder_with_config(
            ResolverConfig::from_parts(None, Vec::new(), servers),
            TokioRuntimeProvider::default(),
        );
        let options = builder.options_mut();
        options.cache_size = 0;
        options.use_hosts_file = ResolveHosts::Never;
        // All addresses are to be checked, so both families are asked for.
        options.ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
        let resolver = builder.build().map_err(io::Error::other)?;
        Ok(Self { server, resolver })
    }
}

impl fmt::Debug for NameServerResolver {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("NameServerResolver").field(&self.server).finish()
    }
}

impl Resolve for NameServerResolver {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            // The final dot keeps search domains out.
            let answer = self.resolver.lookup_ip(format!("{host}.")).await.map_err(io::Error::other)?;
            Ok(answer.iter().collect())
        })
    }
}
