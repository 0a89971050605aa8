//! Closes everything of an owner.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::Text;
use crate::owner::Control;
use crate::tool::{About, Common, ControlTool, Effect, Output, Tool};
use crate::{Code, Failure};

struct Close;

inventory::submit!(Tool::beside_sessions::<Close>());

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Params {}

#[derive(Serialize, JsonSchema)]
struct Closed {
    closed: bool,
}

impl ControlTool for Close {
    const ABOUT: About = About {
        name: "browser_close",
        aliases: &[],
        title: "Close the browser",
        description: "Closes all your sessions, or the one you name.",
        effect: Effect::Control,
        idempotent: true,
        verb: "close",
        example: "{}",
        everyday: true,
        common: Common::Session,
    };
    type Params = Params;
    type Output = Closed;

    async fn run(control: Control, _: Params) -> Result<Closed, Failure> {
        let outcome = match control.named() {
            Some(_) => control.stop().await.map(drop),
            None => control.stop_all().await,
        };
        match outcome {
            // Closing what is closed is no failure.
            Err(failure) if failure.code() == Code::NoSuchSession => {}
            outcome => outcome?,
        }
        Ok(Closed { closed: true })
    }
}

impl Output for Closed {
    fn write(&self, text: &mut Text) {
        text.remark("closed");
    }
}
