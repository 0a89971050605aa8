//! Pages without measure: readings stay bounded in time and size, and the engine goes on working.

use std::time::{Duration, Instant};

use bathy_browser::{ClickOptions, Deadline, Error, FindOptions, OutlineOptions, Target, TextOptions, WaitUntil};

use crate::support::{Stage, soon};

/// What a call is given where nobody says otherwise.
fn budget() -> Deadline {
    Deadline::after(Duration::from_secs(15))
}

/// Outline, text and what `find` says for `wanted`, each within the budget and of bounded size.
async fn read_all(stage: &Stage, wanted: &str) -> (String, String, String) {
    let options = OutlineOptions { max_chars: 10_000, ..OutlineOptions::default() };
    let outline = stage.tab.outline(options, budget()).await.unwrap().text;
    assert!(outline.len() <= 12_000, "{} bytes of outline", outline.len());
    let options = TextOptions { max_chars: 10_000, ..TextOptions::default() };
    let text = stage.tab.text(options, budget()).await.unwrap().text;
    assert!(text.len() <= 12_000, "{} bytes of text", text.len());
    let options = FindOptions { text: Some(wanted.to_owned()), limit: 5, ..FindOptions::default() };
    let found = stage.tab.find(&options, budget()).await.unwrap();
    (outline, text, found.matches.iter().map(|one| format!("{} {}\n", one.line, one.context)).collect())
}

async fn go(stage: &Stage, path: &str, until: WaitUntil) {
    stage.tab.navigate(&stage.site.url(path), until, soon()).await.unwrap();
}

/// Other pages can be read as ever.
async fn works(stage: &Stage) {
    go(stage, "act/buttons.html", WaitUntil::Load).await;
    assert!(stage.outline().await.contains("button "), "the engine does not go on");
}

#[tokio::test]
async fn two_hundred_thousand_nodes_are_read_in_bounded_time_and_size() {
    let stage = Stage::at("hostile/two-hundred-thousand-nodes.html").await;
    let (outline, text, found) = read_all(&stage, "the last button").await;
    assert!(outline.contains("Node 0") && text.starts_with("Node 0"), "{outline}");
    assert!(outline.contains("continue with cursor"), "{outline}");
    assert!(found.contains("button \"The last button\" @e"), "{found}");
    works(&stage).await;
}

#[tokio::test]
async fn a_text_of_five_megabytes_is_read_in_bounded_time_and_size() {
    let stage = Stage::at("hostile/one-long-text.html").await;
    let (outline, text, found) = read_all(&stage, "after the text").await;
    assert!(outline.contains("word word") && outline.contains("button \"After the text\" @e"), "{outline}");
    assert!(text.starts_with("word word"));
    assert!(found.contains("button \"After the text\" @e"), "{found}");
    works(&stage).await;
}

#[tokio::test]
async fn two_thousand_levels_are_read_and_so_is_what_listens_and_what_is_closed_at_their_end() {
    let stage = Stage::at("hostile/two-thousand-levels.html").await;
    let (outline, text, found) = read_all(&stage, "the deepest button").await;
    for read in [&outline, &found] {
        assert!(read.contains("button \"The deepest button\" @e"), "{read}");
    }
    assert!(text.contains("The deepest button"));
    stage
        .show(
            "<div id=top></div><script>
             let at = top0 = document.getElementById('top');
             for (let i = 0; i < 2000; i++) at = at.appendChild(document.createElement('div'));
             at.innerHTML = '<i>listens</i> in words <span id=host></span>';
             for (let i = 0; i < 9; i++) at.insertAdjacentHTML('beforeend', `<p><u>also ${i}</u> here`);
             for (const one of at.querySelectorAll('i, u')) one.addEventListener('click', () => {});
             at.querySelector('#host').attachShadow({ mode: 'closed' }).innerHTML = '<button>In the deep</button>';
             </script>",
        )
        .await;
    let outline = stage.outline().await;
    for line in ["clickable \"listens\" @e", "clickable \"also 8\" @e", "button \"In the deep\" @e"] {
        assert!(outline.contains(line), "{line} is not in\n{outline}");
    }
    works(&stage).await;
}

#[tokio::test]
async fn closed_roots_are_read_on_large_pages_with_and_without_slots() {
    let filler = "<p>filler <b>bold</b>".repeat(2_500);
    let stage = Stage::showing(&format!(
        "<div id=empty></div><div id=light><p>light paragraph</div><my-part>light word</my-part><section id=late></section>{filler}
         <script>
         const close = (id, html) => document.querySelector(id).attachShadow({{ mode: 'closed' }}).innerHTML = html;
         close('#empty', '<button>Alone</button>');
         close('#light', '<button>Before the light</button><slot></slot>');
         close('my-part', '<button>Beside the light</button><slot></slot>');
         close('#late', '<div id=inner></div>');
         </script>"
    ))
    .await;
    let outline = stage.outline().await;
    for line in [
        "button \"Alone\" @e",
        "button \"Before the light\" @e",
        "\"light paragraph\"",
        "button \"Beside the light\" @e",
        "\"light word\"",
    ] {
        assert!(outline.contains(line), "{line} is not in\n{outline}");
    }
    let text = stage.text().await;
    assert!(text.find("Before the light") < text.find("light paragraph"), "{text}");
}

