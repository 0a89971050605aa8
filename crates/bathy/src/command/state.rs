//! `bathy state export` and `bathy state import`.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use bathy_browser::{StorageFile, StorageFileError, StorageState, from_netscape};
use bathy_tools::{Code, Failure};
use clap::ArgMatches;
use serde_json::json;

use crate::config::Layers;
use crate::output;

/// What stands for standard input and output.
const STANDARD: &str = "-";

/// Writes what is kept to a new file, for its owner alone, or to standard output.
pub(super) fn export(matches: &ArgMatches, layers: &Layers) -> Result<ExitCode, Failure> {
    let kept = kept(layers)?;
    let state = kept.read().map_err(|error| unusable(&error))?.ok_or_else(|| {
        Failure::invalid(format_args!("{} is not there: nothing was kept so far", kept.path().display()))
            .with_hint("Sessions write it when they close; `bathy state import FILE` brings a state from elsewhere.")
    })?;
    let target = file(matches);
    if target == Path::new(STANDARD) {
        output::answer(state.to_text().trim_end());
        return Ok(ExitCode::SUCCESS);
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(&target).and_then(|mut file| file.write_all(state.to_text().as_bytes()));
    written.map_err(|error| {
        let hint = match error.kind() {
            io::ErrorKind::AlreadyExists => "Name a file that is not there yet.",
            _ => "Name a file in a folder that exists and can be written.",
        };
        Failure::new(Code::ActionFailed, format_args!("{} cannot be written: {error}", target.display()))
            .with_hint(hint)
    })?;
    tell(matches, "exported", &state, &target);
    Ok(ExitCode::SUCCESS)
}

/// Brings a state into what is kept.
pub(super) fn import(matches: &ArgMatches, layers: &Layers) -> Result<ExitCode, Failure> {
    let kept = kept(layers)?;
    let source = file(matches);
    let state = parse(&read(&source)?, &source)?;
    let (replace, brought) = (matches.get_flag("replace"), state.clone());
    kept.update(|known| {
        if replace {
            *known = StorageState::default();
        }
        known.merge(brought);
    })
    .map_err(|error| unusable(&error))?;
    tell(matches, "imported", &state, kept.path());
    Ok(ExitCode::SUCCESS)
}

fn kept(layers: &Layers) -> Result<StorageFile, Failure> {
    layers.config()?.storage_state.map(StorageFile::at).ok_or_else(|| {
        Failure::invalid("`storageStatePath` is not set, so there is nowhere to keep a state")
            .with_hint("Set it in ~/.config/bathysphere/config.toml, or give --storage-state-path FILE.")
    })
}

fn file(matches: &ArgMatches) -> PathBuf {
    matches.get_one::<PathBuf>("file").cloned().unwrap_or_default()
}

fn read(source: &Path) -> Result<String, Failure> {
    let text = if source == Path::new(STANDARD) {
        let mut text = String::new();
        io::stdin().lock().read_to_string(&mut text).map(|_| text)
    } else {
        fs::read_to_string(source)
    };
    text.map_err(|error| Failure::invalid(format_args!("{} cannot be read: {error}", source.display())))
}

/// Reads either format; a storage state is an object.
fn parse(text: &str, source: &Path) -> Result<StorageState, Failure> {
    let text = text.trim_start_matches('\u{feff}');
    let wrong = |problem: &dyn std::fmt::Display| {
        Failure::invalid(format_args!("{} cannot be imported: {problem}", source.display())).with_hint(
            "Give a file that Playwright's `storageState` wrote, or a cookies.txt in the Netscape format. Nothing was changed.",
        )
    };
    if text.trim_start().starts_with(['{', '[']) {
        StorageState::parse(text).map_err(|error| wrong(&error))
    } else {
        from_netscape(text).map_err(|error| wrong(&error))
    }
}

fn unusable(error: &StorageFileError) -> Failure {
    let failure = Failure::new(Code::ActionFailed, error);
    failure.with_hint(match error {
        StorageFileError::Damaged { .. } | StorageFileError::Foreign { .. } => {
            "The file was left as it is; repair it or move it away."
        }
        StorageFileError::Held { .. } => "Try again; if it stays so, look for a process that hangs.",
        StorageFileError::System { .. } => {
            "`storageStatePath` must name a plain file, in a folder that can be written."
        }
    })
}

fn tell(matches: &ArgMatches, done: &str, state: &StorageState, file: &Path) {
    let (cookies, origins) = state.counts();
    if matches.get_flag("json") {
        output::data(&json!({"cookies": cookies, "origins": origins, "file": file}));
    } else {
        let preposition = if done == "exported" { "to" } else { "into" };
        output::answer(format_args!("{done} {cookies} cookies and {origins} origins {preposition} {}", file.display()));
    }
}
