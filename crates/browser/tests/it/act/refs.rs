//! A ref means one element of one document.

use std::time::Duration;

use bathy_browser::{Error, Target, WaitUntil};

use super::css;
use crate::support::{Stage, soon};

#[tokio::test]
async fn a_list_that_is_rendered_anew_all_the_time_never_gives_a_wrong_click() {
    let stage = Stage::at("act/rerender.html").await;
    for name in ["Ada", "Grace", "Alan", "Edsger", "Barbara"] {
        let target = stage.reference(&format!("Remove {name}")).await;
        tokio::time::sleep(Duration::from_millis(130)).await;
        match stage.click(&target).await {
            Ok(_) => assert!(stage.report("remove", name).await.trusted),
            Err(Error::RefStale { .. } | Error::Obscured { .. }) => {}
            Err(error) => panic!("{name}: {error:?}"),
        }
        let wrong = stage.site.reports().into_iter().find(|report| report.target != name);
        assert_eq!(wrong, None);
        stage.site.forget();
    }
}

#[tokio::test]
async fn elements_that_change_places_keep_their_refs() {
    let stage = Stage::at("act/reorder.html").await;
    for (name, id) in [("Ada", "ada"), ("Grace", "grace"), ("Alan", "alan")] {
        let target = stage.reference(name).await;
        tokio::time::sleep(Duration::from_millis(130)).await;
        stage.click(&target).await.unwrap();
        assert!(stage.report("click", id).await.trusted);
        assert!(stage.site.reports().iter().all(|report| report.target == id));
        stage.site.forget();
    }
}

#[tokio::test]
async fn an_insert_renames_nothing() {
    let stage = Stage::at("act/prepend.html").await;
    let one = stage.reference("One").await;
    stage.click(&css("#prepend")).await.unwrap();
    stage.click(&one).await.unwrap();
    assert!(stage.report("click", "one").await.trusted);
    assert_eq!(stage.site.reports().len(), 1);
}

#[tokio::test]
async fn a_ref_of_an_earlier_document_is_stale() {
    let stage = Stage::at("act/navigate.html").await;
    let next = stage.reference("Next").await;
    let other = stage.reference("Push state").await;
    stage.click(&next).await.unwrap();
    for target in [&next, &other] {
        let error = stage.click(target).await.unwrap_err();
        assert!(matches!(error, Error::RefStale { .. }), "{error:?}");
    }
    stage.tab.history(bathy_browser::HistoryAction::Back, WaitUntil::Load, soon()).await.unwrap();
    let error = stage.click(&other).await.unwrap_err();
    assert!(matches!(error, Error::RefStale { .. }), "{error:?}");
    let never_given = Target::Ref("@e9999".parse().unwrap());
    assert!(matches!(stage.click(&never_given).await, Err(Error::NoSuchElement(_))));
}

#[tokio::test]
async fn an_element_that_went_and_left_two_alike_is_stale_and_one_is_followed() {
    let stage = Stage::at("act/twins.html").await;
    let target = stage.reference("\"Open\"").await;
    stage.click(&css("#swap")).await.unwrap();
    let error = stage.click(&target).await.unwrap_err();
    assert!(matches!(error, Error::RefStale { .. }), "{error:?}");
    assert_eq!(stage.site.reports(), []);
    stage
        .show(
            "<script src=/report.js></script><p id=place><button>Only one</button></p><button id=swap>Swap</button>
             <script>swap.onclick = () => { place.innerHTML = '<button id=twin>Only one</button>'; watch(twin, 'click'); }</script>",
        )
        .await;
    let target = stage.reference("Only one").await;
    stage.click(&css("#swap")).await.unwrap();
    let acted = stage.click(&target).await.unwrap();
    assert!(acted.changes.notes.iter().any(|note| note.contains("twin")), "{acted:?}");
    assert!(stage.report("click", "twin").await.trusted);
}

