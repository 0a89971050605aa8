//! Selects options.

use bathy_browser::Target;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Failure;
use crate::action::Call;
use crate::answer::Text;
use crate::changes::ChangesView;
use crate::target::RefArgument;
use crate::tool::{About, Common, Effect, Output, PageTool, Tool};

struct Select;

inventory::submit!(Tool::in_session::<Select>());

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Params {
    r#ref: RefArgument,
    /// Labels or values.
    #[schemars(length(max = 500))]
    values: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SelectedOptions {
    url: String,
    title: String,
    selected: Vec<String>,
    #[serde(skip_serializing_if = "ChangesView::is_empty")]
    changes: ChangesView,
}

impl PageTool for Select {
    const ABOUT: About = About {
        name: "browser_select",
        aliases: &[],
        title: "Select options",
        description: "Selects options of a list or combobox, these and no others.",
        effect: Effect::Act,
        idempotent: true,
        verb: "select",
        example: r#"{"ref": "@e4", "values": ["Medium"]}"#,
        everyday: true,
        common: Common::Page,
    };
    type Params = Params;
    type Output = SelectedOptions;

    async fn run(call: Call, params: Params) -> Result<SelectedOptions, Failure> {
        let target = Target::Ref(params.r#ref.0);
        let selected = call.tab().await?.select(&target, &params.values, call.deadline()).await?;
        Ok(SelectedOptions {
            url: selected.acted.url,
            title: selected.acted.title,
            selected: selected.selected,
            changes: selected.acted.changes.into(),
        })
    }
}

impl Output for SelectedOptions {
    fn write(&self, text: &mut Text) {
        if !self.changes.is_empty() {
            self.changes.write_facts(text);
        }
        text.page(&self.url, &self.title);
        for label in &self.selected {
            text.page_text("selected", label);
        }
        if self.selected.is_empty() {
            text.page_line("selected: nothing");
        }
        self.changes.write_page(text);
    }
}
