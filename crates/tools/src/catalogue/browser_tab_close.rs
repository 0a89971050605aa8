//! Closes a tab.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Failure;
use crate::action::Call;
use crate::answer::Text;
use crate::tool::{About, Common, Effect, Output, PageTool, Tool};

struct TabClose;

inventory::submit!(Tool::in_session::<TabClose>());

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Params {
    index: Option<usize>,
}

#[derive(Serialize, JsonSchema)]
struct Outcome {
    closed: bool,
    remaining: usize,
    /// The tab that is active now.
    #[serde(skip_serializing_if = "Option::is_none")]
    active: Option<usize>,
}

impl PageTool for TabClose {
    const ABOUT: About = About {
        name: "browser_tab_close",
        aliases: &[],
        title: "Close a tab",
        description: "Closes a tab, the active one by default; the session goes on without any.",
        effect: Effect::Control,
        idempotent: false,
        verb: "tab close",
        example: r#"{"index": 1}"#,
        everyday: false,
        common: Common::Session,
    };
    type Params = Params;
    type Output = Outcome;

    async fn run(call: Call, params: Params) -> Result<Outcome, Failure> {
        let session = call.session();
        let index = match params.index {
            Some(index) => Some(index),
            // Where none is active, this says so.
            None => call.tab().await?.index(),
        };
        let remaining = session.close_tab(index).await?;
        let active = session.tab(None).await.ok().and_then(|tab| tab.index());
        Ok(Outcome { closed: true, remaining, active })
    }
}

impl Output for Outcome {
    fn write(&self, text: &mut Text) {
        text.remark("closed");
        text.fact("remaining", self.remaining);
        match self.active {
            Some(index) => text.fact("active", index),
            None if self.remaining > 0 => text.remark("no tab is active; choose one with browser_tab_select"),
            None => {}
        }
    }
}
