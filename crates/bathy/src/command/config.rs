//! `bathy config show`.

use std::process::ExitCode;

use bathy_tools::Failure;
use clap::ArgMatches;
use serde_json::{Value, json};

use crate::config::{KEYS, Layers};
use crate::output;

/// Prints every key with its value and where that comes from. Secrets are left out.
pub(super) fn show(matches: &ArgMatches, layers: &Layers) -> Result<ExitCode, Failure> {
    let config = layers.config()?;
    let rows = KEYS.iter().map(|key| (key.name, (key.show)(&config), layers.origin(key).to_string()));
    if matches.get_flag("json") {
        let rows = rows.map(|(name, value, origin)| (name.to_owned(), json!({"value": value, "origin": origin})));
        output::data(&Value::Object(rows.collect()));
        return Ok(ExitCode::SUCCESS);
    }
    for (name, value, origin) in rows {
        output::answer(format_args!("{name:22} {:30} ({origin})", if value.is_empty() { "-" } else { &value }));
    }
    Ok(ExitCode::SUCCESS)
}
