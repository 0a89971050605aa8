//! Answering dialogs.

use std::time::Duration;

use bathy_cdp::protocol::page::HandleJavaScriptDialog;

use super::Acted;
use crate::tab::PageState;
use crate::{Deadline, DialogKind, Error, Tab};

/// How long a page that may be left takes to be on its way.
const LEAVES: Duration = Duration::from_secs(1);

impl Tab {
    /// Accepts or dismisses the dialog that is open; a prompt takes a text.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] when no dialog is open, or for a text that no prompt asked for;
    /// [`Error::Refused`] when it led to a refused place, [`Error::TimedOut`], [`Error::PageGone`].
    pub async fn answer_dialog(&self, accept: bool, text: Option<&str>, deadline: Deadline) -> Result<Acted, Error> {
        self.ready(deadline).await?;
        let before = self.unwatched();
        let dialog = self.state().borrow().dialog.clone();
        let dialog = dialog.ok_or_else(|| Error::InvalidArgument("no dialog is open".to_owned()))?;
        if text.is_some() && !(accept && dialog.kind == DialogKind::Prompt) {
            return Err(Error::InvalidArgument("only a prompt that is accepted takes a text".to_owned()));
        }
        let answer = HandleJavaScriptDialog { accept, prompt_text: text.map(str::to_owned) };
        let seen = self.state().borrow().dialogs.total();
        self.page().call(answer, deadline.remaining()).await?;
        let closed = |state: &PageState| state.dialog.is_none() || state.dialogs.total() > seen;
        self.until("the dialog to close", deadline, closed).await?;
        if accept && dialog.kind == DialogKind::BeforeUnload {
            let leaves = |state: &PageState| state.pending.is_some() || state.commits > before.commits;
            match self.until("the next document", deadline.at_most(LEAVES), leaves).await {
                // It may be a download, or the tab that closes.
                Ok(()) | Err(Error::TimedOut { .. } | Error::PageGone(_)) => {}
                Err(error) => return Err(error),
            }
        }
        self.after(self.resumed(before, deadline).await, deadline).await
    }
}
