//! Clicks: on what was meant, or not at all.

use std::time::{Duration, Instant};

use bathy_browser::{Button, ClickOptions, Deadline, Error, Modifiers};

use super::css;
use crate::support::{Stage, soon};

/// What a call must say.
enum Says {
    /// The click was made, and the page saw it on the element with this id.
    Clicked(&'static str),
    /// Something covers it; its line holds these words.
    Covered(&'static str),
    /// It cannot take a click, for this reason.
    Not(&'static str),
    /// The click was made or it says that it could not be; the page agrees.
    Either(&'static str),
    Nothing,
}

#[tokio::test]
async fn each_click_says_what_the_page_saw() {
    use Says::{Clicked, Covered, Either, Not, Nothing};
    let stage = Stage::set().await;
    let budget = Duration::from_millis(2_500);
    for (page, selector, says) in [
        ("act/buttons.html", "#save", Clicked("save")),
        ("act/buttons.html", "#anchor", Clicked("anchor")),
        ("act/buttons.html", "#div", Clicked("div")),
        ("act/buttons.html", "#absent", Nothing),
        ("act/covered.html", "#target", Covered("Cover")),
        ("act/covered.html", "#free", Clicked("free")),
        ("act/partly-covered.html", "#target", Clicked("target")),
        ("act/pointer-events-none.html", "#deaf", Covered("")),
        ("act/pointer-events-none.html", "#through", Covered("")),
        ("act/pointer-events-none.html", "#veiled", Clicked("veiled")),
        ("act/disabled.html", "#disabled", Not("disabled")),
        ("act/disabled.html", "#aria", Not("disabled")),
        ("act/disabled.html", "#in-set", Not("disabled")),
        ("act/disabled.html", "#box", Not("disabled")),
        ("act/disabled.html", "#soon", Clicked("soon")),
        ("act/moving.html", "#slides", Clicked("slides")),
        ("act/moving.html", "#drifts", Either("drifts")),
        ("act/scroller.html", "#deep", Clicked("deep")),
        ("act/scroller.html", "#right", Clicked("right")),
        ("act/sticky-header.html", "#target", Clicked("target")),
        ("act/sticky-header.html", "#footer", Clicked("footer")),
        ("act/drawer.html", "#inside", Not("out of reach")),
        ("act/menu-under-pointer.html", "#target", Clicked("target")),
        ("act/nested-pointers.html", "#place", Clicked("place")),
        ("act/inline-listener.html", "#word", Clicked("word")),
        ("act/inline-listener.html", "#minus", Clicked("minus")),
        ("act/inline-listener.html", "#plus", Clicked("plus")),
        ("act/nothing.html", "#silent", Clicked("silent")),
        ("act/nothing.html", "#throws", Clicked("throws")),
        ("act/nothing.html", "#removes", Clicked("removes")),
        ("act/nothing.html", "#prevented", Clicked("prevented")),
        ("act/nothing.html", "#void", Clicked("void")),
        ("act/hidden-radio.html", "#plus", Clicked("plus")),
        ("act/hidden-radio.html", "#terms", Clicked("terms")),
        ("act/hidden-radio.html", "#news", Clicked("news")),
        ("act/cards.html", "#card-577", Clicked("card-577")),
    ] {
        stage.go(page).await;
        let began = Instant::now();
        let said = stage.click(&css(selector)).await;
        assert!(began.elapsed() < budget, "{page} {selector} took {:?}", began.elapsed());
        match (says, said) {
            (Clicked(id) | Either(id), Ok(_)) => {
                let report = stage.report("click", id).await;
                assert!(report.trusted, "{page} {selector}");
                continue;
            }
            (Covered(words), Err(Error::Obscured { target, cover })) => {
                assert!(target == selector && cover.contains(words), "{page} {selector}: {cover}");
            }
            (Not(word), Err(Error::NotActionable { reason, .. })) => {
                assert!(reason.contains(word), "{page} {selector}: {reason}");
            }
            (Nothing, Err(Error::NoSuchElement(_)))
            | (Either(_), Err(Error::NotActionable { .. } | Error::Obscured { .. })) => {}
            (_, said) => panic!("{page} {selector}: {said:?}"),
        }
        let seen = stage.site.wait_report(|report| report.kind == "click", super::NEVER).await;
        assert_eq!(seen, None, "{page} {selector}");
    }
}

#[tokio::test]
async fn a_cover_is_named_with_a_ref_that_can_be_clicked() {
    let stage = Stage::at("act/covered.html").await;
    let error = stage.click(&css("#target")).await.unwrap_err();
    let Error::Obscured { cover, .. } = error else { panic!("{error:?}") };
    let reference = cover.split_whitespace().find(|word| word.starts_with("@e")).unwrap().parse().unwrap();
    stage.click(&bathy_browser::Target::Ref(reference)).await.unwrap();
    assert!(stage.report("click", "cover").await.trusted);
}

#[tokio::test]
async fn a_cover_on_its_way_out_is_waited_for() {
    let stage = Stage::at("act/cover-leaves.html").await;
    stage.click(&css("#open")).await.unwrap();
    stage.click(&css("#target")).await.unwrap();
    assert!(stage.report("click", "target").await.trusted);
}

#[tokio::test]
async fn what_takes_the_place_between_the_look_and_the_press_does_not_get_the_click() {
    let stage = Stage::showing(
        "<script src=/report.js></script><style>button{position:absolute;left:0;top:0;width:100px;height:40px}</style>
         <button id=meant>Meant</button><button id=thief style='display:none'>Thief</button>
         <script>
         watch(meant, 'click'); watch(thief, 'click', 'mousedown', 'pointerdown');
         // Takes the place a moment after each time that the pointer rests, which is when the press comes.
         addEventListener('pointermove', () => setTimeout(() => { thief.style.display = ''; }, 0), true);
         </script>",
    )
    .await;
    let error = stage.click(&css("#meant")).await.unwrap_err();
    assert!(matches!(&error, Error::Obscured { cover, .. } if cover.contains("Thief")), "{error:?}");
    stage.assert_never("click", "thief").await;
    assert_eq!(stage.site.reports(), []);
}

#[tokio::test]
async fn buttons_counts_and_modifiers_arrive_as_asked() {
    let stage = Stage::at("act/buttons.html").await;
    let click = |button, count, modifiers| ClickOptions { button, count, modifiers };
    let none = Modifiers::default();
    let target = css("#save");
    stage.tab.click(&target, click(Button::Left, 2, none), soon()).await.unwrap();
    stage.report("dblclick", "save").await;
    stage.site.forget();
    stage.tab.click(&target, click(Button::Right, 1, none), soon()).await.unwrap();
    assert_eq!(stage.report("contextmenu", "save").await.details["button"], 2);
    stage.assert_never("click", "save").await;
    stage.tab.click(&target, click(Button::Middle, 1, none), soon()).await.unwrap();
    assert_eq!(stage.report("auxclick", "save").await.details["button"], 2);
    let held = Modifiers { control: true, shift: true, ..none };
    stage.tab.click(&target, click(Button::Left, 1, held), soon()).await.unwrap();
    assert_eq!(stage.report("click", "save").await.details["modifiers"], "ctrl+shift");
    for count in [0, 4, 1_000] {
        let error = stage.tab.click(&target, click(Button::Left, count, none), soon()).await.unwrap_err();
        assert!(matches!(error, Error::InvalidArgument(_)), "{error:?}");
    }
}

#[tokio::test]
async fn a_drawer_is_reached_once_it_is_open() {
    let stage = Stage::at("act/drawer.html").await;
    stage.click(&css("#menu")).await.unwrap();
    stage.click(&css("#inside")).await.unwrap();
    assert!(stage.report("click", "inside").await.trusted);
}

#[tokio::test]
async fn a_click_that_changes_nothing_is_quick_and_takes_few_commands() {
    let stage = Stage::showing("<button>Cancel</button><button>Save</button>").await;
    let reference = stage.reference("Cancel").await;
    stage.click(&reference).await.unwrap();
    let mut times = Vec::new();
    for _ in 0..9 {
        let (began, sent) = (Instant::now(), stage.engine.commands_sent().await);
        let acted = stage.click(&reference).await.unwrap();
        times.push(began.elapsed());
        assert_eq!(acted.changes, bathy_browser::Changes::default());
        // Ready, two moves, what the pointer meets, press and release, settled, title. Moves and buttons go in pairs.
        assert_eq!(stage.engine.commands_sent().await - sent, 8);
    }
    times.sort();
    // The machine may be busy with other things meanwhile, so the best of them is what tells.
    assert!(times[0] < Duration::from_millis(150), "{times:?}");
}

#[tokio::test]
async fn a_page_that_loops_for_ever_after_the_click_is_an_error_in_time_and_can_be_left() {
    let stage = Stage::at("hostile/loop-on-click.html").await;
    let began = Instant::now();
    let deadline = Deadline::after(Duration::from_millis(800));
    let error = stage.tab.click(&css("#loop"), ClickOptions::default(), deadline).await.unwrap_err();
    assert!(matches!(error, Error::TimedOut { .. }), "{error:?}");
    assert!(began.elapsed() < Duration::from_millis(1_200), "{:?}", began.elapsed());
    stage.show("<title>Free</title>").await;
    assert_eq!(stage.tab.title(soon()).await.unwrap(), "Free");
}

#[tokio::test]
async fn a_dropped_click_lets_the_button_go() {
    let stage = Stage::showing(
        "<script src=/report.js></script><button id=slow>Slow</button>
         <script>watch(slow, 'mousedown', 'mouseup').addEventListener('mousedown', () => {
             const end = performance.now() + 400;
             while (performance.now() < end);
         })</script>",
    )
    .await;
    let target = css("#slow");
    tokio::select! {
        clicked = stage.click(&target) => panic!("{clicked:?}"),
        _ = stage.report("mousedown", "slow") => {}
    }
    assert!(stage.report("mouseup", "slow").await.trusted);
}
