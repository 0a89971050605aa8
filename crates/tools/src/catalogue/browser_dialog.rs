//! Answers the dialog that a page has opened.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::Failure;
use crate::action::Call;
use crate::changes::ActedView;
use crate::tool::{About, Common, Effect, PageTool, Tool};

struct AnswerDialog;

inventory::submit!(Tool::in_session::<AnswerDialog>());

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Params {
    action: DialogAction,
    /// For a prompt.
    #[schemars(length(max = 2000))]
    text: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum DialogAction {
    Accept,
    Dismiss,
}

impl PageTool for AnswerDialog {
    const ABOUT: About = About {
        name: "browser_dialog",
        aliases: &[],
        title: "Answer a dialog",
        description: "Answers the dialog that is open.",
        effect: Effect::Act,
        idempotent: false,
        verb: "dialog",
        example: r#"{"action": "accept"}"#,
        everyday: true,
        common: Common::Page,
    };
    type Params = Params;
    type Output = ActedView;

    async fn run(call: Call, params: Params) -> Result<ActedView, Failure> {
        let accept = matches!(params.action, DialogAction::Accept);
        let acted = call.tab().await?.answer_dialog(accept, params.text.as_deref(), call.deadline()).await?;
        Ok(acted.into())
    }
}
