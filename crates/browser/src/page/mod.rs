//! The page script and what Rust adds to it: numbers for elements across frames.

mod refs;

pub(crate) use refs::{Element, RefTable};

/// The page script, for the isolated world of each document. See `script/index.js` for its functions.
pub(crate) const SCRIPT: &str = concat!("(() => {", include_str!("script/index.js"), "})()");

/// Why the page script could not do what it was asked.
#[derive(Debug, Clone, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ScriptError {
    /// The kind of failure; `script/index.js` lists them.
    pub(crate) code: String,
    /// What happened, with page text escaped and element marks.
    pub(crate) message: String,
    /// The outline line of the element.
    pub(crate) line: Option<String>,
}
