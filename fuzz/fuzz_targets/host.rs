//! Hosts and rules from any text: reading never panics, a canonical form is read as itself, and a rule matches the host
//! it was written from.

#![no_main]

use bathy_policy::{Host, HostPattern, NetworkPattern, ResourcePattern};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(host) = Host::parse(text) {
        let canonical = host.to_string();
        assert_eq!(Host::parse(&canonical), Ok(host.clone()), "{text:?}");
        assert!(canonical.bytes().all(|byte| byte.is_ascii_graphic() && !byte.is_ascii_uppercase()), "{text:?}");
        let own: HostPattern = canonical.parse().expect("a canonical host is a rule");
        assert!(own.matches(&host, 443), "{text:?}");
    }
    if let Ok(pattern) = text.parse::<HostPattern>() {
        assert_eq!(pattern.to_string().parse(), Ok(pattern.clone()), "{text:?}");
        assert!(pattern.covers(&pattern), "{text:?}");
        assert_eq!(text.parse(), Ok(ResourcePattern::Host(pattern)), "{text:?}");
    }
    if let Ok(network) = text.parse::<NetworkPattern>() {
        assert_eq!(network.to_string().parse(), Ok(network), "{text:?}");
    }
});
