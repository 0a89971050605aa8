//! Hovering and dragging.

use super::css;
use crate::support::{Stage, soon};

#[tokio::test]
async fn the_pointer_rests_over_an_element_and_what_opens_is_told() {
    let stage = Stage::at("act/hover.html").await;
    let acted = stage.tab.hover(&css("#label"), soon()).await.unwrap();
    assert!(acted.changes.outline.iter().any(|line| line.contains("Pumps")), "{acted:?}");
    stage.click(&css("#pumps")).await.unwrap();
    assert!(stage.report("click", "pumps").await.trusted);
    let acted = stage.tab.hover(&css("#tip"), soon()).await.unwrap();
    assert!(acted.changes.outline.iter().any(|line| line.contains("Hovered")), "{acted:?}");
    assert!(stage.report("pointerenter", "tip").await.trusted);
}

#[tokio::test]
async fn html_drags_put_things_behind_or_before_others() {
    let stage = Stage::set().await;
    for (from, to, order) in [("#a", "#b", "bac"), ("#a", "#c", "bca"), ("#c", "#a", "cab"), ("#b", "#bin", "ac")] {
        stage.go("act/drag-html.html").await;
        stage.tab.drag(&css(from), &css(to), soon()).await.unwrap();
        let report = stage.report("drop", &to[1..]).await;
        assert!(report.trusted, "{from} {to}");
        assert_eq!(report.value, order, "{from} {to}");
    }
}

#[tokio::test]
async fn sortable_lists_of_pointer_events_are_sorted() {
    let stage = Stage::set().await;
    for (from, to, order) in [("#a", "#c", "bcad"), ("#d", "#a", "dabc"), ("#b", "#c", "acbd")] {
        stage.go("act/drag-pointer.html").await;
        stage.tab.drag(&css(from), &css(to), soon()).await.unwrap();
        let report = stage.report("sorted", &from[1..]).await;
        assert!(report.trusted, "{from} {to}");
        assert_eq!(report.value, order, "{from} {to}");
    }
}
