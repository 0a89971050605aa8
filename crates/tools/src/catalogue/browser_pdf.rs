//! Prints a page.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Failure;
use crate::action::Call;
use crate::answer::Text;
use crate::tool::{About, Common, Effect, Output, PageTool, Tool};

struct Pdf;

inventory::submit!(Tool::in_session::<Pdf>());

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Params {}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Printed {
    path: String,
    url: String,
    title: String,
}

impl PageTool for Pdf {
    const ABOUT: About = About {
        name: "browser_pdf",
        aliases: &[],
        title: "Print to PDF",
        description: "Writes the page to a PDF file.",
        effect: Effect::Read,
        idempotent: true,
        verb: "pdf",
        example: "{}",
        everyday: false,
        common: Common::Page,
    };
    type Params = Params;
    type Output = Printed;

    async fn run(call: Call, _: Params) -> Result<Printed, Failure> {
        let pdf = call.tab().await?.pdf(call.deadline()).await?;
        Ok(Printed { path: pdf.path.display().to_string(), url: pdf.url, title: pdf.title })
    }
}

impl Output for Printed {
    fn write(&self, text: &mut Text) {
        text.fact("path", &self.path);
        text.page(&self.url, &self.title);
    }
}
