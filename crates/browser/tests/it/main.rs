//! The engine against a real browser and the test site.

mod navigation;
mod reading;
mod support;
