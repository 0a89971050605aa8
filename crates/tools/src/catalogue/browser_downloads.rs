//! Lists downloads.

use std::collections::BTreeSet;
use std::time::Duration;

use bathy_browser::{Download, DownloadState, Error};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::action::Call;
use crate::answer::{self, Text};
use crate::tool::{About, Common, Effect, Output, PageTool, Tool};
use crate::{Failure, escape};

/// What a wait gets where it names no budget.
const WAIT: Duration = Duration::from_secs(30);
/// What is left of the budget to say how things stand.
const SLACK: Duration = Duration::from_millis(300);
/// The most downloads in an answer: the latest.
const LISTED: usize = 50;

struct Downloads;

inventory::submit!(Tool::in_session::<Downloads>());

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Params {
    /// Until none is under way.
    wait: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct List {
    downloads: Vec<Entry>,
    /// Earlier ones that are left out.
    #[serde(skip_serializing_if = "answer::is_zero")]
    more: usize,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Entry {
    index: usize,
    url: String,
    suggested_filename: String,
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl PageTool for Downloads {
    const ABOUT: About = About {
        name: "browser_downloads",
        aliases: &[],
        title: "List downloads",
        description: "Lists downloads: state, size, path.",
        effect: Effect::Read,
        idempotent: true,
        verb: "downloads",
        example: r#"{"wait": true}"#,
        everyday: true,
        common: Common::Whole,
    };
    type Params = Params;
    type Output = List;

    fn least_budget(params: &Params) -> Duration {
        if params.wait == Some(true) { WAIT } else { Duration::ZERO }
    }

    async fn run(call: Call, params: Params) -> Result<List, Failure> {
        if params.wait == Some(true) {
            let deadline = call.deadline().at_most(call.deadline().remaining().saturating_sub(SLACK));
            let mut awaited = Awaited::default();
            call.meter().bytes(0, None);
            let look = |downloads: &[Download]| {
                let (received, total) = awaited.look(downloads);
                call.meter().bytes(received, total);
            };
            match call.session().wait_for_downloads(deadline, look).await {
                // The list tells which are still under way.
                Ok(()) | Err(Error::TimedOut { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let all = call.session().downloads().await?;
        let more = all.len().saturating_sub(LISTED);
        Ok(List { downloads: all.into_iter().skip(more).map(Entry::from).collect(), more })
    }
}

/// What a wait has seen under way.
#[derive(Default)]
struct Awaited(BTreeSet<usize>);

impl Awaited {
    /// How many bytes of it have come, and how many there are in all, where the sites said so.
    fn look(&mut self, downloads: &[Download]) -> (u64, Option<u64>) {
        let is_underway = |download: &Download| download.state == DownloadState::InProgress;
        self.0.extend(downloads.iter().filter(|download| is_underway(download)).map(|download| download.index));
        let awaited = downloads.iter().filter(|download| self.0.contains(&download.index));
        let size = |download: &Download| {
            let whole = if is_underway(download) { download.total_bytes } else { Some(download.bytes) };
            whole.map(|whole| whole.max(download.bytes))
        };
        awaited.fold((0, Some(0)), |(received, total), download| {
            (received + download.bytes, total.zip(size(download)).map(|(total, size)| total + size))
        })
    }
}

impl From<Download> for Entry {
    fn from(download: Download) -> Self {
        let is_underway = download.state == DownloadState::InProgress;
        Self {
            index: download.index,
            url: download.url,
            suggested_filename: escape::inline(&download.suggested_filename, 300),
            state: download.state.word(),
            path: download.state.path().map(|path| path.display().to_string()),
            bytes: download.state.error().is_none().then_some(download.bytes),
            total_bytes: download.total_bytes.filter(|_| is_underway),
            error: download.state.error().map(|reason| escape::inline(reason, 500)),
        }
    }
}

impl Output for List {
    fn write(&self, text: &mut Text) {
        if self.downloads.is_empty() {
            text.remark("there are no downloads");
        }
        for entry in &self.downloads {
            let Entry { index, state, bytes, total_bytes, error, .. } = entry;
            let size = match (bytes, total_bytes) {
                (Some(bytes), Some(total)) => format!(", {bytes} of {total} bytes"),
                (Some(bytes), None) => format!(", {bytes} bytes"),
                (None, _) => String::new(),
            };
            let why = error.as_ref().map(|error| format!(": {error}")).unwrap_or_default();
            text.fact(&format!("download {index}"), format_args!("{state}{size}{why}"));
        }
        if self.more > 0 {
            text.remark(format_args!("{} earlier ones are left out", self.more));
        }
        if self.downloads.iter().any(|entry| entry.state == DownloadState::InProgress.word()) {
            text.remark("some are still under way; call again with `wait`");
        }
        for entry in &self.downloads {
            let Entry { index, url, suggested_filename, path, .. } = entry;
            // The file's own name is made of the site's.
            if let Some(path) = path {
                text.page_line(format_args!("download {index} path: {}", escape::inline(path, 1000)));
            }
            text.page_text(&format!("download {index} name"), suggested_filename);
            text.page_url(&format!("download {index} url"), url);
        }
    }
}
