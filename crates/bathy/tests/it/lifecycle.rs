//! Starting, ending and dying.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bathy_testsite::processes::{arguments, below, field, is_alive, listening, signal, sockets, tree};
use bathy_testsite::{SmallDisk, TestSite};
use serde_json::json;

use crate::client::{Client, folder};

/// What the product promises after a sudden death.
const AFTER_DEATH: Duration = Duration::from_secs(3);

fn names(folder: &Path) -> Vec<String> {
    fs::read_dir(folder).unwrap().flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Waits until nothing of the server is left: no process, no file.
async fn nothing_left(processes: &BTreeSet<u32>, temporary: &Path) {
    let begun = Instant::now();
    loop {
        let (alive, left): (Vec<_>, _) =
            (processes.iter().filter(|process| is_alive(**process)).collect(), names(temporary));
        if alive.is_empty() && left.is_empty() {
            return;
        }
        assert!(begun.elapsed() < AFTER_DEATH, "left: {alive:?} {left:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// A server that has a page open, all its processes, and the folder for its temporary files.
async fn at_work(site: &TestSite) -> (Client, BTreeSet<u32>, tempfile::TempDir) {
    let temporary = folder();
    let mut client = Client::start_with(&["--allow-private-network"], &[("TMPDIR", temporary.path())]);
    client.initialize().await;
    client.ok("browser_navigate", json!({"url": site.url("forms/order.html")})).await;
    client.ok("browser_screenshot", json!({})).await;
    let processes = below(client.id());
    assert!(processes.len() > 2, "{processes:?}");
    (client, processes, temporary)
}

#[tokio::test]
async fn a_host_that_closes_the_input_or_sends_a_signal_gets_a_clean_end() {
    let site = TestSite::start().await;
    for way in ["input", "TERM", "INT"] {
        let (mut client, processes, temporary) = at_work(&site).await;
        let begun = Instant::now();
        match way {
            "input" => client.end_input(),
            signal_name => signal(signal_name, client.id()),
        }
        assert_eq!(client.exit_code().await, Some(0), "{way}");
        assert!(begun.elapsed() < AFTER_DEATH, "{way}: {:?}", begun.elapsed());
        nothing_left(&processes, temporary.path()).await;
    }
}

#[tokio::test]
async fn the_end_does_not_wait_for_a_call_that_runs() {
    let site = TestSite::start().await;
    let (mut client, processes, temporary) = at_work(&site).await;
    client.send_call("browser_navigate", json!({"url": site.url("slow?ms=20000")})).await;
    site.wait_request(|request| request.path.contains("slow"), Duration::from_secs(5)).await.unwrap();
    let begun = Instant::now();
    signal("TERM", client.id());
    assert_eq!(client.exit_code().await, Some(0));
    assert!(begun.elapsed() < AFTER_DEATH, "{:?}", begun.elapsed());
    nothing_left(&processes, temporary.path()).await;
}

#[tokio::test]
async fn a_server_that_is_killed_leaves_nothing() {
    let site = TestSite::start().await;
    let (client, processes, temporary) = at_work(&site).await;
    signal("KILL", client.id());
    nothing_left(&processes, temporary.path()).await;
}

#[tokio::test]
async fn a_server_that_is_killed_amid_downloads_leaves_no_part_of_them() {
    let site = TestSite::start().await;
    let (temporary, artifacts) = (folder(), folder());
    let kept = artifacts.path().join("kept");
    let flags = ["--allow-private-network", "--artifacts-dir", kept.to_str().unwrap()];
    let mut client = Client::start_with(&flags, &[("TMPDIR", temporary.path())]);
    client.initialize().await;
    client.ok("browser_navigate", json!({"url": site.url("files/plain.bin")})).await;
    client.ok("browser_downloads", json!({"wait": true})).await;
    // One trickles, and one that is large has come and may be on its way to its place.
    client.ok("browser_navigate", json!({"url": site.url("files/slow.bin?pieces=100000&size=1000&ms=20")})).await;
    client.ok("browser_navigate", json!({"url": site.url("download/large.bin?bytes=200000000")})).await;
    let staged = || {
        let files = walk(temporary.path());
        files.iter().any(|(path, size)| *size > 0 && path.components().any(|part| part.as_os_str() == "downloads"))
    };
    let begun = Instant::now();
    while !staged() {
        assert!(begun.elapsed() < AFTER_DEATH * 3, "{:?}", walk(temporary.path()));
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let processes = below(client.id());
    signal("KILL", client.id());
    nothing_left(&processes, temporary.path()).await;
    for name in names(&kept) {
        let bytes = fs::metadata(kept.join(&name)).unwrap().len();
        let whole = [("plain.bin", 1000), ("large.bin", 200_000_000)];
        assert!(whole.contains(&(name.as_str(), bytes)), "{name} of {bytes} bytes");
    }
    assert!(names(&kept).contains(&"plain.bin".to_owned()));
}

#[tokio::test]
async fn a_download_that_fills_the_disk_is_told_leaves_nothing_and_the_session_goes_on() {
    let Some(disk) = SmallDisk::mount(120_000).unwrap() else { return };
    let site = TestSite::start().await;
    let artifacts = folder();
    let flags = ["--allow-private-network", "--artifacts-dir", artifacts.path().to_str().unwrap()];
    let mut client = Client::start_with(&flags, &[("TMPDIR", disk.path())]);
    client.initialize().await;
    client.ok("browser_navigate", json!({"url": site.url("forms/order.html")})).await;
    // Where the browser writes downloads before they are ours.
    client.ok("browser_navigate", json!({"url": site.url("files/slow.bin?pieces=400&size=1000000&ms=10")})).await;
    let told = client.ok("browser_downloads", json!({"wait": true})).await;
    assert!(told.contains("download 0: failed: the disk is full"), "{told}");
    let begun = Instant::now();
    let staged = || walk(disk.path()).into_iter().filter(|(path, _)| path.to_string_lossy().contains("/downloads/"));
    while staged().next().is_some() {
        assert!(begun.elapsed() < AFTER_DEATH, "{:?}", staged().collect::<Vec<_>>());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(names(artifacts.path()), Vec::<String>::new());
    client.ok("browser_navigate", json!({"url": site.url("files/plain.bin")})).await;
    let told = client.ok("browser_downloads", json!({"wait": true})).await;
    assert!(told.contains("download 1: completed, 1000 bytes"), "{told}");
    let page = client.ok("browser_read_text", json!({})).await;
    assert!(page.contains("order.html"), "{page}");
    assert_eq!(names(artifacts.path()), ["plain.bin"]);
    client.end_input();
    client.exit_code().await;
}

/// All files below a folder, with their sizes.
fn walk(folder: &Path) -> Vec<(PathBuf, u64)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        // What goes away meanwhile is not there.
        let Ok(data) = entry.metadata() else { continue };
        if data.is_dir() {
            found.extend(walk(&entry.path()));
        } else {
            found.push((entry.path(), data.len()));
        }
    }
    found
}

#[tokio::test]
async fn a_server_that_never_spoke_ends_cleanly_too() {
    let mut client = Client::start(&[]);
    client.end_input();
    assert_eq!(client.exit_code().await, Some(0));
}

#[tokio::test]
async fn a_browser_that_is_killed_gives_one_clear_error_and_then_works() {
    let site = TestSite::start().await;
    let (mut client, processes, _temporary) = at_work(&site).await;
    let is_browser =
        |id: &u32| field(*id, "Name").is_some_and(|name| name.contains("chrom") || name.contains("headless"));
    // The children of one that was killed may be gone before it is their turn.
    let browser = processes.into_iter().find(is_browser).unwrap();
    signal("KILL", browser);
    let failure = client.err("browser_read_text", json!({})).await;
    assert!(failure.starts_with("BROWSER_CLOSED"), "{failure}");
    let answer = client.ok("browser_navigate", json!({"url": site.url("forms/order.html")})).await;
    assert!(answer.contains("order.html"), "{answer}");
}

#[tokio::test]
async fn without_a_browser_the_server_lives_and_recovers_once_there_is_one() {
    let folder = folder();
    let program = folder.path().join("chromium-headless-shell");
    let flags = ["--allow-private-network", "--executable-path", program.to_str().unwrap()];
    let site = TestSite::start().await;
    let begun = Instant::now();
    let mut client = Client::start(&flags);
    client.initialize().await;
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    let failure = client.err("browser_navigate", json!({"url": site.url("act/nothing.html")})).await;
    assert!(
        failure.starts_with("BROWSER_MISSING_BINARY: ") && failure.contains("Nothing has to be restarted"),
        "{failure}"
    );
    client.ok("browser_session_list", json!({})).await;
    let found = bathy_chromium::find(&bathy_chromium::Lookup::of_this_process()).unwrap();
    // A script passes the arguments on, whatever program is there.
    fs::write(&program, format!("#!/bin/sh\nexec '{}' \"$@\"\n", found.path().display())).unwrap();
    fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    client.ok("browser_navigate", json!({"url": site.url("act/nothing.html")})).await;
}

#[tokio::test]
async fn nothing_listens_on_the_machine() {
    let site = TestSite::start().await;
    let mut client = Client::open_with(&["--allow-private-network", "--containment", "kernel"]).await;
    client.ok("browser_navigate", json!({"url": site.url("forms/order.html")})).await;
    // In our network namespace; the gate listens in the browser's.
    let listening = listening();
    assert!(!listening.is_empty(), "the test site listens, for one");
    for process in tree(client.id()) {
        let common: Vec<u64> = sockets(process).intersection(&listening).copied().collect();
        assert!(common.is_empty(), "{:?} listens on {:?}", arguments(process), common);
    }
}
