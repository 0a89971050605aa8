//! Tabs: a handle for callers, a task that owns what is known of the page.

use std::sync::Arc;

/// A page in a session. A cheap handle; what it can do is defined beside what it does: reading in
/// `read`, acting in `act`, loading in `navigation`, waiting in `wait`, pictures in `capture`.
#[derive(Clone)]
pub struct Tab {
    _shared: Arc<()>,
}

impl Tab {
    /// The URL of its document, with the fragment.
    pub fn url(&self) -> String {
        todo!()
    }
}
