//! Acting by the refs that outlines and searches gave, as models do.

use bathy_browser::{Error, FillOptions, FindOptions, ScrollDirection, Target};

use crate::support::{Stage, soon};

impl Stage {
    /// The ref of the first thing that is found by this text.
    async fn found(&self, text: &str) -> Target {
        let wanted = FindOptions { text: Some(text.to_owned()), limit: 3, ..FindOptions::default() };
        let found = self.tab.find(&wanted, soon()).await.unwrap();
        Target::Ref(found.matches.first().unwrap_or_else(|| panic!("{text} is not found")).reference)
    }

    /// The refs in all outline lines that hold these words.
    async fn references(&self, words: &str) -> Vec<Target> {
        let outline = self.outline().await;
        let lines = outline.lines().filter(|line| line.contains(words));
        let refs = lines.filter_map(|line| line.split_whitespace().find(|word| word.starts_with("@e")));
        refs.map(|one| Target::Ref(one.parse().unwrap())).collect()
    }
}

#[tokio::test]
async fn what_is_in_a_frame_with_a_pointer_cursor_and_in_a_frame_set_is_clicked_and_filled() {
    let stage = Stage::set().await;
    for page in ["frames/pointer.html", "frames/frameset.html"] {
        stage.go(page).await;
        assert_eq!(stage.text().await.matches("Inner text").count(), 2, "{page}");
        let (buttons, fields) =
            (stage.references("button \"Inner button\"").await, stage.references("textbox \"Inner field\"").await);
        assert!(buttons.len() == 2 && fields.len() == 2, "{page}: {}", stage.outline().await);
        for (index, (button, field)) in buttons.iter().zip(&fields).enumerate() {
            stage.site.forget();
            stage.click(button).await.unwrap_or_else(|error| panic!("{page} {index}: {error:?}"));
            assert!(stage.report("click", "inner-button").await.trusted);
            let value = format!("text {index}");
            let filled = stage.tab.fill(field, &value, FillOptions::default(), soon()).await.unwrap();
            assert_eq!(filled.value, value, "{page}");
            assert_eq!(stage.report("input", "inner-field").await.value, value, "{page}");
            let clicks = stage.site.reports().into_iter().filter(|one| one.is("click", "inner-button")).count();
            assert_eq!(clicks, 1, "{page}: another frame was clicked, too");
        }
        // The page goes on to be one where every tool works.
        stage.tab.scroll(Some(ScrollDirection::Down), None, Some(&fields[0]), soon()).await.unwrap();
        stage.tab.press(&"End".parse().unwrap(), Some(&fields[1]), soon()).await.unwrap();
    }
}

#[tokio::test]
async fn what_is_in_shadow_roots_within_closed_ones_is_clicked_and_filled() {
    let stage = Stage::at("shadow/nested.html").await;
    for depth in 1..=4 {
        stage.site.forget();
        let button = stage.reference(&format!("button \"Button at depth {depth}\"")).await;
        stage.click(&button).await.unwrap_or_else(|error| panic!("depth {depth}: {error:?}"));
        assert!(stage.report("click", &format!("depth-{depth}")).await.trusted, "depth {depth}");
        let found = stage.found(&format!("Button at depth {depth}")).await;
        assert_eq!(found, button, "depth {depth}");
    }
    stage.go("shadow/closed.html").await;
    let field = stage.reference("textbox \"Closed field\"").await;
    let filled = stage.tab.fill(&field, "within", FillOptions::default(), soon()).await.unwrap();
    assert_eq!(filled.value, "within");
    assert_eq!(stage.report("input", "closed-field").await.value, "within");
    stage.click(&stage.reference("button \"Closed button\"").await).await.unwrap();
    assert!(stage.report("click", "closed-button").await.trusted);
}

#[tokio::test]
async fn the_last_of_two_thousand_rows_is_found_and_clicked() {
    let rows: String = (1..=2_000)
        .map(|row| format!("<tr><td>Order {row}<td><a href='#{row}'>Open</a><td><button id=b{row}>Pay {row}</button>"))
        .collect();
    let stage = Stage::showing(&format!(
        "<script src=/report.js></script><table>{rows}</table>
         <script>for (const one of document.querySelectorAll('button')) watch(one, 'click')</script>"
    ))
    .await;
    let outline = stage.outline().await;
    assert!(outline.len() <= 11_000 && outline.contains("(2000 rows)"), "{outline}");
    assert!(outline.contains("more row after these"), "{outline}");
    let pay = FindOptions { role: Some("button".to_owned()), limit: 200, ..FindOptions::default() };
    let found = stage.tab.find(&pay, soon()).await.unwrap();
    assert!(found.more > 0, "{}", found.more);
    // Twins are told apart by their row, and the row is found by its words.
    assert!(found.matches[1].context.contains("in row \"Order 2"), "{:?}", found.matches[1]);
    stage.click(&stage.found("pay 2000").await).await.unwrap();
    assert!(stage.report("click", "b2000").await.trusted);
    assert_eq!(stage.site.reports().len(), 1, "{:?}", stage.site.reports());
}

