//! Pages that flood, loop or eat: each call ends in its time and says what is so, the page can be left at once, and the
//! session goes on.

use std::time::{Duration, Instant};

use bathy_browser::{ClickOptions, Deadline, Error, HistoryAction, OutlineOptions, TextOptions, WaitUntil};

use crate::act::css;
use crate::support::{Stage, soon};

/// What a call on a page that may never answer is given.
const BUDGET: Duration = Duration::from_millis(1_500);
/// What a call may take beyond its budget, on a busy machine.
const GRACE: Duration = Duration::from_secs(1);
/// What leaving for another page and reading that may take, on a busy machine.
const LEAVING: Duration = Duration::from_secs(8);

const BUTTON: &str = "<title>Flood</title><p>Text</p><button id=it>Button</button>";

/// By name, what follows on the button.
const FLOODS: &[(&str, &str)] = &[
    (
        "logs at every tick",
        "<script>setInterval(() => { for (let i = 0; i < 500; i++) console.log('x'.repeat(1000), i) }, 10)</script>",
    ),
    ("logs without end", "<script>onload = () => setTimeout(() => { for (;;) console.log('x'.repeat(100)) })</script>"),
    (
        "pushes states",
        "<script>let i = 0; setInterval(() => { for (let n = 0; n < 50; n++) history.pushState(null, '', '?' + i++) }, 1)</script>",
    ),
    (
        "changes its title",
        "<script>let i = 0; setInterval(() => { for (let n = 0; n < 100; n++) document.title = i++ }, 1)</script>",
    ),
    ("loads itself anew", "<script>setTimeout(() => location.reload(), 20)</script>"),
    ("loads itself anew at once", "<script>location.reload()</script>"),
    ("loads itself anew by a refresh at once", "<meta http-equiv=refresh content=0>"),
    ("prints", "<script>setInterval(() => print(), 5)</script>"),
    ("makes frames", "<script>setInterval(() => document.body.append(document.createElement('iframe')), 1)</script>"),
    (
        "sends requests",
        "<script>setInterval(() => { for (let n = 0; n < 20; n++) fetch('/echo?' + n).catch(() => {}) }, 5)</script>",
    ),
    ("opens windows that nobody asked for", "<script>setInterval(() => open('/act/next.html'), 20)</script>"),
    (
        "starts workers",
        "<script>setInterval(() => new Worker(URL.createObjectURL(new Blob(['for(;;);']))), 100)</script>",
    ),
];

