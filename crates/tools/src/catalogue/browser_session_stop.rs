//! Stops a session.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Failure;
use crate::answer::Text;
use crate::owner::{Control, Stopped};
use crate::tool::{About, Common, ControlTool, Effect, Output, Tool};

struct SessionStop;

inventory::submit!(Tool::beside_sessions::<SessionStop>());

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Params {}

#[derive(Serialize, JsonSchema)]
struct Ended {
    stopped: String,
    /// The session that is current now: the one that was used before.
    #[serde(skip_serializing_if = "Option::is_none")]
    current: Option<String>,
}

impl ControlTool for SessionStop {
    const ABOUT: About = About {
        name: "browser_session_stop",
        aliases: &[],
        title: "Stop a session",
        description: "Stops a session; the one used before becomes current.",
        effect: Effect::Control,
        idempotent: false,
        verb: "session stop",
        example: "{}",
        everyday: true,
        common: Common::Session,
    };
    type Params = Params;
    type Output = Ended;

    async fn run(control: Control, _: Params) -> Result<Ended, Failure> {
        let Stopped { session, current } = control.stop().await?;
        Ok(Ended { stopped: session, current })
    }
}

impl Output for Ended {
    fn write(&self, text: &mut Text) {
        text.fact("stopped", &self.stopped);
        match &self.current {
            Some(current) => text.fact("current session", current),
            None => text.remark("no session is current now"),
        }
    }
}