#[tokio::test]
async fn text_without_any_role_is_found_and_dragged_up_and_down() {
    let stage = Stage::set().await;
    for (from, to, order) in [("Alpha", "Gamma", "bcad"), ("Delta", "Alpha", "dabc")] {
        stage.go("act/drag-pointer.html").await;
        stage.tab.drag(&stage.found(from).await, &stage.found(to).await, soon()).await.unwrap();
        let report = stage.report("sorted", &from[..1].to_lowercase()).await;
        assert!(report.trusted && report.value == order, "{from} {to}: {report:?}");
    }
    for (from, to, target, order) in
        [("Alpha", "Gamma", "c", "bca"), ("Gamma", "Alpha", "a", "cab"), ("Beta", "Bin", "bin", "ac")]
    {
        stage.go("act/drag-html.html").await;
        stage.tab.drag(&stage.found(from).await, &stage.found(to).await, soon()).await.unwrap();
        let report = stage.report("drop", target).await;
        assert!(report.trusted && report.value == order, "{from} {to}: {report:?}");
    }
}

#[tokio::test]
async fn a_disabled_text_area_is_scrolled_by_its_ref_and_takes_no_text() {
    let stage = Stage::at("act/wheel.html").await;
    let area = stage.reference("textbox \"Disabled area\"").await;
    let (_, position) = stage.tab.scroll(Some(ScrollDirection::Down), Some(90.0), Some(&area), soon()).await.unwrap();
    assert!((position.y - 90.0).abs() < 1.5, "{position:?}");
    stage.report("scroll", "disabled").await;
    for keys in [false, true] {
        let options = FillOptions { clear: true, keys };
        let error = stage.tab.fill(&area, "new", options, soon()).await.unwrap_err();
        let disabled = matches!(&error, Error::NotActionable { reason, .. } if reason.contains("disabled"));
        assert!(disabled, "{error:?}");
    }
    let error = stage.click(&area).await.unwrap_err();
    assert!(matches!(&error, Error::NotActionable { reason, .. } if reason.contains("disabled")), "{error:?}");
    assert!(stage.outline().await.contains("Line 0"), "the text is what it was");
}

#[tokio::test]
async fn hidden_radios_and_checkboxes_are_found_and_toggled_through_their_labels() {
    let stage = Stage::at("act/hidden-radio.html").await;
    for (line, id, value) in [
        ("radio \"Plus\"", "plus", "checked"),
        ("radio \"Basic\"", "basic", "checked"),
        ("checkbox \"Accept the terms\"", "terms", "checked"),
        ("checkbox \"Newsletter\"", "news", "checked"),
        ("checkbox \"Accept the terms\"", "terms", "unchecked"),
        ("checkbox \"Newsletter\"", "news", "unchecked"),
    ] {
        stage.site.forget();
        let target = stage.reference(line).await;
        let name = line.split('"').nth(1).unwrap();
        assert_eq!(stage.found(name).await, target, "{line}");
        let acted = stage.click(&target).await.unwrap_or_else(|error| panic!("{line}: {error:?}"));
        let report = stage.report("change", id).await;
        assert!(report.trusted && report.value == value, "{line}: {report:?}");
        let now = if value == "checked" { format!("{line} checked @e") } else { format!("{line} @e") };
        assert!(acted.changes.outline.iter().any(|change| change.contains(&now)), "{line}: {acted:?}");
    }
}

#[tokio::test]
async fn each_thing_that_listens_is_clicked_by_its_own_ref_and_nothing_else_is() {
    let stage = Stage::set().await;
    for (page, count) in [("act/inline-listener.html", 6), ("act/silent-targets.html", 9)] {
        stage.go(page).await;
        let targets = stage.references("@e").await;
        assert_eq!(targets.len(), count, "{page}: {}", stage.outline().await);
        let mut hit = Vec::new();
        for target in &targets {
            stage.site.forget();
            stage.click(target).await.unwrap_or_else(|error| panic!("{page} {target:?}: {error:?}"));
            let seen = |report: &bathy_testsite::Report| report.trusted;
            let report = stage.site.wait_report(seen, std::time::Duration::from_secs(3)).await;
            let report = report.unwrap_or_else(|| panic!("{page}: nothing saw the click on {target:?}"));
            assert!(!hit.contains(&report.target), "{page}: {} was hit twice", report.target);
            hit.push(report.target);
            assert_eq!(stage.site.reports().len(), 1, "{page}: {:?}", stage.site.reports());
        }
    }
}
