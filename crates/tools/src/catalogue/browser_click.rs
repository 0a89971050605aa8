//! Clicks.

use bathy_browser::{Button, ClickOptions, Modifiers, Tab};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::action::Call;
use crate::answer::Text;
use crate::changes::ChangesView;
use crate::reading::{Read, Reading, reading, write_rest};
use crate::target::{RefArgument, exactly_one};
use crate::tool::{About, Common, Effect, Output, PageTool, Tool};
use crate::{Code, Failure};

struct Click;

inventory::submit!(Tool::in_session::<Click>());

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Params {
    r#ref: Option<RefArgument>,
    /// CSS, instead of ref.
    #[schemars(length(max = 2000))]
    selector: Option<String>,
    button: Option<ButtonName>,
    #[schemars(range(min = 1, max = 3))]
    click_count: Option<u32>,
    #[schemars(length(max = 4))]
    modifiers: Option<Vec<Modifier>>,
    /// What to return (changes).
    read: Option<After>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ButtonName {
    Left,
    Middle,
    Right,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
enum Modifier {
    Alt,
    Control,
    Meta,
    Shift,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum After {
    #[default]
    Changes,
    Text,
    Outline,
    None,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Clicked {
    url: String,
    title: String,
    text: String,
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
    changes: ChangesView,
    #[serde(skip)]
    after: After,
    #[serde(skip)]
    unread: Option<String>,
}

impl PageTool for Click {
    const ABOUT: About = About {
        name: "browser_click",
        aliases: &[],
        title: "Click",
        description: "Clicks an element and tells what changed.",
        effect: Effect::Act,
        idempotent: false,
        verb: "click",
        example: r#"{"ref": "@e12"}"#,
        everyday: true,
        common: Common::Page,
    };
    type Params = Params;
    type Output = Clicked;

    async fn run(call: Call, params: Params) -> Result<Clicked, Failure> {
        let target = exactly_one(params.r#ref, params.selector)?;
        let options = ClickOptions {
            button: match params.button {
                None | Some(ButtonName::Left) => Button::Left,
                Some(ButtonName::Middle) => Button::Middle,
                Some(ButtonName::Right) => Button::Right,
            },
            count: params.click_count.unwrap_or(1),
            modifiers: held(&params.modifiers.unwrap_or_default()),
        };
        let tab = call.tab().await?;
        let acted = tab.click(&target, options, call.deadline()).await?;
        let mut clicked = Clicked {
            url: acted.url,
            title: acted.title,
            text: String::new(),
            truncated: false,
            cursor: None,
            changes: acted.changes.into(),
            after: params.read.unwrap_or_default(),
            unread: None,
        };
        match clicked.look(&call, &tab).await {
            Ok(Some(reading)) => {
                (clicked.text, clicked.truncated, clicked.cursor) = (reading.text, reading.truncated, reading.cursor);
            }
            Ok(None) => {}
            // The click was made, so the call did not fail.
            Err(failure) => clicked.unread = Some(format!("the page could not be read ({})", failure.code())),
        }
        Ok(clicked)
    }
}

fn held(modifiers: &[Modifier]) -> Modifiers {
    let mut held = Modifiers::default();
    for modifier in modifiers {
        match modifier {
            Modifier::Alt => held.alt = true,
            Modifier::Control => held.control = true,
            Modifier::Meta => held.meta = true,
            Modifier::Shift => held.shift = true,
        }
    }
    held
}

impl Clicked {
    async fn look(&self, call: &Call, tab: &Tab) -> Result<Option<Reading>, Failure> {
        if self.changes.tab_is_closed() {
            return Ok(None);
        }
        let read = match self.after {
            After::Changes | After::None => return Ok(None),
            After::Text => Read::Text,
            After::Outline => Read::Outline,
        };
        if self.changes.dialog_is_open() {
            return Err(Failure::new(Code::DialogOpen, "a dialog is open"));
        }
        reading(call, tab, read).await
    }
}

impl Output for Clicked {
    fn write(&self, text: &mut Text) {
        self.changes.write_facts(text);
        if let Some(unread) = &self.unread {
            text.remark(unread);
        }
        text.page(&self.url, &self.title);
        if self.after != After::None {
            self.changes.write_page(text);
        }
        text.body(&self.text);
        let tool = if self.after == After::Outline { "browser_snapshot" } else { "browser_read_text" };
        write_rest(text, self.truncated, self.cursor.as_deref(), tool);
    }
}
