//! Owners, sessions, queues, cancellation, limits.

use std::time::{Duration, Instant};

use bathy_egress::Verdict;
use bathy_tools::{Code, Settings};
use serde_json::json;

use crate::support::{Stage, call, session_of};

#[tokio::test(flavor = "multi_thread")]
async fn two_navigations_at_once_run_one_after_the_other() {
    let stage = Stage::set().await;
    stage.ok("browser_navigate", json!({"url": stage.site.url("act/nothing.html")})).await;
    let (slow, quick) = (stage.site.url("slow?ms=400"), stage.site.url("act/next.html"));
    let first = call(&stage.owner, "browser_navigate", json!({"url": slow}));
    let second = call(&stage.owner, "browser_navigate", json!({"url": quick}));
    // Made in the other order than their places were taken.
    let (second, first) = tokio::join!(second, first);
    assert_eq!(first.unwrap().data["url"], slow);
    assert_eq!(second.unwrap().data["url"], quick);
    let now = stage.ok("browser_read_text", json!({})).await;
    assert_eq!(now.data["url"], quick);
    stage.toolbox.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_load_stops_and_the_next_call_runs_at_once() {
    let stage = Stage::set().await;
    stage.ok("browser_navigate", json!({"url": stage.site.url("act/nothing.html")})).await;
    let slow = stage.site.url("slow?ms=20000");
    let load = tokio::spawn(call(&stage.owner, "browser_navigate", json!({"url": slow})));
    let asked = stage.site.wait_request(|request| request.path.contains("slow"), Duration::from_secs(5)).await;
    assert!(asked.is_some());
    load.abort();
    let begun = Instant::now();
    let answer = stage.ok("browser_read_text", json!({})).await;
    assert!(begun.elapsed() < Duration::from_millis(500), "{:?}", begun.elapsed());
    assert!(answer.data["url"].as_str().unwrap().contains("nothing.html"), "{}", answer.text);
    let aborted = stage.engine.ledger().recent(None, 100);
    assert!(aborted.iter().any(|entry| entry.reason.as_deref() == Some("BROWSER_ABORTED")));
    stage.toolbox.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_owner_sees_and_stops_its_own_sessions_alone() {
    let stage = Stage::set().await;
    let session = session_of(&stage.ok("browser_session_start", json!({"label": "mine"})).await);
    let stranger = stage.toolbox.owner();
    let listed = call(&stranger, "browser_session_list", json!({})).await.unwrap();
    assert_eq!(listed.data["sessions"], json!([]));
    for tool in ["browser_read_text", "browser_session_stop", "browser_session_list"] {
        let failure = call(&stranger, tool, json!({"session": session})).await.unwrap_err();
        assert_eq!(failure.code(), Code::NoSuchSession, "{tool}");
        assert!(!failure.to_string().contains("mine"), "{failure}");
    }
    call(&stranger, "browser_close", json!({})).await.unwrap();
    let listed = stage.ok("browser_session_list", json!({})).await;
    assert_eq!(listed.data["sessions"][0]["session"], session);
    assert_eq!(listed.data["sessions"][0]["label"], "mine");
    stage.toolbox.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_named_session_becomes_the_current_one() {
    let stage = Stage::set().await;
    let first = session_of(&stage.ok("browser_session_start", json!({})).await);
    let second = session_of(&stage.ok("browser_session_start", json!({})).await);
    assert_ne!(first, second);
    assert_eq!(session_of(&stage.ok("browser_read_text", json!({})).await), second);
    assert_eq!(session_of(&stage.ok("browser_read_text", json!({"session": first})).await), first);
    assert_eq!(session_of(&stage.ok("browser_read_text", json!({})).await), first);
    stage.ok("browser_close", json!({})).await;
    assert_eq!(stage.code("browser_read_text", json!({})).await, Code::NoPage);
    stage.ok("browser_close", json!({})).await;
    stage.toolbox.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_stop_the_session_that_was_used_before_is_current() {
    let stage = Stage::set().await;
    let mut sessions = Vec::new();
    for _ in 0..4 {
        sessions.push(session_of(&stage.ok("browser_session_start", json!({})).await));
    }
    let [first, second, third, fourth] = &sessions[..] else { unreachable!() };
    stage.ok("browser_tab_list", json!({"session": second})).await;
    stage.ok("browser_tab_list", json!({"session": fourth})).await;
    // One that is not current goes without a change, and so does a call that names none that is there.
    let stopped = stage.ok("browser_session_stop", json!({"session": first})).await;
    assert_eq!((&stopped.data["stopped"], &stopped.data["current"]), (&json!(first), &json!(fourth)));
    assert_eq!(stage.code("browser_session_stop", json!({"session": first})).await, Code::NoSuchSession);
    for (stopped, current) in [(fourth, second), (second, third)] {
        let answer = stage.ok("browser_session_stop", json!({})).await;
        assert_eq!((&answer.data["stopped"], &answer.data["current"]), (&json!(stopped), &json!(current)));
        assert!(answer.text.contains(&format!("current session: {current}")), "{}", answer.text);
        assert_eq!(session_of(&stage.ok("browser_tab_list", json!({})).await), *current);
    }
    // One that does not open leaves its owner where it was.
    assert_eq!(stage.code("browser_session_start", json!({"allowedHosts": []})).await, Code::InvalidArgument);
    assert_eq!(session_of(&stage.ok("browser_tab_list", json!({})).await), *third);
    let last = stage.ok("browser_session_stop", json!({})).await;
    assert!(last.data.get("current").is_none() && last.text.contains("no session is current"), "{}", last.text);
    assert_eq!(stage.code("browser_session_stop", json!({})).await, Code::NoPage);
    let fresh = session_of(&stage.ok("browser_navigate", json!({"url": stage.site.url("act/nothing.html")})).await);
    assert!(!sessions.contains(&fresh));
    stage.toolbox.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_current_session_that_goes_away_by_itself_has_no_heir() {
    let settings = Settings { session_idle: Duration::from_millis(200), ..Settings::default() };
    let stage = Stage::with(settings, None).await;
    // This one stays, since a load runs in it.
    let load = json!({"url": stage.site.url("trickle")});
    let busy = session_of(&stage.ok("browser_navigate_background", load).await);
    let idle = session_of(&stage.ok("browser_session_start", json!({})).await);
    let gone = async {
        while stage.ok("browser_session_list", json!({})).await.data["sessions"].as_array().unwrap().len() == 2 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(5), gone).await.unwrap();
    // Its user does not know, and a ref must not end in another session.
    let failure = stage.call("browser_click", json!({"ref": "@e1"})).await.unwrap_err();
    assert_eq!(failure.code(), Code::NoSuchSession);
    assert!(failure.hint().contains(&busy) && !failure.to_string().contains(&idle), "{failure}");
    stage.toolbox.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_owner_has_no_more_sessions_than_it_may() {
    let settings = Settings { max_sessions: 2, ..Settings::default() };
    let stage = Stage::with(settings, None).await;
    stage.ok("browser_session_start", json!({})).await;
    let second = session_of(&stage.ok("browser_session_start", json!({})).await);
    assert_eq!(stage.code("browser_session_start", json!({})).await, Code::SessionLimit);
    stage.ok("browser_session_stop", json!({"session": second})).await;
    stage.ok("browser_session_start", json!({})).await;
    stage.toolbox.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unused_session_goes_away_and_the_next_call_says_so() {
    let settings = Settings { session_idle: Duration::from_millis(200), ..Settings::default() };
    let stage = Stage::with(settings, None).await;
    let session = session_of(&stage.ok("browser_session_start", json!({})).await);
    let gone = async {
        while stage.ok("browser_session_list", json!({})).await.data["sessions"] != json!([]) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(5), gone).await.unwrap();
    assert_eq!(stage.code("browser_read_text", json!({"session": session})).await, Code::NoSuchSession);
    stage.toolbox.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn stop_overtakes_a_load_and_what_waits_behind_it() {
    let stage = Stage::set().await;
    let session = session_of(&stage.ok("browser_session_start", json!({})).await);
    let load = tokio::spawn(call(&stage.owner, "browser_navigate", json!({"url": stage.site.url("slow?ms=20000")})));
    let waiting = tokio::spawn(call(&stage.owner, "browser_read_text", json!({})));
    let asked = stage.site.wait_request(|request| request.path.contains("slow"), Duration::from_secs(5)).await;
    assert!(asked.is_some());
    let begun = Instant::now();
    let stopped = stage.ok("browser_session_stop", json!({})).await;
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    assert_eq!(stopped.data["stopped"], session);
    assert_eq!(load.await.unwrap().unwrap_err().code(), Code::Closed);
    assert_eq!(waiting.await.unwrap().unwrap_err().code(), Code::Closed);
    stage.toolbox.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_narrower_allowlist_holds_and_a_wider_one_is_refused() {
    let stage = Stage::set().await;
    let started = stage.ok("browser_session_start", json!({"allowedHosts": ["127.0.0.1"]})).await;
    assert_eq!(started.data["policy"]["allowedHosts"], json!(["127.0.0.1"]));
    let other = stage.site.other_url("act/nothing.html");
    assert_eq!(stage.code("browser_navigate", json!({"url": other})).await, Code::HostNotAllowed);
    stage.ok("browser_navigate", json!({"url": stage.site.url("act/nothing.html")})).await;
    assert_eq!(stage.code("browser_session_start", json!({"allowedHosts": []})).await, Code::InvalidArgument);
    assert_eq!(stage.code("browser_session_start", json!({"allowedHosts": ["*"]})).await, Code::InvalidArgument);
    stage.toolbox.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_loops_for_ever_harms_only_itself() {
    let stage = Stage::set().await;
    let looping = stage.site.url("hostile/loop-at-load.html");
    let begun = Instant::now();
    // Whether it counts as loaded is the page's affair; that an answer comes is ours.
    let _ = stage.call("browser_navigate", json!({"url": looping, "timeoutMs": 2000})).await;
    let _ = stage.call("browser_read_text", json!({"timeoutMs": 1000})).await;
    assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
    let started = stage.ok("browser_session_start", json!({"url": stage.site.url("act/nothing.html")})).await;
    stage.ok("browser_session_stop", json!({"session": session_of(&started)})).await;
    let listed = stage.ok("browser_session_list", json!({})).await;
    let session = listed.data["sessions"][0]["session"].clone();
    stage.ok("browser_navigate", json!({"url": stage.site.url("act/nothing.html"), "session": session})).await;
    stage.toolbox.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_ledger_tells_every_action_and_no_argument() {
    let stage = Stage::set().await;
    stage.ok("browser_navigate", json!({"url": stage.site.url("forms/order.html?token=sesame")})).await;
    assert_eq!(stage.code("browser_navigate", json!({"url": "ftp://sesame.test/"})).await, Code::UnsupportedScheme);
    assert_eq!(stage.code("browser_fill", json!({"ref": "@e9999", "value": "sesame"})).await, Code::NoSuchElement);
    let entries = stage.engine.ledger().recent(None, 1000);
    let actions: Vec<_> = entries.iter().filter(|entry| entry.kind == "action").collect();
    let told: Vec<_> = actions.iter().map(|entry| (entry.method.as_deref().unwrap(), entry.verdict)).collect();
    let expected = [
        ("browser_navigate", Verdict::Allowed),
        ("browser_navigate", Verdict::Refused),
        ("browser_fill", Verdict::Failed),
    ];
    assert_eq!(told, expected);
    assert_eq!(actions[0].host, "127.0.0.1");
    assert!(!actions[0].session.is_empty());
    let text = serde_json::to_string(&actions.iter().map(|entry| (***entry).clone()).collect::<Vec<_>>()).unwrap();
    assert!(!text.contains("sesame"), "{text}");
    stage.toolbox.close().await;
}
