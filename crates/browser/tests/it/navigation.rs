//! Loading documents.

use std::time::{Duration, Instant};

use bathy_browser::{Deadline, DialogKind, Error, HistoryAction, WaitUntil};

use crate::support::{Stage, open_policy, options, soon};

#[tokio::test]
async fn a_page_is_loaded_and_named() {
    let stage = Stage::set().await;
    let url = stage.site.page("<title>Hello</title><h1>Hello</h1>");
    let landed = stage.tab.navigate(&url, WaitUntil::Load, soon()).await.unwrap();
    assert_eq!((landed.url.as_str(), landed.title.as_str(), landed.status_code), (url.as_str(), "Hello", Some(200)));
    assert!(landed.download.is_none() && !landed.still_loading && landed.dialogs.is_empty());
}

#[tokio::test]
async fn a_page_without_title_has_none() {
    let stage = Stage::set().await;
    let url = stage.site.page("<p>nameless</p>");
    let landed = stage.tab.navigate(&url, WaitUntil::Load, soon()).await.unwrap();
    assert_eq!(landed.title, "");
}

#[tokio::test]
async fn a_redirect_lands_where_it_leads() {
    let stage = Stage::set().await;
    let to = stage.site.page("<title>There</title>");
    let landed =
        stage.tab.navigate(&stage.site.url(&format!("redirect/302?to={to}")), WaitUntil::Load, soon()).await.unwrap();
    assert_eq!((landed.url, landed.title.as_str()), (to, "There"));
}

#[tokio::test]
async fn an_error_status_is_a_page_with_that_status() {
    let stage = Stage::set().await;
    let landed = stage.tab.navigate(&stage.site.url("status/404"), WaitUntil::Load, soon()).await.unwrap();
    assert_eq!(landed.status_code, Some(404));
}

#[tokio::test]
async fn an_alert_during_the_load_is_closed_and_reported() {
    let stage = Stage::set().await;
    let url = stage.site.page("<head><script>alert('stop \u{1F600}')</script></head><title>Past it</title>");
    let began = Instant::now();
    let landed = stage.tab.navigate(&url, WaitUntil::Load, soon()).await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(1));
    assert_eq!(landed.title, "Past it");
    assert_eq!(landed.dialogs[0].kind, DialogKind::Alert);
    assert_eq!(landed.dialogs[0].message, "stop \u{1F600}");
}

#[tokio::test]
async fn a_page_that_never_answers_is_given_up_at_the_deadline_and_the_next_load_works() {
    let stage = Stage::set().await;
    let deadline = Deadline::after(Duration::from_millis(700));
    let began = Instant::now();
    let error = stage.tab.navigate(&stage.site.url("hang"), WaitUntil::Load, deadline).await.unwrap_err();
    assert!(matches!(error, Error::TimedOut { .. }), "{error}");
    assert!(began.elapsed() < Duration::from_millis(1_500));
    stage.show("<title>Next</title>").await;
    assert_eq!(stage.tab.title(soon()).await.unwrap(), "Next");
}

#[tokio::test]
async fn a_part_that_never_comes_does_not_hold_up_the_page() {
    let stage = Stage::set().await;
    let url = stage.site.page("<title>Readable</title><p>Text<img src=/hang>");
    let began = Instant::now();
    let landed = stage.tab.navigate(&url, WaitUntil::Load, soon()).await.unwrap();
    assert!(landed.still_loading);
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
}

#[tokio::test]
async fn the_network_counts_as_idle_in_spite_of_a_stream() {
    let stage = Stage::set().await;
    let url = stage.site.page(
        "<body><script>new EventSource('/stream');
         setTimeout(() => fetch('/slow?ms=300').then(() => document.title = 'late'), 200)</script>",
    );
    let landed = stage.tab.navigate(&url, WaitUntil::NetworkIdle, soon()).await.unwrap();
    assert_eq!(landed.title, "late");
}

#[tokio::test]
async fn a_script_that_never_ends_does_not_keep_the_tab() {
    let stage = Stage::showing("<title>Loop</title><script>setTimeout(() => { for (;;); })</script>").await;
    let began = Instant::now();
    stage.show("<title>Free</title>").await;
    assert_eq!(stage.tab.title(soon()).await.unwrap(), "Free");
    assert!(began.elapsed() < Duration::from_secs(3));
}

#[tokio::test]
async fn history_moves_back_and_forth_and_says_when_it_cannot() {
    let stage = Stage::showing("<title>One</title>").await;
    stage.show("<title>Two</title>").await;
    let go = |action| stage.tab.history(action, WaitUntil::Load, soon());
    assert_eq!(go(HistoryAction::Back).await.unwrap().title, "One");
    assert!(matches!(go(HistoryAction::Back).await, Err(Error::ActionFailed(_))));
    assert_eq!(go(HistoryAction::Forward).await.unwrap().title, "Two");
    assert_eq!(go(HistoryAction::Reload).await.unwrap().title, "Two");
}

#[tokio::test]
async fn what_is_not_a_page_on_the_web_is_refused() {
    let stage = Stage::set().await;
    for url in ["file:///etc/passwd", "data:text/html,x", "javascript:alert(1)", "chrome://version", "about:blank"] {
        let error = stage.tab.navigate(url, WaitUntil::Load, soon()).await.unwrap_err();
        assert!(matches!(error, Error::UnsupportedScheme(_)), "{url}: {error}");
    }
    for url in ["", "example", "http://", "http://a b/", "http://user:secret@127.0.0.1/"] {
        let error = stage.tab.navigate(url, WaitUntil::Load, soon()).await.unwrap_err();
        assert!(matches!(error, Error::InvalidUrl(_)), "{url}: {error}");
    }
}

#[tokio::test]
async fn a_refused_connection_says_so() {
    let stage = Stage::set().await;
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let error = stage.tab.navigate(&format!("http://127.0.0.1:{port}/"), WaitUntil::Load, soon()).await.unwrap_err();
    assert!(matches!(error, Error::NavigationFailed { .. }), "{error:?}");
    let error = stage.tab.navigate(&format!("https://127.0.0.1:{port}/"), WaitUntil::Load, soon()).await.unwrap_err();
    assert!(matches!(error, Error::NavigationFailed { .. }), "{error:?}");
}

#[tokio::test]
async fn a_dropped_navigation_stops() {
    let stage = Stage::set().await;
    let url = stage.site.url("hang");
    let navigation = stage.tab.navigate(&url, WaitUntil::Load, soon());
    assert!(tokio::time::timeout(Duration::from_millis(300), navigation).await.is_err());
    let began = Instant::now();
    stage.show("<title>Next</title>").await;
    assert!(began.elapsed() < Duration::from_millis(500), "{:?}", began.elapsed());
}

#[tokio::test]
async fn the_browsers_death_is_told_once_and_then_mended() {
    let stage = Stage::with(options(open_policy())).await;
    stage.engine.close().await;
    assert!(matches!(stage.session.tab(None).await, Err(Error::BrowserGone(_))));
    let tab = stage.session.tab(None).await.unwrap();
    let url = stage.site.page("<title>Again</title>");
    assert_eq!(tab.navigate(&url, WaitUntil::Load, soon()).await.unwrap().title, "Again");
}
