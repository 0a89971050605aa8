//! What the test site promises to those who test with it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod canary;
mod dns;
mod pages;
mod request;
mod site;
