//! Why a task failed.

use std::io;
use std::time::Duration;

use thiserror::Error;

/// Why a task failed, in words that say what to do about it.
#[derive(Debug, Error)]
pub(crate) enum Problem {
    #[error("cannot {doing}: {source}")]
    Io { doing: String, source: io::Error },
    #[error("`{command}` failed ({status})")]
    Command { command: String, status: String },
    #[error("{what} is missing; {advice}")]
    Missing { what: String, advice: String },
    #[error("failed: {}", .0.join(", "))]
    Steps(Vec<&'static str>),
    #[error("the server ended in the middle of `{method}`")]
    ServerEnded { method: String },
    #[error("the server did not answer `{method}` within {} s", .after.as_secs())]
    ServerSilent { method: String, after: Duration },
    #[error("the server refused `{method}`: {message}")]
    ServerRefused { method: String, message: String },
    #[error("the tool {tool} failed: {message}")]
    Tool { tool: String, message: String },
    #[error("the outline has no {role} named {name:?}:\n{outline}")]
    NotInOutline { role: &'static str, name: &'static str, outline: String },
    #[error("the bare browser failed: {0}")]
    BareBrowser(String),
    #[error("{0}")]
    Expectation(String),
    #[error("these generated files are not up to date: {}; run `cargo xtask docs`", .0.join(", "))]
    Outdated(Vec<String>),
    #[error("docs/promises.md does not hold: {}", .0.join("; "))]
    Promises(Vec<String>),
}

/// Adds to an I/O error what was being done.
pub(crate) trait Doing<T> {
    /// `doing` completes the sentence "cannot …".
    fn doing(self, doing: impl FnOnce() -> String) -> Result<T, Problem>;
}

impl<T> Doing<T> for io::Result<T> {
    fn doing(self, doing: impl FnOnce() -> String) -> Result<T, Problem> {
        self.map_err(|source| Problem::Io { doing: doing(), source })
    }
}
