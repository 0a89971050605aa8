//! Lists tabs.

use bathy_browser::TabSummary;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Failure;
use crate::action::Call;
use crate::answer::Text;
use crate::tool::{About, Common, Effect, Output, PageTool, Tool};

struct TabList;

inventory::submit!(Tool::in_session::<TabList>());

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Params {}

#[derive(Serialize, JsonSchema)]
struct Tabs {
    tabs: Vec<Listed>,
}

#[derive(Serialize, JsonSchema)]
struct Listed {
    index: usize,
    active: bool,
    url: String,
    allowed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
}

impl PageTool for TabList {
    const ABOUT: About = About {
        name: "browser_tab_list",
        aliases: &[],
        title: "List tabs",
        description: "Lists the tabs.",
        effect: Effect::Read,
        idempotent: true,
        verb: "tab list",
        example: "{}",
        everyday: true,
        common: Common::Whole,
    };
    type Params = Params;
    type Output = Tabs;

    async fn run(call: Call, _: Params) -> Result<Tabs, Failure> {
        let tabs = call.session().tabs(call.deadline()).await?;
        Ok(Tabs { tabs: tabs.into_iter().map(Listed::from).collect() })
    }
}

impl From<TabSummary> for Listed {
    fn from(tab: TabSummary) -> Self {
        Self { index: tab.index, active: tab.active, url: tab.url, allowed: tab.allowed, title: tab.title }
    }
}

impl Output for Tabs {
    fn write(&self, text: &mut Text) {
        text.fact("tabs", self.tabs.len());
        if let Some(tab) = self.tabs.iter().find(|tab| tab.active) {
            text.fact("active", tab.index);
            text.host_of(&tab.url);
        }
        for tab in &self.tabs {
            let allowed = if tab.allowed { "" } else { " (off policy)" };
            text.page_url(&format!("{}{allowed}", tab.index), &tab.url);
            if let Some(title) = tab.title.as_deref().filter(|title| !title.is_empty()) {
                text.page_text("  title", title);
            }
        }
    }
}
