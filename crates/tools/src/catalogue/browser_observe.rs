//! Tells what matters on a page now.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Failure;
use crate::action::Call;
use crate::answer::Text;
use crate::tool::{About, Common, Effect, Output, PageTool, Tool};

struct Observe;

inventory::submit!(Tool::in_session::<Observe>());

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Params {
    #[schemars(range(min = 100))]
    max_chars: Option<usize>,
    /// Also what is out of view.
    full: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Observed {
    url: String,
    title: String,
    observation: String,
    truncated: bool,
}

impl PageTool for Observe {
    const ABOUT: About = About {
        name: "browser_observe",
        aliases: &[],
        title: "Observe the page",
        description: "Tells what matters now: what is in view to act on, layers, form state, and what changed since the last look.",
        effect: Effect::Read,
        idempotent: true,
        verb: "observe",
        example: "{}",
        everyday: false,
        common: Common::Page,
    };
    type Params = Params;
    type Output = Observed;

    async fn run(call: Call, params: Params) -> Result<Observed, Failure> {
        let max_chars = call.settings().chars(params.max_chars);
        let observation =
            call.tab().await?.observe(params.full.unwrap_or_default(), max_chars, call.deadline()).await?;
        Ok(Observed {
            url: observation.url,
            title: observation.title,
            observation: observation.text,
            truncated: observation.truncated,
        })
    }
}

impl Output for Observed {
    fn write(&self, text: &mut Text) {
        text.page(&self.url, &self.title);
        text.body(&self.observation);
    }
}
