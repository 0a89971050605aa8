//! What the program prints: answers on standard output, everything else on standard error.

use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::OnceLock;

use bathy_tools::{Code, Failure, Secrets};
use serde_json::{Value, json};

/// The secrets that the log must not tell.
static SECRETS: OnceLock<Secrets> = OnceLock::new();

/// Keeps these secrets out of the log from now on.
pub(crate) fn mask_log(secrets: Secrets) {
    // Set by the one command that knows secrets, once.
    let _ = SECRETS.set(secrets);
}

/// Where the log goes: standard error, since standard output belongs to MCP and to answers.
pub(crate) struct Log;

impl Write for Log {
    // The log hands over whole lines.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match SECRETS.get() {
            Some(secrets) => io::stderr().write_all(secrets.mask(&String::from_utf8_lossy(bytes)).as_bytes())?,
            None => io::stderr().write_all(bytes)?,
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

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
