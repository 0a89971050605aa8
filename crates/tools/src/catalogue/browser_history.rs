//! Goes back or forward, or loads the page again.

use bathy_browser::HistoryAction;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::Failure;
use crate::action::Call;
use crate::reading::{Landed, Read};
use crate::tool::{About, Common, Effect, PageTool, Tool};

struct History;

inventory::submit!(Tool::in_session::<History>());

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Params {
    action: Move,
    read: Option<Read>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Move {
    Back,
    Forward,
    Reload,
}

impl PageTool for History {
    const ABOUT: About = About {
        name: "browser_history",
        aliases: &[],
        title: "Back, forward, reload",
        description: "Goes back or forward in the tab's history, or reloads.",
        effect: Effect::Navigate,
        idempotent: false,
        verb: "history",
        example: r#"{"action": "back"}"#,
        everyday: true,
        common: Common::Page,
    };
    type Params = Params;
    type Output = Landed;

    async fn run(call: Call, params: Params) -> Result<Landed, Failure> {
        let action = match params.action {
            Move::Back => HistoryAction::Back,
            Move::Forward => HistoryAction::Forward,
            Move::Reload => HistoryAction::Reload,
        };
        let tab = call.tab().await?;
        let navigation = tab.history(action, bathy_browser::WaitUntil::Load, call.deadline()).await?;
        Ok(Landed::describe(&call, &tab, navigation, params.read.unwrap_or_default()).await)
    }
}
