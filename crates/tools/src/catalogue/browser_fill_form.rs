//! Fills several fields in one call.

use bathy_browser::{FieldValue, Target};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::action::Call;
use crate::answer::Text;
use crate::changes::ChangesView;
use crate::fill_value::FillValue;
use crate::target::RefArgument;
use crate::tool::{About, Common, Effect, Output, PageTool, Tool};
use crate::{Failure, Secrets};

struct FillForm;

inventory::submit!(Tool::in_session::<FillForm>());

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Params {
    #[schemars(length(min = 1, max = 100))]
    fields: Vec<Field>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
struct Field {
    r#ref: RefArgument,
    value: FillValue,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct FilledForm {
    url: String,
    title: String,
    filled: Vec<FilledField>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failed: Vec<FailedField>,
    #[serde(skip_serializing_if = "ChangesView::is_empty")]
    changes: ChangesView,
}

#[derive(Serialize, JsonSchema)]
struct FilledField {
    r#ref: String,
    value: String,
}

#[derive(Serialize, JsonSchema)]
struct FailedField {
    r#ref: String,
    code: String,
    message: String,
}

impl PageTool for FillForm {
    const ABOUT: About = About {
        name: "browser_fill_form",
        aliases: &[],
        title: "Fill a form",
        description: "Fills several fields; checkboxes take true or false.",
        effect: Effect::Act,
        idempotent: false,
        verb: "fill-form",
        example: r#"{"fields": [{"ref": "@e3", "value": "Ada"}, {"ref": "@e5", "value": "true"}]}"#,
        everyday: true,
        common: Common::Page,
    };
    type Params = Params;
    type Output = FilledForm;

    async fn run(call: Call, params: Params) -> Result<FilledForm, Failure> {
        let mut fields = Vec::with_capacity(params.fields.len());
        let mut asked = Vec::with_capacity(params.fields.len());
        for Field { r#ref: RefArgument(reference), value } in params.fields {
            let value = match value.among(&call.settings().secrets) {
                FillValue::Text(text) => {
                    asked.push((reference.to_string(), None));
                    FieldValue::Text(text)
                }
                FillValue::Secret(secret) => {
                    let text = call.settings().secrets.find(&secret)?.clone();
                    asked.push((reference.to_string(), Some(Secrets::placeholder(&secret))));
                    FieldValue::Secret(text)
                }
            };
            fields.push((Target::Ref(reference), value));
        }
        let form = call.tab().await?.fill_form_with_secrets(&fields, call.deadline()).await?;
        let (mut filled, mut failed) = (Vec::new(), Vec::new());
        for ((r#ref, placeholder), result) in asked.into_iter().zip(form.fields) {
            match result.map_err(Failure::from) {
                Ok(value) => filled.push(FilledField { r#ref, value: placeholder.unwrap_or(value) }),
                Err(failure) => {
                    failed.push(FailedField {
                        r#ref,
                        code: failure.code().to_string(),
                        message: failure.message().to_owned(),
                    });
                }
            }
        }
        let acted = form.acted;
        Ok(FilledForm { url: acted.url, title: acted.title, filled, failed, changes: acted.changes.into() })
    }
}

impl Output for FilledForm {
    fn write(&self, text: &mut Text) {
        if !self.changes.is_empty() {
            self.changes.write_facts(text);
        }
        if !self.failed.is_empty() {
            text.fact("not filled", self.failed.len());
        }
        text.page(&self.url, &self.title);
        for field in &self.filled {
            text.page_text(&field.r#ref, &field.value);
        }
        for field in &self.failed {
            text.page_line(format_args!(
                "{} not filled: {}: {}",
                field.r#ref,
                field.code,
                crate::escape::inline(&field.message, 500)
            ));
        }
        self.changes.write_page(text);
    }
}
