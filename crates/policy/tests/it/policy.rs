use std::net::{IpAddr, SocketAddr};

use bathy_policy::Purpose::{Document, Resource};
use bathy_policy::{
    AddressReason, AllowReason, CheckedAddress, Host, HostError, MAXIMUM_URL_BYTES, Policy, PolicyConfig, Refusal,
};

/// A policy from its configuration as JSON, the way an operator writes it.
fn policy(json: &str) -> Policy {
    Policy::new(serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}")))
}

fn host(text: &str) -> Host {
    Host::parse(text).unwrap()
}

fn addresses(texts: &[&str]) -> Vec<IpAddr> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

/// The code of the verdict on a document.
fn verdict(policy: &Policy, url: &str) -> &'static str {
    policy.decide_url(url, Document).code()
}

#[test]
fn the_default_policy_lets_public_hosts_pass_and_no_other() {
    let cases = [
        ("https://example.com/", "any-host"),
        ("http://8.8.8.8/", "any-host"),
        ("http://[2600::1]/", "any-host"),
        ("http://localhost/", "private-name"),
        ("http://x.localhost./", "private-name"),
        ("http://127.0.0.1/", "private-address"),
        ("http://0/", "private-address"),
        ("http://[::]/", "private-address"),
        ("http://[::ffff:127.0.0.1]/", "private-address"),
        ("http://169.254.169.254/latest/meta-data", "private-address"),
        ("http://user@example.com/", "user-info"),
        ("http://:password@example.com/", "user-info"),
        ("http://example.com@attacker.test/", "user-info"),
        ("http://%65@example.com/", "user-info"),
        ("ftp://example.com/", "unsupported-scheme"),
        ("file:///etc/passwd", "unsupported-scheme"),
        ("javascript:alert(1)", "unsupported-scheme"),
        ("data:text/html,x", "unsupported-scheme"),
        ("about:blank", "unsupported-scheme"),
        ("blob:https://example.com/x", "unsupported-scheme"),
        ("view-source:https://example.com/", "unsupported-scheme"),
        ("chrome://version", "unsupported-scheme"),
        ("ws://example.com/", "unsupported-scheme"),
        ("", "unparseable"),
        ("example.com", "unparseable"),
        ("//example.com/", "unparseable"),
        ("http://", "unparseable"),
        ("http://example.com:99999/", "unparseable"),
        ("http://exa mple.com/", "unparseable"),
        ("http://*example.com/", "unusable-host"),
        ("http://a..b/", "unusable-host"),
    ];
    for (url, code) in cases {
        assert_eq!(verdict(&Policy::default(), url), code, "{url}");
    }
}

#[test]
fn sockets_pass_at_the_gate_alone() {
    let policy = Policy::default();
    for url in ["ws://example.com/", "wss://example.com/", "https://example.com/"] {
        assert!(policy.check_socket_url(url, Resource).is_ok(), "{url}");
    }
    for url in ["ftp://example.com/", "ws://127.0.0.1/", "wss://user@example.com/"] {
        assert!(policy.check_socket_url(url, Resource).is_err(), "{url}");
    }
}

