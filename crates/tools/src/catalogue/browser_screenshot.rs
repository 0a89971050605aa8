//! Takes a picture.

use bathy_browser::{Label, ScreenshotFormat, ScreenshotOptions, Target};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Failure;
use crate::action::Call;
use crate::answer::{Image, Text, is_zero};
use crate::target::RefArgument;
use crate::tool::{About, Common, Effect, Output, PageTool, Tool};

struct Screenshot;

inventory::submit!(Tool::in_session::<Screenshot>());

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Params {
    r#ref: Option<RefArgument>,
    full_page: Option<bool>,
    format: Option<Format>,
    /// Label with refs.
    annotate: Option<bool>,
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
    /// Pixels for each CSS pixel, where it was scaled to what models take.
    #[serde(skip_serializing_if = "Option::is_none")]
    scale: Option<f64>,
    /// All pictures, where it took several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    paths: Vec<String>,
    /// CSS pixels at the end that no picture shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<u64>,
    /// How many places are covered since they show secrets.
    #[serde(skip_serializing_if = "is_zero")]
    covered: usize,
    /// What is labelled in it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    labels: Vec<Labelled>,
    /// How many elements more could have been, at least.
    #[serde(skip_serializing_if = "is_zero")]
    unlabelled: usize,
    /// Labels were asked for.
    #[serde(skip)]
    annotated: bool,
    #[serde(skip)]
    images: Vec<Image>,
}

#[derive(Serialize, JsonSchema)]
struct Labelled {
    r#ref: String,
    line: String,
}

impl From<Label> for Labelled {
    fn from(label: Label) -> Self {
        Self { r#ref: label.reference.to_string(), line: label.line }
    }
}

impl PageTool for Screenshot {
    const ABOUT: About = About {
        name: "browser_screenshot",
        aliases: &[],
        title: "Screenshot",
        description: "Takes a picture of the view, page or an element.",
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
            annotate: params.annotate.unwrap_or_default(),
            format: params.format.map(|format| match format {
                Format::Png => ScreenshotFormat::Png,
                Format::Jpeg => ScreenshotFormat::Jpeg,
                Format::Webp => ScreenshotFormat::Webp,
            }),
        };
        let annotated = options.annotate;
        let taken = call.tab().await?.screenshot(options, call.deadline()).await?;
        let mime_type = taken.mime_type;
        let first = Image { bytes: taken.bytes.into(), mime_type, path: taken.path.clone() };
        let more = taken.more.into_iter().map(|one| Image { bytes: one.bytes.into(), mime_type, path: one.path });
        let images: Vec<Image> = std::iter::once(first).chain(more).collect();
        let paths = images.iter().map(|image| image.path.display().to_string()).collect::<Vec<_>>();
        Ok(Taken {
            path: taken.path.display().to_string(),
            url: taken.url,
            title: taken.title,
            width: taken.width,
            height: taken.height,
            scale: (taken.scale < 1.0).then_some((taken.scale * 1000.0).round() / 1000.0),
            paths: if paths.len() > 1 { paths } else { Vec::new() },
            left_out: whole(taken.left_out),
            covered: taken.covered,
            labels: taken.labels.into_iter().map(Labelled::from).collect(),
            unlabelled: usize::try_from(taken.unlabelled).unwrap_or(usize::MAX),
            annotated,
            images,
        })
    }
}

impl Output for Taken {
    fn write(&self, text: &mut Text) {
        text.fact("path", &self.path);
        text.fact("size", format_args!("{} x {}", self.width, self.height));
        if let Some(scale) = self.scale {
            text.fact(
                "scale",
                format_args!("{scale} (pictures have at most 1568 pixels a side and 1.15 million in all)"),
            );
        }
        for (index, path) in self.paths.iter().enumerate().skip(1) {
            text.fact(&format!("picture {}", index + 1), path);
        }
        if let Some(left_out) = self.left_out {
            text.remark(format_args!(
                "the last {left_out} CSS pixels of the page are not shown; scroll there and take the view"
            ));
        }
        if self.covered > 0 {
            text.fact("covered", format_args!("{} (places that show secrets)", self.covered));
        }
        if self.annotated && self.labels.is_empty() {
            text.remark("nothing in it can be acted on");
        }
        text.page(&self.url, &self.title);
        for Labelled { r#ref: reference, line } in &self.labels {
            text.page_line(format_args!("{reference} {line}"));
        }
        if self.unlabelled > 0 {
            text.closing(format_args!("at least {} more have no label; take a smaller part", self.unlabelled));
        }
    }

    fn images(&mut self) -> Vec<Image> {
        std::mem::take(&mut self.images)
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a length, rounded")]
fn whole(length: f64) -> Option<u64> {
    (length >= 1.0).then_some(length.round() as u64)
}
