//! The engine against a real browser and the test site.

mod act;
mod leaks;
mod navigation;
mod reading;
mod support;
