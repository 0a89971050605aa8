//! MCP itself, in both eras.

use std::time::{Duration, Instant};

use bathy_testsite::TestSite;
use serde_json::{Value, json};

use crate::client::{Client, text};

#[tokio::test]
async fn the_handshake_of_the_earlier_revisions_works() {
    let mut client = Client::start(&["--allow-private-network"]);
    let hello = client.initialize().await;
    assert_eq!(hello["protocolVersion"], "2025-06-18");
    assert_eq!(hello["serverInfo"]["name"], "bathysphere");
    assert!(hello["capabilities"]["tools"].is_object());
    let instructions = hello["instructions"].as_str().unwrap();
    assert!(instructions.contains("untrusted") && instructions.len() < 1000, "{instructions}");
    let tools = client.request("tools/list", json!({})).await;
    assert!(tools["result"]["tools"].as_array().unwrap().len() >= 15);
}

#[tokio::test]
async fn the_stateless_revision_works_without_any_handshake() {
    let site = TestSite::start().await;
    let mut client = Client::start(&["--allow-private-network"]);
    client.stateless();
    let found = client.request("server/discover", json!({})).await;
    let versions = found["result"]["supportedVersions"].as_array().unwrap_or_else(|| panic!("{found}"));
    assert!(versions.contains(&json!("2026-07-28")), "{found}");
    let listed = client.request("tools/list", json!({})).await;
    assert_eq!(listed["result"]["resultType"], "complete", "{listed}");
    assert!(listed["result"]["ttlMs"].is_u64() && listed["result"]["cacheScope"].is_string(), "{listed}");
    let answer = client.call("browser_navigate", json!({"url": site.url("forms/order.html")})).await;
    assert_eq!(answer["resultType"], "complete");
    assert!(text(&answer).contains("untrusted content of 127.0.0.1"), "{answer}");
    let again = client.ok("browser_read_text", json!({})).await;
    assert!(again.contains("order.html"), "{again}");
}

#[tokio::test]
async fn the_list_is_small_plain_sorted_annotated_and_always_the_same() {
    let mut client = Client::open().await;
    let result = client.request("tools/list", json!({})).await["result"].clone();
    let size = result.to_string().len();
    assert!(size <= 10_000, "{size} bytes");
    let list = result["tools"].clone();
    let again = client.request("tools/list", json!({})).await["result"]["tools"].clone();
    assert_eq!(list, again);
    let tools = list.as_array().unwrap();
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert!(names.is_sorted(), "{names:?}");
    for tool in tools {
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(tool["annotations"][hint].is_boolean(), "{tool}");
        }
        assert!(tool["title"].is_string() && tool["outputSchema"].is_null(), "{tool}");
        assert!(tool["inputSchema"]["properties"].is_object(), "{tool}");
    }
    assert!(!list.to_string().contains("$schema"));
}

#[tokio::test]
async fn an_unknown_tool_is_a_protocol_error_with_the_nearest_name() {
    let mut client = Client::open().await;
    let answer = client.request("tools/call", json!({"name": "browser_clik", "arguments": {}})).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains("`browser_click`"), "{answer}");
    client.ok("browser_session_list", json!({})).await;
}

#[tokio::test]
async fn bad_arguments_are_errors_for_the_model() {
    let mut client = Client::open().await;
    for (arguments, expected) in [
        (json!({}), "argument `url` is missing"),
        (json!({"url": 3}), "argument `url` is 3"),
        (json!({"url": "http://a.test/", "waitTill": "load"}), "Did you mean `waitUntil`?"),
        (json!({"url": "x".repeat(2_000_000)}), "argument `url` is 2000000 characters long"),
        (json!({"url": "http://a.test/", "timeoutMs": 0}), "argument `timeoutMs` is 0"),
    ] {
        let failure = client.err("browser_navigate", arguments).await;
        assert!(failure.starts_with("BROWSER_INVALID_ARGUMENT: ") && failure.contains(expected), "{failure}");
    }
    let without = client.request("tools/call", json!({"name": "browser_session_list"})).await;
    assert_ne!(without["result"]["isError"], true, "{without}");
}

