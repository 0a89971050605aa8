//! What the property tests try.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use bathy_policy::{HostPattern, NetworkPattern, PolicyConfig, Purpose, ResourcePattern};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

/// Text near to hosts: names, numbers, brackets, escapes, full-width characters, and noise.
pub(crate) fn host_like_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-zA-Z0-9_-]{1,6}",
        3 => select(vec![".", ".", "。", "．", ":", "[", "]", "::", "xn--", "0x", "%", "*", "@", "ß", "ſ", "\u{ad}"])
            .prop_map(str::to_owned),
        2 => (0_u32..300).prop_map(|number| number.to_string()),
        1 => "%[0-9a-fA-F]{2}",
        1 => any::<char>().prop_map(String::from),
        1 => any::<Ipv6Addr>().prop_map(|address| format!("[{address}]")),
    ];
    vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

/// Labels few enough that names often nest, and near enough that substrings match.
pub(crate) fn labels() -> impl Strategy<Value = Vec<&'static str>> {
    vec(select(vec!["a", "b", "ab", "evil-a", "com", "co"]), 1..5)
}

pub(crate) fn pattern_text() -> impl Strategy<Value = String> {
    let host = prop_oneof![
        5 => labels().prop_map(|labels| labels.join(".")),
        3 => labels().prop_map(|labels| format!("*.{}", labels.join("."))),
        1 => address().prop_map(|address| match address {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => format!("[{address}]"),
        }),
        1 => Just("localhost".to_owned()),
    ];
    (host, option::of(port())).prop_map(|(host, port)| match port {
        Some(port) => format!("{host}:{port}"),
        None => host,
    })
}

pub(crate) fn pattern() -> impl Strategy<Value = HostPattern> {
    pattern_text().prop_map(|text| text.parse().unwrap())
}

pub(crate) fn port() -> impl Strategy<Value = u16> {
    select(vec![80, 443, 8080])
}

pub(crate) fn purpose() -> impl Strategy<Value = Purpose> {
    select(vec![Purpose::Document, Purpose::Resource])
}

/// A few addresses of many classes, and spellings of them.
pub(crate) fn address() -> impl Strategy<Value = IpAddr> {
    let texts = [
        "8.8.8.8",
        "127.0.0.1",
        "127.0.0.2",
        "10.0.0.1",
        "169.254.169.254",
        "::1",
        "::ffff:127.0.0.2",
        "64:ff9b::a00:1",
        "2600::1",
        "fd00::1",
    ];
    select(texts.map(|text| text.parse().unwrap()).to_vec())
}

pub(crate) fn config() -> impl Strategy<Value = PolicyConfig> {
    let resource = prop_oneof![
        1 => Just(ResourcePattern::Any),
        4 => pattern().prop_map(ResourcePattern::Host),
    ];
    let network = select(vec!["127.0.0.2", "127.0.0.0/8:80", "10.0.0.0/8", "::1", "fd00::/8"])
        .prop_map(|text| text.parse::<NetworkPattern>().unwrap());
    (vec(pattern(), 0..4), option::of(vec(resource, 0..3)), proptest::bool::weighted(0.3), vec(network, 0..3)).prop_map(
        |(allowed_hosts, allowed_resource_hosts, allow_private_network, allowed_networks)| PolicyConfig {
            allowed_hosts,
            allowed_resource_hosts,
            allow_private_network,
            allowed_networks,
        },
    )
}

/// An IPv4 address that is not public, from every range of those.
pub(crate) fn closed_v4() -> impl Strategy<Value = Ipv4Addr> {
    let ranges = [
        (0x0000_0000, 8),
        (0x7f00_0000, 8),
        (0x0a00_0000, 8),
        (0xac10_0000, 12),
        (0xc0a8_0000, 16),
        (0xa9fe_0000, 16),
        (0x6440_0000, 10),
        (0xc000_0000, 24),
        (0xc612_0000, 15),
        (0xcb00_7100, 24),
        (0xe000_0000, 4),
        (0xf000_0000, 4),
        (0xa83f_8110, 32),
    ];
    (select(ranges.to_vec()), any::<u32>()).prop_map(|((start, length), random): ((u32, u32), u32)| {
        let host_bits = u32::MAX.checked_shr(length).unwrap_or(0);
        Ipv4Addr::from_bits(start | random & host_bits)
    })
}

