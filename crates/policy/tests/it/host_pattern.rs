use bathy_policy::{Host, HostError, HostPattern, HostPatternError, ResourcePattern};
use proptest::prelude::*;

use crate::generate;

fn matches(pattern: &str, host: &str, port: u16) -> bool {
    let pattern: HostPattern = pattern.parse().unwrap_or_else(|error| panic!("{pattern}: {error}"));
    pattern.matches(&Host::parse(host).unwrap(), port)
}

#[test]
fn a_rule_matches_on_label_borders_and_never_as_text() {
    let cases = [
        ("example.com", "example.com", true),
        ("example.com", "EXAMPLE.com.", true),
        ("example.com", "a.b.example.com", true),
        ("example.com", "evil-example.com", false),
        ("example.com", "notexample.com", false),
        ("example.com", "example.com.attacker.test", false),
        ("example.com", "com", false),
        ("example.com", "example.co", false),
        ("EXAMPLE.com.", "example.com", true),
        ("*.example.com", "a.example.com", true),
        ("*.example.com", "a.b.example.com", true),
        ("*.example.com", "example.com", false),
        ("*.example.com", "evil-example.com", false),
        ("bücher.example", "xn--bcher-kva.example", true),
        ("127.0.0.2", "127.0.0.2", true),
        ("127.0.0.2", "0x7f.2", true),
        ("127.0.0.2", "[::ffff:127.0.0.2]", true),
        ("127.0.0.2", "[64:ff9b::7f00:2]", false),
        ("127.0.0.2", "127.0.0.20", false),
        ("127.0.0.2", "127.0.0.2.example", false),
        ("::1", "[::1]", true),
        ("[::1]", "[::1]", true),
        ("[::1]", "127.0.0.1", false),
    ];
    for (pattern, host, expected) in cases {
        assert_eq!(matches(pattern, host, 80), expected, "{pattern} on {host}");
    }
}

#[test]
fn a_rule_with_a_port_holds_for_that_port_alone() {
    for (pattern, host) in [
        ("example.com:8080", "a.example.com"),
        ("*.example.com:8080", "a.example.com"),
        ("127.0.0.1:8080", "127.0.0.1"),
        ("[::1]:8080", "[::1]"),
    ] {
        assert!(matches(pattern, host, 8080), "{pattern}");
        assert!(!matches(pattern, host, 80), "{pattern}");
    }
}

#[test]
fn a_bad_rule_says_what_to_write() {
    let text = |text: &str| text.to_owned();
    let host = |text: &str, error| HostPatternError::Host { text: text.to_owned(), error };
    let cases = [
        ("*", HostPatternError::AnyHost),
        ("*example.com", HostPatternError::Star(text("*example.com"))),
        ("a.*.com", HostPatternError::Star(text("a.*.com"))),
        ("*.*.com", HostPatternError::Star(text("*.*.com"))),
        ("example.*", HostPatternError::Star(text("example.*"))),
        ("*.127.0.0.1", HostPatternError::Star(text("*.127.0.0.1"))),
        ("https://example.com", HostPatternError::NotAHost(text("https://example.com"))),
        ("example.com/path", HostPatternError::NotAHost(text("example.com/path"))),
        ("user@example.com", HostPatternError::NotAHost(text("user@example.com"))),
        ("10.0.0.0/8", HostPatternError::Network(text("10.0.0.0/8"))),
        ("example.com:", HostPatternError::Port(text("example.com:"))),
        ("example.com:0", HostPatternError::Port(text("example.com:0"))),
        ("example.com:+80", HostPatternError::Port(text("example.com:+80"))),
        ("example.com:65536", HostPatternError::Port(text("example.com:65536"))),
        ("[::1]8080", HostPatternError::Port(text("[::1]8080"))),
        ("", host("", HostError::Missing)),
        ("*.", host("*.", HostError::Missing)),
        (":80", host(":80", HostError::Missing)),
        (".example.com", host(".example.com", HostError::EmptyLabel)),
        ("%2Aexample.com", host("%2Aexample.com", HostError::Character('*'))),
        ("[example.com]", host("[example.com]", HostError::Malformed(url::ParseError::InvalidIpv6Address))),
    ];
    for (rule, error) in cases {
        assert_eq!(rule.parse::<HostPattern>(), Err(error), "{rule:?}");
    }
}

#[test]
fn an_error_about_a_rule_is_bounded_and_printable() {
    let error = format!("exa\u{1b}[31mmple/{}", "x".repeat(100_000)).parse::<HostPattern>().unwrap_err();
    let message = error.to_string();
    assert!(message.len() < 300 && !message.contains('\u{1b}'), "{message}");
}

#[test]
fn only_resources_may_come_from_any_host() {
    assert_eq!("*".parse(), Ok(ResourcePattern::Any));
    let example = ResourcePattern::Host("example.com".parse().unwrap());
    assert_eq!(" example.com ".parse(), Ok(example));
    let read: Vec<ResourcePattern> = serde_json::from_str(r#"["*", "*.Example.com:80"]"#).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), r#"["*","*.example.com:80"]"#);
    assert!(serde_json::from_str::<Vec<HostPattern>>(r#"["*"]"#).is_err());
}

proptest! {
    #[test]
    fn a_match_is_a_suffix_of_whole_labels(rule in generate::labels(), host in generate::labels(), below: bool) {
        let star = if below { "*." } else { "" };
        let expected = host.ends_with(&rule) && (!below || host.len() > rule.len());
        prop_assert_eq!(matches(&format!("{star}{}", rule.join(".")), &host.join("."), 80), expected);
    }

    #[test]
    fn a_rule_survives_the_way_through_text(pattern in generate::pattern()) {
        prop_assert_eq!(pattern.to_string().parse(), Ok(pattern));
    }

    #[test]
    fn any_text_that_is_a_rule_has_one_spelling(text in generate::host_like_text()) {
        if let Ok(pattern) = text.parse::<HostPattern>() {
            prop_assert_eq!(pattern.to_string().parse(), Ok(pattern));
        }
    }
}
