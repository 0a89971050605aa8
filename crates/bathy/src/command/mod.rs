//! The commands, and what they have in common: arguments, configuration, a runtime, an exit code.

mod config;
mod docs;
mod doctor;
mod mcp;
mod state;
mod tools;

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use bathy_tools::{Code, Failure};
use clap::ArgMatches;
use clap::error::ErrorKind;
use tracing_subscriber::EnvFilter;

use crate::config::{Layers, Sources};
use crate::{cli, output};

/// How long tasks that are still there at the end may take to let go of what they hold.
const SHUTDOWN: Duration = Duration::from_millis(500);

/// Runs the program with these arguments.
pub(crate) fn run(arguments: Vec<OsString>) -> ExitCode {
    // Failures are answered in JSON even where the arguments cannot be understood.
    let as_json = arguments.iter().any(|argument| argument == "--json");
    let matches = match cli::command().try_get_matches_from(arguments) {
        Ok(matches) => matches,
        Err(error) => return misuse(&error, as_json),
    };
    start_log();
    match dispatch(&matches) {
        Ok(code) => code,
        Err(failure) => output::failure(&failure, as_json),
    }
}

fn dispatch(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    match matches.subcommand() {
        Some(("mcp", matches)) => block_on(mcp::run(&layers(matches)?)),
        Some(("doctor", matches)) => block_on(doctor::run(matches, &layers(matches)?)),
        Some(("tools", matches)) => Ok(tools::run(matches)),
        Some(("config", matches)) => match matches.subcommand() {
            Some(("show", matches)) => config::show(matches, &layers(matches)?),
            _ => Err(Failure::invalid("there is no such command")),
        },
        Some(("state", matches)) => match matches.subcommand() {
            Some(("export", matches)) => state::export(matches, &layers(matches)?),
            Some(("import", matches)) => state::import(matches, &layers(matches)?),
            _ => Err(Failure::invalid("there is no such command")),
        },
        Some(("completions", matches)) => Ok(completions(matches)),
        Some(("__docs", matches)) => {
            let directory = matches.get_one::<PathBuf>("directory").cloned().unwrap_or_default();
            docs::write(&directory)
        }
        _ => Err(Failure::invalid("there is no such command")),
    }
}

/// The configuration for a command that takes its flags.
fn layers(matches: &ArgMatches) -> Result<Layers, Failure> {
    let file = matches.get_one::<PathBuf>("config");
    let sources = Sources {
        file: file.map(PathBuf::as_path),
        variables: std::env::vars_os().collect(),
        flags: cli::given(matches),
    };
    Ok(Layers::read(sources)?)
}

fn block_on(work: impl Future<Output = Result<ExitCode, Failure>>) -> Result<ExitCode, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(Code::ActionFailed, format_args!("threads cannot be started: {error}")))?;
    let outcome = runtime.block_on(work);
    // A read of standard input that is not a pipe cannot be called off, so this does not wait for everything.
    runtime.shutdown_timeout(SHUTDOWN);
    outcome
}

fn start_log() {
    let filter = EnvFilter::try_from_env("BATHY_LOG").unwrap_or_else(|_| EnvFilter::new("warn,rmcp=error"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(|| output::Log).init();
}

fn misuse(error: &clap::Error, as_json: bool) -> ExitCode {
    let helpful = matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    );
    if helpful || !as_json {
        // A reader that has gone away has seen what it wanted.
        let _ = error.print();
        return if error.kind() == ErrorKind::DisplayHelp || error.kind() == ErrorKind::DisplayVersion {
            ExitCode::SUCCESS
        } else {
            output::exit_code(Code::InvalidArgument)
        };
    }
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
    output::failure(&Failure::invalid(first).with_hint("See `bathy --help`."), true)
}

fn completions(matches: &ArgMatches) -> ExitCode {
    if let Some(shell) = matches.get_one::<clap_complete::Shell>("shell") {
        clap_complete::generate(*shell, &mut cli::command(), "bathy", &mut io::stdout());
    }
    ExitCode::SUCCESS
}
