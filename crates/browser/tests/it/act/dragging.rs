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

#[tokio::test]
async fn the_pointer_arrives_in_two_moves_and_a_drag_goes_in_several() {
    let stage = Stage::showing(
        "<!doctype html><p id=said></p><button id=a style='margin:200px'>A</button><button id=b>B</button>
         <script>
           const seen = [];
           let place = '';
           for (const type of ['pointermove', 'pointerdown', 'pointerup', 'click'])
             addEventListener(type, (event) => {
               // Where a layout changes below the pointer, the browser says once more where it is.
               const again = type === 'pointermove' && place === `${event.clientX} ${event.clientY}`;
               place = `${event.clientX} ${event.clientY}`;
               if (again) return;
               seen.push((event.isTrusted ? '' : 'forged ') + (type === 'pointermove' && event.buttons ? 'drag' : type));
               if (type === 'click' || type === 'pointerup') said.textContent = seen.join(' ');
             });
         </script>",
    )
    .await;
    stage.click(&css("#a")).await.unwrap();
    assert_eq!(
        stage.text().await.lines().next().unwrap().trim(),
        "pointermove pointermove pointerdown pointerup click"
    );
    stage.tab.drag(&css("#a"), &css("#b"), soon()).await.unwrap();
    let text = stage.text().await;
    let (_, dragged) = text.lines().next().unwrap().split_once("click ").unwrap();
    assert!(dragged.matches("drag").count() >= 3 && !dragged.contains("forged"), "{dragged}");
    let order = ["pointerdown", "drag", "pointerup"].map(|word| dragged.find(word));
    assert!(order.iter().all(Option::is_some) && order.is_sorted(), "{dragged}");
}
