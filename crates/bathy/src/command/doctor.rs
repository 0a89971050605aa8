//! `bathy doctor`.

use std::process::ExitCode;

use bathy_chromium::{Finding, MachineReport, Outcome, examine, find};
use bathy_tools::{Code, Failure};
use clap::ArgMatches;
use serde_json::{Value, json};

use crate::config::{Config, Layers};
use crate::output;

/// Says what this machine can do, and fails where the main job cannot run.
pub(super) async fn run(matches: &ArgMatches, layers: &Layers) -> Result<ExitCode, Failure> {
    let config = layers.config()?;
    let report =
        if matches.get_flag("noLaunch") { look(&config) } else { examine(&config.lookup(), config.containment).await };
    let verdict = verdict(&config, &report);
    if matches.get_flag("json") {
        let data = data(&report);
        output::answer(match &verdict {
            Ok(()) => json!({"ok": true, "data": data}),
            Err(failure) => json!({"ok": false, "error": failure.data(), "data": data}),
        });
    } else {
        tell(&report, &verdict);
    }
    Ok(verdict.map_or_else(|failure| output::exit_code(failure.code()), |()| ExitCode::SUCCESS))
}

/// Only looks for a browser.
fn look(config: &Config) -> MachineReport {
    let finding = match find(&config.lookup()) {
        Ok(executable) => Finding {
            name: "browser",
            outcome: Outcome::Good,
            detail: format!("{} ({}, by {})", executable.path().display(), executable.kind(), executable.source()),
            advice: None,
        },
        Err(error) => {
            Finding { name: "browser", outcome: Outcome::Bad, detail: error.to_string(), advice: Some(error.advice()) }
        }
    };
    MachineReport { findings: vec![finding], level: None }
}

fn verdict(config: &Config, report: &MachineReport) -> Result<(), Failure> {
    let Some(bad) = report.findings.iter().find(|finding| finding.outcome == Outcome::Bad) else {
        return Ok(());
    };
    let code = if find(&config.lookup()).is_err() { Code::MissingBinary } else { Code::LaunchFailed };
    let failure = Failure::new(code, format_args!("{}: {}", bad.name, bad.detail));
    Err(match &bad.advice {
        Some(advice) => failure.with_hint(format_args!("{advice}.")),
        None => failure,
    })
}

fn data(report: &MachineReport) -> Value {
    let findings: Vec<_> = report
        .findings
        .iter()
        .map(|finding| {
            json!({
                "name": finding.name,
                "outcome": finding.outcome.to_string(),
                "detail": finding.detail,
                "advice": finding.advice,
            })
        })
        .collect();
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "containment": report.level.map(|level| level.to_string()),
        "findings": findings,
    })
}

fn tell(report: &MachineReport, verdict: &Result<(), Failure>) {
    let width = report.findings.iter().map(|finding| finding.name.len()).max().unwrap_or_default();
    for finding in &report.findings {
        let mark = match finding.outcome {
            Outcome::Good => "ok  ",
            Outcome::Warning => "warn",
            Outcome::Bad => "BAD ",
        };
        output::answer(format_args!("{mark} {:width$}  {}", finding.name, finding.detail));
        if let Some(advice) = &finding.advice {
            output::answer(format_args!("     {:width$}  -> {advice}", ""));
        }
    }
    output::answer(match (verdict, report.level) {
        (Ok(()), Some(level)) => {
            format!("Pages can be opened; the browser is contained at the {level} level.")
        }
        (Ok(()), None) => "A browser is there; it was not started.".to_owned(),
        (Err(_), _) => "Pages cannot be opened until what is marked BAD is put right.".to_owned(),
    });
}