#[tokio::test]
async fn a_selector_that_is_none_or_matches_nothing_says_so() {
    let stage = Stage::at("act/buttons.html").await;
    assert!(matches!(stage.click(&css("")).await, Err(Error::InvalidArgument(_))));
    assert!(matches!(stage.click(&css(">>>")).await, Err(Error::InvalidArgument(_))));
    assert!(matches!(stage.click(&css("#nobody")).await, Err(Error::NoSuchElement(_))));
}

#[tokio::test]
async fn a_ref_outlives_moves_within_its_document() {
    let stage = Stage::showing(
        "<script src=/report.js></script><button id=it>Stays</button><a id=hash href=#part>Part</a>
         <button id=push onclick=\"history.pushState(0, '', '?pushed')\">Push</button>
         <button id=render onclick=\"const again = document.createElement('p'); again.append(it); document.body.prepend(again)\">Render</button>
         <p id=part>Part</p><script>watch(it, 'click')</script>",
    )
    .await;
    let target = stage.reference("\"Stays\"").await;
    for step in ["#hash", "#push", "#render"] {
        stage.click(&css(step)).await.unwrap();
        stage.click(&target).await.unwrap_or_else(|error| panic!("{step}: {error:?}"));
        assert!(stage.report("click", "it").await.trusted, "{step}");
        stage.site.forget();
    }
    for action in [bathy_browser::HistoryAction::Back, bathy_browser::HistoryAction::Forward] {
        stage.tab.history(action, WaitUntil::Load, soon()).await.unwrap();
        stage.click(&target).await.unwrap();
        assert!(stage.report("click", "it").await.trusted, "{action:?}");
        stage.site.forget();
    }
    stage.tab.history(bathy_browser::HistoryAction::Reload, WaitUntil::Load, soon()).await.unwrap();
    let error = stage.click(&target).await.unwrap_err();
    assert!(matches!(error, Error::RefStale { .. }), "{error:?}");
}

#[tokio::test]
async fn a_ref_in_a_frame_ends_with_the_document_of_that_frame_alone() {
    let stage = Stage::set().await;
    let inner = stage
        .site
        .page("<script src=/report.js></script><button id=inner>Inside</button><script>watch(inner, 'click')</script>");
    let other = inner.replace(&stage.site.origin(), &stage.site.other_origin());
    for (first, swap) in [
        (&inner, format!("frame.src = '{other}'")),
        (&other, format!("frame.src = '{inner}'")),
        (&inner, "frame.src += '?again'".to_owned()),
        (&other, "frame.remove()".to_owned()),
        (&inner, "frame.remove()".to_owned()),
        (&inner, "frame.replaceWith(frame.cloneNode())".to_owned()),
        (&inner, "frame.srcdoc = '<button>Inside</button>'".to_owned()),
    ] {
        stage
            .show(&format!(
                "<script src=/report.js></script><iframe id=frame title=frame src='{first}'></iframe><button id=outer>Outside</button>
                 <button id=swap>Swap</button><script>watch(outer, 'click'); swap.onclick = () => {{ {swap} }}</script>"
            ))
            .await;
        let (inside, outside) = (stage.reference("\"Inside\"").await, stage.reference("\"Outside\"").await);
        stage.click(&inside).await.unwrap();
        stage.report("click", "inner").await;
        stage.click(&css("#swap")).await.unwrap();
        stage.site.forget();
        // The frame may take a moment to go away, and then it is still the same element.
        let began = std::time::Instant::now();
        let error = loop {
            match stage.click(&inside).await {
                Err(error) => break error,
                Ok(_) => assert!(began.elapsed() < Duration::from_secs(3), "{swap}: the frame stayed"),
            }
            stage.report("click", "inner").await;
            stage.site.forget();
        };
        assert!(matches!(error, Error::RefStale { .. }), "{swap}: {error:?}");
        stage.assert_never("click", "inner").await;
        stage.click(&outside).await.unwrap();
        assert!(stage.report("click", "outer").await.trusted, "{swap}");
    }
}
