//! The engine against a real browser and the test site.

mod act;
mod capture;
mod leaks;
mod navigation;
mod reading;
mod seeing;
mod support;
