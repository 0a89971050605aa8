//! The gate against real sockets on loopback addresses.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise, in its helpers as well")]

mod doors;
mod forwarding;
mod ledger;
mod limits;
mod policy;
#[cfg(target_os = "linux")]
mod promptness;
mod resolvers;
mod support;
mod tunnels;
mod upstreams;
