//! Acting: what a call says must be what the page saw.

mod changing;
mod clicking;
mod dialogs;
mod dragging;
mod filling;
mod frames;
mod keys;
mod late;
mod maps;
mod refs;
mod scrolling;
mod selecting;
mod told;
mod truth;
mod waiting;

use std::time::Duration;

use bathy_browser::{Acted, ClickOptions, Error, Target, WaitUntil};
use bathy_testsite::Report;

use crate::support::{Stage, soon};

/// How long a report of something that must not happen is waited for.
const NEVER: Duration = Duration::from_millis(150);

pub(crate) fn css(selector: &str) -> Target {
    Target::Selector(selector.to_owned())
}

impl Stage {
    async fn go(&self, path: &str) {
        let url = self.site.url(path);
        self.tab.navigate(&url, WaitUntil::Load, soon()).await.unwrap();
        self.site.forget();
    }

    pub(crate) async fn click(&self, target: &Target) -> Result<Acted, Error> {
        self.tab.click(target, ClickOptions::default(), soon()).await
    }

    /// The report of something that happened or is about to.
    pub(crate) async fn report(&self, kind: &str, target: &str) -> Report {
        let found = self.site.wait_report(|report| report.is(kind, target), Duration::from_secs(3)).await;
        found.unwrap_or_else(|| panic!("no {kind} on {target}: {:?}", self.site.reports()))
    }

    async fn assert_never(&self, kind: &str, target: &str) {
        let found = self.site.wait_report(|report| report.is(kind, target), NEVER).await;
        assert_eq!(found, None);
    }

    /// The ref in the first outline line that holds these words.
    pub(crate) async fn reference(&self, words: &str) -> Target {
        let outline = self.outline().await;
        let line = outline.lines().find(|line| line.contains(words));
        let line = line.unwrap_or_else(|| panic!("no line with {words} in\n{outline}"));
        let reference = line.split_whitespace().find(|word| word.starts_with("@e"));
        Target::Ref(reference.unwrap_or_else(|| panic!("no ref in {line}")).parse().unwrap())
    }
}
