//! Fields: what they hold afterwards is what the answer says.

use bathy_browser::{Error, FillOptions, Target};

use super::css;
use crate::support::{Stage, soon};

async fn fill(stage: &Stage, target: &Target, value: &str) -> Result<String, Error> {
    stage.tab.fill(target, value, FillOptions::default(), soon()).await.map(|filled| filled.value)
}

#[tokio::test]
async fn each_field_holds_what_the_answer_says() {
    let stage = Stage::set().await;
    for (page, selector, value, held, kind, target) in [
        ("act/tracked-input.html", "#name", "Ada Lovelace", "Ada Lovelace", "state", "name"),
        ("act/controlled-input.html", "#upper", "shout", "SHOUT", "state", "upper"),
        ("act/masked.html", "#phone", "5551234567", "(555) 123-4567", "masked", "phone"),
        ("act/masked.html", "#card", "4111111111111111", "4111 1111 1111 1111", "masked", "card"),
        ("act/contenteditable.html", "#plain", "New text", "New text", "input", "plain"),
        ("act/contenteditable.html", "#rich", "New text", "New text", "input", "rich"),
        ("act/contenteditable.html", "#model", "Written", "Written", "model", "model"),
        ("act/dates.html", "#date", "2026-03-04", "2026-03-04", "change", "date"),
        ("act/dates.html", "#time", "13:45", "13:45", "change", "time"),
        ("act/dates.html", "#month", "2026-05", "2026-05", "change", "month"),
        ("act/dates.html", "#week", "2026-W07", "2026-W07", "change", "week"),
        ("act/dates.html", "#moment", "2026-03-04T05:06", "2026-03-04T05:06", "change", "moment"),
        ("act/dates.html", "#range", "35", "35", "change", "range"),
        ("act/dates.html", "#number", "42", "42", "input", "number"),
        ("act/dates.html", "#color", "#0a0b0c", "#0a0b0c", "change", "color"),
        ("act/maxlength.html", "#five", "more than five", "more ", "input", "five"),
        ("act/maxlength.html", "#ten", "more than ten", "more than ", "input", "ten"),
        ("act/keys.html", "#area", "one\ntwo", "one\ntwo", "input", "area"),
        ("act/hidden-radio.html", "#news", "true", "true", "change", "news"),
        ("act/hidden-radio.html", "#plus", "true", "true", "change", "plus"),
    ] {
        stage.go(page).await;
        // Twice gives it once.
        for _ in 0..2 {
            let said = fill(&stage, &css(selector), value)
                .await
                .unwrap_or_else(|error| panic!("{page} {selector}: {error:?}"));
            assert_eq!(said, held, "{page} {selector}");
        }
        stage.report(kind, target).await;
        let last =
            stage.site.reports().into_iter().filter(|report| report.is(kind, target)).max_by_key(|report| report.order);
        let seen = last.unwrap().value;
        let agreed = seen == held || held == "true" && seen == "checked";
        assert!(agreed, "{page} {selector}: the page saw {seen}");
    }
}

#[tokio::test]
async fn a_field_that_takes_no_text_is_refused_and_stays_as_it_was() {
    let stage = Stage::at("forms/locked.html").await;
    for (selector, reason) in [
        ("#readonly", "readonly"),
        ("#readonly-area", "readonly"),
        ("#disabled", "disabled"),
        ("#aria-disabled", "disabled"),
        ("#in-set", "disabled"),
        ("legend", "kind"),
    ] {
        let error = fill(&stage, &css(selector), "new").await.unwrap_err();
        assert!(
            matches!(&error, Error::NotActionable { reason: said, .. } if said.contains(reason)),
            "{selector}: {error:?}"
        );
    }
    assert_eq!(stage.site.reports(), []);
    stage.go("act/dates.html").await;
    for (selector, value) in [("#date", "tomorrow"), ("#date", "2026-02-31"), ("#range", "much"), ("#color", "red")] {
        let error = fill(&stage, &css(selector), value).await.unwrap_err();
        assert!(matches!(error, Error::Unfit { .. }), "{selector}: {error:?}");
    }
}

#[tokio::test]
async fn what_the_page_refuses_is_told() {
    let stage = Stage::at("act/controlled-input.html").await;
    let filled = stage.tab.fill(&css("#letters"), "12345", FillOptions::default(), soon()).await.unwrap();
    assert_eq!(filled.value, "");
    assert!(!filled.acted.changes.notes.is_empty());
}

#[tokio::test]
async fn fields_are_emptied_and_added_to() {
    let stage = Stage::at("act/keys.html").await;
    let target = css("#field");
    assert_eq!(fill(&stage, &target, "some text").await.unwrap(), "some text");
    let add = FillOptions { clear: false, keys: false };
    let filled = stage.tab.fill(&target, " more", add, soon()).await.unwrap();
    assert_eq!(filled.value, "some text more");
    assert_eq!(fill(&stage, &target, "").await.unwrap(), "");
    assert_eq!(fill(&stage, &target, "").await.unwrap(), "");
    assert_eq!(fill(&stage, &target, "漢字 😀 é").await.unwrap(), "漢字 😀 é");
}

#[tokio::test]
async fn a_form_is_filled_in_one_call_and_each_field_has_its_result() {
    let stage = Stage::at("act/dates.html").await;
    let fields = [("#date", "2027-01-02"), ("#time", "noon"), ("#number", "7"), ("#missing", "x")];
    let fields = fields.map(|(selector, value)| (css(selector), value.to_owned()));
    let filled = stage.tab.fill_form(&fields, soon()).await.unwrap();
    assert_eq!(filled.fields[0].as_deref().unwrap(), "2027-01-02");
    assert!(matches!(filled.fields[1], Err(Error::Unfit { .. })));
    assert_eq!(filled.fields[2].as_deref().unwrap(), "7");
    assert!(matches!(filled.fields[3], Err(Error::NoSuchElement(_))));
}

#[tokio::test]
async fn a_password_is_not_read_back() {
    let stage = Stage::showing("<input id=secret type=password>").await;
    let filled = stage.tab.fill(&css("#secret"), "hunter2", FillOptions::default(), soon()).await.unwrap();
    assert_eq!(filled.value, "•••••••");
    assert_eq!(filled.acted.changes.notes, Vec::<String>::new());
}
