//! Drags one element onto another.

use bathy_browser::Target;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::Failure;
use crate::action::Call;
use crate::changes::ActedView;
use crate::target::RefArgument;
use crate::tool::{About, Common, Effect, PageTool, Tool};

struct Drag;

inventory::submit!(Tool::in_session::<Drag>());

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Params {
    from: RefArgument,
    to: RefArgument,
}

impl PageTool for Drag {
    const ABOUT: About = About {
        name: "browser_drag",
        aliases: &[],
        title: "Drag and drop",
        description: "Drags one element onto another.",
        effect: Effect::Act,
        idempotent: false,
        verb: "drag",
        example: r#"{"from": "@e4", "to": "@e9"}"#,
        everyday: false,
        common: Common::Page,
    };
    type Params = Params;
    type Output = ActedView;

    async fn run(call: Call, params: Params) -> Result<ActedView, Failure> {
        let (from, to) = (Target::Ref(params.from.0), Target::Ref(params.to.0));
        let acted = call.tab().await?.drag(&from, &to, call.deadline()).await?;
        Ok(acted.into())
    }
}
