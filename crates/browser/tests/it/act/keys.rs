//! Keys: real events with real codes.

use bathy_browser::{Error, FillOptions, Key};
use bathy_testsite::Report;

use super::css;
use crate::support::{Stage, soon};

fn key(name: &str) -> Key {
    name.parse().unwrap()
}

fn of<'a>(reports: &'a [Report], kind: &str) -> Vec<&'a Report> {
    let mut found: Vec<&Report> = reports.iter().filter(|report| report.kind == kind).collect();
    found.sort_by_key(|report| report.order);
    found
}

#[tokio::test]
async fn typed_text_is_seen_key_by_key_and_gives_the_exact_value() {
    let stage = Stage::at("act/keys.html").await;
    let keys = FillOptions { clear: true, keys: true };
    let filled = stage.tab.fill(&css("#field"), "a.b@C é!", keys, soon()).await.unwrap();
    assert_eq!(filled.value, "a.b@C é!");
    stage.tab.press(&key("F2"), Some(&css("#field")), soon()).await.unwrap();
    stage
        .site
        .wait_report(|report| report.kind == "keyup" && report.details["key"] == "F2", super::NEVER * 10)
        .await
        .unwrap();
    let reports = stage.site.reports();
    let downs = of(&reports, "keydown");
    let seen: Vec<(&str, &str)> = downs
        .iter()
        .map(|down| (down.details["key"].as_str().unwrap(), down.details["code"].as_str().unwrap()))
        .collect();
    assert_eq!(
        seen,
        [
            ("a", "KeyA"),
            (".", "Period"),
            ("b", "KeyB"),
            ("@", "Digit2"),
            ("C", "KeyC"),
            (" ", "Space"),
            ("!", "Digit1"),
            ("F2", "F2")
        ]
    );
    assert!(downs.iter().all(|down| down.trusted));
    assert_eq!(of(&reports, "input").len(), 8, "the letter without a key of its own is put in too");
}

#[tokio::test]
async fn enter_submits_once() {
    let stage = Stage::at("act/enter.html").await;
    stage.tab.fill(&css("#query"), "pumps", FillOptions::default(), soon()).await.unwrap();
    let acted = stage.tab.press(&key("Enter"), None, soon()).await.unwrap();
    assert!(acted.changes.url.as_deref().is_some_and(|url| url.ends_with("/echo.html?query=pumps")), "{acted:?}");
    stage.report("submit", "form").await;
    let reports = stage.site.reports();
    assert_eq!((of(&reports, "submit").len(), of(&reports, "keydown").len()), (1, 1));
}

#[tokio::test]
async fn chords_work_as_shortcuts_of_the_browser_and_of_the_page() {
    let stage = Stage::at("act/shortcuts.html").await;
    let field = css("#text");
    stage.tab.press(&key("Control+a"), Some(&field), soon()).await.unwrap();
    stage.tab.press(&key("x"), None, soon()).await.unwrap();
    let filled = stage.tab.fill(&field, "!", FillOptions { clear: false, keys: false }, soon()).await.unwrap();
    assert_eq!(filled.value, "x!");
    stage.tab.press(&key("Control+s"), None, soon()).await.unwrap();
    stage.report("saved", "").await;
    stage.site.forget();
    stage.tab.press(&key("Tab"), Some(&field), soon()).await.unwrap();
    stage.tab.press(&key("F7"), None, soon()).await.unwrap();
    let seen = |name: &'static str| move |report: &Report| report.kind == "keydown" && report.details["key"] == name;
    let on = stage.site.wait_report(seen("F7"), super::NEVER * 10).await.unwrap();
    assert_eq!(on.target, "focus");
    stage.tab.press(&key("Shift+Tab"), None, soon()).await.unwrap();
    stage.tab.press(&key("F8"), None, soon()).await.unwrap();
    let on = stage.site.wait_report(seen("F8"), super::NEVER * 10).await.unwrap();
    assert_eq!(on.target, "text");
}

#[tokio::test]
async fn an_element_that_takes_no_focus_is_told() {
    let stage = Stage::showing("<p id=text>Text</p>").await;
    let error = stage.tab.press(&key("a"), Some(&css("#text")), soon()).await.unwrap_err();
    assert!(matches!(error, Error::NotActionable { .. }), "{error:?}");
}
