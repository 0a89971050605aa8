use std::collections::BTreeSet;

use bathy_testsite::{TestSite, page_names};

use crate::request::get;

/// The local paths that a page refers to, without query and fragment.
fn references(page: &str) -> BTreeSet<&str> {
    let starts = ["src=\"", "href=\"", "{{self}}", "{{other}}", "{{third}}", "fetch(\"", "open(\"", "location = \""];
    let mut found = BTreeSet::new();
    for start in starts {
        for (at, _) in page.match_indices(start) {
            let rest = &page[at + start.len()..];
            let path = rest.split(['"', '\'', '?', '#', '`', ' ', '>']).next().unwrap_or_default();
            if path.starts_with('/') {
                found.insert(path);
            }
        }
    }
    found
}

#[tokio::test]
async fn every_page_is_served_with_all_variables_filled() {
    let site = TestSite::start().await;
    for name in page_names() {
        let answer = get(&site.url(name)).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{name}: {answer}");
        assert!(!answer.contains("{{"), "{name} has a variable that is not defined");
    }
}

#[tokio::test]
async fn every_page_that_another_refers_to_exists() {
    let behaviours =
        ["/hang", "/slow", "/stream", "/big", "/drip", "/echo", "/echo.html", "/download/", "/no/such.html", "/take"];
    let names: BTreeSet<String> = page_names().map(|name| format!("/{name}")).collect();
    for name in page_names() {
        let page = source(name);
        for path in references(&page) {
            let known = names.contains(path)
                || names.contains(&format!("{path}index.html"))
                || behaviours.iter().any(|behaviour| path.starts_with(behaviour));
            assert!(known, "{name} refers to {path}");
        }
    }
}

/// A page as it lies in the source tree, with its variables.
fn source(name: &str) -> String {
    std::fs::read_to_string(format!("{}/pages/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

#[test]
fn the_index_lists_at_least_forty_pages_for_reading() {
    let folders = ["aria/", "names/", "shadow/", "slots/", "tables/", "forms/", "svg/", "hidden/"];
    let reading = page_names().filter(|name| folders.iter().any(|folder| name.starts_with(folder))).count();
    assert!(reading >= 40, "{reading}");
}

#[test]
fn every_text_under_hidden_says_whether_it_is_shown() {
    for name in ["hidden/every-trick.html", "hidden/looks-hidden.html"] {
        let page = source(name);
        let body = page.split("<style>body").nth(1).expect("a body after the style");
        for text in body.split('>').filter_map(|piece| piece.split('<').next()).map(str::trim) {
            let exempt = text.is_empty() || text.contains('{') || text.contains("showPopover");
            assert!(
                exempt || text.starts_with("secret") || text.starts_with("shown") || text.starts_with("--"),
                "{name}: {text:?}"
            );
        }
    }
}