#[tokio::test]
async fn five_hundred_frames_are_read_in_bounded_time_and_size_and_what_is_in_one_is_found_and_clicked() {
    let stage = Stage::set().await;
    let url = stage.site.url("hostile/five-hundred-frames.html");
    stage.tab.navigate(&url, WaitUntil::Load, Deadline::after(Duration::from_secs(30))).await.unwrap();
    let (outline, text, _) = read_all(&stage, "button 7").await;
    assert!(outline.contains("Before the frames") && outline.contains("not entered"), "{outline}");
    assert!(outline.contains("button \"Button 0\" @e"), "{outline}");
    assert!(text.contains("Before the frames") && text.contains("After the frames"), "{text}");
    for (name, words) in [("Button 7", "Pressed 7"), ("After the frames", "Pressed")] {
        let wanted = FindOptions { text: Some(name.to_owned()), limit: 5, ..FindOptions::default() };
        let found = stage.tab.find(&wanted, budget()).await.unwrap();
        assert!(found.matches[0].line.starts_with(&format!("button \"{name}\"")), "{found:?}");
        let target = Target::Ref(found.matches[0].reference);
        let acted = stage.tab.click(&target, ClickOptions::default(), budget()).await.unwrap();
        assert!(acted.changes.outline.iter().any(|line| line.contains(words)), "{name}: {acted:?}");
    }
    works(&stage).await;
}

#[tokio::test]
async fn a_frame_that_never_answers_is_marked_and_delays_nothing() {
    let stage = Stage::set().await;
    for (path, mark) in [("frames/never-answers.html", "loading"), ("frames/looping.html", "does not answer")] {
        go(&stage, path, WaitUntil::DomContentLoaded).await;
        // Both frames set out; the one that answers has to arrive.
        let mut outline = String::new();
        for _ in 0..100 {
            let began = Instant::now();
            outline = stage.outline().await;
            assert!(began.elapsed() < Duration::from_secs(4), "{path} took {:?}", began.elapsed());
            if outline.contains("button \"Inner button\"") && outline.contains(mark) {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert!(outline.contains("button \"Outer button\" @e"), "{outline}");
        assert!(outline.contains("button \"Inner button\" @e"), "{outline}");
        let line = outline.lines().find(|line| line.contains(mark)).unwrap_or_else(|| panic!("{path}\n{outline}"));
        assert!(line.starts_with("iframe \""), "{outline}");
        // Once it is known to be silent, nobody waits for it.
        let began = Instant::now();
        let text = stage.text().await;
        let options = FindOptions { role: Some("button".to_owned()), limit: 9, ..FindOptions::default() };
        let found = stage.tab.find(&options, soon()).await.unwrap();
        assert!(began.elapsed() < Duration::from_secs(2), "{path} took {:?}", began.elapsed());
        assert!(text.contains("Outer text"), "{text}");
        assert_eq!(found.matches.len(), 2, "{found:?}");
        works(&stage).await;
    }
}

#[tokio::test]
async fn a_page_that_loops_gives_a_clear_error_in_time_and_can_be_left() {
    let stage = Stage::set().await;
    for path in ["hostile/loop-before-load.html", "hostile/loop-at-load.html"] {
        let url = stage.site.url(path);
        let loading = stage.tab.navigate(&url, WaitUntil::Load, Deadline::after(Duration::from_secs(2)));
        // Whether it counts as loaded depends on where it loops.
        let _ = loading.await;
        let began = Instant::now();
        let short = Deadline::after(Duration::from_secs(1));
        let outline = stage.tab.outline(OutlineOptions { max_chars: 10_000, ..OutlineOptions::default() }, short).await;
        assert!(matches!(outline, Err(Error::TimedOut { .. })), "{path} {outline:?}");
        let short = Deadline::after(Duration::from_secs(1));
        let text = stage.tab.text(TextOptions { max_chars: 10_000, ..TextOptions::default() }, short).await;
        assert!(matches!(text, Err(Error::TimedOut { .. })), "{path} {text:?}");
        assert!(began.elapsed() < Duration::from_secs(6), "{path} took {:?}", began.elapsed());
        works(&stage).await;
    }
}
