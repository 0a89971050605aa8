//! Scrolling.

use bathy_browser::{Error, ScrollDirection, ScrollPosition, Target};

use super::css;
use crate::support::{Stage, soon};

#[track_caller]
fn assert_at(place: f64, expected: f64) {
    assert!((place - expected).abs() < 1.5, "{place} is not {expected}");
}

async fn scroll(
    stage: &Stage,
    direction: ScrollDirection,
    amount: Option<f64>,
    target: Option<&Target>,
) -> ScrollPosition {
    stage.tab.scroll(Some(direction), amount, target, soon()).await.unwrap().1
}

#[tokio::test]
async fn the_page_goes_where_it_is_sent() {
    let stage = Stage::at("act/wheel.html").await;
    let down = scroll(&stage, ScrollDirection::Down, Some(300.0), None).await;
    assert_at(down.y, 300.0);
    let report = stage.report("scroll", "page").await;
    assert!(!report.value.is_empty());
    let most = scroll(&stage, ScrollDirection::Down, None, None).await;
    assert!((700.0..1_100.0).contains(&most.y), "{most:?}");
    let up = scroll(&stage, ScrollDirection::Up, Some(100.0), None).await;
    assert_at(up.y, most.y - 100.0);
    let bottom = scroll(&stage, ScrollDirection::Bottom, None, None).await;
    assert_at(bottom.y, bottom.max_y);
    assert_at(scroll(&stage, ScrollDirection::Down, Some(50.0), None).await.y, bottom.y);
    assert_at(scroll(&stage, ScrollDirection::Top, None, None).await.y, 0.0);
}

#[tokio::test]
async fn a_box_and_a_disabled_text_area_scroll_by_the_wheel() {
    let stage = Stage::at("act/wheel.html").await;
    for selector in ["#box", "#disabled"] {
        let target = css(selector);
        let down = scroll(&stage, ScrollDirection::Down, Some(120.0), Some(&target)).await;
        assert_at(down.y, 120.0);
        stage.report("scroll", &selector[1..]).await;
        let bottom = scroll(&stage, ScrollDirection::Bottom, None, Some(&target)).await;
        assert_at(bottom.y, bottom.max_y);
        // At its end, what is around it stays where it is.
        assert_at(scroll(&stage, ScrollDirection::Down, Some(50.0), Some(&target)).await.y, bottom.y);
    }
    stage.assert_never("scroll", "page").await;
}

#[tokio::test]
async fn an_element_is_brought_into_view() {
    let stage = Stage::at("act/scroller.html").await;
    let (_, position) = stage.tab.scroll(None, None, Some(&css("#deep")), soon()).await.unwrap();
    assert!(position.y > 0.0, "{position:?}");
    stage.report("scrollend", "outer").await;
}

#[tokio::test]
async fn what_makes_no_sense_is_refused() {
    let stage = Stage::at("act/wheel.html").await;
    for amount in [-1.0, f64::NAN, f64::INFINITY] {
        let error = stage.tab.scroll(Some(ScrollDirection::Down), Some(amount), None, soon()).await.unwrap_err();
        assert!(matches!(error, Error::InvalidArgument(_)), "{error:?}");
    }
    let error = stage.tab.scroll(None, None, None, soon()).await.unwrap_err();
    assert!(matches!(error, Error::InvalidArgument(_)), "{error:?}");
}

#[tokio::test]
async fn what_only_scrolls_has_a_ref_where_nothing_in_it_leads_there() {
    let stage = Stage::showing(
        "<script src=/report.js></script>
         <style>div, pre, section { width: 300px; height: 60px; overflow: auto } p { height: 400px }</style>
         <section id=log role=log aria-label=Messages tabindex=0><p>first message</section>
         <div id=bare class=bare><p>a long tale</div>
         <pre id=code class=code style='height:auto'>one line that is far longer than its box, so that a person scrolls it sideways to read it</pre>
         <div id=held><p>held by its button <button>Inside</button></div>
         <div id=fits tabindex=0>fits into its box</div>
         <div id=shut style='overflow:hidden'><p>cut</div>
         <p>just a paragraph
         <script>for (const one of document.querySelectorAll('[id]')) one.addEventListener('scroll', () => report('scroll', { target: one.id }))</script>",
    )
    .await;
    let outline = stage.outline().await;
    assert_eq!(outline.matches("@e").count(), 4, "{outline}");
    for (line, id, direction) in [
        ("log \"Messages\" @e", "log", ScrollDirection::Down),
        ("scrollable @e2 like \"bare\"", "bare", ScrollDirection::Down),
        ("scrollable @e3 like \"code\"", "code", ScrollDirection::Right),
    ] {
        assert!(outline.contains(line), "{line} is not in\n{outline}");
        let target = stage.reference(line.split(" @").next().unwrap()).await;
        let target = if id == "code" { stage.reference("like \"code\"").await } else { target };
        scroll(&stage, direction, Some(50.0), Some(&target)).await;
        stage.report("scroll", id).await;
        stage.site.forget();
        let key = if id == "code" { "ArrowRight" } else { "End" };
        stage.tab.press(&key.parse().unwrap(), Some(&target), soon()).await.unwrap();
        stage.report("scroll", id).await;
    }
    // The words in it are still read, and found where they stand.
    for words in ["first message", "a long tale", "one line that"] {
        assert!(outline.contains(words), "{words} is not in\n{outline}");
    }
}
