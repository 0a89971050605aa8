//! Code that tests run in a process of its own: as another user, in a namespace, or to be killed.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use bathy_chromium::{Containment, launch};

use crate::support::{Driven, PATIENCE, comes_true, options};

const ROLE: &str = "BATHY_TEST_ROLE";
const PARENT: &str = "BATHY_TEST_PARENT";

/// This test binary, to be run with one role; `before` is a program with arguments that runs it, or empty. Such a
/// program may change the user, so it gets a copy that everybody can reach.
pub(crate) fn command(before: &[&str], role: &str, parent: &Path) -> Command {
    let mut binary = std::env::current_exe().unwrap();
    if !before.is_empty() {
        let copy = parent.join("test-binary");
        std::fs::copy(binary, &copy).unwrap();
        binary = copy;
    }
    let mut words: Vec<&OsStr> = before.iter().map(OsStr::new).collect();
    words.push(binary.as_os_str());
    let mut command = Command::new(words[0]);
    command
        .args(&words[1..])
        .args(["--exact", "helper::process_of_its_own", "--ignored", "--nocapture"])
        .current_dir("/")
        .env(ROLE, role)
        .env(PARENT, parent)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Runs a role to its end and gives back what it said after `outcome:`.
pub(crate) fn outcome(before: &[&str], role: &str, parent: &Path) -> String {
    said(&command(before, role, parent).output().unwrap())
}

/// Like [`outcome`], as root of a user namespace with 65536 users in which at most `most` namespaces of a kind may be
/// made.
pub(crate) fn outcome_where(kind: &str, most: u32, role: &str, parent: &Path) -> String {
    // Root's capabilities come with exec, and only once root is mapped.
    let limit = format!("echo {most} > /proc/sys/user/max_{kind}_namespaces && exec \"$@\"");
    let wait = "read -r _; exec /bin/sh -c \"$0\" sh \"$@\"";
    let before = ["/usr/bin/unshare", "--user", "/bin/sh", "-c", wait, &limit];
    let mut child = command(&before, role, parent).stdin(Stdio::piped()).spawn().unwrap();
    let namespace = |of: &str| std::fs::read_link(format!("/proc/{of}/ns/user")).unwrap();
    let id = child.id().to_string();
    assert!(comes_true(PATIENCE, || namespace(&id) != namespace("self")));
    for map in ["uid_map", "gid_map"] {
        std::fs::write(format!("/proc/{id}/{map}"), "0 0 65536\n").unwrap();
    }
    child.stdin.take().unwrap().write_all(b"mapped\n").unwrap();
    said(&child.wait_with_output().unwrap())
}

fn said(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = said.lines().find_map(|line| Some(line.split_once("outcome: ")?.1.to_owned()));
    line.unwrap_or_else(|| panic!("{said}\n{}", String::from_utf8_lossy(&output.stderr)))
}

#[tokio::test]
#[ignore = "other tests run it in a process of its own"]
async fn process_of_its_own() {
    let Ok(role) = std::env::var(ROLE) else {
        return;
    };
    let parent = PathBuf::from(std::env::var_os(PARENT).unwrap());
    match role.as_str() {
        "launch and wait" => {
            let driven = Driven::launch(options(Containment::Auto, &parent)).await;
            say(&format!("{}", driven.id()));
            std::future::pending::<()>().await;
        }
        "launch and leave" => {
            let driven = Driven::launch(options(Containment::Auto, &parent)).await;
            std::mem::forget(driven);
        }
        containment => {
            let containment: Containment = containment.parse().unwrap();
            match launch(options(containment, &parent)).await {
                Ok(launched) => {
                    say(&format!("{}, {:?}", launched.level, launched.process.user_id()));
                    launched.process.close(PATIENCE).await;
                }
                Err(error) => say(&format!("{error}; {}", error.advice())),
            }
        }
    }
    // Whoever started us has read the outcome by then or never will.
    tokio::time::sleep(Duration::ZERO).await;
}

#[expect(clippy::print_stdout, reason = "it is how a helper answers")]
fn say(outcome: &str) {
    println!("outcome: {outcome}");
    std::io::stdout().flush().unwrap();
}
