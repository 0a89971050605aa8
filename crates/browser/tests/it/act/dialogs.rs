//! Dialogs: reported at once, in nobody's way, and what happens around them is told.

use std::time::{Duration, Instant};

use bathy_browser::{
    Deadline, Error, FillOptions, FindOptions, HistoryAction, OutlineOptions, ScrollDirection, TextOptions, WaitFor,
    WaitUntil,
};

use super::css;
use crate::support::{Stage, soon};

/// How long a call may take to say that a dialog is open, on a busy machine.
const AT_ONCE: Duration = Duration::from_secs(1);

#[tokio::test]
async fn what_changed_around_a_question_is_told_once_it_is_answered() {
    let stage = Stage::set().await;
    for (page, selector, accept, text, line) in [
        ("dialogs/confirm.html", "#delete", true, None, "Deleted"),
        ("dialogs/confirm.html", "#delete", false, None, "Kept"),
        ("dialogs/in-frame.html", "#delete", true, None, "Deleted"),
        ("dialogs/prompt.html", "#ask", true, Some("Ada"), "Answer: Ada"),
    ] {
        stage.go(page).await;
        stage.click(&css(selector)).await.unwrap();
        let acted = stage.tab.answer_dialog(accept, text, soon()).await.unwrap();
        assert!(acted.changes.outline.iter().any(|changed| changed.contains(line)), "{page}: {acted:?}");
    }
    // What changed before the question, too, and what a second question held up.
    stage
        .show(
            "<button>Go</button><p id=a>1</p><p id=b>1</p><script>document.querySelector('button').onclick = () => {
             a.textContent = 'Before'; confirm('One?'); confirm('Two?'); b.textContent = 'After' }</script>",
        )
        .await;
    stage.click(&css("button")).await.unwrap();
    let acted = stage.tab.answer_dialog(true, None, soon()).await.unwrap();
    assert_eq!(acted.changes.dialogs.last().map(|dialog| dialog.message.as_str()), Some("Two?"), "{acted:?}");
    let acted = stage.tab.answer_dialog(true, None, soon()).await.unwrap();
    for word in ["Before", "After"] {
        assert!(acted.changes.outline.iter().any(|changed| changed.contains(word)), "{word}: {acted:?}");
    }
}

#[tokio::test]
async fn a_question_that_a_page_asks_by_itself_is_answered_and_what_follows_is_told() {
    let stage = Stage::showing("<button>Go</button><p id=out>Old</p>").await;
    stage.click(&css("button")).await.unwrap();
    stage
        .show("<button>Go</button><p id=out>Old</p><script>setTimeout(() => { out.textContent = confirm('Stay?') ? 'Yes' : 'No' }, 700)</script>")
        .await;
    stage.click(&css("button")).await.unwrap();
    let error = stage.tab.wait(&WaitFor::Text("never there".to_owned()), soon()).await.unwrap_err();
    assert!(matches!(error, Error::DialogOpen(_)), "{error:?}");
    let acted = stage.tab.answer_dialog(true, None, soon()).await.unwrap();
    assert!(acted.changes.outline.iter().any(|line| line.contains("Yes")), "{acted:?}");
}

#[tokio::test]
async fn whatever_needs_the_page_says_that_a_dialog_is_open() {
    let stage = Stage::at("dialogs/confirm.html").await;
    stage.click(&css("#delete")).await.unwrap();
    let (tab, target) = (&stage.tab, css("#delete"));
    let reference = "@e1".parse().unwrap();
    let url = stage.site.url("act/next.html");
    let began = Instant::now();
    let said: Vec<(&str, Result<(), Error>)> = vec![
        ("click", stage.click(&target).await.map(drop)),
        ("hover", tab.hover(&target, soon()).await.map(drop)),
        ("drag", tab.drag(&target, &target, soon()).await.map(drop)),
        ("fill", tab.fill(&target, "x", FillOptions::default(), soon()).await.map(drop)),
        ("fill form", tab.fill_form(&[(target.clone(), "x".to_owned())], soon()).await.map(drop)),
        ("press", tab.press(&"a".parse().unwrap(), None, soon()).await.map(drop)),
        ("select", tab.select(&target, &["x".to_owned()], soon()).await.map(drop)),
        ("scroll", tab.scroll(Some(ScrollDirection::Down), None, None, soon()).await.map(drop)),
        ("outline", tab.outline(OutlineOptions { max_chars: 100, ..Default::default() }, soon()).await.map(drop)),
        ("text", tab.text(TextOptions { max_chars: 100, ..Default::default() }, soon()).await.map(drop)),
        ("find", tab.find(&FindOptions { text: Some("x".to_owned()), ..Default::default() }, soon()).await.map(drop)),
        ("wait for text", tab.wait(&WaitFor::Text("x".to_owned()), soon()).await.map(drop)),
        ("wait for no text", tab.wait(&WaitFor::TextGone("x".to_owned()), soon()).await.map(drop)),
        ("wait for a ref", tab.wait(&WaitFor::Ref(reference), soon()).await.map(drop)),
        ("wait for a URL", tab.wait(&WaitFor::Url("x".to_owned()), soon()).await.map(drop)),
        ("wait for a load", tab.wait(&WaitFor::Load(WaitUntil::Load), soon()).await.map(drop)),
        ("navigate", tab.navigate(&url, WaitUntil::Load, soon()).await.map(drop)),
        ("reload", tab.history(HistoryAction::Reload, WaitUntil::Load, soon()).await.map(drop)),
    ];
    assert!(began.elapsed() < AT_ONCE, "{:?}", began.elapsed());
    for (what, said) in said {
        assert!(matches!(said, Err(Error::DialogOpen(_))), "{what}: {said:?}");
    }
    // Address and title need nobody's answer.
    assert_eq!(tab.title(soon()).await.unwrap(), "Confirm");
    tab.answer_dialog(false, None, soon()).await.unwrap();
    assert!(stage.outline().await.contains("Kept"));
}

#[tokio::test]
async fn a_wait_ends_when_a_dialog_opens() {
    let stage = Stage::set().await;
    for what in [
        WaitFor::Text("never there".to_owned()),
        WaitFor::TextGone("Words".to_owned()),
        WaitFor::Url("never-there".to_owned()),
        WaitFor::Load(WaitUntil::NetworkIdle),
    ] {
        stage
            .show("<p>Words<script>setInterval(() => fetch('/echo'), 100); setTimeout(() => confirm('Well?'), 250)</script>")
            .await;
        let began = Instant::now();
        let error = stage.tab.wait(&what, soon()).await.unwrap_err();
        assert!(matches!(error, Error::DialogOpen(_)), "{what:?}: {error:?}");
        assert!(began.elapsed() < Duration::from_secs(2), "{what:?}: {:?}", began.elapsed());
        stage.tab.answer_dialog(true, None, soon()).await.unwrap();
    }
}

#[tokio::test]
async fn a_storm_of_alerts_costs_a_call_its_deadline_at_most_and_the_page_can_be_left() {
    let stage = Stage::at("dialogs/storm.html").await;
    let began = Instant::now();
    let deadline = Deadline::after(Duration::from_secs(1));
    let said = stage.tab.click(&css("#go"), bathy_browser::ClickOptions::default(), deadline).await;
    assert!(began.elapsed() < Duration::from_millis(2_500), "{:?}", began.elapsed());
    assert!(matches!(said, Ok(_) | Err(Error::TimedOut { .. })), "{said:?}");
    stage.show("<title>Calm</title>").await;
    assert_eq!(stage.tab.title(soon()).await.unwrap(), "Calm");
}
