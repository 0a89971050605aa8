//! A tab as tools about tabs answer with it.

use bathy_browser::{Dialog, Navigation};
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::Text;
use crate::tool::Output;

/// A tab and what it shows.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TabView {
    pub(crate) index: usize,
    pub(crate) url: String,
    pub(crate) title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    status_code: Option<u16>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    #[serde(skip)]
    dialogs: Vec<Dialog>,
}

impl TabView {
    /// A tab that nothing was loaded into.
    pub(crate) fn of(index: usize, url: String, title: String) -> Self {
        Self { index, url, title, status_code: None, notes: Vec::new(), dialogs: Vec::new() }
    }

    /// A tab after a load.
    pub(crate) fn after(index: usize, navigation: Navigation) -> Self {
        let mut notes = Vec::new();
        if navigation.download.is_some() {
            notes.push("the URL gave a download, the tab is blank".to_owned());
        }
        if navigation.still_loading {
            notes.push("the page is still loading".to_owned());
        }
        let Navigation { url, title, status_code, dialogs, .. } = navigation;
        Self { index, url, title, status_code, notes, dialogs }
    }
}

impl Output for TabView {
    fn write(&self, text: &mut Text) {
        text.fact("tab", self.index);
        text.load(self.status_code, &self.notes, (&self.url, &self.title), &self.dialogs);
    }
}
