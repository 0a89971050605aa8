//! What an action changed, and how long that may take to be known.

use std::time::{Duration, Instant};

use bathy_browser::{DialogKind, Error, FillOptions};

use super::css;
use crate::support::{Stage, options, soon};

#[tokio::test]
async fn a_link_tells_where_it_led() {
    let stage = Stage::set().await;
    for (selector, ends, status) in [
        ("#next", "/act/next.html", Some(200)),
        ("#other", "/act/next.html", Some(200)),
        ("#hash", "#hash", None),
        ("#push", "?pushed", None),
        ("#missing", "/no/such.html", Some(404)),
    ] {
        stage.go("act/navigate.html").await;
        let acted = stage.click(&css(selector)).await.unwrap();
        let url = acted.changes.url.as_deref().unwrap_or_else(|| panic!("{selector}: {acted:?}"));
        assert!(url.ends_with(ends), "{selector}: {url}");
        assert_eq!(acted.url, url);
        assert_eq!(acted.changes.status_code, status, "{selector}");
        if selector == "#push" {
            assert_eq!(acted.title, "Pushed");
        }
    }
    stage.go("act/navigate.html").await;
    let error = stage.click(&css("#refused")).await.unwrap_err();
    assert!(matches!(error, Error::NavigationFailed { .. }), "{error:?}");
}

#[tokio::test]
async fn a_navigation_that_follows_in_a_moment_is_waited_for() {
    let stage = Stage::set().await;
    for script in [
        "location = '/act/next.html'",
        "setTimeout(() => { location = '/act/next.html' })",
        "fetch('/slow?ms=200').then(() => { location = '/act/next.html' })",
        "document.forms[0].submit()",
        "document.forms[0].requestSubmit()",
    ] {
        stage.show(&format!("<form action=/act/next.html></form><button onclick=\"{script}\">Go</button>")).await;
        let acted = stage.click(&css("button")).await.unwrap();
        let url = acted.changes.url.as_deref().unwrap_or_default();
        assert!(url.contains("/act/next.html"), "{script}: {acted:?}");
    }
}

#[tokio::test]
async fn a_refused_place_is_an_error_that_says_so() {
    let stage = Stage::with(options(bathy_policy::Policy::new(bathy_policy::PolicyConfig {
        allow_private_network: true,
        allowed_hosts: vec!["127.0.0.1".parse().unwrap()],
        ..bathy_policy::PolicyConfig::default()
    })))
    .await;
    stage.go("act/navigate.html").await;
    let error = stage.click(&css("#other")).await.unwrap_err();
    assert!(matches!(error, Error::Refused(_)), "{error:?}");
    let arrived = stage.site.requests().into_iter().any(|request| request.local.ip().to_string() == "127.0.0.2");
    assert!(!arrived);
}

#[tokio::test]
async fn answers_that_the_action_asked_for_are_waited_for() {
    let stage = Stage::showing(
        "<button onclick=\"fetch('/slow?ms=300').then(() => { out.textContent = 'Saved' })\">Save</button><p id=out>Not saved</p>",
    )
    .await;
    let acted = stage.click(&css("button")).await.unwrap();
    assert!(acted.changes.outline.iter().any(|line| line.contains("Saved")), "{acted:?}");
}

#[tokio::test]
async fn a_page_that_never_rests_costs_less_than_a_second() {
    let stage = Stage::set().await;
    for (page, result) in [("timers", "Acted"), ("polling", "Acted"), ("animation", ""), ("event-source", "Acted")] {
        stage.go(&format!("never-rests/{page}.html")).await;
        let began = Instant::now();
        let acted = stage.click(&css("button")).await.unwrap();
        assert!(began.elapsed() < Duration::from_secs(1), "{page}: {:?}", began.elapsed());
        assert!(acted.changes.outline.iter().any(|line| line.contains(result)), "{page}: {acted:?}");
        assert!(stage.report("click", "act").await.trusted);
    }
}

#[tokio::test]
async fn a_question_is_reported_at_once_and_can_be_answered() {
    let stage = Stage::at("dialogs/confirm.html").await;
    for (accept, outcome) in [(true, "Deleted"), (false, "Kept")] {
        let began = Instant::now();
        let acted = stage.click(&css("#delete")).await.unwrap();
        assert!(began.elapsed() < Duration::from_secs(1));
        let dialog = &acted.changes.dialogs[0];
        assert_eq!(
            (dialog.kind, dialog.message.as_str(), dialog.closed),
            (DialogKind::Confirm, "Really delete?", false)
        );
        assert_eq!(acted.title, "Confirm");
        for error in [
            stage.click(&css("#delete")).await.unwrap_err(),
            stage.tab.fill(&css("#delete"), "", FillOptions::default(), soon()).await.unwrap_err(),
        ] {
            assert!(matches!(error, Error::DialogOpen(_)), "{error:?}");
        }
        stage.tab.answer_dialog(accept, None, soon()).await.unwrap();
        stage
            .site
            .wait_report(
                |report| report.kind == "confirm" && report.value == accept.to_string(),
                Duration::from_secs(2),
            )
            .await
            .unwrap();
        assert!(stage.outline().await.contains(outcome), "the page goes on");
    }
    let error = stage.tab.answer_dialog(true, None, soon()).await.unwrap_err();
    assert!(matches!(error, Error::InvalidArgument(_)), "{error:?}");
}

