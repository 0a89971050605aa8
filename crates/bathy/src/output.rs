//! What the program prints: answers on standard output, everything else on standard error.

use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

use bathy_tools::{Code, Failure};
use serde_json::{Value, json};

/// Prints an answer. A reader that has gone away has seen what it wanted.
pub(crate) fn answer(text: impl fmt::Display) {
    let _ = writeln!(io::stdout().lock(), "{text}");
}

/// Prints data in the envelope of `--json`.
pub(crate) fn data(data: &Value) {
    answer(json!({"ok": true, "data": data}));
}

/// Prints a failure and gives what the program exits with.
pub(crate) fn failure(failure: &Failure, as_json: bool) -> ExitCode {
    if as_json {
        answer(json!({"ok": false, "error": failure.data()}));
    } else {
        let _ = writeln!(io::stderr().lock(), "bathy: {}. {}", failure.message(), failure.hint());
    }
    exit_code(failure.code())
}

/// What the program exits with for this code.
pub(crate) fn exit_code(code: Code) -> ExitCode {
    ExitCode::from(code.exit_code())
}
