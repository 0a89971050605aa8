//! Waits: until it is so, or until the limit, and no longer.

use std::time::{Duration, Instant};

use bathy_browser::{Deadline, Error, Target, WaitFor, WaitUntil};

use super::css;
use crate::support::{Stage, soon};

#[tokio::test]
async fn a_wait_for_what_does_not_come_ends_at_its_limit() {
    let stage = Stage::showing(
        "<p>Words</p><button id=show onclick=\"it.hidden = true\">Hide</button><button id=it>It</button>
         <script>setInterval(() => fetch('/echo'), 100)</script>",
    )
    .await;
    let Target::Ref(it) = stage.reference("\"It\"").await else { panic!("a ref") };
    stage.click(&css("#show")).await.unwrap();
    for what in [
        WaitFor::Text("never there".to_owned()),
        WaitFor::TextGone("Words".to_owned()),
        WaitFor::Ref(it),
        WaitFor::Url("never-there".to_owned()),
        WaitFor::Load(WaitUntil::NetworkIdle),
        WaitFor::Time(Duration::from_secs(9)),
    ] {
        let (limit, began) = (Duration::from_millis(500), Instant::now());
        let error = stage.tab.wait(&what, Deadline::after(limit)).await.unwrap_err();
        let took = began.elapsed();
        assert!(matches!(error, Error::TimedOut { .. }), "{what:?}: {error:?}");
        assert!(error.to_string().contains("500 ms"), "{what:?}: {error}");
        assert!(took >= limit && took < limit * 2, "{what:?}: {took:?}");
    }
}

#[tokio::test]
async fn each_condition_is_met_when_the_page_gets_there() {
    let stage = Stage::set().await;
    let inner = stage
        .site
        .page("<p id=out>Inner</p><script>setTimeout(() => { out.textContent = 'Late words' }, 200)</script>");
    let other = inner.replace(&stage.site.origin(), &stage.site.other_origin());
    let later = |script: &str| {
        format!(
            "<p id=out>Words</p><button id=it hidden>It</button><script>setTimeout(() => {{ {script} }}, 250)</script>"
        )
    };
    for (page, what) in [
        (later("out.textContent = 'Late words'"), WaitFor::Text("late words".to_owned())),
        (format!("<iframe src='{inner}'></iframe>"), WaitFor::Text("Late words".to_owned())),
        (format!("<iframe src='{other}'></iframe>"), WaitFor::Text("Late words".to_owned())),
        (later("out.remove()"), WaitFor::TextGone("Words".to_owned())),
        (later("out.hidden = true"), WaitFor::TextGone("Words".to_owned())),
        (later("history.pushState(0, '', '?late')"), WaitFor::Url("?late".to_owned())),
        (later("location = '/act/next.html'"), WaitFor::Url("*/next.html".to_owned())),
        (later("location = '/act/next.html'"), WaitFor::Text("Delete everything".to_owned())),
        (later("document.title = 'x'"), WaitFor::Load(WaitUntil::Load)),
        (later(""), WaitFor::Time(Duration::from_millis(150))),
    ] {
        let url = stage.site.page(&page);
        stage.tab.navigate(&url, WaitUntil::DomContentLoaded, soon()).await.unwrap();
        let waited = stage.tab.wait(&what, soon()).await.unwrap_or_else(|error| panic!("{page} {what:?}: {error:?}"));
        assert!(waited.waited < Duration::from_secs(4), "{page} {what:?}: {:?}", waited.waited);
    }
}

#[tokio::test]
async fn an_element_is_waited_for_until_it_is_shown() {
    let stage = Stage::showing(
        "<button id=it>It</button><button id=hide onclick=\"it.hidden = true; setTimeout(() => { it.hidden = false }, 400)\">Hide</button>",
    )
    .await;
    let Target::Ref(it) = stage.reference("\"It\"").await else { panic!("a ref") };
    stage.click(&css("#hide")).await.unwrap();
    let waited = stage.tab.wait(&WaitFor::Ref(it), soon()).await.unwrap();
    assert!(waited.waited > Duration::from_millis(50), "{:?}", waited.waited);
    stage.go("act/next.html").await;
    let error = stage.tab.wait(&WaitFor::Ref(it), soon()).await.unwrap_err();
    assert!(matches!(error, Error::RefStale { .. }), "{error:?}");
}
