//! Opens a tab.

use bathy_browser::{Deadline, Error, Tab, WaitUntil};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::Failure;
use crate::action::Call;
use crate::owner::Opening;
use crate::tabs::TabView;
use crate::tool::{About, Common, Effect, PageTool, Tool};

struct TabNew;

inventory::submit!(Tool::in_session::<TabNew>());

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Params {
    url: Option<String>,
}

impl PageTool for TabNew {
    const ABOUT: About = About {
        name: "browser_tab_new",
        aliases: &[],
        title: "Open a tab",
        description: "Opens a new tab, which becomes the active one.",
        effect: Effect::Navigate,
        idempotent: false,
        verb: "tab new",
        example: r#"{"url": "https://example.com/"}"#,
        everyday: false,
        common: Common::Whole,
    };
    type Params = Params;
    type Output = TabView;

    fn opening(_: &Params) -> Result<Opening, Failure> {
        Ok(Opening::WhenNone)
    }

    async fn run(call: Call, params: Params) -> Result<TabView, Failure> {
        let session = call.session();
        let url = params.url.as_deref().map(|url| session.check_url(url)).transpose()?;
        // The blank tab of a session that was opened for this call is as new as any.
        if call.opened_session() {
            return load(&call.tab().await?, url.as_deref(), call.deadline()).await;
        }
        let fresh = session.open_tab(false).await?;
        match load(fresh.tab(), url.as_deref(), call.deadline()).await {
            Ok(view) => {
                session.activate(fresh.tab()).await?;
                fresh.keep();
                Ok(view)
            }
            Err(failure) => {
                // The load's failure says more than that of closing its tab.
                let _ = fresh.discard().await;
                Err(failure)
            }
        }
    }
}

async fn load(tab: &Tab, url: Option<&str>, deadline: Deadline) -> Result<TabView, Failure> {
    let navigation = match url {
        Some(url) => Some(tab.navigate(url, WaitUntil::Load, deadline).await?),
        None => None,
    };
    let index = tab.index().ok_or_else(|| Error::PageGone("the tab was closed".to_owned()))?;
    Ok(match navigation {
        Some(navigation) => TabView::after(index, navigation),
        None => TabView::of(index, tab.url(), String::new()),
    })
}
