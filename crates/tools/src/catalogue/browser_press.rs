//! Presses a key.

use bathy_browser::{Key, Target};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use crate::Failure;
use crate::action::Call;
use crate::changes::ActedView;
use crate::target::RefArgument;
use crate::tool::{About, Common, Effect, PageTool, Tool};

struct Press;

inventory::submit!(Tool::in_session::<Press>());

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Params {
    /// Such as Enter, Control+a.
    key: KeyArgument,
    /// Where; else the focus.
    r#ref: Option<RefArgument>,
}

#[derive(Deserialize)]
#[serde(try_from = "String")]
struct KeyArgument(Key);

impl TryFrom<String> for KeyArgument {
    type Error = bathy_browser::Error;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse().map(Self)
    }
}

impl JsonSchema for KeyArgument {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Key".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "maxLength": 60})
    }
}

impl PageTool for Press {
    const ABOUT: About = About {
        name: "browser_press",
        aliases: &[],
        title: "Press a key",
        description: "Presses a key or chord and tells what changed.",
        effect: Effect::Act,
        idempotent: false,
        verb: "press",
        example: r#"{"key": "Enter"}"#,
        everyday: true,
        common: Common::Page,
    };
    type Params = Params;
    type Output = ActedView;

    async fn run(call: Call, params: Params) -> Result<ActedView, Failure> {
        let target = params.r#ref.map(|reference| Target::Ref(reference.0));
        let acted = call.tab().await?.press(&params.key.0, target.as_ref(), call.deadline()).await?;
        Ok(acted.into())
    }
}
