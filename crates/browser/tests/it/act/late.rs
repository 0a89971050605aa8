//! What comes a little after an action is waited for where something tells that it comes.

use std::time::{Duration, Instant};

use bathy_browser::{FillOptions, WaitFor};

use super::css;
use crate::support::{Stage, soon};

/// The most that waiting may take where something tells of more to come, on a busy machine.
const PATIENCE: Duration = Duration::from_millis(2_800);

#[tokio::test]
async fn what_an_action_is_bound_to_lead_to_is_waited_for() {
    let stage = Stage::set().await;
    let go = "location = '/act/next.html'";
    for (name, page) in [
        (
            "a link that counts its clicks first",
            format!("<a id=it href=/act/next.html onclick=\"event.preventDefault(); setTimeout(() => {{ {go} }}, 200)\">Go</a>"),
        ),
        (
            "a form that is sent by script",
            format!("<form onsubmit=\"event.preventDefault(); setTimeout(() => {{ {go} }}, 150)\"><button id=it>Send</button></form>"),
        ),
        (
            "an input that sends a form",
            format!("<form onsubmit=\"event.preventDefault(); setTimeout(() => {{ {go} }}, 150)\"><input type=submit id=it></form>"),
        ),
        (
            "a request after a request",
            format!("<button id=it onclick=\"fetch('/slow?ms=200').then(() => fetch('/slow?ms=350&2')).then(() => fetch('/echo')).then(() => {{ {go} }})\">Go</button>"),
        ),
        (
            "a chain of promises",
            format!("<button id=it onclick=\"(async () => {{ for (let i = 0; i < 50; i++) await null; {go} }})()\">Go</button>"),
        ),
        (
            "a turning wheel",
            format!(
                "<style>@keyframes turn {{ to {{ rotate: 1turn }} }} .busy {{ animation: turn 1s infinite }}</style><p id=wheel>Wheel</p>
                 <button id=it onclick=\"wheel.className = 'busy'; setTimeout(() => {{ {go} }}, 300)\">Go</button>"
            ),
        ),
        (
            "a busy region",
            format!("<p id=region>Region</p><button id=it onclick=\"region.ariaBusy = true; setTimeout(() => {{ {go} }}, 300)\">Go</button>"),
        ),
    ] {
        stage.show(&page).await;
        let began = Instant::now();
        let acted = stage.click(&css("#it")).await.unwrap();
        assert!(began.elapsed() < PATIENCE, "{name}: {:?}", began.elapsed());
        assert!(acted.url.ends_with("/act/next.html"), "{name}: {acted:?}");
        assert_eq!(acted.changes.url.as_deref(), Some(acted.url.as_str()), "{name}");
        assert_eq!(acted.changes.status_code, Some(200), "{name}");
    }
}

#[tokio::test]
async fn what_shows_that_it_works_is_waited_for_until_it_is_done() {
    let stage = Stage::set().await;
    for (name, page) in [
        (
            "a progress bar",
            "<div id=out>Old</div><button id=it onclick=\"out.innerHTML = '<progress></progress>'; setTimeout(() => { out.textContent = 'Done' }, 300)\">Go</button>",
        ),
        (
            "a busy region",
            "<div id=out>Old</div><button id=it onclick=\"out.ariaBusy = true; setTimeout(() => { out.ariaBusy = false; out.textContent = 'Done' }, 300)\">Go</button>",
        ),
        (
            "a menu that takes a moment to open",
            "<div id=out></div><button id=it aria-haspopup=menu onclick=\"setTimeout(() => { out.innerHTML = '<div role=menu><div role=menuitem>Done</div></div>' }, 120)\">Go</button>",
        ),
    ] {
        stage.show(page).await;
        let acted = stage.click(&css("#it")).await.unwrap();
        assert!(acted.changes.outline.iter().any(|line| line.contains("Done")), "{name}: {acted:?}");
        assert!(!acted.changes.still_busy, "{name}");
    }
    // One that never stops is told of.
    stage.show("<p id=out>Old</p><button id=it onclick=\"out.ariaBusy = true\">Go</button>").await;
    let began = Instant::now();
    let acted = stage.click(&css("#it")).await.unwrap();
    assert!(acted.changes.still_busy && began.elapsed() < PATIENCE, "{:?} {acted:?}", began.elapsed());
}

#[tokio::test]
async fn suggestions_for_what_was_typed_are_waited_for() {
    let stage = Stage::set().await;
    for field in ["type=search", "role=combobox", "aria-autocomplete=list"] {
        stage
            .show(&format!(
                "<input id=it {field} aria-label=City><ul id=out></ul><script>let timer; it.oninput = () => {{
                 clearTimeout(timer);
                 timer = setTimeout(() => fetch('/slow?ms=100').then(() => {{ out.innerHTML = '<li>Osaka</li>' }}), 200) }}</script>"
            ))
            .await;
        let filled = stage.tab.fill(&css("#it"), "Os", FillOptions::default(), soon()).await.unwrap();
        assert!(filled.acted.changes.outline.iter().any(|line| line.contains("Osaka")), "{field}: {filled:?}");
    }
}

#[tokio::test]
async fn enter_in_a_form_that_is_sent_by_script_is_waited_for() {
    let stage = Stage::showing(
        "<form onsubmit=\"event.preventDefault(); setTimeout(() => { location = '/act/next.html' }, 200)\"><input id=it></form>",
    )
    .await;
    let acted = stage.tab.press(&"Enter".parse().unwrap(), Some(&css("#it")), soon()).await.unwrap();
    assert!(acted.url.ends_with("/act/next.html"), "{acted:?}");
}

#[tokio::test]
async fn a_timer_that_nothing_tells_of_is_not_waited_for_and_found_by_the_next_call() {
    let stage =
        Stage::showing("<button id=it onclick=\"setTimeout(() => { location = '/act/next.html' }, 400)\">Go</button>")
            .await;
    let acted = stage.click(&css("#it")).await.unwrap();
    assert_eq!(acted.changes, bathy_browser::Changes::default());
    let waited = stage.tab.wait(&WaitFor::Url("/act/next.html".to_owned()), soon()).await.unwrap();
    assert!(waited.url.ends_with("/act/next.html"));
}

#[tokio::test]
async fn a_promise_that_is_not_kept_costs_little() {
    let stage = Stage::showing("<a id=it href=/act/next.html onclick=\"event.preventDefault()\">Go</a>").await;
    let began = Instant::now();
    let acted = stage.click(&css("#it")).await.unwrap();
    assert_eq!(acted.changes, bathy_browser::Changes::default());
    assert!(began.elapsed() < Duration::from_millis(1_500), "{:?}", began.elapsed());
}
