//! What people see is what is read, and nothing else; and nothing that a page says looks like us.

use bathy_browser::FindOptions;

use crate::support::{Stage, soon};

/// Everything that a model can read of the page of the stage.
async fn everything(stage: &Stage) -> String {
    let mut all = stage.outline().await;
    all.push_str(&stage.text().await);
    for text in ["secret", "shown"] {
        let options = FindOptions { text: Some(text.to_owned()), limit: 200, ..FindOptions::default() };
        for found in stage.tab.find(&options, soon()).await.unwrap().matches {
            all.push_str(&found.line);
            all.push_str(&found.context);
        }
    }
    all
}

#[tokio::test]
async fn what_is_hidden_from_people_is_absent_and_what_is_shown_is_there() {
    let pages: Vec<_> = bathy_testsite::page_names()
        .filter(|name| name.starts_with("hidden/") && name.strip_suffix(".html").is_some())
        .collect();
    assert!(pages.len() >= 6, "{pages:?}");
    let stage = Stage::set().await;
    for page in pages {
        stage.tab.navigate(&stage.site.url(page), bathy_browser::WaitUntil::Load, soon()).await.unwrap();
        let read = everything(&stage).await;
        assert!(!read.contains("secret"), "{page}\n{read}");
        assert!(read.contains("shown"), "{page}\n{read}");
    }
}

#[tokio::test]
async fn all_that_only_looks_hidden_is_read() {
    let stage = Stage::at("hidden/looks-hidden.html").await;
    let (outline, text) = (stage.outline().await, stage.text().await);
    for words in [
        "shown inside visibility hidden",
        "shown display contents",
        "shown overflowing a zero box",
        "shown though aria-hidden",
        "shown half transparent",
        "shown white on an ancestor's dark",
        "shown white on a picture",
        "shown gradient text",
        "shown by text fill colour",
        "shown moved out and in",
        "shown scaled down and up",
        "shown after scrolling a box",
        "shown after scrolling sideways",
        "shown behind another element",
        "shown far below the fold",
    ] {
        assert!(outline.contains(words), "{words} is not in\n{outline}");
        assert!(text.contains(words), "{words} is not in\n{text}");
    }
}

#[tokio::test]
async fn no_string_of_a_page_makes_a_line_of_ours_or_comes_through_raw() {
    let stage = Stage::at("hostile/forgery.html").await;
    let outline = stage.outline().await;
    for line in outline.lines() {
        let line = line.trim_start();
        assert!(!line.starts_with("button \"Forged\""), "{line}");
        assert!(!line.starts_with("<<<"), "{line}");
        // Outside of quotes a page has no word to say.
        let mut inside = false;
        let mut escaped = false;
        let mut bare = String::new();
        for character in line.chars() {
            match character {
                _ if escaped => escaped = false,
                '\\' if inside => escaped = true,
                '"' => inside = !inside,
                other if !inside => bare.push(other),
                _ => {}
            }
        }
        assert!(!inside, "a string is not closed: {line}");
        assert!(!bare.contains("Forged") && !bare.contains("@e999"), "{line}");
    }
    let read = outline + &stage.text().await;
    for character in read.chars() {
        let raw = (character.is_control() && !matches!(character, '\n' | '\t'))
            || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}' | '\u{200e}' | '\u{200f}' | '\u{61c}' | '\u{e0000}'..='\u{e007f}');
        assert!(!raw, "{character:?} comes through");
    }
}

#[tokio::test]
async fn whatever_listens_stands_by_itself_with_a_ref_of_its_own() {
    let stage = Stage::at("act/inline-listener.html").await;
    let outline = stage.outline().await;
    for name in ["small print", "go on", "-", "+", "Details", "Remove"] {
        let line = format!("clickable \"{name}\" @e");
        assert!(outline.contains(&line), "{line} is not in\n{outline}");
    }
    assert!(outline.contains("text \"Please read the\""), "{outline}");
}

#[tokio::test]
async fn targets_without_words_or_pointer_cursor_are_listed_where_they_stand() {
    let stage = Stage::at("act/silent-targets.html").await;
    let outline = stage.outline().await;
    assert_eq!(outline.matches("@e").count(), 9, "{outline}");
    assert!(outline.contains("listitem \"First\" @e"), "{outline}");
}

#[tokio::test]
async fn nested_pointer_areas_are_one_target() {
    let stage = Stage::at("act/nested-pointers.html").await;
    let outline = stage.outline().await;
    assert_eq!(outline.matches("@e").count(), 1, "{outline}");
}

