//! Behaviour of the policy, by table, by property and against the cases of the web platform.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod address;
mod decision;
mod generate;
mod host;
mod host_pattern;
mod narrowing;
mod network_pattern;
mod policy;
mod spellings;
mod web_platform;
