use bathy_policy::{Policy, PolicyConfig, Purpose};

#[test]
fn a_decision_is_written_with_its_verdict_its_code_and_its_reason() {
    let policy =
        Policy::new(PolicyConfig { allowed_hosts: vec!["example.com".parse().unwrap()], ..PolicyConfig::default() });
    let written = |url| serde_json::to_value(policy.decide_url(url, Purpose::Document)).unwrap();
    assert_eq!(
        written("https://shop.example.com/"),
        serde_json::json!({
            "verdict": "allowed",
            "code": "listed-host",
            "reason": "`example.com` is an allowed host",
        })
    );
    assert_eq!(
        written("https://attacker.test:8443/"),
        serde_json::json!({
            "verdict": "refused",
            "code": "host-not-allowed",
            "reason": "attacker.test on port 8443 is not on the list of allowed hosts",
        })
    );
}

#[test]
fn a_decision_knows_whether_it_allows() {
    let policy = Policy::default();
    assert!(policy.decide_url("https://example.com/", Purpose::Document).is_allowed());
    let refused = policy.decide_url("http://127.0.0.1/", Purpose::Document);
    assert!(!refused.is_allowed());
    assert_eq!(refused.to_string(), "127.0.0.1 is a loopback address, and that network is not open");
}
