//! Takes a picture.

use bathy_browser::{ScreenshotFormat, ScreenshotOptions, Target};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Failure;
use crate::action::Call;
use crate::answer::{Image, Text};
use crate::target::RefArgument;
use crate::tool::{About, Common, Effect, Output, PageTool, Tool};

struct Screenshot;

inventory::submit!(Tool::in_session::<Screenshot>());

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Params {
    /// Only this element.
    r#ref: Option<RefArgument>,
    full_page: Option<bool>,
    format: Option<Format>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Format {
    Png,
    Jpeg,
    Webp,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Taken {
    path: String,
    url: String,
    title: String,
    width: u32,
    height: u32,
    #[serde(skip)]
    image: Option<Image>,
}

impl PageTool for Screenshot {
    const ABOUT: About = About {
        name: "browser_screenshot",
        aliases: &[],
        title: "Take a picture",
        description: "Takes a picture of the view, the whole page or an element.",
        effect: Effect::Read,
        idempotent: true,
        verb: "screenshot",
        example: r#"{"fullPage": true}"#,
        everyday: true,
        common: Common::Page,
    };
    type Params = Params;
    type Output = Taken;

    async fn run(call: Call, params: Params) -> Result<Taken, Failure> {
        if params.r#ref.is_some() && params.full_page == Some(true) {
            return Err(Failure::invalid("both `ref` and `fullPage` are given").with_hint("Give one of them."));
        }
        let options = ScreenshotOptions {
            target: params.r#ref.map(|reference| Target::Ref(reference.0)),
            full_page: params.full_page.unwrap_or_default(),
            format: params.format.map(|format| match format {
                Format::Png => ScreenshotFormat::Png,
                Format::Jpeg => ScreenshotFormat::Jpeg,
                Format::Webp => ScreenshotFormat::Webp,
            }),
        };
        let taken = call.tab().await?.screenshot(options, call.deadline()).await?;
        Ok(Taken {
            path: taken.path.display().to_string(),
            url: taken.url,
            title: taken.title,
            width: taken.width,
            height: taken.height,
            image: Some(Image { bytes: taken.bytes.into(), mime_type: taken.mime_type, path: taken.path }),
        })
    }
}

impl Output for Taken {
    fn write(&self, text: &mut Text) {
        text.fact("path", &self.path);
        text.fact("size", format_args!("{} x {}", self.width, self.height));
        text.page(&self.url, &self.title);
    }

    fn images(&mut self) -> Vec<Image> {
        self.image.take().into_iter().collect()
    }
}
