//! The client against a scripted browser, and its types against the real one.

mod connection;
mod drift;