#[test]
fn a_checked_url_has_its_canonical_host_and_its_port() {
    let policy = policy(r#"{"allowedHosts": ["example.com"]}"#);
    for (text, url, port) in [
        (" HTTPS://Example.COM./a?b#c\n", "https://example.com/a?b#c", 443),
        ("http:\\\\example.com\\a", "http://example.com/a", 80),
        ("http://example.com:8080", "http://example.com:8080/", 8080),
        ("http://@example.com:80/", "http://example.com/", 80),
        ("http://ex\tample.com/", "http://example.com/", 80),
    ] {
        let checked = policy.check_url(text, Document).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!((checked.url().as_str(), checked.port()), (url, port), "{text}");
        assert_eq!(*checked.host(), host("example.com"));
        assert_eq!(*checked.reason(), AllowReason::ListedHost("example.com".parse().unwrap()));
    }
}

#[test]
fn a_url_beyond_what_a_browser_takes_is_refused_unread() {
    let url = format!("http://example.com/{}", "x".repeat(MAXIMUM_URL_BYTES));
    let bytes = url.len();
    assert_eq!(Policy::default().check_url(&url, Document), Err(Refusal::UrlTooLong { bytes }));
}

#[test]
fn a_list_of_hosts_is_compared_by_labels_and_ports() {
    let policy = policy(r#"{"allowedHosts": ["example.com", "*.sub.test", "port.test:8443", "8.8.8.8"]}"#);
    let cases = [
        ("https://example.com/", "listed-host"),
        ("https://a.EXAMPLE.com./", "listed-host"),
        ("https://evil-example.com/", "host-not-allowed"),
        ("https://example.com.attacker.test/", "host-not-allowed"),
        ("https://example.com@attacker.test/", "user-info"),
        ("https://a.sub.test/", "listed-host"),
        ("https://sub.test/", "host-not-allowed"),
        ("https://port.test:8443/", "listed-host"),
        ("https://port.test/", "host-not-allowed"),
        ("http://0x8.8.8.8/", "listed-host"),
        ("http://8.8.4.4/", "host-not-allowed"),
        ("http://127.0.0.1/", "host-not-allowed"),
    ];
    for (url, code) in cases {
        assert_eq!(verdict(&policy, url), code, "{url}");
    }
}

#[test]
fn a_private_host_needs_both_its_listing_and_its_network() {
    let listed = policy(r#"{"allowedHosts": ["127.0.0.1", "localhost", "intranet.test"]}"#);
    assert_eq!(verdict(&listed, "http://127.0.0.1/"), "private-address");
    assert_eq!(verdict(&listed, "http://localhost/"), "private-name");
    let ten = addresses(&["10.0.0.1"]);
    assert!(listed.check_addresses(&host("intranet.test"), 80, &ten, Document).is_err());

    for opening in [r#""allowPrivateNetwork": true"#, r#""allowedNetworks": ["127.0.0.0/8", "10.0.0.0/8"]"#] {
        let both = policy(&format!(r#"{{"allowedHosts": ["127.0.0.1", "localhost", "intranet.test"], {opening}}}"#));
        assert_eq!(verdict(&both, "http://127.0.0.1/"), "listed-host", "{opening}");
        assert_eq!(verdict(&both, "http://localhost/"), "listed-host", "{opening}");
        assert_eq!(verdict(&both, "http://127.0.0.2/"), "host-not-allowed", "{opening}");
        assert!(both.check_addresses(&host("intranet.test"), 80, &ten, Document).is_ok());
        let unlisted = both.check_addresses(&host("other.test"), 80, &ten, Document);
        assert!(matches!(unlisted, Err(Refusal::HostNotAllowed { .. })), "{opening}");
    }
}

#[test]
fn without_a_list_an_opened_network_is_enough() {
    let private = policy(r#"{"allowPrivateNetwork": true}"#);
    let url = "http://[::ffff:10.0.0.1]/";
    for url in [url, "http://localhost/", "http://169.254.169.254/", "http://[64:ff9b::7f00:1]/", "http://[ff02::1]/"] {
        assert_eq!(verdict(&private, url), "any-host", "{url}");
    }
    let network = policy(r#"{"allowedNetworks": ["10.0.0.0/8:80"]}"#);
    assert_eq!(verdict(&network, url), "any-host");
    assert_eq!(verdict(&network, "http://10.0.0.1:81/"), "private-address");
    assert_eq!(verdict(&network, "http://[64:ff9b::a00:1]/"), "private-address");
    assert_eq!(verdict(&network, "http://localhost/"), "private-name");
}

#[test]
fn localhost_waits_for_its_addresses_where_any_loopback_address_is_open() {
    for (network, code) in [
        ("127.0.0.2", "any-host"),
        ("127.0.0.0/8", "any-host"),
        ("0.0.0.0/0", "any-host"),
        ("[::1]:80", "any-host"),
        ("[::1]:443", "private-name"),
        ("10.0.0.0/8", "private-name"),
        ("fd00::/8", "private-name"),
    ] {
        let open = policy(&format!(r#"{{"allowedNetworks": ["{network}"]}}"#));
        assert_eq!(verdict(&open, "http://localhost/"), code, "{network}");
    }
    let open = policy(r#"{"allowedNetworks": ["127.0.0.2"]}"#);
    let check = |text| open.check_addresses(&host("localhost"), 80, &addresses(&[text]), Document);
    assert!(check("127.0.0.2").is_ok());
    assert!(matches!(check("127.0.0.1"), Err(Refusal::PrivateAddress { .. })));
}

#[test]
fn an_allowed_name_with_a_forbidden_address_is_refused() {
    let policy = policy(r#"{"allowedHosts": ["127.0.0.2", "allowed.test"], "allowedNetworks": ["127.0.0.2/32"]}"#);
    let check = |name: &str, texts: &[&str]| policy.check_addresses(&host(name), 9001, &addresses(texts), Document);
    let refusal = check("allowed.test", &["127.0.0.3"]).unwrap_err();
    assert_eq!(refusal.to_string(), "127.0.0.3 (for allowed.test) is a loopback address, and that network is not open");
    assert!(check("allowed.test", &["127.0.0.2", "127.0.0.3"]).is_err());
    assert!(check("allowed.test", &["127.0.0.2", "::ffff:127.0.0.3"]).is_err());

    let checked = check("allowed.test", &["::ffff:127.0.0.2", "8.8.8.8"]).unwrap();
    let sockets: Vec<SocketAddr> = checked.iter().map(CheckedAddress::socket_address).collect();
    assert_eq!(sockets, ["127.0.0.2:9001".parse().unwrap(), "8.8.8.8:9001".parse().unwrap()]);
    let network = AddressReason::ListedNetwork("127.0.0.2".parse().unwrap());
    assert_eq!((checked[0].reason(), checked[1].reason()), (&network, &AddressReason::Public));
}

#[test]
fn a_name_without_an_address_is_refused() {
    let result = Policy::default().check_addresses(&host("example.com"), 80, &[], Document);
    assert_eq!(result, Err(Refusal::NoAddress { host: host("example.com") }));
}

#[test]
fn a_literal_address_cannot_be_resolved_to_another() {
    let policy = Policy::default();
    let check = |texts: &[&str]| policy.check_addresses(&host("8.8.8.8"), 80, &addresses(texts), Document);
    assert!(check(&["8.8.8.8", "::ffff:8.8.8.8"]).is_ok());
    assert!(matches!(check(&["8.8.4.4"]), Err(Refusal::ForeignAddress { .. })));
}

#[test]
fn resources_may_come_from_listed_hosts_besides() {
    let policy = policy(r#"{"allowedHosts": ["example.com"], "allowedResourceHosts": ["cdn.test"]}"#);
    assert!(policy.resources_are_wider());
    let code = |url, purpose| policy.decide_url(url, purpose).code();
    assert_eq!(code("https://cdn.test/", Resource), "listed-resource");
    assert_eq!(code("https://cdn.test/", Document), "host-not-allowed");
    assert_eq!(code("https://example.com/", Resource), "listed-host");
    assert_eq!(code("https://other.test/", Resource), "host-not-allowed");
}

#[test]
fn resources_are_wider_only_where_documents_are_held_tighter() {
    for (json, wider) in [
        ("{}", false),
        (r#"{"allowedResourceHosts": ["*"]}"#, false),
        (r#"{"allowedResourceHosts": ["cdn.test"]}"#, false),
        (r#"{"allowedHosts": ["a.test"]}"#, false),
        (r#"{"allowedHosts": ["a.test"], "allowedResourceHosts": []}"#, false),
        (r#"{"allowedHosts": ["a.test"], "allowedResourceHosts": ["b.a.test"]}"#, false),
        (r#"{"allowedHosts": ["*.a.test"], "allowedResourceHosts": ["a.test"]}"#, true),
        (r#"{"allowedHosts": ["a.test"], "allowedResourceHosts": ["*"]}"#, true),
    ] {
        assert_eq!(policy(json).resources_are_wider(), wider, "{json}");
    }
}

#[test]
fn resources_from_any_host_means_public_hosts_even_where_the_private_network_is_open() {
    let any =
        policy(r#"{"allowedHosts": ["intranet.test"], "allowedResourceHosts": ["*"], "allowPrivateNetwork": true}"#);
    let code = |url| any.decide_url(url, Resource).code();
    assert_eq!(code("https://other.test/"), "any-resource");
    assert_eq!(code("http://127.0.0.1/"), "private-host-not-listed");
    assert_eq!(code("http://localhost/"), "private-host-not-listed");
    let check = |name, texts: &[&str]| any.check_addresses(&host(name), 80, &addresses(texts), Resource);
    assert!(check("other.test", &["8.8.8.8"]).is_ok());
    let refused = check("other.test", &["8.8.8.8", "10.0.0.1"]);
    assert!(matches!(refused, Err(Refusal::PrivateHostNotListed { .. })));
    assert!(check("intranet.test", &["10.0.0.1"]).is_ok());
}

#[test]
fn an_unusable_host_says_why() {
    let refusal = Policy::default().check_url("http://a..b/", Document).unwrap_err();
    assert_eq!(refusal, Refusal::UnusableHost(HostError::EmptyLabel));
    assert_eq!(refusal.to_string(), "the host has an empty label between its dots");
}

#[test]
fn a_refusal_repeats_only_a_bounded_part_of_a_scheme() {
    let refusal = Policy::default().check_url(&format!("{}:x", "s".repeat(100_000)), Document).unwrap_err();
    assert!(refusal.to_string().len() < 100, "{refusal}");
}

#[test]
fn a_configuration_with_an_unknown_key_or_a_bad_rule_is_refused() {
    let error = |json| serde_json::from_str::<PolicyConfig>(json).unwrap_err().to_string();
    assert!(error(r#"{"allowedHost": []}"#).contains("unknown field"));
    assert!(error(r#"{"allowedHosts": ["*example.com"]}"#).contains("misplaced star"));
    assert!(error(r#"{"allowedNetworks": ["example.com"]}"#).contains("not a network"));
    assert!(error(r#"{"allowedHosts": ["*"]}"#).contains("leave the list empty"));
}
