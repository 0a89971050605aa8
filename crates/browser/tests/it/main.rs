//! The engine against a real browser and the test site.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

pub(crate) mod act;
mod capture;
mod downloads;
mod extremes;
mod floods;
mod identity;
mod leaks;
mod lifetime;
mod navigation;
mod observing;
mod outlining;
mod pictures;
mod policy;
mod reading;
mod seeing;
mod storage;
mod support;
mod tabs;
mod tampering;
mod uploads;
