//! Finds a Chromium, launches it into a hull that the operator chose, and ends it.
//!
//! The crate knows executables, flags, users, namespaces, pipes and processes. It does not know what a page is: a
//! launch hands back the two raw ends of the `DevTools` pipe.
//!
//! Three things hold for every browser that [`launch`] gives out:
//! - Chromium's own sandbox is on, also for root, whose browser runs as an unprivileged user ([`Process::user_id`]).
//! - There is no debugging port.
//! - Nothing of it outlives us, however we die: a tiny janitor process that
//!   holds one end of a pipe ends the browser and removes its private directory as soon as the other end is gone.

#[cfg(not(unix))]
compile_error!(
    "the protocol pipe, the janitor and the private directories are written for Unix; other systems need their own"
);

mod containment;
mod examine;
mod find;
mod flags;
mod home;
mod janitor;
mod launch;
mod os;
mod places;
mod process;
mod start;
mod tail;
mod user;

pub use containment::{Containment, Level, UnknownContainment};
pub use examine::{Finding, MachineReport, Outcome, examine};
pub use find::{Backend, Environment, Executable, FindError, Kind, Lookup, Source, find};
pub use flags::{Flag, documented_flags};
pub use home::Directories;
pub use janitor::Janitor;
pub use launch::{GATE_PORT, LaunchError, LaunchOptions, Launched, launch};
pub use os::{Step, free_bytes};
pub use process::{Ending, Exit, Process};
