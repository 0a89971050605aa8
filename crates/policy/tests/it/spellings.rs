//! No spelling of an address that is refused is allowed.

use std::net::{IpAddr, Ipv4Addr};

use bathy_policy::{Host, Policy, PolicyConfig, Purpose, Refusal};
use proptest::prelude::*;

use crate::generate;

fn refused_as_private(policy: &Policy, url: &str) -> Result<(), TestCaseError> {
    for purpose in [Purpose::Document, Purpose::Resource] {
        let result = policy.check_socket_url(url, purpose);
        let private = matches!(result, Err(Refusal::PrivateAddress { .. }));
        prop_assert!(private, "{} gave {:?}", url, result);
    }
    Ok(())
}

/// Opens one address, and lists no host.
fn only_127_0_0_2() -> Policy {
    Policy::new(PolicyConfig { allowed_networks: vec!["127.0.0.2/32".parse().unwrap()], ..PolicyConfig::default() })
}

proptest! {
    #[test]
    fn no_spelling_of_a_private_ipv4_address_is_allowed(
        address in generate::closed_v4(),
        spelling in generate::spelling(),
        port in 1_u16..,
    ) {
        let spelling = spelling.of(address);
        // The spelling is read as the address, so the refusals below are for the right reason.
        prop_assert_eq!(Host::parse(&spelling), Ok(Host::from(IpAddr::V4(address))), "{}", spelling);
        for scheme in ["http", "HTTPS", "ws", "wss"] {
            let url = format!("{scheme}://{spelling}:{port}/x");
            refused_as_private(&Policy::default(), &url)?;
            if address != Ipv4Addr::new(127, 0, 0, 2) {
                refused_as_private(&only_127_0_0_2(), &url)?;
            }
        }
    }

    #[test]
    fn every_plain_spelling_of_an_opened_address_is_allowed(spelling in generate::spelling()) {
        let url = format!("http://{}:9000/x", spelling.of(Ipv4Addr::new(127, 0, 0, 2)));
        let checked = only_127_0_0_2().check_url(&url, Purpose::Document);
        prop_assert_eq!(checked.map(|checked| checked.url().to_string()), Ok("http://127.0.0.2:9000/x".to_owned()));
    }

    #[test]
    fn no_ipv6_address_that_hides_a_private_one_is_allowed(
        embedded in generate::closed_v4().prop_flat_map(generate::embedding),
        dotted: bool,
    ) {
        prop_assume!(embedded.to_ipv4_mapped() != Some(Ipv4Addr::new(127, 0, 0, 2)));
        let spelling = if dotted { dotted_tail(embedded) } else { format!("{embedded:?}").to_uppercase() };
        refused_as_private(&Policy::default(), &format!("http://[{spelling}]/"))?;
        refused_as_private(&only_127_0_0_2(), &format!("http://[{spelling}]/"))?;
    }

    #[test]
    fn one_private_address_among_public_ones_refuses_the_name(
        embedded in generate::closed_v4().prop_flat_map(|inner| (Just(inner), generate::embedding(inner))),
        whole: bool,
        position in 0_usize..3,
    ) {
        let bad = if whole { IpAddr::V4(embedded.0) } else { IpAddr::V6(embedded.1) };
        let mut addresses: Vec<IpAddr> = vec!["8.8.8.8".parse().unwrap(), "2600::1".parse().unwrap()];
        let host = Host::parse("example.com").unwrap();
        let check = |addresses: &[IpAddr]| Policy::default().check_addresses(&host, 443, addresses, Purpose::Document);
        prop_assert_eq!(check(&addresses).map(|checked| checked.len()), Ok(2));
        addresses.insert(position, bad);
        let refused = matches!(check(&addresses), Err(Refusal::PrivateAddress { address, .. }) if address == bad);
        prop_assert!(refused);
    }

    #[test]
    fn no_spelling_of_localhost_is_allowed(
        front in prop_oneof![Just(String::new()), generate::labels().prop_map(|labels| labels.join(".") + ".")],
        name in proptest::sample::select(vec!["localhost", "LOCALHOST", "localhost.", "ｌocalhost", "%6cocalhost", "local\u{ad}host"]),
    ) {
        let result = Policy::default().check_url(&format!("http://{front}{name}/"), Purpose::Document);
        let private = matches!(result, Err(Refusal::PrivateName { .. }));
        prop_assert!(private, "{:?}", result);
    }
}

/// The address with its last 32 bits in dotted decimals.
fn dotted_tail(address: std::net::Ipv6Addr) -> String {
    let tail = Ipv4Addr::from_bits(address.segments()[6..].iter().fold(0, |bits, part| bits << 16 | u32::from(*part)));
    let front: Vec<String> = address.segments()[..6].iter().map(|part| format!("{part:x}")).collect();
    format!("{}:{tail}", front.join(":"))
}
