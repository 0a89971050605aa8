//! What an action changed, as data and as text.

use bathy_browser::{Acted, Changes, Dialog, TabSummary};
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::{self, Text};
use crate::escape;
use crate::tool::Output;

/// [`Changes`] as an answer carries them; what did not happen is left out.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ChangesView {
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status_code: Option<u16>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    new_tabs: Vec<NewTab>,
    #[serde(skip_serializing_if = "answer::is_false")]
    tab_closed: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    dialogs: Vec<DialogView>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    downloads: Vec<String>,
    #[serde(skip_serializing_if = "answer::is_false")]
    file_chooser: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    outline: Vec<String>,
    #[serde(skip_serializing_if = "answer::is_zero")]
    more_outline: usize,
    #[serde(skip_serializing_if = "answer::is_false")]
    still_busy: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    #[serde(skip)]
    raw_dialogs: Vec<Dialog>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct NewTab {
    index: usize,
    url: String,
    allowed: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct DialogView {
    #[serde(rename = "type")]
    kind: String,
    message: String,
    open: bool,
}

impl From<Changes> for ChangesView {
    fn from(changes: Changes) -> Self {
        Self {
            url: changes.url,
            status_code: changes.status_code,
            new_tabs: changes.new_tabs.into_iter().map(NewTab::from).collect(),
            tab_closed: changes.tab_closed,
            dialogs: changes.dialogs.iter().map(DialogView::from).collect(),
            downloads: changes.downloads.iter().map(|name| escape::inline(name, 200)).collect(),
            file_chooser: changes.file_chooser,
            outline: changes.outline.iter().map(|line| escape::inline(line, 1000)).collect(),
            more_outline: changes.more_outline,
            still_busy: changes.still_busy,
            notes: changes.notes,
            raw_dialogs: changes.dialogs,
        }
    }
}

impl From<TabSummary> for NewTab {
    fn from(tab: TabSummary) -> Self {
        Self { index: tab.index, url: tab.url, allowed: tab.allowed }
    }
}

impl From<&Dialog> for DialogView {
    fn from(dialog: &Dialog) -> Self {
        Self {
            kind: dialog.kind.word().to_owned(),
            message: escape::inline(&dialog.message, 1000),
            open: !dialog.closed,
        }
    }
}

impl ChangesView {
    /// Whether nothing happened that is known of.
    pub(crate) fn is_empty(&self) -> bool {
        self.url.is_none()
            && self.new_tabs.is_empty()
            && !self.tab_closed
            && self.dialogs.is_empty()
            && self.downloads.is_empty()
            && !self.file_chooser
            && self.outline.is_empty()
            && !self.still_busy
            && self.notes.is_empty()
    }

    /// Whether a dialog waits, so that nothing can be read.
    pub(crate) fn dialog_is_open(&self) -> bool {
        self.dialogs.iter().any(|dialog| dialog.open)
    }

    /// Whether the page went away.
    pub(crate) fn tab_is_closed(&self) -> bool {
        self.tab_closed
    }

    /// Facts of ours and, after [`Text::page`], the part of the page.
    pub(crate) fn write_facts(&self, text: &mut Text) {
        if let Some(status) = self.status_code {
            text.fact("status", status);
        }
        if self.tab_closed {
            text.remark("the tab was closed");
        }
        if self.file_chooser {
            text.remark("the page asked for a file, and no chooser is open; browser_upload gives it one");
        }
        if self.still_busy {
            text.remark("the page is still busy");
        }
        for note in &self.notes {
            text.remark(note);
        }
        if self.is_empty() {
            text.remark("no visible change");
        }
    }

    /// What changed on the page.
    pub(crate) fn write_page(&self, text: &mut Text) {
        if let Some(url) = &self.url {
            text.page_url("new url", url);
        }
        for tab in &self.new_tabs {
            let allowed = if tab.allowed { "" } else { " (off policy)" };
            text.page_url(&format!("opened tab {}{allowed}", tab.index), &tab.url);
        }
        for dialog in &self.raw_dialogs {
            text.dialog(dialog);
        }
        for name in &self.downloads {
            text.page_text("download began", name);
        }
        if !self.outline.is_empty() {
            text.page_line("changed:");
        }
        for line in &self.outline {
            text.page_line(line);
        }
        if self.more_outline > 0 {
            text.page_line(format_args!("… {} more lines changed", self.more_outline));
        }
    }
}

/// The page after an action.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ActedView {
    url: String,
    title: String,
    changes: ChangesView,
}

impl From<Acted> for ActedView {
    fn from(acted: Acted) -> Self {
        Self { url: acted.url, title: acted.title, changes: acted.changes.into() }
    }
}

impl Output for ActedView {
    fn write(&self, text: &mut Text) {
        self.changes.write_facts(text);
        text.page(&self.url, &self.title);
        self.changes.write_page(text);
    }
}
