//! Starts a session.

use bathy_policy::{HostPattern, PolicyConfig};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::action::Call;
use crate::answer::Text;
use crate::owner::{Opening, Wish};
use crate::reading::{Landed, Read};
use crate::tool::{About, Common, Effect, Output, PageTool, Tool};
use crate::{Failure, escape};

/// Width and height where only the other one is given.
const DEFAULT_VIEWPORT: (u32, u32) = (1280, 800);

struct SessionStart;

inventory::submit!(Tool::in_session::<SessionStart>());

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Params {
    url: Option<String>,
    #[schemars(range(min = 100, max = 8000))]
    width: Option<u32>,
    #[schemars(range(min = 100, max = 8000))]
    height: Option<u32>,
    #[schemars(length(max = 60))]
    label: Option<String>,
    /// Fewer hosts than the operator allows.
    #[schemars(with = "Option<Vec<String>>")]
    allowed_hosts: Option<Vec<HostPattern>>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Started {
    #[serde(flatten)]
    landed: Option<Landed>,
    containment: String,
    policy: PolicyView,
}

/// What the session may reach.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PolicyView {
    allowed_hosts: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    allowed_resource_hosts: Option<Vec<String>>,
    allow_private_network: bool,
    allowed_networks: Vec<String>,
}

impl PageTool for SessionStart {
    const ABOUT: About = About {
        name: "browser_session_start",
        aliases: &[],
        title: "Start a session",
        description: "Starts an isolated session with its own cookies and tabs.",
        effect: Effect::Navigate,
        idempotent: false,
        verb: "session start",
        example: r#"{"url": "https://example.com/", "label": "shop"}"#,
        everyday: true,
        common: Common::Timeout,
    };
    type Params = Params;
    type Output = Started;

    fn opening(params: &Params) -> Result<Opening, Failure> {
        let viewport = match (params.width, params.height) {
            (None, None) => None,
            (width, height) => Some((width.unwrap_or(DEFAULT_VIEWPORT.0), height.unwrap_or(DEFAULT_VIEWPORT.1))),
        };
        let label = params.label.as_deref().map(|label| escape::inline(label, 60));
        Ok(Opening::Always(Wish { viewport, allowed_hosts: params.allowed_hosts.clone(), label }))
    }

    async fn run(call: Call, params: Params) -> Result<Started, Failure> {
        let landed = match &params.url {
            Some(url) => {
                let tab = call.tab().await?;
                let navigation = tab.navigate(url, bathy_browser::WaitUntil::Load, call.deadline()).await?;
                Some(Landed::describe(&call, &tab, navigation, Read::None).await)
            }
            None => None,
        };
        let session = call.session();
        Ok(Started { landed, containment: session.containment().to_string(), policy: session.policy().config().into() })
    }
}

impl From<&PolicyConfig> for PolicyView {
    fn from(config: &PolicyConfig) -> Self {
        let texts = |items: &mut dyn Iterator<Item = String>| items.collect::<Vec<_>>();
        Self {
            allowed_hosts: texts(&mut config.allowed_hosts.iter().map(ToString::to_string)),
            allowed_resource_hosts: config
                .allowed_resource_hosts
                .as_ref()
                .map(|hosts| texts(&mut hosts.iter().map(ToString::to_string))),
            allow_private_network: config.allow_private_network,
            allowed_networks: texts(&mut config.allowed_networks.iter().map(ToString::to_string)),
        }
    }
}

impl Output for Started {
    fn write(&self, text: &mut Text) {
        text.fact("containment", &self.containment);
        let policy = &self.policy;
        let listed = |hosts: &[String], otherwise: &str| {
            if hosts.is_empty() { otherwise.to_owned() } else { escape::inline(&hosts.join(", "), 1000) }
        };
        text.fact("hosts", listed(&policy.allowed_hosts, "any public host"));
        if let Some(hosts) = &policy.allowed_resource_hosts {
            text.fact("resource hosts", listed(hosts, "none besides"));
        }
        text.fact(
            "private addresses",
            if policy.allow_private_network { "open".to_owned() } else { listed(&policy.allowed_networks, "closed") },
        );
        if let Some(landed) = &self.landed {
            landed.write(text);
        }
    }
}
