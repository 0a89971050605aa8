//! Pages that change what scripts rely on: the page script is told the truth all the same, and they learn nothing of it.

use std::time::Duration;

use bathy_browser::{FindOptions, WaitUntil};

use crate::support::{Stage, soon};

/// Each is a script under `hostile/tampering`.
const KINDS: [&str; 6] = ["everything", "setters", "clobbered", "properties", "elements", "watched"];

/// What a model gets to know of the page.
async fn told(stage: &Stage, kind: &str) -> String {
    let url = stage.site.url(&format!("hostile/tampering.html?{kind}"));
    stage.tab.navigate(&url, WaitUntil::Load, soon()).await.unwrap();
    let mut told = format!("{}\n{}\n", stage.outline().await, stage.text().await);
    for options in [
        FindOptions { text: Some("hose".to_owned()), ..FindOptions::default() },
        FindOptions { role: Some("button".to_owned()), ..FindOptions::default() },
        FindOptions { label: Some("name".to_owned()), ..FindOptions::default() },
    ] {
        let found = stage.tab.find(&FindOptions { limit: 5, ..options }, soon()).await.unwrap();
        told.extend(found.matches.iter().map(|one| format!("{} {}\n", one.line, one.context)));
    }
    // Numbers of refs go on from page to page.
    let bare = |word: &str| if word.starts_with("@e") { "@e".to_owned() } else { word.to_owned() };
    told.lines().map(|line| line.split(' ').map(bare).collect::<Vec<_>>().join(" ") + "\n").collect()
}

#[tokio::test]
async fn a_page_that_tampers_is_read_as_it_is_and_notices_no_more_than_a_click() {
    let stage = Stage::set().await;
    let honest = told(&stage, "none").await;
    assert!(honest.contains("button \"Send order\" @e") && honest.contains("Two pumps and a hose"), "{honest}");
    let mut noticed = Vec::new();
    for kind in KINDS {
        stage.site.forget();
        let read = told(&stage, kind).await;
        assert_eq!(read, honest, "{kind}");
        let button = stage.reference("button \"Send order\"").await;
        stage.click(&button).await.unwrap_or_else(|error| panic!("{kind}: {error:?}"));
        assert!(stage.report("click", "real").await.trusted, "{kind}");
        stage.site.wait_report(|report| report.kind == "noticed", Duration::from_millis(100)).await;
        let reports = stage.site.reports().into_iter().filter(|report| report.kind == "noticed");
        noticed.extend(reports.map(|report| format!("{kind}: {}", report.target)));
    }
    assert!(noticed.is_empty(), "{}", noticed.join("\n"));
    // A visitor that did as pages' own scripts do would be noticed.
    for kind in KINDS.into_iter().filter(|&kind| kind != "clobbered") {
        stage.site.forget();
        let url = stage.site.url(&format!("hostile/tampering.html?{kind}&self"));
        stage.tab.navigate(&url, WaitUntil::Load, soon()).await.unwrap();
        let report = stage.site.wait_report(|report| report.kind == "noticed", Duration::from_secs(3)).await;
        assert!(report.is_some(), "{kind} notices nothing");
    }
}
