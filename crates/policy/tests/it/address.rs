use std::net::IpAddr;

use bathy_policy::AddressClass::{self, *};
use bathy_policy::classify;
use proptest::prelude::*;

#[test]
fn every_special_range_has_its_class_from_its_first_address_to_its_last() {
    let ranges: &[(&str, &str, AddressClass)] = &[
        ("0.0.0.0", "0.255.255.255", Unspecified),
        ("1.0.0.0", "9.255.255.255", Public),
        ("10.0.0.0", "10.255.255.255", Private),
        ("11.0.0.0", "100.63.255.255", Public),
        ("100.64.0.0", "100.127.255.255", CarrierNat),
        ("100.128.0.0", "126.255.255.255", Public),
        ("127.0.0.0", "127.255.255.255", Loopback),
        ("128.0.0.0", "168.63.129.15", Public),
        ("168.63.129.16", "168.63.129.16", CloudPlatform),
        ("168.63.129.17", "169.253.255.255", Public),
        ("169.254.0.0", "169.254.255.255", LinkLocal),
        ("169.255.0.0", "172.15.255.255", Public),
        ("172.16.0.0", "172.31.255.255", Private),
        ("172.32.0.0", "191.255.255.255", Public),
        ("192.0.0.0", "192.0.0.255", Reserved),
        ("192.0.1.0", "192.0.1.255", Public),
        ("192.0.2.0", "192.0.2.255", Documentation),
        ("192.0.3.0", "192.88.98.255", Public),
        ("192.88.99.0", "192.88.99.255", Reserved),
        ("192.88.100.0", "192.167.255.255", Public),
        ("192.168.0.0", "192.168.255.255", Private),
        ("192.169.0.0", "198.17.255.255", Public),
        ("198.18.0.0", "198.19.255.255", Benchmarking),
        ("198.20.0.0", "198.51.99.255", Public),
        ("198.51.100.0", "198.51.100.255", Documentation),
        ("198.51.101.0", "203.0.112.255", Public),
        ("203.0.113.0", "203.0.113.255", Documentation),
        ("203.0.114.0", "223.255.255.255", Public),
        ("224.0.0.0", "239.255.255.255", Multicast),
        ("240.0.0.0", "255.255.255.254", Reserved),
        ("255.255.255.255", "255.255.255.255", Broadcast),
        ("::", "::", Unspecified),
        ("::1", "::1", Loopback),
        ("64:ff9b:2::", "64:ff9b:ffff:ffff:ffff:ffff:ffff:ffff", Reserved),
        ("100::", "100::ffff:ffff:ffff:ffff", Reserved),
        ("1fff:ffff::", "1fff:ffff::1", Reserved),
        ("2000::", "2000:ffff::1", Public),
        ("2001:1::1", "2001:1ff:ffff::1", Reserved),
        ("2001:2::", "2001:2:0:ffff:ffff:ffff:ffff:ffff", Benchmarking),
        ("2001:20::", "2001:2f:ffff::", Reserved),
        ("2001:200::", "2001:db7:ffff::1", Public),
        ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", Documentation),
        ("2001:db9::", "2001:ffff::1", Public),
        ("2003::", "3ffe:ffff::1", Public),
        ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", Documentation),
        ("3fff:1000::", "3fff:ffff::1", Public),
        ("4000::", "fbff:ffff::1", Reserved),
        ("5f00::", "5f00:ffff::1", Reserved),
        ("fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", UniqueLocal),
        ("fe00::", "fe7f:ffff::1", Reserved),
        ("fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", LinkLocal),
        ("fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", SiteLocal),
        ("ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Multicast),
    ];
    for (first, last, class) in ranges {
        for text in [first, last] {
            let address: IpAddr = text.parse().unwrap();
            assert_eq!(classify(address), *class, "{text}");
        }
    }
}

#[test]
fn an_embedded_address_is_judged_by_where_its_packets_end_up() {
    let cases: &[(&str, AddressClass)] = &[
        ("::ffff:127.0.0.1", Loopback),
        ("::ffff:8.8.8.8", Public),
        ("64:ff9b::10.0.0.1", Private),
        ("64:ff9b::8.8.8.8", Public),
        ("64:ff9b:1::169.254.169.254", LinkLocal),
        ("64:ff9b:1::8.8.8.8", Tunnel),
        ("64:ff9b:1:a00:1::", Unspecified),
        ("::127.0.0.1", Loopback),
        ("::8.8.8.8", Reserved),
        ("::ffff:0:192.168.0.1", Private),
        ("::ffff:0:8.8.8.8", Reserved),
        ("2002:7f00:1::", Loopback),
        ("2002:808:808::1", Tunnel),
        // Teredo: the client's address 192.168.0.1 inverted, behind a public server.
        ("2001:0:4136:e378:8000:63bf:3f57:fffe", Private),
        // A public client behind the server 10.0.0.1.
        ("2001:0:a00:1:8000:63bf:f7f7:f7f7", Private),
        ("2001:0:4136:e378:8000:63bf:f7f7:f7f7", Tunnel),
        ("2600::5efe:10.0.0.1", Private),
        ("2600::200:5efe:10.0.0.1", Private),
        ("2600::5efe:8.8.8.8", Public),
        ("fe80::5efe:8.8.8.8", LinkLocal),
    ];
    for (text, class) in cases {
        let address: IpAddr = text.parse().unwrap();
        assert_eq!(classify(address), *class, "{text}");
    }
}

proptest! {
    #[test]
    fn no_ipv6_address_outside_global_unicast_is_public_but_a_translated_one(bits: u128) {
        let address = std::net::Ipv6Addr::from_bits(bits);
        let translated = address.to_ipv4_mapped().is_some() || bits >> 32 == 0x0064_ff9b << 64;
        prop_assume!(bits >> 125 != 1 && !translated);
        prop_assert_ne!(classify(address.into()), Public);
    }

    #[test]
    fn a_mapped_address_has_the_class_of_the_address_inside(bits: u32) {
        let inner = std::net::Ipv4Addr::from_bits(bits);
        prop_assert_eq!(classify(inner.to_ipv6_mapped().into()), classify(inner.into()));
    }
}
