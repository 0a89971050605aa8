//! The look at a page that comes with a navigation or an action.

use bathy_browser::{Dialog, Navigation, OutlineOptions, Tab, TextOptions, WaitUntil};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::action::Call;
use crate::answer::Text;
use crate::tool::Output;
use crate::{Failure, escape};

// What is read of a page that was just loaded. A doc comment would be a description in each list of tools.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Read {
    #[default]
    Text,
    Outline,
    None,
}

// When a navigation counts as done; no doc comment, for the same reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Until {
    #[default]
    Load,
    DomContentLoaded,
    NetworkIdle,
    Commit,
}

impl From<Until> for WaitUntil {
    fn from(until: Until) -> Self {
        match until {
            Until::Load => Self::Load,
            Until::DomContentLoaded => Self::DomContentLoaded,
            Until::NetworkIdle => Self::NetworkIdle,
            Until::Commit => Self::Commit,
        }
    }
}

/// A page that was loaded.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Landed {
    url: String,
    title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    status_code: Option<u16>,
    text: String,
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
    /// The name that the site proposes for a download, in place of a page.
    #[serde(skip_serializing_if = "Option::is_none")]
    download: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    #[serde(skip)]
    read: Read,
    #[serde(skip)]
    dialogs: Vec<Dialog>,
}

impl Landed {
    /// Says where a navigation landed, and reads what was asked for.
    pub(crate) async fn describe(call: &Call, tab: &Tab, navigation: Navigation, read: Read) -> Self {
        let mut landed = Self {
            url: navigation.url,
            title: navigation.title,
            status_code: navigation.status_code,
            text: String::new(),
            truncated: false,
            cursor: None,
            download: None,
            notes: Vec::new(),
            read,
            dialogs: navigation.dialogs,
        };
        if let Some(download) = navigation.download {
            landed.notes.push(format!(
                "the URL gave download {} ({}), the page is unchanged; browser_downloads tells more",
                download.index,
                download.state.word()
            ));
            landed.download = Some(escape::inline(&download.suggested_filename, 300));
            return landed;
        }
        if navigation.still_loading {
            landed.notes.push("the page is still loading".to_owned());
        }
        if landed.dialogs.iter().any(|dialog| !dialog.closed) {
            landed.notes.push("a dialog is open, so the page was not read".to_owned());
            return landed;
        }
        match reading(call, tab, read).await {
            Ok(Some(reading)) => {
                (landed.text, landed.truncated, landed.cursor) = (reading.text, reading.truncated, reading.cursor);
            }
            Ok(None) => {}
            // The page was loaded, so the call did not fail.
            Err(failure) => {
                landed.notes.push(format!("the page could not be read ({}: {})", failure.code(), failure.message()));
            }
        }
        landed
    }
}

impl Output for Landed {
    fn write(&self, text: &mut Text) {
        text.load(self.status_code, &self.notes, (&self.url, &self.title), &self.dialogs);
        if let Some(name) = &self.download {
            text.page_text("download", name);
        }
        text.body(&self.text);
        write_rest(text, self.truncated, self.cursor.as_deref(), self.read.tool());
    }
}

impl Read {
    fn tool(self) -> &'static str {
        match self {
            Self::Outline => "browser_snapshot",
            Self::Text | Self::None => "browser_read_text",
        }
    }
}

/// Text or outline of a page.
pub(crate) struct Reading {
    pub(crate) text: String,
    pub(crate) truncated: bool,
    pub(crate) cursor: Option<String>,
}

/// Reads what was asked for.
pub(crate) async fn reading(call: &Call, tab: &Tab, read: Read) -> Result<Option<Reading>, Failure> {
    let max_chars = call.settings().chars(None);
    Ok(match read {
        Read::None => None,
        Read::Text => {
            let page = tab.text(TextOptions { max_chars, ..TextOptions::default() }, call.deadline()).await?;
            let text = escape::block(&page.text);
            Some(Reading { text, truncated: page.truncated, cursor: page.cursor })
        }
        Read::Outline => {
            let page = tab.outline(OutlineOptions { max_chars, ..OutlineOptions::default() }, call.deadline()).await?;
            let text = escape::block(&page.text);
            Some(Reading { text, truncated: page.truncated, cursor: page.cursor })
        }
    })
}

/// Says how to go on where something was left out.
pub(crate) fn write_rest(text: &mut Text, truncated: bool, cursor: Option<&str>, tool: &str) {
    match cursor {
        Some(cursor) => text.closing(format_args!("there is more: {tool} with cursor {}", escape::quoted(cursor, 60))),
        None if truncated => text.closing("the answer was cut"),
        None => {}
    }
}