#[tokio::test]
async fn each_call_on_a_flood_ends_in_its_time_and_the_page_can_be_left() {
    let stage = Stage::set().await;
    let (tab, target) = (&stage.tab, css("#it"));
    let mut wrong = Vec::new();
    for (name, flood) in FLOODS {
        let url = stage.site.page(format!("{BUTTON}{flood}"));
        let text = TextOptions { max_chars: 10_000, ..TextOptions::default() };
        let budget = || Deadline::after(BUDGET);
        let load = ended(tab.navigate(&url, WaitUntil::DomContentLoaded, budget()), BUDGET).await;
        let outline = ended(tab.outline(outline_options(), budget()), BUDGET).await;
        let text = ended(tab.text(text, budget()), BUDGET).await;
        let click = Box::pin(tab.click(&target, ClickOptions::default(), budget()));
        let click = ended(click, BUDGET).await;
        let next = stage.site.url("act/buttons.html");
        let mut leaving = None;
        // A page that asks for itself anew just as the next one comes has its way in every browser; the answer says so.
        for attempt in 0.. {
            let began = Instant::now();
            let left = tab.navigate(&next, WaitUntil::Load, soon()).await;
            let left = left.unwrap_or_else(|error| panic!("{name}: {error}"));
            leaving = leaving.or((began.elapsed() > LEAVING).then(|| format!("took {:?}", began.elapsed())));
            if left.url == next {
                break;
            }
            assert!(attempt < 5 && left.url == url && name.contains("anew"), "{name}: {left:?}");
        }
        for (call, problem) in
            [("load", load), ("outline", outline), ("text", text), ("click", click), ("leaving", leaving)]
        {
            wrong.extend(problem.map(|problem| format!("{name}: {call} {problem}")));
        }
        let read = tab.outline(outline_options(), soon()).await.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(read.text.contains("button \""), "{name}: the next page is not read: {read:?}");
        // Windows that it opened are in nobody's way.
        for index in (1..stage.session.tabs(soon()).await.unwrap().len()).rev() {
            stage.session.close_tab(Some(index)).await.unwrap();
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn outline_options() -> OutlineOptions {
    OutlineOptions { max_chars: 10_000, ..OutlineOptions::default() }
}

/// What is wrong with how a call ended: too late, or with an error that does not say how it is with the page.
async fn ended<T>(call: impl Future<Output = Result<T, Error>>, budget: Duration) -> Option<String> {
    let began = Instant::now();
    let said = call.await.map(drop);
    let took = began.elapsed();
    // A page that goes on from document to document may have none at the moment, or one without the button.
    let clear = matches!(said, Ok(()) | Err(Error::TimedOut { .. } | Error::PageGone(_) | Error::NoSuchElement(_)));
    (took > budget + GRACE || !clear).then(|| format!("took {took:?} and said {said:?}"))
}

/// By name, what of a page loops when it is left.
const CLINGING: &[(&str, &str)] = &[
    ("when it is asked whether it may be left", "onbeforeunload = () => { for (;;); }"),
    ("as it goes", "onpagehide = onunload = () => { for (;;); }"),
];

#[tokio::test]
async fn a_page_that_loops_while_it_is_left_is_left_by_every_way() {
    let stage = Stage::set().await;
    let tab = &stage.tab;
    let (before, next) = (stage.site.url("act/nothing.html"), stage.site.url("act/buttons.html"));
    let elsewhere = next.replace(&stage.site.origin(), &stage.site.other_origin());
    for (name, handlers) in CLINGING {
        let url = stage.site.page(format!("{BUTTON}<script>{handlers}</script>"));
        for way in ["same site", "other site", "back", "reload"] {
            tab.navigate(&before, WaitUntil::Load, soon()).await.unwrap();
            tab.navigate(&url, WaitUntil::Load, soon()).await.unwrap();
            // Where nobody has touched a page, it is not asked.
            tab.click(&css("#it"), ClickOptions::default(), soon()).await.unwrap();
            let leaving = match way {
                "same site" => ended(tab.navigate(&next, WaitUntil::Load, soon()), LEAVING).await,
                "other site" => ended(tab.navigate(&elsewhere, WaitUntil::Load, soon()), LEAVING).await,
                "back" => ended(tab.history(HistoryAction::Back, WaitUntil::Load, soon()), LEAVING).await,
                _ => ended(tab.history(HistoryAction::Reload, WaitUntil::Load, soon()), LEAVING).await,
            };
            assert_eq!(leaving, None, "{name}: {way}");
            let read = stage.outline().await;
            assert_eq!(read.contains("button \"Button\""), way == "reload", "{name}: {way}: {read}");
        }
    }
}

#[tokio::test]
async fn a_storm_of_popups_is_bounded_told_and_closed_and_the_session_goes_on() {
    let stage = Stage::at("hostile/popup-storm.html").await;
    let acted = stage.tab.click(&css("#storm"), ClickOptions::default(), soon()).await.unwrap();
    let tabs = stage.session.tabs(soon()).await.unwrap();
    assert!((2..=50).contains(&tabs.len()), "{} tabs", tabs.len());
    assert!(tabs[0].active && !acted.changes.new_tabs.is_empty(), "{acted:?}");
    assert!(stage.outline().await.contains("button \"Storm\""));
    for index in (1..tabs.len()).rev() {
        stage.session.close_tab(Some(index)).await.unwrap();
    }
    assert_eq!(stage.session.tabs(soon()).await.unwrap().len(), 1);
    stage.show("<title>Calm</title><button>Calm</button>").await;
    assert!(stage.outline().await.contains("button \"Calm\""));
}

#[tokio::test]
async fn a_page_that_eats_its_memory_ends_with_a_clear_error_and_the_session_goes_on() {
    let stage = Stage::at("hostile/memory.html").await;
    let patient = Deadline::after(Duration::from_secs(150));
    let said = stage.tab.click(&css("#eat"), ClickOptions::default(), patient).await;
    assert!(matches!(&said, Err(Error::PageGone(reason)) if reason.contains("crash")), "{said:?}");
    let error = stage.tab.outline(outline_options(), soon()).await.unwrap_err();
    assert!(matches!(&error, Error::PageGone(reason) if reason.contains("navigate")), "{error:?}");
    stage.show("<button>Again</button>").await;
    assert!(stage.outline().await.contains("button \"Again\""));
}
