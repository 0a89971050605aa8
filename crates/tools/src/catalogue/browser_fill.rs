//! Fills a field.

use bathy_browser::FillOptions;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Failure;
use crate::action::Call;
use crate::answer::Text;
use crate::changes::ChangesView;
use crate::target::{RefArgument, exactly_one};
use crate::tool::{About, Common, Effect, Output, PageTool, Tool};

struct Fill;

inventory::submit!(Tool::in_session::<Fill>());

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Params {
    r#ref: Option<RefArgument>,
    #[schemars(length(max = 2000))]
    selector: Option<String>,
    value: String,
    /// Replace what is there (true).
    clear: Option<bool>,
    /// Type key by key.
    keys: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct FilledField {
    url: String,
    title: String,
    value: String,
    #[serde(skip_serializing_if = "ChangesView::is_empty")]
    changes: ChangesView,
}

impl PageTool for Fill {
    const ABOUT: About = About {
        name: "browser_fill",
        aliases: &[],
        title: "Fill a field",
        description: "Fills a field and returns what it holds then.",
        effect: Effect::Act,
        idempotent: false,
        verb: "fill",
        example: r#"{"ref": "@e3", "value": "Ada"}"#,
        everyday: true,
        common: Common::Page,
    };
    type Params = Params;
    type Output = FilledField;

    async fn run(call: Call, params: Params) -> Result<FilledField, Failure> {
        let target = exactly_one(params.r#ref, params.selector)?;
        let options = FillOptions { clear: params.clear.unwrap_or(true), keys: params.keys.unwrap_or_default() };
        let filled = call.tab().await?.fill(&target, &params.value, options, call.deadline()).await?;
        Ok(FilledField {
            url: filled.acted.url,
            title: filled.acted.title,
            value: filled.value,
            changes: filled.acted.changes.into(),
        })
    }
}

impl Output for FilledField {
    fn write(&self, text: &mut Text) {
        if !self.changes.is_empty() {
            self.changes.write_facts(text);
        }
        text.page(&self.url, &self.title);
        text.page_text("value", &self.value);
        self.changes.write_page(text);
    }
}
