//! The engine against a real browser and the test site.

mod act;
mod capture;
mod leaks;
mod lifetime;
mod navigation;
mod policy;
mod reading;
mod seeing;
mod support;
