//! Owners side by side, and what is left of those that went away.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bathy_testsite::processes::{arguments, below, listening, sockets};
use bathy_tools::{Code, Settings};
use serde_json::json;

use crate::support::{Stage, call, session_of};

const PATIENCE: Duration = Duration::from_secs(10);

#[tokio::test(flavor = "multi_thread")]
async fn eight_owners_with_twenty_steps_each_never_see_each_other() {
    let stage = Stage::set().await;
    let mut owners = tokio::task::JoinSet::new();
    for client in 0..8 {
        let owner = stage.toolbox.owner();
        let (set, echo) = (stage.site.url(&format!("cookie/set?client=c{client}")), stage.site.url("echo.html"));
        owners.spawn(async move {
            let session = session_of(&call(&owner, "browser_navigate", json!({"url": set})).await.unwrap());
            for step in 0..20 {
                let url = format!("{echo}?step={step}-of-{client}");
                let answer = call(&owner, "browser_navigate", json!({"url": url})).await.unwrap();
                assert_eq!((session_of(&answer), answer.data["url"].as_str()), (session.clone(), Some(url.as_str())));
                let text = answer.text;
                assert!(text.contains(&format!("step={step}-of-{client}")), "{text}");
                assert!(text.contains(&format!("client=c{client}")), "{text}");
                assert!((0..8).all(|other| other == client || !text.contains(&format!("client=c{other}"))), "{text}");
            }
        });
    }
    while let Some(done) = owners.join_next().await {
        done.unwrap();
    }
    stage.toolbox.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_load_of_one_owner_or_session_holds_up_no_other() {
    let stage = Stage::set().await;
    let quick = stage.site.url("act/nothing.html");
    let stranger = stage.toolbox.owner();
    let busy = session_of(&stage.ok("browser_navigate", json!({"url": quick})).await);
    let second = session_of(&stage.ok("browser_session_start", json!({"url": quick})).await);
    call(&stranger, "browser_navigate", json!({"url": quick})).await.unwrap();
    let hang = json!({"url": stage.site.url("hang"), "session": busy, "timeoutMs": 60_000});
    let held = tokio::spawn(call(&stage.owner, "browser_navigate", hang));
    assert!(stage.site.wait_request(|request| request.path == "/hang", PATIENCE).await.is_some());
    let begun = Instant::now();
    for _ in 0..3 {
        stage.ok("browser_navigate", json!({"url": quick, "session": second})).await;
        call(&stranger, "browser_navigate", json!({"url": quick})).await.unwrap();
    }
    assert!(begun.elapsed() < PATIENCE && !held.is_finished(), "{:?}", begun.elapsed());
    held.abort();
    stage.toolbox.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_tool_reaches_a_session_of_another_owner() {
    let stage = Stage::set().await;
    let url = stage.site.url("act/nothing.html");
    let session = session_of(&stage.ok("browser_navigate", json!({"url": url})).await);
    let stranger = stage.toolbox.owner();
    for (tool, arguments) in [
        ("browser_navigate", json!({"url": url})),
        ("browser_navigate_background", json!({"url": url})),
        ("browser_tab_new", json!({})),
        ("browser_tab_list", json!({})),
        ("browser_tab_select", json!({"index": 0})),
        ("browser_tab_close", json!({})),
        ("browser_jobs", json!({})),
        ("browser_read_text", json!({})),
        ("browser_screenshot", json!({})),
        ("browser_session_stop", json!({})),
        ("browser_session_list", json!({})),
    ] {
        let mut arguments = arguments;
        arguments["session"] = json!(session);
        let failure = call(&stranger, tool, arguments).await.unwrap_err();
        assert_eq!(failure.code(), Code::NoSuchSession, "{tool}: {failure}");
    }
    // Closing is idempotent, and the same whether a session never was or is somebody else's.
    call(&stranger, "browser_close", json!({"session": session})).await.unwrap();
    assert_eq!(stage.ok("browser_tab_list", json!({})).await.data["tabs"].as_array().unwrap().len(), 1);
    stage.toolbox.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_owners_that_vanish_leave_nothing_in_the_browser() {
    let stage = Stage::set().await;
    let page = stage.site.page("<title>Here</title>");
    stage.ok("browser_navigate", json!({"url": page})).await;
    let before = renderers();
    let hang = stage.site.url("hang");
    for round in 1..=10 {
        let mut owners = tokio::task::JoinSet::new();
        for client in 0..5 {
            let owner = stage.toolbox.owner();
            let arguments = if client == 0 { json!({"url": hang}) } else { json!({}) };
            owners.spawn(async move { call(&owner, "browser_session_start", arguments).await.map(drop) });
        }
        // Some vanish between two calls, one in the middle of a load.
        let done = async {
            for _ in 1..5 {
                owners.join_next().await.unwrap().unwrap().unwrap();
            }
            let hanging = || stage.site.requests().iter().filter(|request| request.path == "/hang").count();
            while hanging() < round {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(PATIENCE, done).await.unwrap();
    }
    let begun = Instant::now();
    while renderers() > before + 1 {
        assert!(begun.elapsed() < PATIENCE, "{before} renderers became {}", renderers());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(stage.ok("browser_read_text", json!({})).await.data["title"], "Here");
    stage.toolbox.close().await;
}

/// How many pages the browsers of this process show, each in a process of its own.
fn renderers() -> usize {
    let is_renderer = |id: &u32| arguments(*id).iter().any(|argument| argument == "--type=renderer");
    below(std::process::id()).iter().filter(|id| is_renderer(id)).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pause_between_calls_loses_nothing_and_each_call_begins_it_anew() {
    let settings = Settings { session_idle: Duration::from_millis(1500), ..Settings::default() };
    let stage = Stage::with(settings, None).await;
    let url = stage.site.page("<title>Still here</title>");
    let session = session_of(&stage.ok("browser_navigate", json!({"url": url})).await);
    for _ in 0..3 {
        tokio::time::sleep(Duration::from_millis(700)).await;
        let answer = stage.ok("browser_read_text", json!({})).await;
        assert_eq!((session_of(&answer), &answer.data["title"]), (session.clone(), &json!("Still here")));
    }
    stage.toolbox.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn closing_works_during_anything_and_ends_the_browser_with_its_last_user() {
    let stage = Stage::set().await;
    let stuck = "<title>x</title><button id=go onclick='for (;;);'>go</button>";
    let asking = "<title>x</title><button id=go onclick='confirm(1)'>go</button>";
    let (stuck, asking) = (stage.site.page(stuck), stage.site.page(asking));
    let hang = stage.site.url("hang");
    // What is underway: nothing, a load, an action on a page that is stuck, a dialog, a load in the background.
    for what in ["nothing", "load", "stuck", "dialog", "job", "opening"] {
        stage.site.forget();
        let page = if what == "stuck" { &stuck } else { &asking };
        if what != "opening" {
            stage.ok("browser_navigate", json!({"url": page, "read": "none"})).await;
        }
        let underway = match what {
            "load" => Some(("browser_navigate", json!({"url": hang}))),
            "stuck" => Some(("browser_click", json!({"selector": "#go"}))),
            "dialog" => {
                stage.ok("browser_click", json!({"selector": "#go"})).await;
                None
            }
            "job" => {
                stage.ok("browser_navigate_background", json!({"url": hang})).await;
                None
            }
            "opening" => Some(("browser_session_start", json!({"url": page}))),
            _ => None,
        };
        let underway = underway.map(|(tool, arguments)| tokio::spawn(call(&stage.owner, tool, arguments)));
        if matches!(what, "load" | "job") {
            assert!(stage.site.wait_request(|request| request.path == "/hang", PATIENCE).await.is_some());
        } else if what == "stuck" {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        let begun = Instant::now();
        let closed = stage.ok("browser_close", json!({})).await;
        let took = begun.elapsed();
        println!("{what}: {took:?}");
        assert_eq!(closed.data, json!({"closed": true}), "{what}");
        assert!(took < Duration::from_secs(2), "{what}: {took:?}");
        // A browser that was about to start is ended without waiting for that.
        let patience = if what == "opening" { Duration::from_secs(3) } else { Duration::ZERO };
        while !below(std::process::id()).is_empty() {
            assert!(begun.elapsed() < took + patience, "{what}: processes are left");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        if let Some(underway) = underway {
            let failure = underway.await.unwrap().unwrap_err();
            assert_eq!(failure.code(), Code::Closed, "{what}: {failure}");
        }
        stage.ok("browser_close", json!({})).await;
        assert_eq!(stage.code("browser_read_text", json!({})).await, Code::NoPage, "{what}");
    }
    // Somebody else's browser is left alone.
    let other = stage.toolbox.owner();
    call(&other, "browser_navigate", json!({"url": asking})).await.unwrap();
    stage.ok("browser_navigate", json!({"url": asking})).await;
    stage.ok("browser_close", json!({})).await;
    call(&other, "browser_read_text", json!({})).await.unwrap();
    stage.toolbox.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_rounds_of_opening_and_closing_leave_no_process_folder_socket_port_or_memory() {
    let stage = Stage::set().await;
    let url = stage.site.page("<title>Round</title>");
    let round = async || {
        stage.ok("browser_navigate", json!({"url": url, "read": "none"})).await;
        let profiles: BTreeSet<_> = below(std::process::id()).into_iter().filter_map(profile).collect();
        assert_eq!(profiles.len(), 1, "{profiles:?}");
        stage.ok("browser_close", json!({})).await;
        assert_eq!(below(std::process::id()).len(), 0);
        assert!(profiles.iter().all(|profile| !profile.exists()), "{profiles:?}");
    };
    // What is made once for all rounds is there after some.
    for _ in 0..10 {
        round().await;
    }
    let before = Holdings::now();
    for _ in 10..50 {
        round().await;
    }
    // The connections to the test site end in their own time.
    let begun = Instant::now();
    let after = loop {
        let now = Holdings::now();
        if now.descriptors <= before.descriptors + 2 {
            break now;
        }
        assert!(begun.elapsed() < PATIENCE, "{before:?} became {now:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    println!("after ten rounds {before:?}, after fifty {after:?}");
    assert!(after.threads <= before.threads + 2, "{before:?} became {after:?}");
    assert!(after.listening <= before.listening, "{before:?} became {after:?}");
    // An allocator keeps some of what it had; forty rounds that each lost what a page takes would show.
    assert!(after.kilobytes <= before.kilobytes + 4_000, "{before:?} became {after:?}");
    stage.toolbox.close().await;
}

/// The home of the browser whose main process this is.
fn profile(id: u32) -> Option<PathBuf> {
    let arguments = arguments(id);
    let profile = arguments.iter().find_map(|argument| argument.strip_prefix("--user-data-dir="))?;
    Path::new(profile).ancestors().nth(2).map(Path::to_owned)
}

/// What this process has at one moment.
#[derive(Debug)]
struct Holdings {
    descriptors: usize,
    threads: usize,
    /// Sockets that wait for connections.
    listening: usize,
    /// Memory that is shared with no other process.
    kilobytes: usize,
}

impl Holdings {
    fn now() -> Self {
        let ours = std::process::id();
        let memory = std::fs::read_to_string("/proc/self/smaps_rollup").unwrap();
        let private = memory.lines().filter(|line| line.starts_with("Private_"));
        Self {
            descriptors: std::fs::read_dir("/proc/self/fd").unwrap().count(),
            threads: std::fs::read_dir("/proc/self/task").unwrap().count(),
            listening: sockets(ours).intersection(&listening()).count(),
            kilobytes: private.map(|line| line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap()).sum(),
        }
    }
}
