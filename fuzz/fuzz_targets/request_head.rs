//! Bytes as a browser sends them to the gate: reading heads never panics, and whatever passes a policy that opens public
//! hosts alone is a public host in canonical form.

#![no_main]

use std::sync::LazyLock;

use bathy_egress::examine;
use bathy_policy::{AddressClass, Host, Policy, classify};
use libfuzzer_sys::fuzz_target;
use tokio::runtime::{Builder, Runtime};

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    Builder::new_current_thread().enable_time().build().expect("a runtime without threads or sockets")
});

fuzz_target!(|bytes: &[u8]| {
    for seen in RUNTIME.block_on(examine(bytes, &Policy::default())) {
        assert_ne!(seen.port, 0);
        assert_eq!(Host::parse(&seen.host.to_string()).as_ref(), Ok(&seen.host));
        let private = match seen.host.address() {
            Some(address) => classify(address) != AddressClass::Public,
            None => seen.host.is_localhost(),
        };
        assert_ne!(seen.allowed, private, "{}", seen.host);
    }
});
