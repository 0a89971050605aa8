//! Reads the visible text of a page.

use bathy_browser::{TextFormat, TextOptions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Failure;
use crate::action::Call;
use crate::answer::Text;
use crate::reading::write_rest;
use crate::target::RefArgument;
use crate::tool::{About, Common, Effect, Output, PageTool, Tool};

struct ReadText;

inventory::submit!(Tool::in_session::<ReadText>());

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Params {
    format: Option<Format>,
    /// Only this element's text.
    r#ref: Option<RefArgument>,
    /// Where an earlier reading ended.
    #[schemars(length(max = 200))]
    cursor: Option<String>,
    #[schemars(range(min = 100))]
    max_chars: Option<usize>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Format {
    Text,
    Markdown,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ReadOut {
    url: String,
    title: String,
    text: String,
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
}

impl PageTool for ReadText {
    const ABOUT: About = About {
        name: "browser_read_text",
        aliases: &[],
        title: "Read the page",
        description: "Reads the page's visible text.",
        effect: Effect::Read,
        idempotent: true,
        verb: "text",
        example: r#"{"format": "markdown"}"#,
        everyday: true,
        common: Common::Page,
    };
    type Params = Params;
    type Output = ReadOut;

    async fn run(call: Call, params: Params) -> Result<ReadOut, Failure> {
        let options = TextOptions {
            format: match params.format {
                None | Some(Format::Text) => TextFormat::Text,
                Some(Format::Markdown) => TextFormat::Markdown,
            },
            reference: params.r#ref.map(|reference| reference.0),
            cursor: params.cursor,
            max_chars: call.settings().chars(params.max_chars),
        };
        let page = call.tab().await?.text(options, call.deadline()).await?;
        Ok(ReadOut {
            url: page.url,
            title: page.title,
            text: page.text,
            truncated: page.truncated,
            cursor: page.cursor,
        })
    }
}

impl Output for ReadOut {
    fn write(&self, text: &mut Text) {
        text.page(&self.url, &self.title);
        text.body(&self.text);
        write_rest(text, self.truncated, self.cursor.as_deref(), "browser_read_text");
    }
}
