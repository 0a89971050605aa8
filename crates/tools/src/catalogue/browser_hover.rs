//! Moves the pointer over an element.

use bathy_browser::Target;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::Failure;
use crate::action::Call;
use crate::changes::ActedView;
use crate::target::RefArgument;
use crate::tool::{About, Common, Effect, PageTool, Tool};

struct Hover;

inventory::submit!(Tool::in_session::<Hover>());

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Params {
    r#ref: RefArgument,
}

impl PageTool for Hover {
    const ABOUT: About = About {
        name: "browser_hover",
        aliases: &[],
        title: "Hover",
        description: "Moves the pointer over an element.",
        effect: Effect::Act,
        idempotent: true,
        verb: "hover",
        example: r#"{"ref": "@e7"}"#,
        everyday: false,
        common: Common::Page,
    };
    type Params = Params;
    type Output = ActedView;

    async fn run(call: Call, params: Params) -> Result<ActedView, Failure> {
        let acted = call.tab().await?.hover(&Target::Ref(params.r#ref.0), call.deadline()).await?;
        Ok(acted.into())
    }
}
