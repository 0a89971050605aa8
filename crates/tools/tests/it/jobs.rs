//! Loads in the background.

use std::time::{Duration, Instant};

use bathy_testsite::Canary;
use bathy_tools::{Answer, Code, Settings};
use serde_json::{Value, json};

use crate::support::{Stage, call, session_of};

const PATIENCE: Duration = Duration::from_secs(10);

fn job(answer: &Answer) -> &Value {
    let jobs = answer.data["jobs"].as_array().unwrap();
    assert_eq!(jobs.len(), 1, "{jobs:?}");
    &jobs[0]
}

async fn begin(stage: &Stage, url: &str) -> String {
    let begun = stage.ok("browser_navigate_background", json!({"url": url})).await;
    begun.data["jobId"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_load_in_the_background_leaves_the_line_and_the_focus_alone() {
    let stage = Stage::set().await;
    let front = stage.site.page("<title>Front</title>");
    let session = session_of(&stage.ok("browser_navigate", json!({"url": front})).await);
    // While a call holds the line, another load begins and ends.
    let waiting = tokio::spawn(call(&stage.owner, "browser_wait", json!({"ms": 60_000, "timeoutMs": 100_000})));
    let target = stage.site.page("<title>Behind</title><script>focus()</script>");
    let redirect = stage.site.url(&format!("redirect/302?to={target}"));
    let begun = stage.ok("browser_navigate_background", json!({"url": redirect})).await;
    assert_eq!((&begun.data["index"], &begun.data["url"]), (&json!(1), &json!(redirect)));
    let id = begun.data["jobId"].as_str().unwrap();
    let ended = stage.ok("browser_jobs", json!({"jobId": id, "action": "wait"})).await;
    let expected = json!({"jobId": id, "kind": "browser", "state": "done", "url": target, "session": session,
                          "index": 1, "statusCode": 200});
    assert_eq!(job(&ended), &expected);
    assert!(!waiting.is_finished());
    waiting.abort();
    let tabs = stage.ok("browser_tab_list", json!({})).await;
    let tabs = tabs.data["tabs"].as_array().unwrap();
    assert_eq!((&tabs[0]["active"], &tabs[1]["active"]), (&json!(true), &json!(false)));
    assert_eq!(tabs[1]["title"], "Behind");
    assert_eq!(stage.ok("browser_read_text", json!({})).await.data["title"], "Front");
    // A tab of ours is no news.
    assert!(begun.data.get("notices").is_none());
    for (action, count) in [("list", 1), ("status", 1), ("wait", 1)] {
        let arguments =
            if action == "status" { json!({"action": action, "jobId": id}) } else { json!({"action": action}) };
        let answer = stage.ok("browser_jobs", arguments).await;
        assert_eq!(answer.data["jobs"].as_array().unwrap().len(), count, "{action}");
    }
    stage.toolbox.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_load_in_the_background_is_held_to_the_policy_before_and_after() {
    let stage = Stage::set().await;
    stage.ok("browser_session_start", json!({"allowedHosts": ["127.0.0.1"]})).await;
    let canary = Canary::start([127, 0, 0, 9]).await;
    let secret = format!("http://{}/", canary.address());
    for (url, code) in [
        (secret.as_str(), Code::HostNotAllowed),
        ("file:///etc/passwd", Code::UnsupportedScheme),
        ("nonsense", Code::InvalidUrl),
    ] {
        assert_eq!(stage.code("browser_navigate_background", json!({"url": url})).await, code, "{url}");
    }
    assert_eq!(stage.ok("browser_jobs", json!({})).await.data["jobs"], json!([]));
    for (way, code) in [
        (format!("redirect/302?to={secret}"), "BROWSER_HOST_NOT_ALLOWED"),
        (format!("redirect/307?to={}", secret.replace("http:", "https:")), "BROWSER_HOST_NOT_ALLOWED"),
        ("redirect/302?to=http://127.0.0.1:1/".to_owned(), "BROWSER_NAVIGATION_FAILED"),
    ] {
        let id = begin(&stage, &stage.site.url(&way)).await;
        let ended = stage.ok("browser_jobs", json!({"jobId": id, "action": "wait"})).await;
        assert_eq!(job(&ended)["state"], "failed", "{way}: {}", ended.text);
        assert!(job(&ended)["error"].as_str().unwrap().starts_with(code), "{way}: {}", ended.text);
        // Its tab is gone.
        assert!(job(&ended).get("index").is_none(), "{way}");
    }
    let listed = stage.ok("browser_tab_list", json!({})).await;
    assert_eq!(listed.data["tabs"].as_array().unwrap().len(), 1, "{}", listed.text);
    assert!(canary.hits().is_empty(), "{:?}", canary.hits());
    stage.toolbox.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelling_a_load_really_stops_it() {
    let stage = Stage::set().await;
    stage.ok("browser_navigate", json!({"url": stage.site.url("act/nothing.html")})).await;
    // One that never answers, and one that answers for ever.
    let hanging = begin(&stage, &stage.site.url("hang")).await;
    let trickling = begin(&stage, &stage.site.url("trickle")).await;
    assert!(stage.site.wait_request(|request| request.path == "/hang", PATIENCE).await.is_some());
    assert!(stage.site.wait_trickles(1, PATIENCE).await);
    let status = stage.ok("browser_jobs", json!({"jobId": trickling})).await;
    assert_eq!(job(&status)["state"], "running");
    for id in [&hanging, &trickling] {
        let begun = Instant::now();
        let cancelled = stage.ok("browser_jobs", json!({"jobId": id, "action": "cancel"})).await;
        assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
        assert_eq!(job(&cancelled)["state"], "cancelled");
        // What is finished stays as it is.
        let again = stage.ok("browser_jobs", json!({"jobId": id, "action": "cancel"})).await;
        assert_eq!(job(&again)["state"], "cancelled");
    }
    assert!(stage.site.wait_trickles(0, Duration::from_secs(2)).await, "the site still sends");
    let listed = stage.ok("browser_tab_list", json!({})).await;
    assert_eq!(listed.data["tabs"].as_array().unwrap().len(), 1, "{}", listed.text);
    stage.toolbox.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn waiting_for_a_load_honours_its_limit_and_can_be_cancelled() {
    let stage = Stage::set().await;
    let id = begin(&stage, &stage.site.url("hang")).await;
    let begun = Instant::now();
    let failure =
        stage.call("browser_jobs", json!({"jobId": id, "action": "wait", "timeoutMs": 300})).await.unwrap_err();
    assert_eq!(failure.code(), Code::Timeout);
    assert!((300..1500).contains(&begun.elapsed().as_millis()), "{:?}", begun.elapsed());
    assert!(failure.message().contains(&id), "{failure}");
    let waiting = tokio::spawn(call(&stage.owner, "browser_jobs", json!({"jobId": id, "action": "wait"})));
    tokio::time::sleep(Duration::from_millis(50)).await;
    // It holds up nobody, and goes with its caller.
    stage.ok("browser_session_list", json!({})).await;
    waiting.abort();
    assert!(waiting.await.unwrap_err().is_cancelled());
    assert_eq!(job(&stage.ok("browser_jobs", json!({})).await)["state"], "running");
    for (arguments, code) in [
        (json!({"jobId": "job-77"}), Code::InvalidArgument),
        (json!({"jobId": "job-77", "action": "cancel"}), Code::InvalidArgument),
        (json!({"jobId": "job-77", "action": "wait"}), Code::InvalidArgument),
        (json!({"action": "cancel"}), Code::InvalidArgument),
        (json!({"action": "status"}), Code::InvalidArgument),
        (json!({"session": "s-unknown"}), Code::NoSuchSession),
    ] {
        let failure = stage.call("browser_jobs", arguments.clone()).await.unwrap_err();
        assert_eq!(failure.code(), code, "{arguments}: {failure}");
        if arguments["jobId"] == "job-77" {
            assert!(failure.to_string().contains(&format!("Known jobs are {id}")), "{failure}");
        }
    }
    // Somebody else knows nothing of it.
    let stranger = stage.toolbox.owner();
    let failure = call(&stranger, "browser_jobs", json!({"jobId": id})).await.unwrap_err();
    assert!(failure.code() == Code::InvalidArgument && !failure.hint().contains(&id), "{failure}");
    assert_eq!(call(&stranger, "browser_jobs", json!({})).await.unwrap().data["jobs"], json!([]));
    stage.toolbox.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_load_ends_with_its_session_and_keeps_that_from_being_idle() {
    let settings = Settings { session_idle: Duration::from_millis(100), ..Settings::default() };
    let stage = Stage::with(settings, None).await;
    let id = begin(&stage, &stage.site.url("trickle")).await;
    assert!(stage.site.wait_trickles(1, PATIENCE).await);
    tokio::time::sleep(Duration::from_millis(500)).await;
    let sessions = stage.ok("browser_session_list", json!({})).await;
    let session = sessions.data["sessions"][0]["session"].clone();
    stage.ok("browser_session_stop", json!({"session": session})).await;
    let ended = stage.ok("browser_jobs", json!({"jobId": id, "action": "wait"})).await;
    assert_eq!(job(&ended)["state"], "cancelled");
    assert!(stage.site.wait_trickles(0, PATIENCE).await);
    stage.toolbox.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn loads_in_the_background_are_bounded_and_so_is_what_is_kept_of_them() {
    let stage = Stage::set().await;
    let quick = stage.site.url("no-content");
    for _ in 0..25 {
        begin(&stage, &quick).await;
        stage.ok("browser_jobs", json!({"action": "wait"})).await;
        stage.ok("browser_tab_close", json!({"index": 1})).await;
    }
    let kept = stage.ok("browser_jobs", json!({})).await;
    assert_eq!(kept.data["jobs"].as_array().unwrap().len(), 20);
    assert_eq!(kept.data["jobs"][19]["jobId"], "job-25");
    let hang = stage.site.url("hang");
    for _ in 0..10 {
        begin(&stage, &hang).await;
    }
    let failure = stage.call("browser_navigate_background", json!({"url": hang})).await.unwrap_err();
    assert_eq!(failure.code(), Code::Busy);
    assert!(failure.hint().contains("browser_jobs"), "{failure}");
    stage.ok("browser_jobs", json!({"jobId": "job-30", "action": "cancel"})).await;
    begin(&stage, &hang).await;
    stage.toolbox.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn where_jobs_are_switched_off_both_tools_say_so() {
    let stage = Stage::with(Settings { jobs: false, ..Settings::default() }, None).await;
    stage.ok("browser_session_start", json!({})).await;
    let url = stage.site.url("act/nothing.html");
    assert_eq!(stage.code("browser_navigate_background", json!({"url": url})).await, Code::JobsUnavailable);
    assert_eq!(stage.code("browser_jobs", json!({})).await, Code::JobsUnavailable);
    assert!(stage.site.requests().is_empty());
    stage.toolbox.close().await;
}
