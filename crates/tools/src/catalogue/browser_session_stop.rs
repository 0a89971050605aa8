//! Stops a session.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Failure;
use crate::answer::Text;
use crate::owner::Control;
use crate::tool::{About, Common, ControlTool, Effect, Output, Tool};

struct SessionStop;

inventory::submit!(Tool::beside_sessions::<SessionStop>());

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Params {}

#[derive(Serialize, JsonSchema)]
struct Stopped {
    stopped: String,
}

impl ControlTool for SessionStop {
    const ABOUT: About = About {
        name: "browser_session_stop",
        aliases: &[],
        title: "Stop a session",
        description: "Stops a session, at once and with all that runs in it.",
        effect: Effect::Control,
        idempotent: false,
        verb: "session stop",
        example: "{}",
        everyday: true,
        common: Common::Session,
    };
    type Params = Params;
    type Output = Stopped;

    async fn run(control: Control, _: Params) -> Result<Stopped, Failure> {
        Ok(Stopped { stopped: control.stop().await? })
    }
}

impl Output for Stopped {
    fn write(&self, text: &mut Text) {
        text.fact("stopped", &self.stopped);
    }
}
