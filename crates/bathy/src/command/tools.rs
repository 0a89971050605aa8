//! `bathy tools`.

use std::process::ExitCode;

use clap::ArgMatches;
use serde_json::{Value, json};

use crate::output;

/// Lists the tools.
pub(super) fn run(matches: &ArgMatches) -> ExitCode {
    if matches.get_flag("json") {
        output::data(&catalogue());
        return ExitCode::SUCCESS;
    }
    for tool in bathy_tools::all() {
        output::answer(format_args!("{:22} {}", tool.name(), tool.description()));
    }
    ExitCode::SUCCESS
}

/// All that is known of every tool.
pub(super) fn catalogue() -> Value {
    let tools: Vec<Value> = bathy_tools::all()
        .into_iter()
        .map(|tool| {
            json!({
                "name": tool.name(),
                "aliases": tool.aliases(),
                "title": tool.title(),
                "description": tool.description(),
                "effect": tool.effect(),
                "hints": tool.hints(),
                "verb": tool.verb(),
                "default": tool.is_everyday(),
                "example": serde_json::from_str::<Value>(tool.example()).unwrap_or_default(),
                "inputSchema": tool.input_schema(),
                "outputSchema": tool.output_schema(),
            })
        })
        .collect();
    Value::Array(tools)
}
