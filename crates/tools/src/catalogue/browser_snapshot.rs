//! Outlines a page.

use bathy_browser::OutlineOptions;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Failure;
use crate::action::Call;
use crate::answer::Text;
use crate::reading::write_rest;
use crate::target::RefArgument;
use crate::tool::{About, Common, Effect, Output, PageTool, Tool};

struct Snapshot;

inventory::submit!(Tool::in_session::<Snapshot>());

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Params {
    /// Only this element's inside.
    r#ref: Option<RefArgument>,
    #[schemars(range(min = 1, max = 1000))]
    depth: Option<u32>,
    /// Only what can be acted on.
    interactive: Option<bool>,
    /// Where an earlier snapshot ended.
    #[schemars(length(max = 200))]
    cursor: Option<String>,
    #[schemars(range(min = 100))]
    max_chars: Option<usize>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Outlined {
    url: String,
    title: String,
    snapshot: String,
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
}

impl PageTool for Snapshot {
    const ABOUT: About = About {
        name: "browser_snapshot",
        aliases: &["browser_read_snapshot"],
        title: "Outline the page",
        description: "Outlines the page: roles, names, states, and refs such as @e12 to act on.",
        effect: Effect::Read,
        idempotent: true,
        verb: "snapshot",
        example: r#"{"interactive": true}"#,
        everyday: true,
        common: Common::Page,
    };
    type Params = Params;
    type Output = Outlined;

    async fn run(call: Call, params: Params) -> Result<Outlined, Failure> {
        let options = OutlineOptions {
            reference: params.r#ref.map(|reference| reference.0),
            depth: params.depth,
            interactive: params.interactive.unwrap_or_default(),
            cursor: params.cursor,
            max_chars: call.settings().chars(params.max_chars),
        };
        let outline = call.tab().await?.outline(options, call.deadline()).await?;
        Ok(Outlined {
            url: outline.url,
            title: outline.title,
            snapshot: outline.text,
            truncated: outline.truncated,
            cursor: outline.cursor,
        })
    }
}

impl Output for Outlined {
    fn write(&self, text: &mut Text) {
        text.page(&self.url, &self.title);
        text.body(&self.snapshot);
        write_rest(text, self.truncated, self.cursor.as_deref(), "browser_snapshot");
    }
}
