//! Domain `Inspector`: crashes.

use super::Nothing;
use super::macros::{commands, events, known};

commands! {
    /// Asks for this domain's events.
    "Inspector.enable" Enable {} -> Nothing;
}

events! {
    /// The target's process crashed.
    "Inspector.targetCrashed" TargetCrashed {}
}

known!();
