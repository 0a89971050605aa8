//! The generated half of `docs/`: written by the program itself, from the one definition of each tool and setting.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::command::{self, Profile, build_bathy, program, root};
use crate::problem::{Doing as _, Problem};

/// Writes the generated files under `docs/`, or with `check` compares them with those that are there.
pub(crate) fn run(check: bool) -> Result<(), Problem> {
    let bathy = build_bathy(Profile::Dev)?;
    let docs = root().join("docs");
    if !check {
        return generate(&bathy, &docs);
    }
    let fresh = tempfile::tempdir().doing(|| "make a temporary folder".to_owned())?;
    generate(&bathy, fresh.path())?;
    let mut outdated = Vec::new();
    for (name, content) in files(fresh.path())? {
        if fs::read(docs.join(&name)).ok().as_deref() != Some(&content) {
            outdated.push(format!("docs/{}", name.display()));
        }
    }
    if outdated.is_empty() { Ok(()) } else { Err(Problem::Outdated(outdated)) }
}

fn generate(bathy: &Path, folder: &Path) -> Result<(), Problem> {
    command::run(program(bathy).arg("__docs").arg(folder))
}

/// Every file below a folder: its path relative to it, and what it holds.
fn files(folder: &Path) -> Result<BTreeMap<PathBuf, Vec<u8>>, Problem> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(current) = waiting.pop() {
        let listing = || format!("list {}", current.display());
        for entry in fs::read_dir(&current).doing(listing)? {
            let path = entry.doing(listing)?.path();
            if path.is_dir() {
                waiting.push(path);
                continue;
            }
            let content = fs::read(&path).doing(|| format!("read {}", path.display()))?;
            let name = path.strip_prefix(folder).unwrap_or(&path).to_owned();
            found.insert(name, content);
        }
    }
    Ok(found)
}
