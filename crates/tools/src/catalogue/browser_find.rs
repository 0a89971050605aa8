//! Finds elements.

use bathy_browser::FindOptions;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Failure;
use crate::action::Call;
use crate::answer::Text;
use crate::tool::{About, Common, Effect, Output, PageTool, Tool};

/// Matches of an answer where no other number is asked for, and the most of them.
const DEFAULT_LIMIT: usize = 10;
const LARGEST_LIMIT: usize = 100;

struct Find;

inventory::submit!(Tool::in_session::<Find>());

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Params {
    #[schemars(length(max = 2000))]
    text: Option<String>,
    #[schemars(length(max = 100))]
    role: Option<String>,
    #[schemars(length(max = 2000))]
    name: Option<String>,
    #[schemars(length(max = 2000))]
    label: Option<String>,
    #[schemars(length(max = 2000))]
    placeholder: Option<String>,
    #[schemars(length(max = 2000))]
    test_id: Option<String>,
    #[schemars(range(min = 1, max = 100))]
    limit: Option<usize>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct FoundElements {
    url: String,
    title: String,
    matches: Vec<FoundElement>,
    /// How many more there are, at least.
    more: u64,
}

#[derive(Serialize, JsonSchema)]
struct FoundElement {
    r#ref: String,
    line: String,
    context: String,
}

impl PageTool for Find {
    const ABOUT: About = About {
        name: "browser_find",
        aliases: &[],
        title: "Find elements",
        description: "Finds elements that match all that is given, with refs.",
        effect: Effect::Read,
        idempotent: true,
        verb: "find",
        example: r#"{"role": "button", "name": "Send"}"#,
        everyday: true,
        common: Common::Page,
    };
    type Params = Params;
    type Output = FoundElements;

    async fn run(call: Call, params: Params) -> Result<FoundElements, Failure> {
        let options = FindOptions {
            text: params.text,
            role: params.role,
            name: params.name,
            label: params.label,
            placeholder: params.placeholder,
            test_id: params.test_id,
            limit: params.limit.unwrap_or(DEFAULT_LIMIT).min(LARGEST_LIMIT),
        };
        let found = call.tab().await?.find(&options, call.deadline()).await?;
        let matches = found.matches.into_iter().map(|found| FoundElement {
            r#ref: found.reference.to_string(),
            line: found.line,
            context: found.context,
        });
        Ok(FoundElements { url: found.url, title: found.title, matches: matches.collect(), more: found.more })
    }
}

impl Output for FoundElements {
    fn write(&self, text: &mut Text) {
        if self.matches.is_empty() {
            text.remark("nothing matches");
        }
        text.page(&self.url, &self.title);
        for found in &self.matches {
            let context = if found.context.is_empty() { String::new() } else { format!("  ({})", found.context) };
            text.page_line(format_args!("{}{context}", found.line.trim_start()));
        }
        if self.more > 0 {
            text.closing(format_args!("at least {} more match", self.more));
        }
    }
}
