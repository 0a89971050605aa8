//! Outlines and text.

use bathy_browser::{Error, FindOptions, OutlineOptions, TextFormat, TextOptions};

use crate::support::{Stage, soon};

impl Stage {
    pub(crate) async fn outline(&self) -> String {
        let options = OutlineOptions { max_chars: 10_000, ..OutlineOptions::default() };
        self.tab.outline(options, soon()).await.unwrap().text
    }

    pub(crate) async fn text(&self) -> String {
        let options = TextOptions { max_chars: 10_000, ..TextOptions::default() };
        self.tab.text(options, soon()).await.unwrap().text
    }
}

#[tokio::test]
async fn a_form_is_outlined_with_roles_names_values_and_refs() {
    let stage = Stage::showing(
        "<title>Order</title><h1>Order</h1><form><label>Name <input id=n></label>
         <label>Size <select><option>Small<option>Medium</select></label>
         <label><input type=checkbox checked> Gift</label><button>Send order</button></form>",
    )
    .await;
    let outline = stage.outline().await;
    for line in [
        r#"heading "Order" level=1"#,
        r#"textbox "Name" @e"#,
        r#"combobox "Size" @e"#,
        r#"checkbox "Gift" checked @e"#,
        r#"button "Send order" @e"#,
    ] {
        assert!(outline.contains(line), "{line} is not in\n{outline}");
    }
    assert_eq!(outline, stage.outline().await, "refs stay");
}

#[tokio::test]
async fn frames_of_any_origin_and_depth_are_read_in_their_place() {
    let stage = Stage::set().await;
    let innermost = stage.site.page("<p>innermost</p><button>Deep</button>");
    let other = innermost.replace(&stage.site.origin(), &stage.site.other_origin());
    let middle =
        stage.site.page(format!("<p>middle</p><iframe sandbox='allow-scripts' title=inner src='{other}'></iframe>"));
    stage.show(&format!("<h1>Outer</h1><iframe title=middle src='{middle}'></iframe><p>after</p>")).await;
    let outline = stage.outline().await;
    let positions: Vec<_> =
        ["Outer", "middle", "innermost", "Deep", "after"].iter().map(|text| outline.find(text)).collect();
    assert!(positions.iter().all(Option::is_some) && positions.is_sorted(), "{outline}");
    let text = stage.text().await;
    let positions: Vec<_> =
        ["Outer", "middle", "innermost", "Deep", "after"].iter().map(|part| text.find(part)).collect();
    assert!(positions.iter().all(Option::is_some) && positions.is_sorted(), "{text}");
}

