//! A thin client of the [Chrome DevTools Protocol] over `--remote-debugging-pipe`.
//!
//! [`Connection`] owns the pipe; [`Session`] is a handle on one flat protocol session and sends
//! typed [`Command`]s; a [`Lane`] yields the [`Message`]s (events) of the sessions that it was
//! claimed for. The protocol's types in [`protocol`] are picked by hand: only what the engine uses.
//!
//! [Chrome DevTools Protocol]: https://chromedevtools.github.io/devtools-protocol/

mod connection;
mod frame;
mod lane;
pub mod protocol;

pub use connection::{CallError, Connection, Session};
pub use lane::{Lane, Message, Progress};
pub use protocol::{Command, Event};
