//! The outline's own promises: what a line says, what is shown first, and how to see more.

use bathy_browser::{Error, Outline, OutlineOptions, Ref, ScrollDirection, TextOptions};

use crate::support::{Stage, soon};

async fn outline(stage: &Stage, options: OutlineOptions) -> Outline {
    stage.tab.outline(options, soon()).await.unwrap()
}

fn of(max_chars: usize) -> OutlineOptions {
    OutlineOptions { max_chars, ..OutlineOptions::default() }
}

/// The ref on the first line that holds these words.
fn reference(outline: &str, words: &str) -> Ref {
    let line = outline.lines().find(|line| line.contains(words)).unwrap_or_else(|| panic!("{words}\n{outline}"));
    let word = line.split([' ', ';']).find(|word| word.starts_with("@e")).unwrap_or_else(|| panic!("{line}"));
    word.parse().unwrap()
}

#[tokio::test]
async fn each_line_tells_role_name_state_ref_value_and_where_a_link_leads() {
    let stage = Stage::set().await;
    let foreign = stage.site.page("<label>Card number <input aria-invalid=true></label>");
    let foreign = foreign.replace(&stage.site.origin(), &stage.site.other_origin());
    stage
        .show(&format!(
            "<h1>Order</h1><label>Name <input required></label>
             <label>Size <select><option>Small<option disabled>Medium<option>Large</select></label>
             <label>Amount <input type=range min=1 max=9 value=4></label>
             <label>Day <input type=date value=2026-02-03></label><label>Key <input type=password value=hidden></label>
             <label>Note <textarea readonly>Hi</textarea></label><button aria-pressed=true>Bold</button>
             <details><summary>More</summary>inside</details><button disabled>Off</button>
             <button title='Sends it now'>Send</button><p aria-hidden=true>seen all the same <button>Marked</button></p>
             <ul><li><a href='http://other.example/x'>Terms</a></li><li><a href='/here'>Here</a></li></ul>
             <a href='mailto:a@b.example'>Mail</a><iframe title=pay src='{foreign}'></iframe>"
        ))
        .await;
    let text = outline(&stage, of(10_000)).await.text;
    let mut without_refs = String::new();
    for line in text.lines() {
        let words = line.split(' ').filter(|word| !word.starts_with("@e")).collect::<Vec<_>>();
        without_refs.push_str(&words.join(" "));
        without_refs.push('\n');
    }
    for line in [
        "heading \"Order\" level=1",
        "textbox \"Name\" required",
        "combobox \"Size\" = \"Small\" (Small | Medium disabled | Large)",
        "slider \"Amount\" = \"4\" (1 to 9)",
        "date \"Day\" type=date = \"2026-02-03\"",
        "textbox \"Key\" password = \"••••••\"",
        "textbox \"Note\" readonly multiline = \"Hi\"",
        "button \"Bold\" pressed",
        "button \"More\" collapsed",
        "button \"Off\" disabled",
        "button \"Send\" description=\"Sends it now\"",
        "list (2 items)",
        "  link \"Terms\" -> other.example",
        "  link \"Here\"",
        "link \"Mail\" -> mailto:",
        "iframe \"pay\" cross-origin",
        "  textbox \"Card number\" invalid",
    ] {
        assert!(without_refs.lines().any(|one| one == line), "{line} is not in\n{without_refs}");
    }
    assert!(without_refs.contains("seen all the same"), "{without_refs}");
    assert!(
        without_refs.lines().any(|line| line.contains("\"Marked\"") && line.contains("aria-hidden")),
        "{without_refs}"
    );
    assert!(!text.contains("hidden\"") && !text.contains("inside"), "{text}");
}

#[tokio::test]
async fn what_a_control_is_called_and_what_it_shows_are_both_read() {
    let stage = Stage::showing(
        "<button aria-label='Close window'>Delete everything</button><a href=/x aria-label='Read more'>Read more about cats</a>
         <button><svg width=16 height=16><rect width=16 height=16 /></svg><span style='position:absolute;width:1px;height:1px;overflow:hidden;clip:rect(0,0,0,0)'>Search</span></button>
         <h2>Words <span style='position:absolute;width:1px;height:1px;overflow:hidden;clip:rect(0,0,0,0)'>that nobody sees</span></h2>",
    )
    .await;
    let text = outline(&stage, of(10_000)).await.text;
    for words in
        ["button \"Close window\"", "Delete everything", "link \"Read more\"", "about cats", "button \"Search\""]
    {
        assert!(text.contains(words), "{words}\n{text}");
    }
    assert!(!text.contains("nobody sees"), "{text}");
}

#[tokio::test]
async fn an_outline_goes_as_deep_as_asked_and_the_rest_is_behind_refs() {
    let stage = Stage::showing(
        "<main><nav aria-label=Menu><ul><li><a href=/a>Deep link</a> and <a href=/b>more</a></li><li><a href=/c>c</a></li></ul></nav><button>Top</button></main>",
    )
    .await;
    let shallow = outline(&stage, OutlineOptions { depth: Some(2), ..of(10_000) }).await.text;
    assert!(shallow.contains("navigation \"Menu\"") && shallow.contains("button \"Top\""), "{shallow}");
    assert!(!shallow.contains("Deep link") && shallow.contains(" inside)"), "{shallow}");
    let inner = OutlineOptions { reference: Some(reference(&shallow, "navigation")), ..of(10_000) };
    let inner = outline(&stage, inner).await.text;
    assert!(inner.contains("Deep link") && !inner.contains("Top"), "{inner}");
}

