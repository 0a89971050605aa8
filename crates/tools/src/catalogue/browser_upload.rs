//! Gives files to a page.

use bathy_browser::Target;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::Failure;
use crate::action::Call;
use crate::changes::ActedView;
use crate::target::RefArgument;
use crate::tool::{About, Common, Effect, PageTool, Tool};

struct Upload;

inventory::submit!(Tool::in_session::<Upload>());

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Params {
    /// A file input, its label, or a button that asks for a file.
    r#ref: RefArgument,
    /// Bare name of a file that the operator laid out.
    #[schemars(length(max = 1000))]
    file: Option<String>,
    /// Several, where the page takes several.
    #[schemars(length(min = 1, max = 50))]
    files: Option<Vec<String>>,
}

impl PageTool for Upload {
    const ABOUT: About = About {
        name: "browser_upload",
        aliases: &[],
        title: "Upload a file",
        description: "Gives a file to a file input or to a button that asks for one.",
        effect: Effect::Act,
        idempotent: false,
        verb: "upload",
        example: r#"{"ref": "@e7", "file": "report.csv"}"#,
        everyday: false,
        common: Common::Page,
    };
    type Params = Params;
    type Output = ActedView;

    async fn run(call: Call, params: Params) -> Result<ActedView, Failure> {
        let names = match (params.file, params.files) {
            (Some(file), None) => vec![file],
            (None, Some(files)) => files,
            _ => return Err(Failure::invalid("exactly one of `file` and `files` is needed").with_hint("Give `file`.")),
        };
        let target = Target::Ref(params.r#ref.0);
        Ok(call.tab().await?.upload(&target, &names, call.deadline()).await?.into())
    }
}
