//! Development tasks, run as `cargo xtask TASK`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a task talks to the person who started it")]

mod bench;
mod command;
mod demo;
mod docs;
mod mcp_client;
mod problem;
mod promises;
mod setup;
mod test;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::problem::Problem;

#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", about = "Development tasks of Bathysphere")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Show the main job: an agent orders from a small shop, and the shop fails to leak the order.
    Demo,
    /// Install what tests need and run all of them.
    Test,
    /// Measure the budgets against the bare protocol, side by side.
    Bench {
        /// How often each thing is measured.
        #[arg(long, default_value_t = 9)]
        rounds: usize,
    },
    /// Generate the reference pages and schemas under `docs/`.
    Docs {
        /// Change nothing; fail when a generated file is not up to date.
        #[arg(long)]
        check: bool,
    },
    /// Install what the other tasks need.
    Setup,
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(Arguments::parse().task).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("\nerror: {problem}");
            ExitCode::FAILURE
        }
    }
}

async fn run(task: Task) -> Result<(), Problem> {
    match task {
        Task::Demo => demo::run().await,
        Task::Test => test::run(),
        Task::Bench { rounds } => bench::run(rounds.max(1)).await,
        Task::Docs { check } => docs::run(check),
        Task::Setup => setup::everything(),
    }
}
