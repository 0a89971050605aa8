//! The gate: the only way out of the hull, and the only code that opens connections to the outside.
//!
//! A [`Gate`] opens a [`Door`] for each session: a loopback address where an HTTP/1.1 proxy listens under that session's
//! policy. For each connection and for each request the gate reads the host, asks the policy, resolves the name once,
//! has **every** address checked, and connects to a checked one. It never looks into a tunnel, and knows nothing of
//! pages. Everything that is asked of it, allowed or not, is in the [`Ledger`].
//!
//! The gate cannot tell a document from what it loads, so it lets through what either may have
//! ([`Purpose::Resource`](bathy_policy::Purpose::Resource)); documents are held to the narrower rule by whoever drives
//! the browser.
//!
//! With an [`Upstream`] proxy names are still resolved here, and the proxy is asked for a checked address: with
//! `CONNECT` or SOCKS5, for plain HTTP as well.

mod account;
mod assignment;
mod body;
mod dial;
mod door;
mod examine;
mod exchange;
mod failure;
mod gate;
mod head;
mod ledger;
mod limits;
mod listen;
mod page;
mod peer;
mod pool;
mod resolve;
mod stream;
mod transport;
mod tunnel;
mod upstream;

pub use door::{Door, DoorCounters};
pub use examine::{Examined, examine};
pub use failure::Code;
pub use gate::{Gate, GateOptions};
pub use ledger::{Ledger, LedgerEntry, LedgerEvent, LedgerEvents, Timestamp, TimestampError, Verdict, kind};
pub use limits::Limits;
pub use page::REFUSAL_HEADER;
pub use resolve::{
    BoxFuture, HostOverrideError, HostOverrides, NameServerResolver, OverrideResolver, Resolve, SystemResolver,
};
pub use transport::ProxyTrust;
pub use upstream::{Bypass, BypassError, Upstream, UpstreamError, UpstreamServer};
