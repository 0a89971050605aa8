//! Saying what came of an action.

use std::time::Duration;

use futures::future::join_all;

use super::before::{Before, Interrupted};
use super::delivery::crash;
use super::{Acted, Changes};
use crate::session::summary;
use crate::tab::{PageState, is_blank};
use crate::tabs::TAB_LIMIT;
use crate::{Deadline, Error, Tab, WaitUntil};

/// How long a new tab may take until it has an address.
const NEW_TAB: Duration = Duration::from_millis(500);
/// How long a browser whose tabs close may take to be known to be gone.
const ENDS: Duration = Duration::from_millis(250);

impl Tab {
    /// Waits until what the action started is done and says what it changed.
    pub(super) async fn after(&self, mut before: Before, deadline: Deadline) -> Result<Acted, Error> {
        self.settle(&mut before, deadline).await?;
        self.tell(before, deadline).await
    }

    /// Waits for the new document and holds it to the policy.
    pub(super) async fn arrive(&self, before: &mut Before, deadline: Deadline) -> Result<(), Error> {
        let complete = match self.loaded(WaitUntil::Load, deadline).await {
            Ok(complete) => complete,
            Err(Error::TimedOut { .. }) => {
                before.note("the next document is still on its way");
                false
            }
            Err(Error::PageGone(_)) if self.state().borrow().closed => return Ok(()),
            Err(error) => return Err(error),
        };
        before.changes.still_busy = !complete;
        let state = self.state();
        if state.borrow().dialog.is_some() || state.borrow().commits == before.commits {
            return Ok(());
        }
        let landed = self.landed()?;
        before.changes.status_code = landed.status_code;
        before.changes.outline.clear();
        before.changes.more_outline = 0;
        if landed.url == before.url {
            before.note("the page was loaded anew");
        }
        Ok(())
    }

    /// The page after an action.
    pub(super) async fn tell(&self, before: Before, deadline: Deadline) -> Result<Acted, Error> {
        if self.state().borrow().closed && !before.closing {
            let connection = self.page().connection();
            if deadline.at_most(ENDS).bound("the browser", connection.closed()).await.is_ok() {
                return Err(Error::BrowserGone("it ended during the action".to_owned()));
            }
        }
        if self.state().borrow().dialog.is_some() {
            self.keep_interrupted(Interrupted::of(before.watches));
        }
        let mut changes = before.changes;
        self.tell_tabs(before.opened, before.refused, &mut changes, deadline).await;
        self.caught_up().await;
        self.downloads().caught_up().await;
        let begun = self.downloads().since(before.downloads);
        let mine = begun.into_iter().filter(|one| one.tab.as_ref().is_none_or(|tab| !before.others.contains(tab)));
        changes.downloads = mine.map(|download| download.suggested_filename).collect();
        {
            let state = self.state();
            let state = state.borrow();
            changes.dialogs = state.dialogs.since(before.dialogs).cloned().collect();
            changes.file_chooser = state.file_choosers > before.file_choosers;
            if state.crashed {
                return Err(crash());
            }
        }
        let url = self.url();
        changes.url = (url != before.url).then(|| url.clone());
        let title = match self.entry(deadline.with_grace()).await {
            Ok((_, title)) => title,
            Err(error) if !self.state().borrow().closed => return Err(error),
            Err(_) => String::new(),
        };
        changes.tab_closed = self.state().borrow().closed;
        Ok(Acted { url, title, changes })
    }

    /// The tabs that pages opened meanwhile, once they have an address.
    async fn tell_tabs(&self, seen: u64, refused: u64, changes: &mut Changes, deadline: Deadline) {
        self.siblings_caught_up().await;
        let tabs = self.siblings().borrow().clone();
        tabs.mark_openings_told();
        let patience = deadline.with_grace().at_most(NEW_TAB);
        let told = join_all(tabs.opened_by_pages(seen).map(|(index, tab)| async move {
            // A window may well be opened without an address.
            let _ = tab.until("a new tab", patience, |state: &PageState| !is_blank(state.address())).await;
            (!tab.state().borrow().closed).then_some((index, tab))
        }));
        for (index, tab) in told.await.into_iter().flatten() {
            changes.new_tabs.push(summary(tab, index, tabs.is_active(tab), patience).await);
        }
        let listed = tabs.list.iter().filter(|tab| tab.number() > seen && tab.is_ours()).count();
        let opened = tabs.opened.saturating_sub(seen);
        if changes.new_tabs.len() + listed < usize::try_from(opened).unwrap_or(usize::MAX) {
            changes.notes.push("a tab opened and closed again".to_owned());
        }
        if tabs.refused > refused {
            changes.notes.push(format!("a tab was not opened: {}", Error::TabLimit(TAB_LIMIT)));
        }
    }
}
