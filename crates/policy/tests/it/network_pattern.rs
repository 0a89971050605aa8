use std::net::IpAddr;

use bathy_policy::{NetworkPattern, NetworkPatternError};
use proptest::prelude::*;

fn network(text: &str) -> NetworkPattern {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn a_network_holds_its_addresses_on_its_port() {
    let cases = [
        ("10.0.0.0/8", "10.255.0.1", 80, true),
        ("10.0.0.0/8", "11.0.0.0", 80, false),
        ("10.0.0.0/8:8080", "10.0.0.1", 8080, true),
        ("10.0.0.0/8:8080", "10.0.0.1", 80, false),
        ("127.0.0.2/32", "127.0.0.2", 80, true),
        ("127.0.0.2/32", "127.0.0.3", 80, false),
        ("127.0.0.2", "127.0.0.2", 80, true),
        ("127.0.0.2", "::ffff:127.0.0.2", 80, true),
        ("127.0.0.2", "64:ff9b::7f00:2", 80, false),
        ("127.0.0.2", "2002:7f00:2::", 80, false),
        ("127.0.0.2", "::127.0.0.2", 80, false),
        ("::ffff:127.0.0.2", "127.0.0.2", 80, true),
        ("::ffff:10.0.0.0/104", "10.9.9.9", 80, true),
        ("fd00::/8", "fd12::1", 80, true),
        ("fd00::/8", "fc00::1", 80, false),
        ("[fd00::/8]:443", "fd12::1", 443, true),
        ("[fd00::/8]:443", "fd12::1", 80, false),
        ("[::1]:80", "::1", 80, true),
        ("[::1]", "::1", 80, true),
        ("::/0", "fe80::1", 80, true),
        ("::/0", "127.0.0.1", 80, false),
        ("0.0.0.0/0", "127.0.0.1", 80, true),
        ("0.0.0.0/0", "::1", 80, false),
    ];
    for (pattern, address, port, expected) in cases {
        let address: IpAddr = address.parse().unwrap();
        let contained = network(pattern).contains(address, port);
        assert_eq!(contained, expected, "{pattern} on {address} port {port}");
    }
}

#[test]
fn a_bad_network_says_what_to_write() {
    let malformed = |text: &str| NetworkPatternError::Malformed(text.to_owned());
    let port = |text: &str| NetworkPatternError::Port(text.to_owned());
    let cases = [
        ("", malformed("")),
        ("example.com", malformed("example.com")),
        ("10.0.0.0/33", malformed("10.0.0.0/33")),
        ("10.0.0", malformed("10.0.0")),
        ("010.0.0.1", malformed("010.0.0.1")),
        ("[fd00::]/8", port("[fd00::]/8")),
        ("10.0.0.0/8:", port("10.0.0.0/8:")),
        ("10.0.0.0/8:99999", port("10.0.0.0/8:99999")),
    ];
    for (text, error) in cases {
        assert_eq!(text.parse::<NetworkPattern>(), Err(error), "{text:?}");
    }
    let error = "10.1.2.3/8".parse::<NetworkPattern>().unwrap_err();
    assert!(error.to_string().contains("write `10.0.0.0/8`"), "{error}");
}

proptest! {
    #[test]
    fn a_network_survives_the_way_through_text(address: IpAddr, length in 0_u8..=128, port in proptest::option::of(1_u16..)) {
        let length = length.min(if address.is_ipv4() { 32 } else { 128 });
        let whole = ipnet::IpNet::new(address, length).unwrap().trunc();
        let text = match (whole, port) {
            (whole, None) => whole.to_string(),
            (whole, Some(port)) if address.is_ipv4() => format!("{whole}:{port}"),
            (whole, Some(port)) => format!("[{whole}]:{port}"),
        };
        let pattern = network(&text);
        prop_assert_eq!(pattern.to_string().parse(), Ok(pattern));
        if address.to_canonical() == address {
            prop_assert_eq!(pattern.to_string(), text);
        }
        prop_assert!(pattern.contains(whole.addr(), port.unwrap_or(80)));
    }
}
