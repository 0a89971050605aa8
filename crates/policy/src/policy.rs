//! The operator's policy, and the checks it answers.

use std::net::{IpAddr, SocketAddr};

use serde::{Deserialize, Serialize};
use thiserror::Error;
use url::Url;

use crate::address::{AddressClass, classify};
use crate::checked::{CheckedAddress, CheckedUrl};
use crate::decision::{AddressReason, AllowReason, Decision, Purpose, Refusal};
use crate::host::Host;
use crate::host_pattern::{HostPattern, ResourcePattern};
use crate::network_pattern::NetworkPattern;

/// The longest URL that is looked at, in bytes. Chromium takes no longer ones either.
pub const MAXIMUM_URL_BYTES: usize = 2 * 1024 * 1024;

/// The longest part of a scheme that a refusal repeats, in characters.
const MAXIMUM_SHOWN_SCHEME: usize = 32;

/// What an operator sets. The default lets every public host pass and no other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct PolicyConfig {
    /// Hosts that documents may come from. Empty means any host.
    pub allowed_hosts: Vec<HostPattern>,
    /// Hosts that pages may load from besides. Absent means none besides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed_resource_hosts: Option<Vec<ResourcePattern>>,
    /// Opens every address that is not public. Hosts must still be on `allowed_hosts` where that is set.
    pub allow_private_network: bool,
    /// Opens these addresses alone. Hosts must still be on `allowed_hosts` where that is set.
    pub allowed_networks: Vec<NetworkPattern>,
}

/// A policy: pure, and the same answer every time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    config: PolicyConfig,
}

/// Why a policy cannot be narrowed as asked.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NarrowError {
    /// No host was asked for; an empty list would mean any host.
    #[error("the narrower list of hosts is empty; list at least one host, or leave it out to keep the policy as it is")]
    Empty,
    /// A rule reaches beyond the policy.
    #[error("`{0}` reaches beyond the operator's allowed hosts; ask for hosts that those cover, or leave the list out")]
    Wider(HostPattern),
}

impl Policy {
    /// A policy of what the operator set.
    pub fn new(config: PolicyConfig) -> Self {
        Self { config }
    }

    /// What the policy was made of.
    pub fn config(&self) -> &PolicyConfig {
        &self.config
    }

    /// Checks an `http` or `https` URL, as far as it goes without resolving a name.
    ///
    /// # Errors
    /// The first step of the decision that fails.
    pub fn check_url(&self, text: &str, purpose: Purpose) -> Result<CheckedUrl, Refusal> {
        self.check_url_of(&["http", "https"], text, purpose)
    }

    /// Checks a URL as the gate sees it: as [`Policy::check_url`], and `ws` and `wss` pass too.
    ///
    /// # Errors
    /// The first step of the decision that fails.
    pub fn check_socket_url(&self, text: &str, purpose: Purpose) -> Result<CheckedUrl, Refusal> {
        self.check_url_of(&["http", "https", "ws", "wss"], text, purpose)
    }

    /// The verdict of [`Policy::check_url`] with its reason.
    pub fn decide_url(&self, text: &str, purpose: Purpose) -> Decision {
        self.check_url(text, purpose).into()
    }

    /// Checks a host and port before any resolution: the list of hosts, the names that mean loopback, and the address
    /// when the host is a literal one.
    ///
    /// # Errors
    /// The first step of the decision that fails.
    pub fn check_authority(&self, host: &Host, port: u16, purpose: Purpose) -> Result<AllowReason, Refusal> {
        let reason = self.listing(host, port, purpose).ok_or_else(|| Refusal::HostNotAllowed {
            host: host.clone(),
            port,
            purpose,
        })?;
        if let Some(address) = host.address() {
            self.check_address(host, port, address, &reason)?;
        } else if host.is_localhost() {
            self.check_localhost(host, port, &reason)?;
        }
        Ok(reason)
    }

    /// Checks all addresses that a host was resolved to, after [`Policy::check_authority`]. One refused address refuses
    /// the host, and so does an empty answer.
    ///
    /// # Errors
    /// The first step of the decision that fails.
    pub fn check_addresses(
        &self,
        host: &Host,
        port: u16,
        addresses: &[IpAddr],
        purpose: Purpose,
    ) -> Result<Vec<CheckedAddress>, Refusal> {
        let reason = self.check_authority(host, port, purpose)?;
        if addresses.is_empty() {
            return Err(Refusal::NoAddress { host: host.clone() });
        }
        addresses.iter().map(|address| self.check_address(host, port, *address, &reason)).collect()
    }

    /// The policy of a session that asks for these hosts alone. Nothing passes it that does not pass this policy.
    ///
    /// Where the operator lists resource hosts, they stay as they are.
    ///
    /// # Errors
    /// [`NarrowError`] when the list is empty or a rule of it is not covered by one of this policy's.
    pub fn narrowed(&self, allowed_hosts: &[HostPattern]) -> Result<Self, NarrowError> {
        if allowed_hosts.is_empty() {
            return Err(NarrowError::Empty);
        }
        if let Some(wider) = allowed_hosts.iter().find(|pattern| !self.covers(pattern)) {
            return Err(NarrowError::Wider(wider.clone()));
        }
        let allowed_hosts = allowed_hosts.to_vec();
        Ok(Self::new(PolicyConfig { allowed_hosts, ..self.config.clone() }))
    }

