//! Makes a tab the active one.

use bathy_browser::Error;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::Failure;
use crate::action::Call;
use crate::tabs::TabView;
use crate::tool::{About, Common, Effect, PageTool, Tool};

struct TabSelect;

inventory::submit!(Tool::in_session::<TabSelect>());

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Params {
    index: usize,
}

impl PageTool for TabSelect {
    const ABOUT: About = About {
        name: "browser_tab_select",
        aliases: &[],
        title: "Select a tab",
        description: "Makes a tab the active one, which calls without a tab go to.",
        effect: Effect::Control,
        idempotent: true,
        verb: "tab select",
        example: r#"{"index": 1}"#,
        everyday: false,
        common: Common::Whole,
    };
    type Params = Params;
    type Output = TabView;

    async fn run(call: Call, params: Params) -> Result<TabView, Failure> {
        let session = call.session();
        let tab = session.tab(Some(params.index)).await?;
        session.activate(&tab).await.map_err(|error| match error {
            Error::OffPolicy(_) | Error::RefusedByGate { .. } => {
                Failure::from(error).with_hint("It can only be closed, with browser_tab_close.")
            }
            error => error.into(),
        })?;
        let title = tab.title(call.deadline()).await?;
        Ok(TabView::of(params.index, tab.url(), title))
    }
}
