//! The configuration: one table of keys, five layers, and what comes of them.
//!
//! Defaults < the user's file < `--config FILE` < `BATHY_*` < flags. Nothing is ever read from the working folder.

mod effective;
mod keys;
mod layers;

pub(crate) use effective::Config;
pub(crate) use keys::{KEYS, Key, Kind, Raw};
pub(crate) use layers::{Layers, Origin, Sources};

use bathy_tools::{Code, Failure};

/// Why the configuration cannot be used: the key, where it stands, what is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ConfigError {
    #[error("{origin} sets `{key}`, which is not a key{}", .near.as_ref().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default())]
    Unknown { key: String, origin: Origin, near: Option<String> },
    #[error("{origin} sets `{key}`, which this version does not support; leave it out")]
    NotYet { key: &'static str, origin: Origin },
    #[error("`{key}` from {origin} cannot be used: {reason}")]
    Value { key: &'static str, origin: Origin, reason: String },
    #[error("{path} cannot be read: {reason}")]
    File { path: String, reason: String },
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::new(Code::InvalidArgument, error)
            .with_hint("`bathy config show` prints every key; `bathy mcp --help` describes them.")
    }
}
