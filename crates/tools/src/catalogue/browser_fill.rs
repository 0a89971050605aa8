//! Fills a field.

use bathy_browser::FillOptions;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::action::Call;
use crate::answer::Text;
use crate::changes::ChangesView;
use crate::fill_value::FillValue;
use crate::target::{RefArgument, exactly_one};
use crate::tool::{About, Common, Effect, Output, PageTool, Tool};
use crate::{Failure, Secrets, escape};

struct Fill;

inventory::submit!(Tool::in_session::<Fill>());

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Params {
    r#ref: Option<RefArgument>,
    #[schemars(length(max = 2000))]
    selector: Option<String>,
    /// Text, or {"secret": name}.
    value: FillValue,
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
        let value = match params.value.among(&call.settings().secrets) {
            FillValue::Text(value) => value,
            FillValue::Secret(secret) if params.keys == Some(true) || params.clear == Some(false) => {
                return Err(Failure::invalid(format_args!(
                    "the secret {} cannot be typed key by key or added to what is there",
                    escape::quoted(&secret, 60)
                ))
                .with_hint("Leave `keys` and `clear` out."));
            }
            FillValue::Secret(secret) => {
                let text = call.settings().secrets.find(&secret)?;
                let acted = call.tab().await?.fill_secret(&target, text, call.deadline()).await?;
                return Ok(FilledField {
                    url: acted.url,
                    title: acted.title,
                    value: Secrets::placeholder(&secret),
                    changes: acted.changes.into(),
                });
            }
        };
        let options = FillOptions { clear: params.clear.unwrap_or(true), keys: params.keys.unwrap_or_default() };
        let filled = call.tab().await?.fill(&target, &value, options, call.deadline()).await?;
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