#[tokio::test]
async fn a_long_page_is_read_piece_by_piece_to_its_end() {
    let stage = Stage::set().await;
    let rows: String =
        (1..=2_000).map(|row| format!("<p>Paragraph number {row}</p><a href='#{row}'>Link {row}</a>")).collect();
    stage.show(&rows).await;
    let mut cursor = None;
    let mut whole = String::new();
    for _ in 0..40 {
        let options = OutlineOptions { max_chars: 10_000, cursor: cursor.take(), ..OutlineOptions::default() };
        let outline = stage.tab.outline(options, soon()).await.unwrap();
        assert!(outline.text.len() < 11_000, "{}", outline.text.len());
        whole.push_str(&outline.text);
        assert_eq!(outline.truncated, outline.cursor.is_some());
        cursor = outline.cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert!(cursor.is_none() && whole.contains("Link 1\"") && whole.contains("Link 2000\""));
    let mut cursor = None;
    let mut whole = String::new();
    loop {
        let options = TextOptions { max_chars: 10_000, cursor: cursor.take(), ..TextOptions::default() };
        let text = stage.tab.text(options, soon()).await.unwrap();
        whole.push_str(&text.text);
        cursor = text.cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert!((1..=2_000).all(|row| whole.contains(&format!("Paragraph number {row}"))));
}

#[tokio::test]
async fn markdown_keeps_headings_lists_and_links() {
    let stage = Stage::showing("<h2>Title</h2><ul><li>one<li><a href='/there'>two</a></ul><p>a <b>bold</b> word").await;
    let options = TextOptions { format: TextFormat::Markdown, max_chars: 10_000, ..TextOptions::default() };
    let text = stage.tab.text(options, soon()).await.unwrap().text;
    assert!(text.contains("## Title") && text.contains("- one") && text.contains("[two]("), "{text}");
}

#[tokio::test]
async fn a_cursor_that_is_not_known_is_a_clear_error() {
    let stage = Stage::showing("<p>short").await;
    for cursor in ["c99", "nonsense", "", "c"] {
        let options =
            OutlineOptions { max_chars: 10_000, cursor: Some(cursor.to_owned()), ..OutlineOptions::default() };
        assert!(matches!(stage.tab.outline(options, soon()).await, Err(Error::InvalidArgument(_))), "{cursor}");
    }
}

/// The commands of one outline.
async fn outline_costs(stage: &Stage) -> u64 {
    let before = stage.engine.commands_sent().await;
    stage.outline().await;
    stage.engine.commands_sent().await - before
}

#[tokio::test]
async fn an_outline_costs_a_constant_number_of_commands_from_the_first_on() {
    let stage = Stage::set().await;
    let inner = "<p>inner</p><button id=b>Inner</button><span id=s>listens</span><div id=h></div>
        <script>for (const id of ['b', 's', 'h']) document.getElementById(id).addEventListener('click', () => {})</script>";
    let same = stage.site.page(inner);
    let cross = same.replace(&stage.site.origin(), &stage.site.other_origin());
    for source in [&same, &cross] {
        for frames in [0, 1, 5, 20] {
            let owners = format!("<iframe src='{source}' width=200 height=100></iframe>").repeat(frames);
            stage.show(&format!("<p>outer</p><span onclick='1'>one</span>{owners}")).await;
            let most = 10 + 3 * frames as u64;
            let first = outline_costs(&stage).await;
            let outline = stage.outline().await;
            assert_eq!(outline.matches("clickable \"listens\" @e").count(), frames, "{outline}");
            let later = outline_costs(&stage).await;
            println!("{frames} frames: first {first}, later {later}, at most {most}");
            assert!(first <= most && later <= most, "{frames} frames: first {first}, later {later}, at most {most}");
        }
    }
}

#[tokio::test]
async fn an_outline_of_six_hundred_cards_costs_no_more_commands_than_one_of_none() {
    let stage = Stage::set().await;
    for card in [
        "<div style='cursor:pointer' onclick='1'>Card</div>",
        "<div class=card>Card <b>text</b></div>",
        "<my-card>Card</my-card>",
    ] {
        let script = "<script>document.querySelectorAll('.card').forEach((card) => card.addEventListener('click', () => {}))</script>";
        stage.show(&format!("<main>{}</main>{script}", card.repeat(600))).await;
        let (first, later) = (outline_costs(&stage).await, outline_costs(&stage).await);
        assert!(first <= 10 && later <= 10, "{card}: first {first}, later {later}");
    }
    stage.show(&format!("<main>{}</main><script>onload = () => document.querySelectorAll('i').forEach((card) => card.addEventListener('click', () => {{}}))</script>", "<p>Words <i>that listen</i> here".repeat(600))).await;
    let first = outline_costs(&stage).await;
    assert!(first <= 10, "{first}");
    assert!(stage.outline().await.contains("clickable \"that listen\" @e"));
}

#[tokio::test]
async fn the_last_of_two_thousand_rows_is_found_and_so_is_a_field_in_a_frame() {
    let stage = Stage::set().await;
    let frame = stage.site.page("<label>Card number <input placeholder='0000' data-testid=card></label>");
    let frame = frame.replace(&stage.site.origin(), &stage.site.other_origin());
    let rows: String = (1..=2_000).map(|row| format!("<tr><td>Row {row}<td><button>Edit</button>")).collect();
    stage.show(&format!("<table>{rows}</table><iframe src='{frame}'></iframe>")).await;
    let find = |options: FindOptions| async { stage.tab.find(&FindOptions { limit: 5, ..options }, soon()).await };
    let found = find(FindOptions { text: Some("row 2000".to_owned()), ..FindOptions::default() }).await.unwrap();
    assert!(found.matches[0].line.contains("Row 2000"), "{found:?}");
    let found = find(FindOptions { role: Some("button".to_owned()), ..FindOptions::default() }).await.unwrap();
    assert_eq!(found.matches.len(), 5);
    assert!(found.more >= 200, "{}", found.more);
    assert!(found.matches[0].context.contains("Row 1"), "{found:?}");
    for options in [
        FindOptions { label: Some("card".to_owned()), ..FindOptions::default() },
        FindOptions { placeholder: Some("0000".to_owned()), ..FindOptions::default() },
        FindOptions { test_id: Some("card".to_owned()), ..FindOptions::default() },
    ] {
        let found = find(options).await.unwrap();
        assert_eq!(found.matches.len(), 1, "{found:?}");
        assert!(found.matches[0].line.contains("textbox \"Card number\""), "{found:?}");
    }
    assert!(matches!(find(FindOptions::default()).await, Err(Error::InvalidArgument(_))));
}
