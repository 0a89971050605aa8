//! Calls of the catalogue against a real Chromium and the test site.

#![expect(clippy::unwrap_used, reason = "tests and their helpers")]

mod acting;
mod answers;
mod files;
mod jobs;
mod owners;
mod pictures;
mod secrets;
mod sessions;
mod support;
mod tabs;
