//! Lists sessions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::Text;
use crate::owner::{Control, Listed};
use crate::tool::{About, Common, ControlTool, Effect, Output, Tool};
use crate::{Failure, escape};

struct SessionList;

inventory::submit!(Tool::beside_sessions::<SessionList>());

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Params {}

#[derive(Serialize, JsonSchema)]
struct Sessions {
    sessions: Vec<SessionView>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SessionView {
    session: String,
    current: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    tabs: usize,
    idle_ms: u64,
}

impl ControlTool for SessionList {
    const ABOUT: About = About {
        name: "browser_session_list",
        aliases: &[],
        title: "List sessions",
        description: "Lists your sessions.",
        effect: Effect::Read,
        idempotent: true,
        verb: "session list",
        example: "{}",
        everyday: true,
        common: Common::Session,
    };
    type Params = Params;
    type Output = Sessions;

    async fn run(control: Control, _: Params) -> Result<Sessions, Failure> {
        Ok(Sessions { sessions: control.list().await?.into_iter().map(SessionView::from).collect() })
    }
}

impl From<Listed> for SessionView {
    fn from(listed: Listed) -> Self {
        Self {
            session: listed.session,
            current: listed.current,
            label: listed.label,
            url: listed.url,
            tabs: listed.tabs,
            idle_ms: listed.idle.as_millis().try_into().unwrap_or(u64::MAX),
        }
    }
}

impl Output for Sessions {
    fn write(&self, text: &mut Text) {
        if self.sessions.is_empty() {
            text.remark("no session is open");
            return;
        }
        // Sessions are of different hosts; what they show is fenced together.
        for session in &self.sessions {
            let current = if session.current { ", current" } else { "" };
            let label = session.label.as_deref().map(|label| format!(" {}", escape::quoted(label, 60)));
            text.remark(format_args!(
                "{}{}{current}: {} tabs, unused for {} s",
                session.session,
                label.unwrap_or_default(),
                session.tabs,
                session.idle_ms / 1000
            ));
            if let Some(url) = &session.url {
                text.page_url(&session.session, url);
            }
        }
    }
}
