//! The table of promises in `docs/promises.md`: each row names the tests that hold it, and each test is there.

use std::fs;
use std::path::Path;

use crate::command::root;
use crate::problem::{Doing as _, Problem};

/// Fails where a row of the table names no test, or one that does not exist.
pub(crate) fn check() -> Result<(), Problem> {
    let path = root().join("docs/promises.md");
    let table = fs::read_to_string(&path).doing(|| format!("read {}", path.display()))?;
    let faults: Vec<_> = rows(&table).flat_map(|row| faults(row, path.parent().unwrap_or(&path))).collect();
    if faults.is_empty() { Ok(()) } else { Err(Problem::Promises(faults)) }
}

/// The rows of all tables in a Markdown page, without their headings.
fn rows(page: &str) -> impl Iterator<Item = &str> {
    let mut lines = page.lines().peekable();
    std::iter::from_fn(move || {
        loop {
            let line = lines.next()?;
            let heading = lines.peek().is_some_and(|next| next.starts_with("|---"));
            if line.starts_with('|') && !line.starts_with("|---") && !heading {
                return Some(line);
            }
        }
    })
}

/// What is wrong with a row.
fn faults(row: &str, folder: &Path) -> Vec<String> {
    let tests = links(row);
    if tests.is_empty() {
        return vec![format!("no test is named in: {row}")];
    }
    let missing = |(name, file): &(&str, &str)| {
        let source = fs::read_to_string(folder.join(file)).unwrap_or_default();
        (!source.contains(&format!("fn {name}("))).then(|| format!("there is no test {name} in {file}"))
    };
    tests.iter().filter_map(missing).collect()
}

/// The links of a row: the name of a test and the file that it stands in, relative to the page.
fn links(row: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut rest = row;
    while let Some((_, after)) = rest.split_once("[`") {
        let Some((name, after)) = after.split_once("`](") else { break };
        let Some((file, after)) = after.split_once(')') else { break };
        found.push((name, file));
        rest = after;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_without_a_test_and_a_test_that_is_not_there_are_told() {
        let page = "# x\n\n| promise | held by |\n|---|---|\n| a | [`links`](promises.rs), [`gone`](promises.rs) |\n\
                    | b | |\n\ntext | with | bars\n";
        let folder = root().join("xtask/src");
        let found: Vec<_> = rows(page).flat_map(|row| faults(row, &folder)).collect();
        assert_eq!(found, ["there is no test gone in promises.rs", "no test is named in: | b | |"]);
    }
}
