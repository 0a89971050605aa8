//! Opens a URL.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::Failure;
use crate::action::Call;
use crate::owner::Opening;
use crate::reading::{Landed, Read, Until};
use crate::tool::{About, Common, Effect, PageTool, Tool};

struct Navigate;

inventory::submit!(Tool::in_session::<Navigate>());

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Params {
    url: String,
    wait_until: Option<Until>,
    /// What to return of the page (text).
    read: Option<Read>,
}

impl PageTool for Navigate {
    const ABOUT: About = About {
        name: "browser_navigate",
        aliases: &[],
        title: "Open a URL",
        description: "Opens a URL, in a new session if there is none, and reads the page.",
        effect: Effect::Navigate,
        idempotent: false,
        verb: "open",
        example: r#"{"url": "https://example.com/"}"#,
        everyday: true,
        common: Common::Page,
    };
    type Params = Params;
    type Output = Landed;

    fn opening(_: &Params) -> Result<Opening, Failure> {
        Ok(Opening::WhenNone)
    }

    async fn run(call: Call, params: Params) -> Result<Landed, Failure> {
        let tab = call.tab_to_load().await?;
        let until = params.wait_until.unwrap_or_default().into();
        let navigation = tab.navigate(&params.url, until, call.deadline()).await?;
        Ok(Landed::describe(&call, &tab, navigation, params.read.unwrap_or_default()).await)
    }
}
