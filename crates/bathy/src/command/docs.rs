//! `bathy __docs`: the reference documentation, written from the definitions that the program runs on.

use std::fmt::Write;
use std::fs;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use bathy_tools::{Code, Failure, Tool};
use serde_json::{Map, Value};

use super::tools;
use crate::config::{Config, KEYS, Kind};

/// Writes `tools.md`, `configuration.md` and `schema/tools.json` into a folder, the same bytes every time.
pub(super) fn write(directory: &Path) -> Result<ExitCode, Failure> {
    let schema = directory.join("schema");
    let put = |path: &Path, text: &str| {
        fs::write(path, text).map_err(|error| {
            Failure::new(Code::ActionFailed, format_args!("{} cannot be written: {error}", path.display()))
        })
    };
    fs::create_dir_all(&schema).map_err(|error: io::Error| {
        Failure::new(Code::ActionFailed, format_args!("{} cannot be made: {error}", schema.display()))
    })?;
    put(&directory.join("tools.md"), &tools_page())?;
    put(&directory.join("configuration.md"), &configuration_page())?;
    put(&schema.join("tools.json"), &format!("{:#}\n", tools::catalogue()))?;
    Ok(ExitCode::SUCCESS)
}

// Writing to a string does not fail, here and below.
fn tools_page() -> String {
    let mut page =
        "# Tools\n\nWritten by `cargo xtask docs` from the definitions; changes here are lost.\n\n".to_owned();
    page.push_str(
        "Every answer names its `session`. Text of a page stands between two lines with a fresh random mark, which say \
         that it is untrusted. `ref` is a handle such as `@e12` out of an outline.\n\n",
    );
    page.push_str("| tool | what it does | effect | default |\n|---|---|---|---|\n");
    for tool in bathy_tools::all() {
        let (name, default) = (tool.name(), if tool.is_everyday() { "yes" } else { "" });
        let effect = serde_json::to_value(tool.effect()).unwrap_or_default();
        let effect = effect.as_str().unwrap_or_default();
        let _ = writeln!(page, "| [`{name}`](#{name}) | {} | {effect} | {default} |", tool.description());
    }
    for tool in bathy_tools::all() {
        tool_section(&mut page, tool);
    }
    page.push_str("\n## Errors\n\nA failed call reads `CODE: what happened. Hint: what to do.`\n\n");
    page.push_str("| code | exit code | worth trying again | hint |\n|---|---|---|---|\n");
    for code in Code::all() {
        let again = if code.retryable() { "yes" } else { "" };
        let _ = writeln!(page, "| `{code}` | {} | {again} | {} |", code.exit_code(), code.hint());
    }
    page
}

fn tool_section(page: &mut String, tool: &Tool) {
    let _ = writeln!(page, "\n## {}\n\n{}", tool.name(), tool.description());
    for alias in tool.aliases() {
        let _ = writeln!(page, "\nAlso called `{alias}`.");
    }
    let _ = writeln!(page, "\nExample: `{}`\n\n| argument | | |\n|---|---|---|", tool.example());
    let schema = tool.input_schema();
    for (name, property) in properties(schema) {
        let needed = schema.get("required").and_then(Value::as_array);
        let needed = needed.is_some_and(|names| names.iter().any(|needed| needed == name));
        let about = property.get("description").and_then(Value::as_str).unwrap_or_default();
        let needed = if needed { ", required" } else { "" };
        let _ = writeln!(page, "| `{name}` | {}{needed} | {about} |", type_of(property));
    }
    let schema = tool.output_schema();
    let fields: Vec<_> =
        properties(&schema).map(|(name, property)| format!("`{name}` ({})", type_of(property))).collect();
    let _ = writeln!(page, "\nResult: {}.", fields.join(", "));
}

fn properties(schema: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}

fn type_of(schema: &Value) -> String {
    if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
        let choices: Vec<_> = choices.iter().filter_map(Value::as_str).map(|choice| format!("`{choice}`")).collect();
        return choices.join(", ");
    }
    let name = schema.get("type").and_then(Value::as_str).unwrap_or("object");
    match (schema.get("minimum"), schema.get("maximum")) {
        (Some(least), Some(most)) => format!("{name} from {least} to {most}"),
        (Some(least), None) => format!("{name} of at least {least}"),
        _ => match schema.get("items") {
            Some(items) => format!("{name} of {}", type_of(items)),
            None => name.to_owned(),
        },
    }
}

fn configuration_page() -> String {
    let mut page =
        "# Configuration\n\nWritten by `cargo xtask docs` from the table of keys; changes here are lost.\n\n"
            .to_owned();
    page.push_str(
        "Later layers win: defaults, `~/.config/bathysphere/config.toml`, `--config FILE`, environment, flags. Nothing is \
         read from the working folder. A key that is not known, or a value that cannot be used, stops the start. \
         `bathy config show` prints what is in force and where it comes from.\n\n",
    );
    page.push_str("| key | flag | environment | value | default | meaning |\n|---|---|---|---|---|---|\n");
    let defaults = Config::default();
    for key in KEYS {
        let default = (key.show)(&defaults);
        let default = if default.is_empty() { String::new() } else { format!("`{default}`") };
        let value = match key.kind {
            Kind::List => "list; in flags and environment separated by commas".to_owned(),
            kind => kind.words(),
        };
        let about = key.about.replace('|', "\\|");
        let _ = writeln!(
            page,
            "| `{}` | `--{}` | `{}` | {value} | {default} | {about} |",
            key.name,
            key.flag(),
            key.variable()
        );
    }
    page.push_str(
        "\nBesides, `BATHY_LOG` filters the log on standard error (such as `debug` or `bathy_egress=trace`), \
         `BATHY_EXECUTABLE` and `DSH_BROWSER_EXECUTABLE` name a browser where `executablePath` does not, and \
         `DSH_BROWSER_PROXY` is the proxy where `proxyServer` is not set.\n",
    );
    page
}
