//! What kind of place an IP address is, seen through every spelling that hides an IPv4 address in an IPv6 one.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde::Serialize;

/// The kind of place an address belongs to. Everything but [`AddressClass::Public`] needs the operator's consent.
///
/// The ranges are those of the IANA special-purpose address registries (RFC 6890 and its followers).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AddressClass {
    /// A place on the public internet.
    Public,
    /// `0.0.0.0/8` and `::`: "this host on this network", which many systems connect to loopback.
    Unspecified,
    /// `127.0.0.0/8` and `::1`.
    Loopback,
    /// `10.0.0.0/8`, `172.16.0.0/12` and `192.168.0.0/16` (RFC 1918).
    Private,
    /// `169.254.0.0/16` and `fe80::/10`, where cloud metadata services live.
    LinkLocal,
    /// `100.64.0.0/10`, shared between a carrier and its customers (RFC 6598).
    CarrierNat,
    /// `fc00::/7` (RFC 4193).
    UniqueLocal,
    /// `fec0::/10`, deprecated but still honoured by some systems (RFC 3879).
    SiteLocal,
    /// `224.0.0.0/4` and `ff00::/8`.
    Multicast,
    /// `255.255.255.255`.
    Broadcast,
    /// The ranges kept for examples in documents (RFC 5737, RFC 3849, RFC 9637).
    Documentation,
    /// `198.18.0.0/15` and `2001:2::/48` (RFC 2544, RFC 5180).
    Benchmarking,
    /// IPv6 addresses that are carried in IPv4 packets or turned into them in a way only the local network knows:
    /// 6to4 (`2002::/16`), Teredo (`2001::/32`) and local NAT64 (`64:ff9b:1::/48`).
    Tunnel,
    /// `168.63.129.16`, which on Azure machines reaches the host that runs them, though it looks public.
    CloudPlatform,
    /// Everything else that is set aside, and all of IPv6 outside `2000::/3`.
    Reserved,
}

/// Judges an address by where its packets would end up.
///
/// IPv4-mapped addresses and those of the well-known NAT64 prefix `64:ff9b::/96` are judged as the IPv4 address inside.
/// In IPv4-compatible, IPv4-translated, 6to4, Teredo, ISATAP and local NAT64 addresses an IPv4 address that is not
/// public gives its own class; one that is public does not make the outer address public.
///
/// A network can translate a prefix of its own choice to IPv4 (RFC 6052 §2.2); such a prefix cannot be told from any
/// other public one.
pub fn classify(address: IpAddr) -> AddressClass {
    match address {
        IpAddr::V4(address) => classify_v4(address),
        IpAddr::V6(address) => classify_v6(address),
    }
}

fn classify_v4(address: Ipv4Addr) -> AddressClass {
    match address.octets() {
        [0, ..] => AddressClass::Unspecified,
        [127, ..] => AddressClass::Loopback,
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => AddressClass::Private,
        [169, 254, ..] => AddressClass::LinkLocal,
        [100, 64..=127, ..] => AddressClass::CarrierNat,
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => AddressClass::Documentation,
        [198, 18 | 19, ..] => AddressClass::Benchmarking,
        [168, 63, 129, 16] => AddressClass::CloudPlatform,
        [224..=239, ..] => AddressClass::Multicast,
        [255, 255, 255, 255] => AddressClass::Broadcast,
        // IETF protocol assignments, the 6to4 relays of old, and the class E space.
        [192, 0, 0, _] | [192, 88, 99, _] | [240..=255, ..] => AddressClass::Reserved,
        _ => AddressClass::Public,
    }
}

fn classify_v6(address: Ipv6Addr) -> AddressClass {
    let segments = address.segments();
    match segments {
        [0, 0, 0, 0, 0, 0, 0, 0] => AddressClass::Unspecified,
        [0, 0, 0, 0, 0, 0, 0, 1] => AddressClass::Loopback,
        // IPv4-mapped (RFC 4291 §2.5.5.2) and NAT64 (RFC 6052 §2.1): the packets do go to the address inside.
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => classify_v4(join(high, low)),
        // IPv4-compatible (RFC 4291 §2.5.5.1) and IPv4-translated (RFC 2765 §2.1).
        [0, 0, 0, 0, 0 | 0xffff, 0, high, low] => first_closed(&[join(high, low)], AddressClass::Reserved),
        // Local NAT64 (RFC 8215), whose prefix length is not known here, while the usual one puts the address last; and
        // 6to4 (RFC 3056 §2).
        [0x64, 0xff9b, 1, .., high, low] | [0x2002, high, low, ..] => {
            first_closed(&[join(high, low)], AddressClass::Tunnel)
        }
        // Teredo (RFC 4380 §4): the server's address, then flags, port and the client's address, the last two inverted.
        [0x2001, 0, server_high, server_low, _, _, high, low] => {
            let embedded = [join(!high, !low), join(server_high, server_low)];
            first_closed(&embedded, AddressClass::Tunnel)
        }
        // ISATAP (RFC 5214 §6.1): an interface identifier that ends in the IPv4 address of the interface.
        [.., 0 | 0x200, 0x5efe, high, low] => first_closed(&[join(high, low)], classify_native_v6(segments)),
        _ => classify_native_v6(segments),
    }
}

fn classify_native_v6(segments: [u16; 8]) -> AddressClass {
    match segments {
        [0xfe80..=0xfebf, ..] => AddressClass::LinkLocal,
        [0xfec0..=0xfeff, ..] => AddressClass::SiteLocal,
        [0xfc00..=0xfdff, ..] => AddressClass::UniqueLocal,
        [0xff00..=0xffff, ..] => AddressClass::Multicast,
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0x0fff, ..] => AddressClass::Documentation,
        [0x2001, 2, 0, ..] => AddressClass::Benchmarking,
        // IETF protocol assignments (RFC 2928).
        [0x2001, 0..=0x1ff, ..] => AddressClass::Reserved,
        // Global unicast, the only space that is given out (RFC 4291 §2.4 and the IANA registry).
        [0x2000..=0x3fff, ..] => AddressClass::Public,
        _ => AddressClass::Reserved,
    }
}

fn join(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low))
}

/// The class of the first embedded address that is not public, else that of the outer address.
fn first_closed(embedded: &[Ipv4Addr], outer: AddressClass) -> AddressClass {
    embedded.iter().map(|address| classify_v4(*address)).find(|class| *class != AddressClass::Public).unwrap_or(outer)
}

impl fmt::Display for AddressClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Public => "public",
            Self::Unspecified => "unspecified",
            Self::Loopback => "loopback",
            Self::Private => "private",
            Self::LinkLocal => "link-local",
            Self::CarrierNat => "carrier-grade NAT",
            Self::UniqueLocal => "unique-local",
            Self::SiteLocal => "site-local",
            Self::Multicast => "multicast",
            Self::Broadcast => "broadcast",
            Self::Documentation => "documentation",
            Self::Benchmarking => "benchmarking",
            Self::Tunnel => "tunnel",
            Self::CloudPlatform => "cloud platform",
            Self::Reserved => "reserved",
        })
    }
}
