//! Input on its way to the page, which may stop answering at any moment.

use bathy_cdp::CallError;
use bathy_cdp::protocol::Command;

use crate::tab::PageState;
use crate::{Deadline, Error, Tab};

/// What became of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Delivery {
    /// The page has dealt with it.
    Arrived,
    /// A dialog opened, or the tab closed: the page will not say that it has dealt with it.
    Interrupted,
}

/// Sends an input and waits until the page has dealt with it.
pub(super) async fn deliver<C: Command>(tab: &Tab, command: C, deadline: Deadline) -> Result<Delivery, Error> {
    match unless_interrupted(tab, tab.page().call(command, deadline.remaining())).await? {
        None | Some(Err(CallError::Detached { .. })) => Ok(Delivery::Interrupted),
        Some(Ok(_)) => Ok(Delivery::Arrived),
        Some(Err(CallError::TimedOut { .. })) => Err(deadline.error("the page's answer to the input")),
        Some(Err(error)) => Err(error.into()),
    }
}

/// Awaits something that the page must do; none when a dialog opens or the tab closes first.
pub(crate) async fn unless_interrupted<T>(tab: &Tab, future: impl Future<Output = T>) -> Result<Option<T>, Error> {
    let mut state = tab.state();
    let interrupted = async {
        let stops = |state: &PageState| state.dialog.is_some() || state.closed || state.crashed;
        // An error means that the tab's task has ended, which is the end of the tab.
        state.wait_for(stops).await.is_ok_and(|state| state.crashed)
    };
    tokio::select! {
        biased;
        done = future => Ok(Some(done)),
        crashed = interrupted => if crashed { Err(crash()) } else { Ok(None) },
    }
}

/// The error for a page whose process ended in the middle of an action.
pub(super) fn crash() -> Error {
    Error::PageGone("its process crashed during the action; navigate to load it again".to_owned())
}
