//! The egress policy: pure rules that turn hosts, addresses and URLs into a decision with a reason.
//!
//! Nothing here does input or output. Text from an operator, a model or a page becomes a [`Host`], a [`HostPattern`],
//! a [`NetworkPattern`] or a [`CheckedUrl`] by parsing, or it is refused; every later step works on those types alone.
//!
//! A connection is decided in this order, and each step fails closed:
//!
//! 1. the URL parses by the WHATWG URL standard;
//! 2. its scheme is `http` or `https` (at the gate also `ws` or `wss`);
//! 3. it carries no user name and no password;
//! 4. its host has a canonical form ([`Host`]);
//! 5. the host is on the list of the operator, compared label by label ([`HostPattern`]);
//! 6. every address it stands for is public, or the operator opened it ([`classify`], [`NetworkPattern`]).
//!
//! Steps 1 to 5, and 6 for literal addresses, are [`Policy::check_url`]. Step 6 for the answer of a resolver is
//! [`Policy::check_addresses`], the only maker of a [`CheckedAddress`].

mod address;
mod checked;
mod decision;
mod host;
mod host_pattern;
mod network_pattern;
mod policy;
mod port;

pub use address::{AddressClass, classify};
pub use checked::{CheckedAddress, CheckedUrl};
pub use decision::{AddressReason, AllowReason, Decision, Purpose, Refusal};
pub use host::{Host, HostError};
pub use host_pattern::{HostPattern, HostPatternError, ResourcePattern};
pub use network_pattern::{NetworkPattern, NetworkPatternError};
pub use policy::{MAXIMUM_URL_BYTES, NarrowError, Policy, PolicyConfig};