#[tokio::test]
async fn only_what_can_be_acted_on_is_listed_on_demand() {
    let stage = Stage::showing(
        "<h1>Title</h1><p>Many words</p><ul><li>item</li><li><button>Act</button></li></ul><p onclick='1'>Clickable words</p>
         <img alt=picture src='data:image/gif;base64,R0lGODlhAQABAAAAACw=' width=50 height=50><label>Field <input></label>",
    )
    .await;
    let text = outline(&stage, OutlineOptions { interactive: true, ..of(10_000) }).await.text;
    for words in ["button \"Act\" @e", "\"Clickable words\" @e", "textbox \"Field\" @e"] {
        assert!(text.contains(words), "{words}\n{text}");
    }
    assert!(!text.contains("Many words") && !text.contains("picture") && !text.contains("item"), "{text}");
}

#[tokio::test]
async fn the_inside_of_an_element_or_a_frame_is_read_by_its_ref_while_that_is_there() {
    let stage = Stage::set().await;
    let inner = stage.site.page("<button>In the frame</button><p>frame words</p>");
    stage
        .show(&format!(
            "<p>outside</p><form aria-label=Login><label>User <input></label></form><iframe title=inner src='{inner}'></iframe>
             <div role=group aria-label=Box tabindex=0><p>box words</p></div>"
        ))
        .await;
    let shallow = outline(&stage, OutlineOptions { depth: Some(1), ..of(10_000) }).await.text;
    let form = reference(&shallow, "form \"Login\"");
    let text = outline(&stage, OutlineOptions { reference: Some(form), ..of(10_000) }).await.text;
    assert!(text.contains("textbox \"User\"") && !text.contains("outside"), "{text}");
    let whole = outline(&stage, of(10_000)).await.text;
    let of_box =
        TextOptions { reference: Some(reference(&whole, "\"Box\"")), max_chars: 1_000, ..TextOptions::default() };
    assert_eq!(stage.tab.text(of_box.clone(), soon()).await.unwrap().text.trim(), "box words");

    stage.show("<p>another page</p>").await;
    let gone = stage.tab.outline(OutlineOptions { reference: Some(form), ..of(10_000) }, soon()).await;
    assert!(matches!(gone, Err(Error::RefStale { reference, .. }) if reference == form), "{gone:?}");
    assert!(matches!(stage.tab.text(of_box, soon()).await, Err(Error::RefStale { .. })));
}

#[tokio::test]
async fn a_long_page_is_shown_from_what_is_in_view_and_says_what_is_above() {
    let rows: String = (0..900).map(|row| format!("<p><a href='#{row}'>Row {row}</a></p>")).collect();
    let stage = Stage::showing(&format!("<!doctype html><h1>Top</h1>{rows}<h2>Bottom</h2>")).await;
    let first = outline(&stage, of(4_000)).await;
    assert!(first.text.contains("\"Top\"") && first.text.contains("\"Row 0\""), "{}", first.text);
    stage.tab.scroll(Some(ScrollDirection::Down), Some(8_000.0), None, soon()).await.unwrap();
    let seen = outline(&stage, of(4_000)).await;
    assert!(seen.truncated && !seen.text.contains("\"Row 0\"") && !seen.text.contains("\"Top\""), "{}", seen.text);
    assert!(seen.text.contains(" nodes above; scroll to the top or outline with a cursor"), "{}", seen.text);
    let in_view = stage.tab.observe(false, 4_000, soon()).await.unwrap().text;
    let row = in_view.lines().find(|line| line.starts_with("link \"Row ")).unwrap();
    let name = row.split(" @e").next().unwrap();
    assert!(seen.text.contains(name), "{name}\n{}", seen.text);
}

#[tokio::test]
async fn many_alike_are_folded_with_a_way_to_all_of_them() {
    let cards: String =
        (0..800).map(|card| format!("<li><a href='#{card}'>Card {card}</a> costs {card}</li>")).collect();
    let stage = Stage::showing(&format!(
        "<h1>Shop</h1><ul aria-label=Cards>{cards}</ul><footer><button>Help</button></footer>"
    ))
    .await;
    let folded = outline(&stage, of(6_000)).await.text;
    let fold = folded.lines().find(|line| line.contains(" more listitem after these, all in list @e"));
    let fold = fold.unwrap_or_else(|| panic!("{folded}"));
    let (mut whole, mut cursor) = (String::new(), None);
    for _ in 0..40 {
        let options = OutlineOptions { reference: Some(reference(fold, "more")), cursor: cursor.take(), ..of(6_000) };
        let part = outline(&stage, options).await;
        whole.push_str(&part.text);
        cursor = part.cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert!((0..800).all(|card| whole.contains(&format!("\"Card {card}\""))), "{}", &whole[..2_000]);
    assert!(!whole.contains("Help"));
}

#[tokio::test]
async fn every_bound_on_the_characters_holds() {
    let rows: String = (0..900).map(|row| format!("<p>Words of row {row} <button>Do {row}</button></p>")).collect();
    let stage =
        Stage::showing(&format!("<h1>Long</h1>{rows}<iframe srcdoc='<p>{}'></iframe>", "w ".repeat(9_000))).await;
    for max_chars in [100, 400, 2_000, 10_000, 20_000] {
        let outline = outline(&stage, of(max_chars)).await;
        // The line that says where to go on comes on top.
        assert!(outline.text.len() <= max_chars + 200, "{max_chars}: {}\n{}", outline.text.len(), outline.text);
        assert!(outline.truncated && outline.cursor.is_some());
        let options = TextOptions { max_chars, ..TextOptions::default() };
        let text = stage.tab.text(options, soon()).await.unwrap();
        assert!(text.text.len() <= max_chars && text.truncated, "{max_chars}: {}", text.text.len());
    }
}
