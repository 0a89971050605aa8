//! Launches of a real browser, and the lookup of one.
#![cfg(target_os = "linux")]

mod containment;
mod death;
mod finding;
mod helper;
mod machine;
mod support;