#[tokio::test]
async fn a_prompt_takes_a_text_and_an_alert_closes_by_itself() {
    let stage = Stage::at("dialogs/prompt.html").await;
    let acted = stage.click(&css("#ask")).await.unwrap();
    assert_eq!(acted.changes.dialogs[0].default_text.as_deref(), Some("Nobody"));
    stage.tab.answer_dialog(true, Some("Ada"), soon()).await.unwrap();
    assert_eq!(stage.report("prompt", "").await.value, "Ada");

    stage.go("dialogs/alert.html").await;
    let began = Instant::now();
    let acted = stage.click(&css("#tell")).await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(1));
    let dialog = &acted.changes.dialogs[0];
    assert!(dialog.closed && dialog.message == "Told you", "{dialog:?}");
    assert!(acted.changes.outline.iter().any(|line| line.contains("Alert closed")), "{acted:?}");
}

#[tokio::test]
async fn a_question_of_a_frame_is_answered_too() {
    let stage = Stage::at("dialogs/in-frame.html").await;
    let acted = stage.click(&css("#delete")).await.unwrap();
    assert_eq!(acted.changes.dialogs[0].message, "Really delete?");
    stage.tab.answer_dialog(true, None, soon()).await.unwrap();
    assert_eq!(stage.report("confirm", "").await.value, "true");
}

#[tokio::test]
async fn a_page_that_asks_to_stay_is_left_when_that_is_accepted() {
    let stage = Stage::at("dialogs/before-unload.html").await;
    stage.tab.fill(&css("#draft"), "draft", FillOptions::default(), soon()).await.unwrap();
    let acted = stage.click(&css("#leave")).await.unwrap();
    assert_eq!(acted.changes.dialogs[0].kind, DialogKind::BeforeUnload);
    let acted = stage.tab.answer_dialog(false, None, soon()).await.unwrap();
    assert_eq!(acted.changes.url, None);
    stage.click(&css("#leave")).await.unwrap();
    let acted = stage.tab.answer_dialog(true, None, soon()).await.unwrap();
    assert!(acted.changes.url.as_deref().is_some_and(|url| url.ends_with("/act/next.html")), "{acted:?}");
}

#[tokio::test]
async fn new_tabs_are_reported_and_take_nothing_away() {
    let stage = Stage::at("act/new-tab.html").await;
    for (index, selector) in [(1, "#blank"), (2, "#open")] {
        let acted = stage.click(&css(selector)).await.unwrap();
        let tab = acted.changes.new_tabs.first().unwrap_or_else(|| panic!("{selector}: {acted:?}"));
        assert_eq!((tab.index, tab.active, tab.allowed), (index, false, true), "{selector}");
        assert!(tab.url.ends_with("/act/next.html"), "{selector}: {}", tab.url);
        assert!(acted.changes.url.is_none());
    }
    stage.click(&css("#closing")).await.unwrap();
    assert!(stage.report("click", "closing").await.trusted);
    assert_eq!(stage.session.tab(None).await.unwrap().url(), stage.tab.url());
    // The old tab keeps the focus and takes keys.
    stage.show("<input id=field><button onclick=\"window.open('/act/next.html')\">Open</button>").await;
    stage.click(&css("button")).await.unwrap();
    let keys = FillOptions { clear: true, keys: true };
    let filled = stage.tab.fill(&css("#field"), "typed", keys, soon()).await.unwrap();
    assert_eq!(filled.value, "typed");
}

#[tokio::test]
async fn a_tab_that_closes_itself_says_so() {
    let stage = Stage::at("act/new-tab.html").await;
    stage.click(&css("#open")).await.unwrap();
    let popup = stage.session.tab(Some(1)).await.unwrap();
    let url = stage.site.page("<button onclick='window.close()'>Close</button>");
    popup.navigate(&url, bathy_browser::WaitUntil::Load, soon()).await.unwrap();
    let acted = popup.click(&css("button"), bathy_browser::ClickOptions::default(), soon()).await.unwrap();
    assert!(acted.changes.tab_closed, "{acted:?}");
}

#[tokio::test]
async fn a_file_chooser_does_not_open_and_is_told() {
    let stage = Stage::at("act/uploads.html").await;
    let acted = stage.click(&css("#made")).await.unwrap();
    assert!(acted.changes.file_chooser, "{acted:?}");
}

#[tokio::test]
async fn a_browser_that_ends_in_the_middle_is_an_honest_error() {
    let stage = Stage::showing(
        "<script src=/report.js></script><button id=loop>Loop</button>
         <script>watch(loop, 'mousedown').onclick = () => { for (;;); }</script>",
    )
    .await;
    let target = css("#loop");
    let (error, ()) = tokio::join!(stage.click(&target), async {
        stage.report("mousedown", "loop").await;
        stage.engine.close().await;
    });
    let error = error.unwrap_err();
    assert!(matches!(error, Error::PageGone(_) | Error::BrowserGone(_)), "{error:?}");
}
