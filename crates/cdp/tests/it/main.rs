//! The client against a scripted browser, and its types against the real one.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on is over")]

mod connection;
mod drift;
