//! Everything that has to hold before a change is merged.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::command::{cargo, program, root, run as run_command};
use crate::problem::{Doing as _, Problem};
use crate::{docs, promises, setup};

/// How long each fuzz target runs: enough to notice that it is broken or finds something at once.
const FUZZ_SECONDS: u32 = 6;

type Check = fn() -> Result<(), Problem>;

/// The checks in order; the cheap ones first.
const CHECKS: &[(&str, Check)] = &[
    ("setup", setup::everything),
    ("formatting", formatting),
    ("licences, bans and sources", deny),
    ("lints", lints),
    ("build", build),
    ("tests", tests),
    ("examples in documentation", doctests),
    ("documentation", documentation),
    ("generated documentation", || docs::run(true)),
    ("promises and their tests", promises::check),
    ("fuzzing", fuzzing),
];

/// Runs every check, also after one has failed, and tells at the end which did.
pub(crate) fn run() -> Result<(), Problem> {
    let mut results: Vec<(&'static str, Duration, Result<(), Problem>)> = Vec::new();
    for (name, check) in CHECKS {
        println!("\n== {name}");
        let started = Instant::now();
        let result = check();
        if let Err(problem) = &result {
            eprintln!("{name}: {problem}");
        }
        let took = started.elapsed();
        println!("== {name}: {} after {:.1} s", if result.is_ok() { "ok" } else { "FAILED" }, took.as_secs_f64());
        results.push((name, took, result));
    }
    summarize(&results)
}

fn summarize(results: &[(&'static str, Duration, Result<(), Problem>)]) -> Result<(), Problem> {
    println!("\nsummary");
    for (name, took, result) in results {
        let verdict = match result {
            Ok(()) => "ok".to_owned(),
            Err(problem) => format!("FAILED: {problem}"),
        };
        println!("  {name:<28} {:>7.1} s  {verdict}", took.as_secs_f64());
    }
    let failed: Vec<_> = results.iter().filter(|(.., result)| result.is_err()).map(|(name, ..)| *name).collect();
    if failed.is_empty() { Ok(()) } else { Err(Problem::Steps(failed)) }
}

/// Asks `rustfmt` about each file by itself, since `cargo fmt` sees only those that a `mod` line reaches.
fn formatting() -> Result<(), Problem> {
    let mut sources = Vec::new();
    for folder in ["crates", "xtask", "fuzz"] {
        collect_sources(&root().join(folder), &mut sources)?;
    }
    run_quietly(program("rustfmt").args(["--check", "--edition", "2024"]).args(&sources), "rustfmt --check")
}

fn collect_sources(folder: &Path, sources: &mut Vec<PathBuf>) -> Result<(), Problem> {
    let listing = || format!("list {}", folder.display());
    for entry in fs::read_dir(folder).doing(listing)? {
        let path = entry.doing(listing)?.path();
        if path.is_dir() {
            if !path.ends_with("target") {
                collect_sources(&path, sources)?;
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            sources.push(path);
        }
    }
    Ok(())
}

/// Runs a command whose arguments are too many to show.
fn run_quietly(command: &mut Command, name: &str) -> Result<(), Problem> {
    let status = command.status().doing(|| format!("start `{name}`"))?;
    let failed = || Problem::Command { command: name.to_owned(), status: status.to_string() };
    status.success().then_some(()).ok_or_else(failed)
}

/// Advisories need the network and change without us, so they are not part of the check.
fn deny() -> Result<(), Problem> {
    run_command(cargo().args(["deny", "--locked", "check", "--hide-inclusion-graph", "bans", "licenses", "sources"]))
}

fn lints() -> Result<(), Problem> {
    run_command(cargo().args(["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"]))
}

fn build() -> Result<(), Problem> {
    run_command(cargo().args(["build", "--workspace", "--locked"]))
}

fn tests() -> Result<(), Problem> {
    if setup::has_cargo_tool("cargo-nextest") {
        run_command(cargo().args(["nextest", "run", "--workspace", "--locked", "--no-fail-fast"]))
    } else {
        // Two at a time, as the test runner's configuration says of those that start browsers.
        run_command(cargo().args([
            "test",
            "--workspace",
            "--locked",
            "--lib",
            "--bins",
            "--tests",
            "--no-fail-fast",
            "--",
            "--test-threads",
            "2",
        ]))
    }
}

fn doctests() -> Result<(), Problem> {
    run_command(cargo().args(["test", "--workspace", "--locked", "--doc", "--quiet"]))
}

fn documentation() -> Result<(), Problem> {
    run_command(cargo().args(["doc", "--workspace", "--locked", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings"))
}

/// Runs each fuzz target for some seconds. `RUSTC_BOOTSTRAP` lets the pinned compiler take the sanitizer's flags.
fn fuzzing() -> Result<(), Problem> {
    let folder = root().join("fuzz/fuzz_targets");
    let mut targets = Vec::new();
    collect_sources(&folder, &mut targets)?;
    targets.sort();
    for target in targets.iter().filter_map(|path| path.file_stem()) {
        let limit = format!("-max_total_time={FUZZ_SECONDS}");
        run_command(cargo().env("RUSTC_BOOTSTRAP", "1").args(["fuzz", "run"]).arg(target).args([
            "--",
            &limit,
            "-timeout=5",
            "-verbosity=0",
        ]))?;
    }
    Ok(())
}