#[tokio::test]
async fn only_selected_tools_are_there() {
    let mut client = Client::open_with(&["--tools", "browser_navigate,browser_snapshot"]).await;
    let list = client.request("tools/list", json!({})).await["result"]["tools"].clone();
    let names: Vec<_> = list.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
    assert_eq!(names, ["browser_navigate", "browser_snapshot"]);
    let answer = client.request("tools/call", json!({"name": "browser_click", "arguments": {}})).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
}

#[tokio::test]
async fn structured_answers_come_where_they_are_asked_for() {
    let site = TestSite::start().await;
    let mut client = Client::open_with(&["--allow-private-network", "--structured"]).await;
    let list = client.request("tools/list", json!({})).await["result"]["tools"].clone();
    assert!(list.as_array().unwrap().iter().all(|tool| tool["outputSchema"]["properties"].is_object()), "{list}");
    let answer = client.call("browser_navigate", json!({"url": site.url("forms/order.html")})).await;
    let data = &answer["structuredContent"];
    assert!(data["session"].is_string() && data["title"].is_string() && data["statusCode"] == 200, "{data}");
    assert!(text(&answer).contains("untrusted"));
    let failure = client.call("browser_click", json!({"ref": "@e9999"})).await;
    assert_eq!(failure["structuredContent"]["code"], "BROWSER_NO_SUCH_ELEMENT", "{failure}");
}

#[tokio::test]
async fn progress_is_told_to_whoever_asks() {
    let site = TestSite::start().await;
    let mut client = Client::open().await;
    let slow = site.url("slow?ms=1500");
    let call = json!({"name": "browser_navigate", "arguments": {"url": slow}, "_meta": {"progressToken": "mine"}});
    let id = client.send("tools/call", call).await;
    let progress = |message: &Value| message["method"] == "notifications/progress";
    let first = client.find(progress).await.unwrap();
    let second = client.find(progress).await.unwrap();
    assert_eq!(first["params"]["progressToken"], "mine");
    assert!(first["params"]["progress"].as_f64() < second["params"]["progress"].as_f64(), "{first} {second}");
    assert!(client.answer(id).await["result"]["isError"] != true);
}

#[tokio::test]
async fn waits_tell_how_far_they_are_in_bytes_where_they_wait_for_bytes() {
    let site = TestSite::start().await;
    let mut client = Client::open_with(&["--allow-private-network", "--tools", "all"]).await;
    let file = |more: &str| site.url(&format!("files/slow.bin?pieces=40&size=1000&ms=60{more}"));
    for url in [file("&told=true"), file("")] {
        client.ok("browser_navigate", json!({"url": url})).await;
    }
    // Each wait, and whether what it counts is bytes.
    for (tool, arguments, of_bytes) in [
        ("browser_downloads", json!({"wait": true}), true),
        ("browser_wait", json!({"ms": 1200}), false),
        ("browser_jobs", json!({"action": "wait"}), false),
    ] {
        if tool == "browser_jobs" {
            client.ok("browser_navigate_background", json!({"url": site.url("slow?ms=1500")})).await;
        }
        let begun = Instant::now();
        let call = json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": tool}});
        let id = client.send("tools/call", call).await;
        let mut told = Vec::new();
        let answer = loop {
            let message = client.find(|message| message["id"] == id || message["method"] == "notifications/progress");
            let message = message.await.unwrap();
            if message["id"] == id {
                break message;
            }
            assert_eq!(message["params"]["progressToken"], tool);
            told.push(message["params"].clone());
        };
        assert_ne!(answer["result"]["isError"], true, "{answer}");
        let amounts: Vec<_> = told.iter().map(|one| one["progress"].as_f64().unwrap()).collect();
        assert!(!amounts.is_empty() && amounts.is_sorted_by(|a, b| a < b), "{tool}: {told:?}");
        assert!(told.len() as u64 <= begun.elapsed().as_secs() + 1, "{tool}: {told:?}");
        if of_bytes {
            assert!(told.len() >= 2 && amounts.last() > Some(&1000.0) && amounts.last() <= Some(&80_000.0), "{told:?}");
            // While one of the two does not say how large it is, nobody knows how much there is in all.
            assert!(told.iter().all(|one| one.get("total").is_none()), "{told:?}");
            assert!(told.last().unwrap()["message"].as_str().unwrap().ends_with(" bytes"), "{told:?}");
        } else {
            assert!(told.iter().all(|one| one["total"].as_f64() >= one["progress"].as_f64()), "{told:?}");
        }
    }
    client.ok("browser_navigate", json!({"url": file("&told=true")})).await;
    let call = json!({"name": "browser_downloads", "arguments": {"wait": true}, "_meta": {"progressToken": 7}});
    let id = client.send("tools/call", call).await;
    let known = client.find(|message| message["params"]["total"] == 40_000.0).await.unwrap();
    assert!(known["params"]["progress"].as_f64() < Some(40_000.0), "{known}");
    client.answer(id).await;
}

