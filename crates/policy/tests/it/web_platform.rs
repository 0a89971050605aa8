//! The host cases of the web platform's URL tests (`url/resources/urltestdata.json` of web-platform-tests).
//!
//! The file is not part of this repository. `WHATWG_URL_TESTDATA` says where it is; without it, a copy beside the
//! workspace is read where there is one, and else these tests say that they are skipped.

use std::path::{Path, PathBuf};

use bathy_policy::{Host, HostError, Policy, Purpose};
use serde_json::Value;
use url::Url;

#[expect(clippy::print_stderr, reason = "whoever runs the tests should know that these did nothing")]
fn cases() -> Option<Vec<Value>> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/whatwg-urltestdata.json");
    let path = match std::env::var_os("WHATWG_URL_TESTDATA") {
        Some(path) => PathBuf::from(path),
        None if beside.exists() => beside,
        None => {
            eprintln!("skipped: set WHATWG_URL_TESTDATA to the path of urltestdata.json");
            return None;
        }
    };
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let cases: Vec<Value> = serde_json::from_str(&text).unwrap();
    assert!(cases.len() > 500, "{} holds too few cases", path.display());
    Some(cases.into_iter().filter(Value::is_object).collect())
}

fn parse(case: &Value) -> Result<Url, url::ParseError> {
    let input = case["input"].as_str().unwrap();
    match case["base"].as_str() {
        Some(base) => Url::parse(base)?.join(input),
        None => Url::parse(input),
    }
}

#[test]
fn hosts_of_web_schemes_are_those_of_the_web_platform_or_refused_for_what_dns_cannot_carry() {
    let Some(cases) = cases() else { return };
    let mut compared = 0;
    for case in &cases {
        let (Some(protocol), Some(hostname)) = (case["protocol"].as_str(), case["hostname"].as_str()) else {
            continue;
        };
        if !matches!(protocol, "http:" | "https:" | "ws:" | "wss:" | "ftp:") {
            continue;
        }
        let Ok(url) = parse(case) else {
            // The parser refuses these relative references, where the standard skips the extra slashes.
            assert!(case["input"].as_str().unwrap().starts_with("///"), "{case}");
            continue;
        };
        match Host::of_url(&url) {
            Ok(host) => assert_eq!(host.to_string(), hostname.strip_suffix('.').unwrap_or(hostname), "{case}"),
            Err(HostError::EmptyLabel) => assert!(hostname.starts_with('.') || hostname.contains(".."), "{case}"),
            Err(HostError::Character(c)) => {
                assert!(hostname.contains(c) && !c.is_alphanumeric(), "{case}");
            }
            Err(HostError::TooLong) => {
                assert!(hostname.split('.').any(|label| label.len() > 63), "{case}");
            }
            Err(error) => panic!("{case}: {error}"),
        }
        compared += 1;
    }
    assert!(compared > 200, "only {compared} cases were compared");
}

#[test]
fn what_the_web_platform_cannot_parse_is_refused() {
    let Some(cases) = cases() else { return };
    let policy = Policy::new(serde_json::from_str(r#"{"allowPrivateNetwork": true}"#).unwrap());
    let mut refused = 0;
    for case in cases.iter().filter(|case| case["failure"] == true) {
        let input = case["input"].as_str().unwrap();
        assert!(policy.check_socket_url(input, Purpose::Document).is_err(), "{case}");
        if let Ok(url) = parse(case) {
            assert!(policy.check_socket_url(url.as_str(), Purpose::Document).is_err(), "{case}");
        }
        refused += 1;
    }
    assert!(refused > 200, "only {refused} cases were refused");
}
