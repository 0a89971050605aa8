//! The command line.

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

use crate::config::{KEYS, Kind, Raw};

/// The whole command line.
pub(crate) fn command() -> Command {
    let json = || Arg::new("json").long("json").action(ArgAction::SetTrue).help("Answer as JSON, failures included");
    Command::new("bathy")
        .version(env!("CARGO_PKG_VERSION"))
        .about("A real Chromium for agents, sealed in a hull with one way out")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            configured(Command::new("mcp"))
                .about("Serve MCP on standard input and output")
                .long_about(
                    "Serve MCP on standard input and output. The browser and the gate run in this process and end with \
                     it; a shared daemon is not part of this version, so --embedded changes nothing yet.",
                )
                .arg(
                    Arg::new("embedded")
                        .long("embedded")
                        .action(ArgAction::SetTrue)
                        .help("Run the engine in this process, as this version always does"),
                ),
        )
        .subcommand(
            configured(Command::new("doctor"))
                .about("Say what this machine can do, and what to change")
                .arg(json())
                .arg(
                    Arg::new("noLaunch")
                        .long("no-launch")
                        .action(ArgAction::SetTrue)
                        .help("Only look for a browser, do not start it"),
                ),
        )
        .subcommand(Command::new("tools").about("List the tools").arg(json()))
        .subcommand(
            Command::new("config").about("Look at the configuration").subcommand_required(true).subcommand(
                configured(Command::new("show"))
                    .about("Print every key with its value and where that comes from")
                    .arg(json()),
            ),
        )
        .subcommand(state())
        .subcommand(
            Command::new("completions")
                .about("Print completions for a shell")
                .arg(Arg::new("shell").required(true).value_parser(value_parser!(clap_complete::Shell))),
        )
        .subcommand(Command::new("__docs").hide(true).about("Write the reference documentation and the schemas").arg(
            Arg::new("directory").value_name("DIR").required(true).value_parser(value_parser!(std::path::PathBuf)),
        ))
}

/// The commands for the file that sessions keep their cookies and storage in.
fn state() -> Command {
    let json = || Arg::new("json").long("json").action(ArgAction::SetTrue).help("Answer as JSON, failures included");
    let file = || Arg::new("file").value_name("FILE").required(true).value_parser(value_parser!(std::path::PathBuf));
    Command::new("state")
        .about("Bring cookies and storage into storageStatePath, or take them out")
        .subcommand_required(true)
        .subcommand(
            configured(Command::new("export"))
                .about("Write what is kept to a file that is not there yet, or to standard output")
                .arg(file().help("The file, or - for standard output"))
                .arg(json()),
        )
        .subcommand(
            configured(Command::new("import"))
                .about("Add cookies and storage from a file of Playwright's, or cookies from a cookies.txt")
                .arg(file().help("The file, or - for standard input"))
                .arg(
                    Arg::new("replace")
                        .long("replace")
                        .action(ArgAction::SetTrue)
                        .help("Forget what is kept; without it, what the file does not have stays"),
                )
                .arg(json()),
        )
}

/// Adds a flag for each key of the configuration.
fn configured(command: Command) -> Command {
    let file = Arg::new("config")
        .long("config")
        .value_name("FILE")
        .value_parser(value_parser!(std::path::PathBuf))
        .help_heading("Configuration")
        .help("A file of keys, after ~/.config/bathysphere/config.toml");
    KEYS.iter().fold(command.arg(file), |command, key| {
        let arg = Arg::new(key.name).long(key.flag()).help_heading("Configuration").help(key.about);
        let once = |arg: Arg| arg.action(ArgAction::Set).overrides_with(key.name);
        command.arg(match key.kind {
            // A flag alone means true; a value stands behind an equals sign, so that it can't swallow what follows.
            Kind::Flag => once(arg)
                .num_args(0..=1)
                .require_equals(true)
                .default_missing_value("true")
                .value_name("BOOL")
                .value_parser(PossibleValuesParser::new(["true", "false"])),
            Kind::Number { .. } => once(arg).value_name("NUMBER").allow_negative_numbers(true),
            Kind::List => arg.value_name("A,B").action(ArgAction::Append),
            Kind::Text => once(arg).value_name("TEXT"),
            Kind::Path => once(arg).value_name("PATH"),
        })
    })
}

/// The keys that flags give, each with its raw value.
pub(crate) fn given(matches: &ArgMatches) -> Vec<(&'static str, String)> {
    KEYS.iter()
        .filter_map(|key| {
            let values: Vec<&String> = matches.try_get_many::<String>(key.name).ok().flatten()?.collect();
            let text = values.iter().map(|value| value.as_str()).collect::<Vec<_>>().join(Raw::SEPARATOR);
            Some((key.name, text))
        })
        .collect()
}
