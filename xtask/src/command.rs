//! Running other programs, and building ours.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::problem::{Doing as _, Problem};

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask).to_owned()
}

/// A program in the root of the workspace, without standard input, so that nothing can stop to ask.
pub(crate) fn program(name: impl Into<OsString>) -> Command {
    let mut command = Command::new(name.into());
    command.current_dir(root()).stdin(Stdio::null());
    command
}

/// The Cargo that runs this task.
pub(crate) fn cargo() -> Command {
    program(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Runs a command that talks to the terminal itself.
pub(crate) fn run(command: &mut Command) -> Result<(), Problem> {
    let shown = shown(command);
    println!("$ {shown}");
    let status = command.status().doing(|| format!("start `{shown}`"))?;
    if status.success() { Ok(()) } else { Err(Problem::Command { command: shown, status: status.to_string() }) }
}

/// Whether a command can be started and ends well; its output is not shown.
pub(crate) fn works(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// What a build of `bathy` is optimised for.
#[derive(Clone, Copy)]
pub(crate) enum Profile {
    /// Quick to build.
    Dev,
    /// Quick to run.
    Release,
}

/// Builds the program and gives its path.
pub(crate) fn build_bathy(profile: Profile) -> Result<PathBuf, Problem> {
    let mut command = cargo();
    command.args(["build", "--package", "bathy", "--message-format", "json-render-diagnostics"]);
    if matches!(profile, Profile::Release) {
        command.arg("--release");
    }
    command.stderr(Stdio::inherit());
    let shown = shown(&command);
    println!("$ {shown}");
    let output = command.output().doing(|| format!("start `{shown}`"))?;
    if !output.status.success() {
        return Err(Problem::Command { command: shown, status: output.status.to_string() });
    }
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter(|message| message["target"]["name"] == "bathy" && message["target"]["kind"][0] == "bin")
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
        .ok_or_else(|| Problem::Expectation(format!("`{shown}` named no executable")))
}

fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    std::iter::once(program)
        .chain(command.get_args())
        .map(|word| word.to_string_lossy().into_owned())
        .collect::<Vec<_>>()
        .join(" ")
}
