use std::collections::BTreeMap;
use std::net::IpAddr;

use bathy_policy::{Host, HostError};
use proptest::prelude::*;
use url::{ParseError, Url};

use crate::generate;

#[test]
fn every_spelling_of_a_host_becomes_the_canonical_one() {
    let cases = [
        ("Example.COM", "example.com"),
        ("example.com.", "example.com"),
        ("ex%61mple.com", "example.com"),
        ("ｅｘａｍｐｌｅ．ｃｏｍ", "example.com"),
        ("example。com", "example.com"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("BÜCHER.example", "xn--bcher-kva.example"),
        ("b%C3%BCcher.example", "xn--bcher-kva.example"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("a_b.example", "a_b.example"),
        ("so\u{ad}ft.example", "soft.example"),
        ("127.0.0.1", "127.0.0.1"),
        ("127.0.0.1.", "127.0.0.1"),
        ("0x7f.1", "127.0.0.1"),
        ("0X7F.0.0.1", "127.0.0.1"),
        ("0177.0.0.01", "127.0.0.1"),
        ("2130706433", "127.0.0.1"),
        ("127.1", "127.0.0.1"),
        ("１２７.０.０.１", "127.0.0.1"),
        ("%31%32%37.0.0.1", "127.0.0.1"),
        ("[::1]", "[::1]"),
        ("[0:0:0:0:0:0:0:1]", "[::1]"),
        ("[::FFFF:127.0.0.1]", "[::ffff:7f00:1]"),
        ("LOCALHOST.", "localhost"),
    ];
    for (text, canonical) in cases {
        let host = Host::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(host.to_string(), canonical, "{text}");
    }
}

#[test]
fn what_is_not_a_host_is_refused_with_its_reason() {
    let malformed = HostError::Malformed;
    let cases = [
        ("", HostError::Missing),
        (".", HostError::EmptyLabel),
        ("..", HostError::EmptyLabel),
        ("a..b", HostError::EmptyLabel),
        (".example.com", HostError::EmptyLabel),
        ("example.com..", HostError::EmptyLabel),
        ("*example.com", HostError::Character('*')),
        ("%2Aexample.com", HostError::Character('*')),
        ("a'b.example", HostError::Character('\'')),
        ("example.com:80", malformed(ParseError::IdnaError)),
        ("user@example.com", malformed(ParseError::IdnaError)),
        ("example.com/", malformed(ParseError::IdnaError)),
        ("exa mple.com", malformed(ParseError::IdnaError)),
        ("example%00.com", malformed(ParseError::IdnaError)),
        ("%zz.example", malformed(ParseError::IdnaError)),
        ("::1", malformed(ParseError::IdnaError)),
        ("[::1", malformed(ParseError::InvalidIpv6Address)),
        ("[fe80::1%25eth0]", malformed(ParseError::InvalidIpv6Address)),
        ("[example.com]", malformed(ParseError::InvalidIpv6Address)),
        ("256.0.0.1", malformed(ParseError::InvalidIpv4Address)),
        ("1.2.3.4.5", malformed(ParseError::InvalidIpv4Address)),
        ("4294967296", malformed(ParseError::InvalidIpv4Address)),
        ("example.0x7f", malformed(ParseError::InvalidIpv4Address)),
        ("xn--.example", malformed(ParseError::IdnaError)),
    ];
    for (text, error) in cases {
        assert_eq!(Host::parse(text), Err(error), "{text:?}");
    }
}

#[test]
fn a_name_longer_than_dns_carries_is_refused() {
    let label = "a".repeat(63);
    let full = format!("{label}.{label}.{label}.{}", "a".repeat(61));
    assert_eq!(Host::parse(&full).unwrap().to_string().len(), 253);
    assert_eq!(Host::parse(&format!("{full}a")), Err(HostError::TooLong));
    assert_eq!(Host::parse(&"a".repeat(64)), Err(HostError::TooLong));
    assert_eq!(Host::parse(&"%61".repeat(2000)), Err(HostError::TooLong));
}

#[test]
fn the_host_of_a_url_is_canonical_under_any_scheme() {
    let of = |text: &str| Host::of_url(&Url::parse(text).unwrap());
    assert_eq!(of("https://EXAMPLE.com.:8443/x").unwrap().to_string(), "example.com");
    assert_eq!(of("ftp://0x7f.1/").unwrap().to_string(), "127.0.0.1");
    assert_eq!(of("custom://0X7F.1/").unwrap().to_string(), "127.0.0.1");
    assert_eq!(of("custom://LOCALHOST/").unwrap().to_string(), "localhost");
    assert_eq!(of("data:text/plain,x"), Err(HostError::Missing));
    assert_eq!(of("file:///etc/passwd"), Err(HostError::Missing));
}

#[test]
fn a_host_is_a_name_or_an_address() {
    let name = Host::parse("example.com").unwrap();
    assert_eq!((name.name(), name.address()), (Some("example.com"), None));
    let address: IpAddr = "::1".parse().unwrap();
    let literal = Host::parse("[::1]").unwrap();
    assert_eq!((literal.name(), literal.address()), (None, Some(address)));
    assert_eq!(literal, Host::from(address));
}

#[test]
fn localhost_is_known_on_label_borders() {
    for (text, expected) in [
        ("localhost", true),
        ("a.LOCALHOST.", true),
        ("localhost.example", false),
        ("notlocalhost", false),
        ("127.0.0.1", false),
    ] {
        assert_eq!(Host::parse(text).unwrap().is_localhost(), expected, "{text}");
    }
}

#[test]
fn hosts_are_read_and_written_as_text() {
    let overrides: BTreeMap<Host, u8> = serde_json::from_str(r#"{"Example.COM.": 1, "[::1]": 2}"#).unwrap();
    assert_eq!(serde_json::to_string(&overrides).unwrap(), r#"{"example.com":1,"[::1]":2}"#);
    let error = serde_json::from_str::<Host>(r#""a b""#).unwrap_err();
    assert!(error.to_string().contains("malformed"), "{error}");
}

proptest! {
    #[test]
    fn parsing_a_canonical_host_changes_nothing(text in generate::host_like_text()) {
        if let Ok(host) = Host::parse(&text) {
            let canonical = host.to_string();
            prop_assert_eq!(Host::parse(&canonical), Ok(host));
            prop_assert!(!canonical.ends_with('.'));
            prop_assert!(!canonical.bytes().any(|byte| byte.is_ascii_uppercase() || !byte.is_ascii_graphic()));
        }
    }

    #[test]
    fn every_address_survives_the_way_through_text(address: IpAddr) {
        let host = Host::from(address);
        prop_assert_eq!(Host::parse(&host.to_string()), Ok(host));
    }
}
