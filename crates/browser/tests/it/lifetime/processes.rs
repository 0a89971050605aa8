//! Processes as `/proc` shows them.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

/// The main process of the browser that carries this text in its arguments.
pub(crate) fn of_marker(marker: &str) -> Option<u32> {
    let main = |id: &u32| {
        let arguments = arguments(*id);
        arguments.iter().any(|argument| argument.contains(marker))
            && !arguments.iter().any(|argument| argument.starts_with("--type="))
            && is_alive(*id)
    };
    processes().find(main)
}

/// A process and everything below it.
pub(crate) fn tree(root: u32) -> BTreeSet<u32> {
    let parents: Vec<(u32, u32)> = processes().filter_map(|id| Some((id, field(id, "PPid")?.parse().ok()?))).collect();
    let mut found = BTreeSet::from([root]);
    loop {
        let before = found.len();
        for (id, parent) in &parents {
            if found.contains(parent) {
                found.insert(*id);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

/// The processes that have `text` in their arguments or environment.
pub(crate) fn processes_naming(text: &str) -> Vec<u32> {
    let names = |id: u32, file: &str| {
        fs::read(format!("/proc/{id}/{file}"))
            .is_ok_and(|content| content.windows(text.len()).any(|part| part == text.as_bytes()))
    };
    processes().filter(|id| names(*id, "cmdline") || names(*id, "environ")).collect()
}

pub(crate) fn is_alive(id: u32) -> bool {
    field(id, "State").is_some_and(|state| !state.starts_with('Z'))
}

/// The arguments of a process. Chromium writes them anew, with spaces between them.
pub(crate) fn arguments(id: u32) -> Vec<String> {
    let line = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
    line.split(|byte| matches!(byte, 0 | b' ')).map(|part| String::from_utf8_lossy(part).into_owned()).collect()
}

/// What these processes take of the machine's memory, in bytes; what several share is counted in parts (PSS).
pub(crate) fn memory(ids: &BTreeSet<u32>) -> u64 {
    sum(ids, "Pss:")
}

/// What of it is their own, in bytes: not files, which they share with the browsers of other tests.
pub(crate) fn own_memory(ids: &BTreeSet<u32>) -> u64 {
    sum(ids, "Pss_Anon:")
}

fn sum(ids: &BTreeSet<u32>, what: &str) -> u64 {
    let kilobytes = |id: &u32| -> Option<u64> {
        let rollup = fs::read_to_string(format!("/proc/{id}/smaps_rollup")).ok()?;
        let line = rollup.lines().find_map(|line| line.strip_prefix(what))?;
        line.trim().strip_suffix("kB")?.trim().parse().ok()
    };
    ids.iter().filter_map(kilobytes).sum::<u64>() << 10
}

/// The inodes of the sockets that listen in our network namespace.
pub(crate) fn listening() -> BTreeSet<u64> {
    listeners().map(|(inode, _)| inode).collect()
}

/// The ports on which these sockets listen.
pub(crate) fn listening_ports(sockets: &BTreeSet<u64>) -> BTreeSet<u16> {
    listeners().filter(|(inode, _)| sockets.contains(inode)).map(|(_, port)| port).collect()
}

fn listeners() -> impl Iterator<Item = (u64, u16)> {
    const LISTEN: &str = "0A";
    let tables = ["/proc/self/net/tcp", "/proc/self/net/tcp6"];
    let lines = tables.map(|table| fs::read_to_string(table).unwrap_or_default());
    let of_line = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let port = words.get(1)?.rsplit_once(':')?.1;
        let listens = *words.get(3)? == LISTEN;
        let inode = words.get(9)?.parse().ok()?;
        listens.then_some((inode, u16::from_str_radix(port, 16).ok()?))
    };
    lines.iter().flat_map(|table| table.lines().filter_map(of_line).collect::<Vec<_>>()).collect::<Vec<_>>().into_iter()
}

/// The inodes of a process's sockets.
pub(crate) fn sockets(id: u32) -> BTreeSet<u64> {
    let descriptors = fs::read_dir(format!("/proc/{id}/fd")).into_iter().flatten();
    descriptors
        .flatten()
        .filter_map(|entry| {
            let target = fs::read_link(entry.path()).ok()?;
            let inode = target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?;
            inode.parse().ok()
        })
        .collect()
}

pub(crate) fn kill(id: u32) {
    signal("KILL", id);
}

pub(crate) fn stop(id: u32) {
    signal("STOP", id);
}

pub(crate) fn resume(id: u32) {
    signal("CONT", id);
}

/// Waits until `condition` holds; what it takes is bounded, what it returns is whether it came to hold.
pub(crate) async fn comes_true(within: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let until = Instant::now() + within;
    while !condition() {
        if Instant::now() > until {
            return false;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    true
}

fn signal(name: &str, id: u32) {
    let status = Command::new("kill").args([&format!("-{name}"), &id.to_string()]).status().unwrap();
    assert!(status.success(), "process {id} could not be sent {name}");
}

fn processes() -> impl Iterator<Item = u32> {
    fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// A line of `/proc/ID/status`.
fn field(id: u32, name: &str) -> Option<String> {
    let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    Some(line.trim().to_owned())
}