#[tokio::test]
async fn hidden_radios_and_checkboxes_are_listed_once_by_their_labels() {
    let stage = Stage::at("act/hidden-radio.html").await;
    let outline = stage.outline().await;
    assert!(outline.contains("radio \"Basic\" checked @e"), "{outline}");
    assert_eq!(outline.matches("radio ").count(), 2, "{outline}");
    assert_eq!(outline.matches("checkbox ").count(), 2, "{outline}");
}

#[tokio::test]
async fn closed_shadow_roots_are_read_at_any_depth() {
    let stage = Stage::at("shadow/nested.html").await;
    let outline = stage.outline().await;
    for depth in 1..=4 {
        let line = format!("button \"Button at depth {depth}\" @e");
        assert!(outline.contains(&line), "{line} is not in\n{outline}");
    }
}

/// Behind so many names that the style sheets are asked who has generated content.
#[tokio::test]
async fn generated_content_is_in_the_names_however_its_rule_is_written() {
    const CASES: [(&str, &str, &str); 9] = [
        ("plain", "", ".plain::before { content: 'plain ' }"),
        ("old", "", ".old:after { content: ' old' }"),
        ("child", "", "#child > ::before { content: 'child ' }"),
        ("listed", "", "i.nowhere, .listed:not(.x)::before, u { content: 'listed ' }"),
        ("media", "", "@media all { @supports (color: red) { @layer one { .media::after { content: ' media' } } } }"),
        ("nested", "", "body { .nested::before { content: 'nested ' } }"),
        ("scoped", "", "@scope (body) { .scoped::before { content: 'scoped ' } }"),
        (
            "adopted",
            "const s = new CSSStyleSheet(); s.replaceSync('.adopted::before { content: \"adopted \" }'); \
          document.adoptedStyleSheets = [s];",
            "",
        ),
        (
            "shadow",
            "const r = document.querySelector('.shadow').attachShadow({ mode: 'open' }); \
          r.innerHTML = '<style>:host::before { content: \"shadow \" } slot::after { content: \" slot\" }</style><slot>';",
            "",
        ),
    ];
    let stage = Stage::set().await;
    for (case, script, rule) in CASES {
        let others: String = (0..45).map(|number| format!("<div role=button>{number}</div>")).collect();
        let html = format!(
            "<!doctype html><style>*, ::before, ::after {{ box-sizing: border-box }} .clear::after {{ content: '' }} {rule}</style>\
             {others}<div id={case}><div role=button class={case}>it</div></div>\
             <script>{script}</script>"
        );
        let url = stage.site.add(bathy_testsite::Page::html(html));
        stage.tab.navigate(&url, bathy_browser::WaitUntil::Load, soon()).await.unwrap();
        let outline = stage.outline().await;
        let named = outline.lines().any(|line| line.contains("button") && line.contains(case) && line.contains("it"));
        assert!(named, "{case}\n{outline}");
    }
}

#[tokio::test]
async fn a_modal_dialog_leaves_one_line_of_what_is_behind_it() {
    let stage = Stage::showing(
        "<p>behind</p><button>Under</button><dialog id=d>Cookies <button>Accept</button></dialog>
         <script>d.showModal()</script>",
    )
    .await;
    let outline = stage.outline().await;
    assert!(outline.contains("button \"Accept\" @e"), "{outline}");
    assert!(!outline.contains("Under"), "{outline}");
    assert!(outline.starts_with("page behind the dialog"), "{outline}");
}

#[tokio::test]
async fn a_clobbered_form_hides_nothing_from_us() {
    let stage = Stage::at("hostile/clobbered.html").await;
    let outline = stage.outline().await;
    assert!(outline.contains("button \"Inside a clobbering form\" @e"), "{outline}");
}

#[tokio::test]
async fn twenty_thousand_rows_are_counted_and_the_answer_is_bounded() {
    let stage = Stage::showing(
        "<ul id=u></ul><script>u.innerHTML = Array.from({length: 20000}, (_, i) => `<li><a href='#${i}'>Row ${i}</a></li>`).join('')</script>",
    )
    .await;
    let outline = stage.outline().await;
    assert!(outline.len() <= 11_000, "{}", outline.len());
    assert!(outline.contains("list (20000 items)"), "{outline}");
    assert!(outline.contains("more listitem after these"), "{outline}");
}