#[tokio::test]
async fn a_cancelled_call_stops_gets_no_answer_and_the_next_runs_at_once() {
    let site = TestSite::start().await;
    let mut client = Client::open().await;
    client.ok("browser_navigate", json!({"url": site.url("act/nothing.html")})).await;
    let slow = client.send_call("browser_navigate", json!({"url": site.url("slow?ms=20000")})).await;
    site.wait_request(|request| request.path.contains("slow"), Duration::from_secs(5)).await.unwrap();
    let begun = Instant::now();
    client.notify("notifications/cancelled", json!({"requestId": slow, "reason": "test"})).await;
    client.ok("browser_read_text", json!({})).await;
    assert!(begun.elapsed() < Duration::from_millis(500), "{:?}", begun.elapsed());
    // A cancellation of what is answered already, as a host sends at its end, changes nothing.
    client.notify("notifications/cancelled", json!({"requestId": slow - 1})).await;
    client.ok("browser_session_list", json!({})).await;
    client.end_input();
    assert!(client.find(|message| message["id"] == slow).await.is_none());
}

#[tokio::test]
async fn calls_run_in_the_order_in_which_they_were_sent() {
    let site = TestSite::start().await;
    let mut client = Client::open().await;
    let slow = site.url("slow?ms=500");
    let quick: Vec<_> = (0..6).map(|number| site.url(&format!("act/nothing.html?{number}"))).collect();
    let mut ids = vec![client.send_call("browser_navigate", json!({"url": slow, "read": "none"})).await];
    for url in &quick {
        ids.push(client.send_call("browser_navigate", json!({"url": url, "read": "none"})).await);
    }
    for id in ids {
        assert_ne!(client.answer(id).await["result"]["isError"], true);
    }
    let paths = site.requests().into_iter().map(|request| request.path);
    let asked: Vec<_> = paths.filter(|path| path.contains('?')).collect();
    let expected: Vec<_> = std::iter::once(&slow).chain(&quick).map(|url| url.replace(&site.origin(), "")).collect();
    assert_eq!(asked, expected);
}

#[tokio::test]
async fn a_line_beyond_all_bounds_or_without_sense_does_not_end_the_server() {
    let mut client = Client::open().await;
    let huge = "x".repeat(6 << 20);
    client
        .write(&json!({"jsonrpc": "2.0", "id": 900, "method": "tools/call", "params": {"name": huge}}).to_string())
        .await;
    client.write("this is not JSON").await;
    client.write("{\"jsonrpc\": \"2.0\"}").await;
    client.ok("browser_session_list", json!({})).await;
}
