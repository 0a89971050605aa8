//! Choosing options.

use bathy_browser::{Error, Selected, Target};

use super::css;
use crate::support::{Stage, soon};

async fn select(stage: &Stage, target: &Target, values: &[&str]) -> Result<Selected, Error> {
    let values: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
    stage.tab.select(target, &values, soon()).await
}

#[tokio::test]
async fn native_options_are_chosen_by_label_or_value_and_change_fires_once() {
    let stage = Stage::set().await;
    for (selector, values, labels, held) in [
        ("#single", &["Large"][..], &["Large"][..], "l"),
        ("#single", &["s"], &["Small"], "s"),
        ("#multiple", &["Red", "Blue"], &["Red", "Blue"], "Red,Blue"),
        ("#grouped", &["Carrot"], &["Carrot"], "Carrot"),
        ("#partly", &["In stock"], &["In stock"], "b"),
        ("#twins", &["2"], &["Same"], "2"),
        ("#twins", &["By label"], &["By label"], "3"),
        ("#long", &["Item 299"], &["Item 299"], "v299"),
    ] {
        stage.go("forms/selects.html").await;
        let selected = select(&stage, &css(selector), values).await.unwrap();
        assert_eq!(selected.selected, labels, "{selector}");
        let report = stage.report("change", selector.trim_start_matches('#')).await;
        assert_eq!(report.value, held, "{selector}");
        let changes = stage.site.reports().into_iter().filter(|report| report.kind == "change").count();
        assert_eq!(changes, 1, "{selector}");
    }
}

#[tokio::test]
async fn an_option_that_cannot_be_chosen_is_refused_with_those_that_can() {
    let stage = Stage::at("forms/selects.html").await;
    for (selector, value, words) in
        [("#single", "Huge", "Medium"), ("#partly", "Sold out", "disabled"), ("#grouped", "Nothing", "disabled")]
    {
        let error = select(&stage, &css(selector), &[value]).await.unwrap_err();
        assert!(
            matches!(&error, Error::Unfit { shown, .. } if shown.contains(words))
                || matches!(&error, Error::Unfit { problem, .. } if problem.contains(words)),
            "{selector}: {error:?}"
        );
    }
    let error = select(&stage, &css("#disabled"), &["Two"]).await.unwrap_err();
    assert!(matches!(error, Error::NotActionable { .. }), "{error:?}");
    let error = select(&stage, &css("label"), &["Two"]).await.unwrap_err();
    assert!(matches!(error, Error::NotActionable { .. }), "{error:?}");
    assert_eq!(stage.site.reports(), []);
}

#[tokio::test]
async fn aria_lists_are_worked_by_clicks() {
    let stage = Stage::at("act/listbox.html").await;
    let selected = select(&stage, &css("#box"), &["Blue"]).await.unwrap();
    assert_eq!(selected.selected, ["Blue"]);
    let report = stage.report("chosen", "box").await;
    assert!(report.trusted && report.value == "Blue");
    let error = select(&stage, &css("#box"), &["Purple"]).await.unwrap_err();
    assert!(matches!(&error, Error::Unfit { shown, .. } if shown.contains("Green")), "{error:?}");

    stage.go("act/combobox.html").await;
    let selected = select(&stage, &css("#drop"), &["Medium"]).await.unwrap();
    assert_eq!(selected.selected, ["Medium"]);
    let report = stage.report("chosen", "drop").await;
    assert!(report.trusted && report.value == "Medium");
    let selected = select(&stage, &css("#city"), &["Osaka"]).await.unwrap();
    assert_eq!(selected.selected, ["Osaka"]);
    let report = stage.report("chosen", "city").await;
    assert!(report.trusted && report.value == "Osaka");
}
