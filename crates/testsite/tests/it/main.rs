//! What the test site promises to those who test with it.

mod canary;
mod dns;
mod pages;
mod request;
mod site;
