//! URLs from any text under policies from any text: what passes is what the policy says, whatever the spelling.

#![no_main]

use std::net::{IpAddr, Ipv6Addr};

use arbitrary::Arbitrary;
use bathy_policy::{AddressClass, CheckedUrl, HostPattern, Policy, PolicyConfig, Purpose, Refusal, classify};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    url: Spelling<'a>,
    allowed_hosts: Vec<&'a str>,
    allowed_resource_hosts: Option<Vec<&'a str>>,
    allowed_networks: Vec<&'a str>,
    narrower: Vec<&'a str>,
    addresses: Vec<u128>,
    resource: bool,
}

#[derive(Arbitrary, Debug)]
enum Spelling<'a> {
    Whole(&'a str),
    Http { authority: &'a str },
    Address { bits: u128, port: u16 },
}

impl Spelling<'_> {
    fn text(&self) -> String {
        match self {
            Self::Whole(text) => (*text).to_owned(),
            Self::Http { authority } => format!("http://{authority}/"),
            Self::Address { bits, port } => {
                format!("https://[{}]:{port}/", Ipv6Addr::from_bits(*bits))
            }
        }
    }
}

fuzz_target!(|input: Input| {
    let url = input.url.text();
    let config = PolicyConfig {
        allowed_hosts: parsed(&input.allowed_hosts),
        allowed_resource_hosts: input.allowed_resource_hosts.as_deref().map(parsed),
        allow_private_network: false,
        allowed_networks: parsed(&input.allowed_networks),
    };
    let purpose = if input.resource { Purpose::Resource } else { Purpose::Document };
    let addresses: Vec<IpAddr> = input.addresses.iter().map(|bits| Ipv6Addr::from_bits(*bits).into()).collect();
    let policy = Policy::new(config);

    let result = policy.check_url(&url, purpose);
    if let Ok(checked) = &result {
        holds(&policy, checked, purpose);
        only_open_addresses_pass(&policy, checked, &addresses, purpose);
    }
    if let Some(narrower) = narrowed(&policy, &input.narrower) {
        let widened = narrower.check_url(&url, purpose).is_ok() && result.is_err();
        assert!(!widened, "narrowing widened: {input:?}");
    }
});

fn parsed<T: std::str::FromStr>(texts: &[&str]) -> Vec<T> {
    texts.iter().filter_map(|text| text.parse().ok()).collect()
}

fn narrowed(policy: &Policy, texts: &[&str]) -> Option<Policy> {
    policy.narrowed(&parsed::<HostPattern>(texts)).ok()
}

/// A checked URL keeps every promise of its type, and checking it again changes nothing.
fn holds(policy: &Policy, checked: &CheckedUrl, purpose: Purpose) {
    let url = checked.url();
    assert!(matches!(url.scheme(), "http" | "https"), "{url}");
    assert!(url.username().is_empty() && url.password().is_none(), "{url}");
    assert_eq!(url.host_str(), Some(checked.host().to_string().as_str()), "{url}");
    assert_eq!(policy.check_url(url.as_str(), purpose).as_ref(), Ok(checked), "{url}");
    if let Some(address) = checked.host().address() {
        assert!(is_open(policy, address, checked.port()), "{url}");
    }
}

fn only_open_addresses_pass(policy: &Policy, checked: &CheckedUrl, addresses: &[IpAddr], purpose: Purpose) {
    let (host, port) = (checked.host(), checked.port());
    match policy.check_addresses(host, port, addresses, purpose) {
        Ok(passed) => {
            assert!(!passed.is_empty() && passed.len() == addresses.len());
            for address in passed {
                assert!(is_open(policy, address.socket_address().ip(), port), "{address}");
            }
        }
        Err(Refusal::NoAddress { .. }) => assert!(addresses.is_empty()),
        Err(Refusal::ForeignAddress { .. }) => assert!(host.address().is_some()),
        Err(Refusal::PrivateAddress { .. } | Refusal::PrivateHostNotListed { .. }) => {
            assert!(addresses.iter().any(|address| classify(*address) != AddressClass::Public));
        }
        Err(refusal) => panic!("{host} passed before and is refused now: {refusal}"),
    }
}

fn is_open(policy: &Policy, address: IpAddr, port: u16) -> bool {
    let mut networks = policy.config().allowed_networks.iter();
    classify(address) == AddressClass::Public || networks.any(|network| network.contains(address, port))
}
