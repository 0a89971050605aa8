//! Processes and sockets of this machine as `/proc` shows them: what a browser leaves behind, takes and opens.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

/// The main process of the browser that carries this text in its arguments.
pub fn browser_naming(text: &str) -> Option<u32> {
    let is_main = |id: &u32| {
        let arguments = arguments(*id);
        arguments.iter().any(|argument| argument.contains(text))
            && !arguments.iter().any(|argument| argument.starts_with("--type="))
            && is_alive(*id)
    };
    all().find(is_main)
}

/// The processes that have this text in their arguments or environment.
pub fn naming(text: &str) -> Vec<u32> {
    let names = |id: u32, file: &str| {
        fs::read(format!("/proc/{id}/{file}"))
            .is_ok_and(|content| content.windows(text.len()).any(|part| part == text.as_bytes()))
    };
    all().filter(|id| names(*id, "cmdline") || names(*id, "environ")).collect()
}

/// A process and everything that lives below it.
pub fn tree(root: u32) -> BTreeSet<u32> {
    let with_parent = |id| Some((id, field(id, "PPid")?.parse().ok()?));
    let parents: Vec<(u32, u32)> = all().filter(|id| is_alive(*id)).filter_map(with_parent).collect();
    let mut found = BTreeSet::from([root]);
    loop {
        let before = found.len();
        found
            .extend(parents.iter().filter(|(_, parent)| found.contains(parent)).map(|(id, _)| *id).collect::<Vec<_>>());
        if found.len() == before {
            return found;
        }
    }
}

/// Everything that lives below a process.
pub fn below(root: u32) -> BTreeSet<u32> {
    let mut found = tree(root);
    found.remove(&root);
    found
}

/// Whether it is there and has not ended; one that only waits for its parent to take note has.
pub fn is_alive(id: u32) -> bool {
    field(id, "State").is_some_and(|state| !state.starts_with('Z'))
}

/// The arguments of a process. Chromium writes them anew, with spaces between them.
pub fn arguments(id: u32) -> Vec<String> {
    let line = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
    line.split(|byte| matches!(byte, 0 | b' ')).map(|part| String::from_utf8_lossy(part).into_owned()).collect()
}

/// A line of `/proc/ID/status`.
pub fn field(id: u32, name: &str) -> Option<String> {
    let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    Some(line.trim().to_owned())
}

/// What these processes take of the machine's memory, in bytes; what several share is counted in parts (PSS).
pub fn memory(ids: &BTreeSet<u32>) -> u64 {
    sum(ids, "Pss:")
}

/// What of it is their own, in bytes: not files, which they share with the browsers of other tests.
pub fn own_memory(ids: &BTreeSet<u32>) -> u64 {
    sum(ids, "Pss_Anon:")
}

/// The inodes of the sockets that listen in our network namespace.
pub fn listening() -> BTreeSet<u64> {
    listeners().into_iter().map(|(inode, _)| inode).collect()
}

/// The ports on which these sockets listen.
pub fn listening_ports(sockets: &BTreeSet<u64>) -> BTreeSet<u16> {
    listeners().into_iter().filter(|(inode, _)| sockets.contains(inode)).map(|(_, port)| port).collect()
}

/// The inodes of a process's sockets.
pub fn sockets(id: u32) -> BTreeSet<u64> {
    let descriptors = fs::read_dir(format!("/proc/{id}/fd")).into_iter().flatten();
    descriptors
        .flatten()
        .filter_map(|entry| {
            let target = fs::read_link(entry.path()).ok()?;
            target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
        })
        .collect()
}

/// Sends a signal by its name, such as `TERM`.
///
/// # Panics
/// Where there is no such process.
pub fn signal(name: &str, id: u32) {
    let status = Command::new("kill").args([&format!("-{name}"), &id.to_string()]).status();
    assert!(status.is_ok_and(|status| status.success()), "process {id} could not be sent {name}");
}

fn all() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn sum(ids: &BTreeSet<u32>, what: &str) -> u64 {
    let kilobytes = |id: &u32| -> Option<u64> {
        let rollup = fs::read_to_string(format!("/proc/{id}/smaps_rollup")).ok()?;
        let line = rollup.lines().find_map(|line| line.strip_prefix(what))?;
        line.trim().strip_suffix("kB")?.trim().parse().ok()
    };
    ids.iter().filter_map(kilobytes).sum::<u64>() << 10
}

/// Inode and port of each socket that listens.
fn listeners() -> Vec<(u64, u16)> {
    const LISTEN: &str = "0A";
    let of_line = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let port = words.get(1)?.rsplit_once(':')?.1;
        let listens = *words.get(3)? == LISTEN;
        let inode = words.get(9)?.parse().ok()?;
        listens.then_some((inode, u16::from_str_radix(port, 16).ok()?))
    };
    let tables = ["/proc/self/net/tcp", "/proc/self/net/tcp6"];
    let tables = tables.map(|table| fs::read_to_string(table).unwrap_or_default());
    tables.iter().flat_map(|table| table.lines().filter_map(of_line)).collect()
}
