//! `bathy`: the command line of Bathysphere.

mod cli;
mod command;
mod config;
mod output;

use std::process::ExitCode;

fn main() -> ExitCode {
    command::run(std::env::args_os().collect())
}
