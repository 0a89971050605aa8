//! The page script and what Rust adds to it: numbers for elements across frames.

pub(crate) mod asking;
pub(crate) mod chart;
pub(crate) mod cursors;
pub(crate) mod inside;
pub(crate) mod marks;
#[cfg(test)]
mod oracle;
pub(crate) mod outline;
pub(crate) mod owners;
mod refs;
pub(crate) mod text;

pub(crate) use refs::{Element, RefTable};

/// The page script, for the isolated world of each document. See `script/index.js` for its functions.
pub(crate) const SCRIPT: &str = concat!(
    // A world that has the script already keeps it, and with it what its ids stand for. An element of that name is none.
    "(() => { 'use strict'; if (Object.hasOwn(globalThis, 'bathy')) return;\n",
    include_str!("script/dom.js"),
    include_str!("script/strings.js"),
    include_str!("script/asking.js"),
    include_str!("script/visibility.js"),
    include_str!("script/ink.js"),
    include_str!("script/areas.js"),
    include_str!("script/roles.js"),
    include_str!("script/names.js"),
    include_str!("script/generated.js"),
    include_str!("script/state.js"),
    include_str!("script/clickable.js"),
    include_str!("script/refs.js"),
    include_str!("script/tree.js"),
    include_str!("script/outline.js"),
    include_str!("script/text.js"),
    include_str!("script/find.js"),
    include_str!("script/observe.js"),
    include_str!("script/act.js"),
    include_str!("script/guard.js"),
    include_str!("script/scroll.js"),
    include_str!("script/fill.js"),
    include_str!("script/changes.js"),
    include_str!("script/labels.js"),
    include_str!("script/writing.js"),
    include_str!("script/index.js"),
    "})();",
);

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
