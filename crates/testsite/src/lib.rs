//! Friendly and hostile web sites on loopback addresses, for tests, for the demo and for people.
//!
//! ```
//! # async fn example() {
//! use bathy_testsite::TestSite;
//!
//! let site = TestSite::start().await;
//! let order = site.url("forms/order.html");
//! let greeting = site.page("<h1>Hello</h1>");
//! # }
//! ```
//!
//! One site answers on three loopback addresses, each with a port of its own, so pages can be cross-origin and
//! cross-site to each other. The files under `pages/` are embedded; each is named by what it shows. In pages,
//! `{{self}}`, `{{other}}` and `{{third}}` stand for the three origins, and [`TestSite::define`] adds more.
//!
//! Two conventions make pages easy to assert on:
//! - under `hidden/`, every text that a person cannot see begins with `secret`, every text that they can with `shown`;
//! - pages under `act/` tell the site what really happened, by `report(…)` of `/report.js`; see [`Report`].
//!
//! [`Canary`] catches packets that should never have been sent, [`DnsDouble`] gives scripted answers to look-ups,
//! [`SmallDisk`] is soon full, [`processes`] tells what runs and listens on this machine.

mod behaviours;
mod canary;
mod disk;
mod dns;
mod files;
mod pages;
pub mod processes;
mod record;
mod site;

pub use canary::{Canary, Hit, Protocol};
pub use disk::SmallDisk;
pub use dns::{DnsDouble, Query, RecordType, Reply};
pub use pages::{Page, page_names};
pub use record::{RecordedRequest, Report};
pub use site::{Ports, TestSite};
