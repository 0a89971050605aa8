use std::net::IpAddr;

use bathy_policy::{Host, HostPattern, NarrowError, Policy, PolicyConfig, Purpose, ResourcePattern};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::generate;

fn patterns(texts: &[&str]) -> Vec<HostPattern> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

fn policy(allowed_hosts: &[&str]) -> Policy {
    Policy::new(PolicyConfig { allowed_hosts: patterns(allowed_hosts), ..PolicyConfig::default() })
}

#[test]
fn a_session_may_ask_for_less_and_never_for_more() {
    let cases: &[(&[&str], &str, bool)] = &[
        (&[], "example.com", true),
        (&[], "*.example.com:80", true),
        (&[], "127.0.0.1", true),
        (&["example.com"], "example.com", true),
        (&["example.com"], "shop.example.com", true),
        (&["example.com"], "*.example.com", true),
        (&["example.com"], "example.com:443", true),
        (&["example.com"], "com", false),
        (&["example.com"], "*.com", false),
        (&["example.com"], "evil-example.com", false),
        (&["example.com"], "attacker.test", false),
        (&["*.example.com"], "example.com", false),
        (&["*.example.com"], "shop.example.com", true),
        (&["*.example.com"], "*.example.com", true),
        (&["*.example.com"], "*.shop.example.com", true),
        (&["example.com:443"], "example.com", false),
        (&["example.com:443"], "example.com:80", false),
        (&["example.com:443"], "shop.example.com:443", true),
        (&["127.0.0.1"], "127.0.0.1:80", true),
        (&["127.0.0.1"], "[::ffff:127.0.0.1]", true),
        (&["127.0.0.1"], "127.0.0.2", false),
        (&["other.test", "example.com"], "a.example.com", true),
    ];
    for (wider, narrower, expected) in cases {
        let asked = patterns(&[narrower]);
        let expected = if *expected { Ok(policy(&[narrower])) } else { Err(NarrowError::Wider(asked[0].clone())) };
        assert_eq!(policy(wider).narrowed(&asked), expected, "{narrower} within {wider:?}");
    }
}

#[test]
fn an_empty_narrower_list_is_refused_since_it_would_mean_any_host() {
    assert_eq!(policy(&["example.com"]).narrowed(&[]), Err(NarrowError::Empty));
    assert_eq!(Policy::default().narrowed(&[]), Err(NarrowError::Empty));
}

#[test]
fn resources_narrow_with_documents_unless_the_operator_listed_them() {
    let host = Host::parse("other.test").unwrap();
    let loads = |policy: &Policy| policy.check_authority(&host, 443, Purpose::Resource).is_ok();
    let narrow = patterns(&["example.com"]);
    assert!(loads(&Policy::default()));
    assert!(!loads(&Policy::default().narrowed(&narrow).unwrap()));

    let listed = Policy::new(PolicyConfig {
        allowed_hosts: patterns(&["example.com"]),
        allowed_resource_hosts: Some(vec![ResourcePattern::Any]),
        ..PolicyConfig::default()
    });
    assert!(loads(&listed.narrowed(&narrow).unwrap()));
}

fn allows(policy: &Policy, host: &Host, port: u16, addresses: &[IpAddr], purpose: Purpose) -> bool {
    policy.check_addresses(host, port, addresses, purpose).is_ok()
}

fn host() -> impl Strategy<Value = Host> {
    prop_oneof![
        6 => generate::labels().prop_map(|labels| Host::parse(&labels.join(".")).unwrap()),
        1 => generate::address().prop_map(Host::from),
        1 => Just(Host::parse("x.localhost").unwrap()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_narrowed_policy_never_allows_what_the_wider_one_refuses(
        config in generate::config(),
        asked in vec(generate::pattern(), 1..3),
        targets in vec((host(), generate::port(), vec(generate::address(), 1..3), generate::purpose()), 20),
    ) {
        let wider = Policy::new(config);
        if let Ok(narrower) = wider.narrowed(&asked) {
            for (host, port, mut addresses, purpose) in targets {
                if let Some(own) = host.address() {
                    addresses = vec![own];
                }
                if allows(&narrower, &host, port, &addresses, purpose) {
                    prop_assert!(allows(&wider, &host, port, &addresses, purpose), "{host}:{port}");
                    if purpose == Purpose::Document {
                        prop_assert!(asked.iter().any(|pattern| pattern.matches(&host, port)), "{host}:{port}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_rule_covers_another_exactly_when_every_match_is_its_own(
        wider in generate::pattern(),
        labels in generate::labels(),
        star: bool,
        port in proptest::option::of(generate::port()),
    ) {
        let name = labels.join(".");
        let prefix = if star { "*." } else { "" };
        let suffix = port.map(|port| format!(":{port}")).unwrap_or_default();
        let narrower: HostPattern = format!("{prefix}{name}{suffix}").parse().unwrap();
        // The name itself where it matches, else one below it that no other rule names; on a port that no rule names.
        let witness = Host::parse(&if star { format!("fresh.{name}") } else { name }).unwrap();
        let witness_port = port.unwrap_or(7);
        prop_assert!(narrower.matches(&witness, witness_port));
        prop_assert_eq!(wider.covers(&narrower), wider.matches(&witness, witness_port));
    }

    #[test]
    fn resources_are_wider_whenever_a_host_is_open_to_them_alone(
        config in generate::config(),
        host in host(),
        port in generate::port(),
    ) {
        let policy = Policy::new(config);
        let resource = policy.check_authority(&host, port, Purpose::Resource).is_ok();
        let document = policy.check_authority(&host, port, Purpose::Document).is_ok();
        prop_assert!(resource || !document);
        prop_assert!(policy.resources_are_wider() || resource == document);
    }
}
