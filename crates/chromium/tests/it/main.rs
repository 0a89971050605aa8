//! Launches of a real browser, and the lookup of one.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "what goes wrong in the helpers of a test fails the test")]

mod containment;
mod death;
mod finding;
mod helper;
mod machine;
mod support;