/// A way to write an IPv4 address that the WHATWG host parser reads back.
#[derive(Clone, Debug)]
pub(crate) struct Spelling {
    /// How many numbers the address is written with, from 1 to 4.
    parts: u32,
    /// How each number is written.
    numbers: [Number; 4],
    dot: &'static str,
    trailing_dot: bool,
    /// How each letter and digit is written, in turn.
    disguises: Vec<Disguise>,
}

#[derive(Clone, Copy, Debug)]
enum Number {
    Decimal,
    Hexadecimal,
    UpperHexadecimal,
    LongHexadecimal,
    Octal,
    LongOctal,
}

#[derive(Clone, Copy, Debug)]
enum Disguise {
    Plain,
    Percent,
    Wide,
    WidePercent,
    SoftHyphen,
}

pub(crate) fn spelling() -> impl Strategy<Value = Spelling> {
    use Disguise::{Percent, Plain, SoftHyphen, Wide, WidePercent};
    use Number::{Decimal, Hexadecimal, LongHexadecimal, LongOctal, Octal, UpperHexadecimal};
    let numbers = [Decimal, Hexadecimal, UpperHexadecimal, LongHexadecimal, Octal, LongOctal];
    let disguises = [Plain, Plain, Plain, Percent, Wide, WidePercent, SoftHyphen];
    (
        1_u32..=4,
        proptest::array::uniform4(select(numbers.to_vec())),
        select(vec![".", "。", "．", "｡", "%2e", "%2E", "%EF%BC%8E"]),
        any::<bool>(),
        vec(select(disguises.to_vec()), 1..12),
    )
        .prop_map(|(parts, numbers, dot, trailing_dot, disguises)| Spelling {
            parts,
            numbers,
            dot,
            trailing_dot,
            disguises,
        })
}

impl Spelling {
    pub(crate) fn of(&self, address: Ipv4Addr) -> String {
        let rest = address.to_bits() & u32::MAX.checked_shr(8 * (self.parts - 1)).unwrap_or(0);
        let front = address.octets().map(u32::from);
        let values = front.into_iter().take(self.parts as usize - 1).chain([rest]);
        let mut disguises = self.disguises.iter().cycle();
        let written: Vec<String> = values
            .zip(self.numbers)
            .map(|(value, number)| number.of(value).chars().zip(&mut disguises).map(|(c, how)| how.of(c)).collect())
            .collect();
        written.join(self.dot) + if self.trailing_dot { self.dot } else { "" }
    }
}

impl Number {
    fn of(self, value: u32) -> String {
        match self {
            Self::Decimal => format!("{value}"),
            Self::Hexadecimal => format!("{value:#x}"),
            Self::UpperHexadecimal => format!("0X{value:X}"),
            Self::LongHexadecimal => format!("0x0000{value:x}"),
            Self::Octal => format!("0{value:o}"),
            Self::LongOctal => format!("000{value:o}"),
        }
    }
}

impl Disguise {
    fn of(self, c: char) -> String {
        let percent = |text: String| {
            let escapes: Vec<String> = text.bytes().map(|byte| format!("%{byte:02x}")).collect();
            escapes.concat()
        };
        let wide = char::from_u32(u32::from(c) - 0x20 + 0xff00).unwrap();
        match self {
            Self::Plain => c.to_string(),
            Self::Percent => percent(c.to_string()),
            Self::Wide => wide.to_string(),
            Self::WidePercent => percent(wide.to_string()),
            Self::SoftHyphen => format!("{c}\u{ad}"),
        }
    }
}

/// IPv6 addresses that lead to an IPv4 address, or claim to.
pub(crate) fn embedding(address: Ipv4Addr) -> impl Strategy<Value = Ipv6Addr> {
    let inner = u128::from(address.to_bits());
    any::<u128>().prop_flat_map(move |noise| {
        let low_80 = noise & (u128::MAX >> 48);
        select(vec![
            // The unspecified and the loopback address are no IPv4-compatible ones, and closed as well.
            inner,
            0xffff << 32 | inner,
            0xffff_0000 << 32 | inner,
            0x0064_ff9b << 96 | inner,
            0x0064_ff9b_0001 << 80 | low_80 & !0xffff_ffff | inner,
            0x2002 << 112 | inner << 80 | low_80,
            0x2001_0000 << 96 | low_80 & !0xffff_ffff | (inner ^ 0xffff_ffff),
            0x2001_0000 << 96 | inner << 64 | noise >> 64,
            0x2600 << 112 | 0x5efe << 32 | inner,
            0x2600 << 112 | 0x0200_5efe << 32 | inner,
        ])
        .prop_map(Ipv6Addr::from_bits)
    })
}
