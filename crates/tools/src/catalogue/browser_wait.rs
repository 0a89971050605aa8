//! Waits for a page.

use std::time::Duration;

use bathy_browser::WaitFor;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Failure;
use crate::action::Call;
use crate::answer::Text;
use crate::reading::Until;
use crate::target::RefArgument;
use crate::tool::{About, Common, Effect, Output, PageTool, Tool};

/// What a wait for a span of time gets besides the span.
const SLACK: Duration = Duration::from_secs(2);

struct Wait;

inventory::submit!(Tool::in_session::<Wait>());

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Params {
    #[schemars(length(min = 1, max = 2000))]
    text: Option<String>,
    #[schemars(length(min = 1, max = 2000))]
    text_gone: Option<String>,
    r#ref: Option<RefArgument>,
    /// A part of it, or with *.
    #[schemars(length(min = 1, max = 2000))]
    url: Option<String>,
    load: Option<Until>,
    #[schemars(range(min = 0, max = 60_000))]
    ms: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct WaitedFor {
    url: String,
    title: String,
    waited_ms: u64,
}

impl PageTool for Wait {
    const ABOUT: About = About {
        name: "browser_wait",
        aliases: &[],
        title: "Wait",
        description: "Waits for text, text to go, an element, a URL, a load state or a time.",
        effect: Effect::Read,
        idempotent: true,
        verb: "wait",
        example: r#"{"text": "Thank you"}"#,
        everyday: true,
        common: Common::Page,
    };
    type Params = Params;
    type Output = WaitedFor;

    fn least_budget(params: &Params) -> Duration {
        params.ms.map_or(Duration::ZERO, |ms| Duration::from_millis(ms) + SLACK)
    }

    async fn run(call: Call, params: Params) -> Result<WaitedFor, Failure> {
        let what = params.into_what()?;
        let waited = call.tab().await?.wait(&what, call.deadline()).await?;
        Ok(WaitedFor {
            url: waited.url,
            title: waited.title,
            waited_ms: waited.waited.as_millis().try_into().unwrap_or(u64::MAX),
        })
    }
}

impl Params {
    fn into_what(self) -> Result<WaitFor, Failure> {
        let given = [
            self.text.map(WaitFor::Text),
            self.text_gone.map(WaitFor::TextGone),
            self.r#ref.map(|reference| WaitFor::Ref(reference.0)),
            self.url.map(WaitFor::Url),
            self.load.map(|until| WaitFor::Load(until.into())),
            self.ms.map(|ms| WaitFor::Time(Duration::from_millis(ms))),
        ];
        let mut given = given.into_iter().flatten();
        match (given.next(), given.next()) {
            (Some(what), None) => Ok(what),
            (first, _) => Err(Failure::invalid(if first.is_some() {
                "more than one thing to wait for is given"
            } else {
                "nothing to wait for is given"
            })
            .with_hint("Give exactly one of `text`, `textGone`, `ref`, `url`, `load`, `ms`.")),
        }
    }
}

impl Output for WaitedFor {
    fn write(&self, text: &mut Text) {
        text.fact("waited", format_args!("{} ms", self.waited_ms));
        text.page(&self.url, &self.title);
    }
}
