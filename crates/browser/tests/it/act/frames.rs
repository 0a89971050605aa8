//! Frames at every depth, of every origin.

use bathy_browser::{Error, FillOptions};

use super::css;
use crate::support::{Stage, soon};

#[tokio::test]
async fn every_depth_is_clicked_and_filled_by_ref() {
    let stage = Stage::at("frames/nested.html").await;
    for depth in 0..=3 {
        let button = stage.reference(&format!("Button at depth {depth}")).await;
        stage.click(&button).await.unwrap_or_else(|error| panic!("depth {depth}: {error:?}"));
        assert!(stage.report("click", &format!("depth-{depth}")).await.trusted);
        if depth > 0 {
            let field = stage.reference(&format!("Field at depth {depth}")).await;
            let value = format!("text {depth}");
            let filled = stage.tab.fill(&field, &value, FillOptions::default(), soon()).await.unwrap();
            assert_eq!(filled.value, value);
            let report = stage.report("input", &format!("field-{depth}")).await;
            assert!(report.trusted && report.value == value, "{report:?}");
        }
    }
}

#[tokio::test]
async fn keys_go_to_the_frame_that_has_the_focus() {
    let stage = Stage::at("frames/cross-origin.html").await;
    let keys = FillOptions { clear: true, keys: true };
    let filled = stage.tab.fill(&css("#inner-field"), "typed", keys, soon()).await.unwrap();
    assert_eq!(filled.value, "typed");
    stage.tab.press(&"Backspace".parse().unwrap(), None, soon()).await.unwrap();
    let add = FillOptions { clear: false, keys: false };
    let filled = stage.tab.fill(&css("#inner-field"), "!", add, soon()).await.unwrap();
    assert_eq!(filled.value, "type!");
}

#[tokio::test]
async fn a_scaled_turned_and_scrolled_frame_is_hit_where_it_is() {
    let stage = Stage::at("frames/scaled.html").await;
    let tall = "<script src=/report.js></script><style>button{width:60px;height:20px}</style>
        <button id=top>Top</button><div style='height:900px'></div><button id=low style='margin-left:250px'>Low</button>
        <script>for (const each of document.querySelectorAll('button')) watch(each, 'click')</script>";
    let inner = stage.site.page(tall);
    let other =
        stage.site.other_url(inner.rsplit_once("/page/").map(|(_, page)| format!("page/{page}")).unwrap().as_str());
    for transform in ["scale(0.5) rotate(10deg)", "rotate(-80deg)", "skewX(20deg)", "scale(2, 1.3)", "none"] {
        for source in [&inner, &other] {
            stage
                .show(&format!(
                    "<div style='height:1500px'></div><div style='margin:200px;width:440px;transform:{transform};border:20px solid'>
                     <iframe style='border:15px solid;padding:10px' src='{source}' width=400 height=200></iframe></div><div style='height:900px'>"
                ))
                .await;
            stage.site.forget();
            for button in ["low", "top"] {
                let said = stage.click(&css(&format!("#{button}"))).await;
                said.unwrap_or_else(|error| panic!("{transform} {source} {button}: {error:?}"));
                assert!(stage.report("click", button).await.trusted, "{transform} {source}");
            }
        }
    }
}

#[tokio::test]
async fn a_cover_over_a_frame_is_seen() {
    let stage = Stage::set().await;
    let inner = stage.site.page("<button id=inside style='width:200px;height:100px'>Inside</button>");
    for origin in ["127.0.0.1", "127.0.0.2"] {
        let source = if origin == "127.0.0.1" {
            inner.clone()
        } else {
            inner.replace(&stage.site.origin(), &stage.site.other_origin())
        };
        stage
            .show(&format!(
                "<iframe src='{source}' width=300 height=200></iframe>
                 <div role=dialog aria-label='Cookies' style='position:fixed;inset:0;background:#0008'>Cookies</div>"
            ))
            .await;
        let error = stage.click(&css("#inside")).await.unwrap_err();
        assert!(matches!(&error, Error::Obscured { cover, .. } if cover.contains("Cookies")), "{origin}: {error:?}");
    }
}

#[tokio::test]
async fn sandboxed_frames_without_scripts_are_acted_on_too() {
    let stage = Stage::at("frames/sandboxed.html").await;
    let button = stage.reference("Inner field").await;
    let filled = stage.tab.fill(&button, "in the sandbox", FillOptions::default(), soon()).await.unwrap();
    assert_eq!(filled.value, "in the sandbox");
}

#[tokio::test]
async fn what_changes_in_a_frame_is_told() {
    let stage = Stage::set().await;
    let inner = stage.site.page("<button onclick='this.nextSibling.textContent = \"Done\"'>Go</button><p>Not yet</p>");
    let other = inner.replace(&stage.site.origin(), &stage.site.other_origin());
    stage.show(&format!("<iframe src='{other}'></iframe>")).await;
    let acted = stage.click(&css("button")).await.unwrap();
    assert!(acted.changes.outline.iter().any(|line| line.contains("Done")), "{acted:?}");
}

#[tokio::test]
async fn a_frame_itself_is_clicked_into() {
    let stage = Stage::set().await;
    let inner = stage.site.page(
        "<script src=/report.js></script><body id=body style='height:150px'><script>watch(document.body, 'click')</script>",
    );
    for source in [inner.clone(), inner.replace(&stage.site.origin(), &stage.site.other_origin())] {
        stage.show(&format!("<iframe id=frame src='{source}'></iframe>")).await;
        stage.site.forget();
        stage.click(&css("#frame")).await.unwrap();
        assert!(stage.report("click", "body").await.trusted);
    }
}
