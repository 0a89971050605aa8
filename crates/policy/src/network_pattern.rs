//! Rules of `allowedNetworks`: addresses that are not public and yet open.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use ipnet::{IpNet, Ipv4Net};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::host_pattern::shown;
use crate::port::split_port;

/// One rule of `allowedNetworks`: an address or a network in CIDR notation, for every port or for one.
///
/// `10.0.0.0/8`, `127.0.0.1:8080`, `10.0.0.0/8:8080`, `fd00::/8`, `[fd00::/8]:443`. An IPv4 network also holds the
/// IPv4-mapped IPv6 spellings of its addresses, since those reach the same places. Other IPv6 spellings that carry an
/// IPv4 address are opened by IPv6 networks alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct NetworkPattern {
    network: IpNet,
    port: Option<u16>,
}

/// Why a text is not a rule for networks.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NetworkPatternError {
    /// It is neither an address nor a network.
    #[error(
        "`{0}` is not a network; write an address or a network such as `127.0.0.1`, `10.0.0.0/8:8080` or `[fd00::/8]:443`"
    )]
    Malformed(String),
    /// The address has bits set beyond the length of the prefix, so it is not clear what was meant.
    #[error("`{text}` has address bits beyond its prefix; write `{network}` if you mean the whole network")]
    HostBits {
        /// The rule as given.
        text: String,
        /// The network that holds the address.
        network: IpNet,
    },
    /// The port is not a number from 1 to 65535.
    #[error("`{0}` has a bad port; write a number from 1 to 65535 after the colon")]
    Port(String),
}

impl NetworkPattern {
    /// Whether the rule opens this address on this port.
    pub fn contains(&self, address: IpAddr, port: u16) -> bool {
        self.is_for_port(port) && self.network.contains(&address.to_canonical())
    }

    /// Whether the rule opens any loopback address on this port.
    pub(crate) fn reaches_loopback(&self, port: u16) -> bool {
        let meets = match self.network {
            IpNet::V4(network) => {
                let loopback = Ipv4Net::new_assert(Ipv4Addr::new(127, 0, 0, 0), 8);
                network.contains(&loopback) || loopback.contains(&network)
            }
            IpNet::V6(network) => network.contains(&Ipv6Addr::LOCALHOST),
        };
        meets && self.is_for_port(port)
    }

    fn is_for_port(&self, port: u16) -> bool {
        self.port.is_none_or(|own| own == port)
    }
}

impl FromStr for NetworkPattern {
    type Err = NetworkPatternError;

    /// Parses a rule; white space around it is dropped.
    fn from_str(text: &str) -> Result<Self, NetworkPatternError> {
        let text = text.trim();
        let (front, port) = split_port(text).ok_or_else(|| NetworkPatternError::Port(shown(text)))?;
        let given = front
            .parse()
            .or_else(|_| front.parse().map(|address: IpAddr| IpNet::from(address)))
            .map_err(|_| NetworkPatternError::Malformed(shown(text)))?;
        if given.trunc() != given {
            let (text, network) = (shown(text), given.trunc());
            return Err(NetworkPatternError::HostBits { text, network });
        }
        let network = without_mapping(given);
        Ok(Self { network, port })
    }
}

/// A network of IPv4-mapped addresses as the IPv4 network it stands for.
fn without_mapping(network: IpNet) -> IpNet {
    let IpNet::V6(mapped) = network else {
        return network;
    };
    let inner = mapped.addr().to_ipv4_mapped().zip(mapped.prefix_len().checked_sub(96));
    match inner.map(|(address, length)| Ipv4Net::new(address, length)) {
        Some(Ok(inner)) => IpNet::V4(inner),
        _ => network,
    }
}

impl fmt::Display for NetworkPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.network, self.port) {
            (network, None) => write!(f, "{network}"),
            (IpNet::V4(network), Some(port)) => write!(f, "{network}:{port}"),
            (IpNet::V6(network), Some(port)) => write!(f, "[{network}]:{port}"),
        }
    }
}

impl TryFrom<String> for NetworkPattern {
    type Error = NetworkPatternError;

    fn try_from(text: String) -> Result<Self, NetworkPatternError> {
        text.parse()
    }
}

impl From<NetworkPattern> for String {
    fn from(pattern: NetworkPattern) -> Self {
        pattern.to_string()
    }
}
