//! Calls of the catalogue against a real Chromium and the test site.

mod answers;
mod sessions;
mod support;