    /// Whether resources may come from hosts that documents may not. The gate cannot tell the two apart, so documents
    /// then need a check of their own before their request leaves the browser.
    pub fn resources_are_wider(&self) -> bool {
        self.resource_patterns().iter().any(|resource| match resource {
            ResourcePattern::Any => !self.config.allowed_hosts.is_empty(),
            ResourcePattern::Host(pattern) => !self.covers(pattern),
        })
    }

    fn check_url_of(&self, schemes: &[&str], text: &str, purpose: Purpose) -> Result<CheckedUrl, Refusal> {
        if text.len() > MAXIMUM_URL_BYTES {
            return Err(Refusal::UrlTooLong { bytes: text.len() });
        }
        let mut url = Url::parse(text).map_err(Refusal::Unparseable)?;
        if !schemes.contains(&url.scheme()) {
            let scheme = url.scheme().chars().take(MAXIMUM_SHOWN_SCHEME).collect();
            return Err(Refusal::UnsupportedScheme { scheme });
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Refusal::UserInfo);
        }
        let host = Host::of_url(&url)?;
        url.set_host(Some(&host.to_string())).map_err(Refusal::Unparseable)?;
        let port = url.port_or_known_default().ok_or(Refusal::Unparseable(url::ParseError::InvalidPort))?;
        let reason = self.check_authority(&host, port, purpose)?;
        Ok(CheckedUrl { url, host, port, reason })
    }

    /// The rule that lists the host, the narrowest kind first.
    fn listing(&self, host: &Host, port: u16, purpose: Purpose) -> Option<AllowReason> {
        let matches = |pattern: &&HostPattern| pattern.matches(host, port);
        if self.config.allowed_hosts.is_empty() {
            return Some(AllowReason::AnyHost);
        }
        if let Some(pattern) = self.config.allowed_hosts.iter().find(matches) {
            return Some(AllowReason::ListedHost(pattern.clone()));
        }
        if purpose == Purpose::Document {
            return None;
        }
        let resources = self.resource_patterns();
        let mut listed = resources.iter().filter_map(|resource| match resource {
            ResourcePattern::Host(pattern) => Some(pattern),
            ResourcePattern::Any => None,
        });
        if let Some(pattern) = listed.find(matches) {
            return Some(AllowReason::ListedResource(pattern.clone()));
        }
        resources.contains(&ResourcePattern::Any).then_some(AllowReason::AnyResource)
    }

    fn check_address(
        &self,
        host: &Host,
        port: u16,
        address: IpAddr,
        listing: &AllowReason,
    ) -> Result<CheckedAddress, Refusal> {
        let canonical = address.to_canonical();
        let foreign = host.address().is_some_and(|own| own.to_canonical() != canonical);
        if foreign {
            return Err(Refusal::ForeignAddress { host: host.clone(), address });
        }
        let class = classify(address);
        let reason = if class == AddressClass::Public {
            AddressReason::Public
        } else {
            self.opening(address, port).ok_or_else(|| Refusal::PrivateAddress { host: host.clone(), address, class })?
        };
        if class != AddressClass::Public && *listing == AllowReason::AnyResource {
            return Err(Refusal::PrivateHostNotListed { host: host.clone(), class });
        }
        let socket_address = SocketAddr::new(canonical, port);
        Ok(CheckedAddress { socket_address, reason })
    }

    /// The rule that opens an address that is not public.
    fn opening(&self, address: IpAddr, port: u16) -> Option<AddressReason> {
        if self.config.allow_private_network {
            return Some(AddressReason::PrivateNetwork);
        }
        let mut networks = self.config.allowed_networks.iter();
        let pattern = networks.find(|pattern| pattern.contains(address, port))?;
        Some(AddressReason::ListedNetwork(*pattern))
    }

    fn check_localhost(&self, host: &Host, port: u16, listing: &AllowReason) -> Result<(), Refusal> {
        let (host, class) = (host.clone(), AddressClass::Loopback);
        let mut networks = self.config.allowed_networks.iter();
        if !self.config.allow_private_network && !networks.any(|pattern| pattern.reaches_loopback(port)) {
            return Err(Refusal::PrivateName { host, class });
        }
        if *listing == AllowReason::AnyResource {
            return Err(Refusal::PrivateHostNotListed { host, class });
        }
        Ok(())
    }

    fn covers(&self, pattern: &HostPattern) -> bool {
        let own = &self.config.allowed_hosts;
        own.is_empty() || own.iter().any(|wider| wider.covers(pattern))
    }

    fn resource_patterns(&self) -> &[ResourcePattern] {
        self.config.allowed_resource_hosts.as_deref().unwrap_or_default()
    }
}

impl From<PolicyConfig> for Policy {
    fn from(config: PolicyConfig) -> Self {
        Self::new(config)
    }
}
