//! Loads a URL in a tab that nobody looks at.

use bathy_browser::Error;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::action::Call;
use crate::answer::Text;
use crate::owner::Opening;
use crate::tool::{About, Common, Effect, Output, PageTool, Tool};
use crate::{Failure, jobs};

struct NavigateBackground;

inventory::submit!(Tool::in_session::<NavigateBackground>());

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Params {
    url: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Begun {
    job_id: String,
    index: usize,
    url: String,
}

impl PageTool for NavigateBackground {
    const ABOUT: About = About {
        name: "browser_navigate_background",
        aliases: &[],
        title: "Open a URL in the background",
        description: "Begins to load a URL in a new tab without making that active; browser_jobs tells how it ends.",
        effect: Effect::Navigate,
        idempotent: false,
        verb: "background",
        example: r#"{"url": "https://example.com/"}"#,
        everyday: false,
        common: Common::Whole,
    };
    const BESIDE: bool = true;
    type Params = Params;
    type Output = Begun;

    fn opening(_: &Params) -> Result<Opening, Failure> {
        Ok(Opening::WhenNone)
    }

    async fn run(call: Call, params: Params) -> Result<Begun, Failure> {
        if !call.settings().jobs {
            return Err(jobs::unavailable());
        }
        let session = call.session();
        let url = session.check_url(&params.url)?;
        let fresh = session.open_tab(true).await?;
        let begun = call.jobs().start(session.id(), fresh, url.clone(), call.beside(), call.deadline())?;
        let index = begun.index.ok_or(Error::PageGone("the tab was closed".to_owned()))?;
        Ok(Begun { job_id: begun.job_id, index, url })
    }
}

impl Output for Begun {
    fn write(&self, text: &mut Text) {
        text.fact("job", &self.job_id);
        text.fact("tab", self.index);
        text.host_of(&self.url);
        text.page_url("url", &self.url);
        text.closing("it loads now; wait for it with browser_jobs");
    }
}
