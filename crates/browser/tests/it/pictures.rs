//! What is drawn onto pictures: labels with refs, and covers over what must not be seen.

use std::fs;
use std::path::Path;

use bathy_browser::{
    ClickOptions, Conceal, EngineOptions, Error, FindOptions, Label, Screenshot, ScreenshotFormat, ScreenshotOptions,
    SessionOptions, Tab, Target, TextOptions, Unconcealed, WaitUntil,
};
use image::RgbImage;

use crate::support::{Stage, open_policy, options, soon};

const SECRET: &str = "Sesame-open-42";

/// A tab of a session none of whose pictures may show [`SECRET`].
async fn discreet(stage: &Stage, html: &str) -> Tab {
    let conceal =
        Conceal::new(|text| text.match_indices(SECRET).map(|(at, found)| at..at + found.len()).collect::<Vec<_>>());
    let session = SessionOptions { id: "discreet".to_owned(), conceal: Some(conceal), ..SessionOptions::default() };
    let session = stage.engine.open_session(session).await.unwrap();
    let tab = session.tab(None).await.unwrap();
    tab.navigate(&stage.site.page(html), WaitUntil::Load, soon()).await.unwrap();
    // The session goes with its last handle.
    Box::leak(Box::new(session));
    tab
}

fn decoded(bytes: &[u8]) -> RgbImage {
    image::load_from_memory(bytes).unwrap().into_rgb8()
}

/// The pictures of a page, one after the other.
fn pictures(taken: &Screenshot) -> Vec<RgbImage> {
    std::iter::once(&taken.bytes).chain(taken.more.iter().map(|one| &one.bytes)).map(|bytes| decoded(bytes)).collect()
}

/// How many pixels are of a red that nothing but what must not be seen has.
fn red(taken: &Screenshot) -> usize {
    let is_red = |[red, green, blue]: [u8; 3]| red > 200 && green < 90 && blue < 90;
    pictures(taken).iter().flat_map(|picture| picture.pixels()).filter(|pixel| is_red(pixel.0)).count()
}

fn lines(labels: &[Label]) -> Vec<&str> {
    labels.iter().map(|label| label.line.as_str()).collect()
}

fn files(folder: &Path) -> usize {
    fs::read_dir(folder).map_or(0, Iterator::count)
}

#[tokio::test]
async fn labels_name_what_can_be_acted_on_and_seen_in_any_frame_and_their_refs_can_be_clicked() {
    let stage = Stage::set().await;
    let site = &stage.site;
    let elsewhere = |page: String| page.replace(&site.origin(), &site.other_origin());
    let innermost = site.page(
        "<body style='margin:0'><button style='position:absolute;left:20px;top:10px;width:80px;height:30px'
         onclick=\"textContent='Innermost clicked'\">Innermost</button>",
    );
    let inner = elsewhere(site.page(format!(
        "<body style='margin:0'><button style='width:100px;height:40px' onclick=\"textContent='Inner clicked'\">Inner</button>
         <button style='position:absolute;top:900px'>Far down in the frame</button>
         <iframe src='{innermost}' style='position:absolute;left:200px;top:100px;width:200px;height:100px;border:0'></iframe>"
    )));
    let hidden = elsewhere(site.page("<button>In a covered frame</button>"));
    stage
        .show(&format!(
            "<body style='margin:0'><button style='position:absolute;left:300px;top:50px;width:100px;height:40px'
               onclick=\"textContent='Send clicked'\">Send \"it\"</button>
             <button style='position:absolute;left:600px;top:50px;width:100px;height:40px'>Covered</button>
             <div style='position:absolute;left:590px;top:40px;width:200px;height:100px;background:#eee'></div>
             <button style='display:none'>Not there</button><button style='position:absolute;top:2000px'>Below</button>
             <iframe src='{inner}' style='position:absolute;left:100px;top:200px;width:800px;height:400px;border:0;
               transform:scale(.5);transform-origin:0 0'></iframe>
             <iframe src='{hidden}' style='position:absolute;left:700px;top:300px;width:200px;height:100px'></iframe>
             <div style='position:absolute;left:690px;top:290px;width:300px;height:200px;background:#eee'></div>"
        ))
        .await;
    let before = stage.engine.commands_sent().await;
    let annotated = ScreenshotOptions { annotate: true, ..ScreenshotOptions::default() };
    let taken = stage.tab.screenshot(annotated.clone(), soon()).await.unwrap();
    assert!(stage.engine.commands_sent().await - before < 40);
    assert_eq!(lines(&taken.labels), [r#"button "Send \"it\"""#, r#"button "Inner""#, r#"button "Innermost""#]);
    assert_eq!((taken.unlabelled, taken.covered), (0, 0));
    // Each box's line is where its element is; the frame is drawn at half its size.
    let picture = decoded(&taken.bytes);
    for (x, y) in [(300, 50), (399, 89), (100, 200), (149, 219), (210, 255), (249, 269)] {
        let pixel = picture.get_pixel(x, y).0;
        assert!(pixel.iter().max().unwrap() - pixel.iter().min().unwrap() > 60, "{x}, {y}: {pixel:?}");
    }
    // The whole page has those below the view, too, and an element those inside of it alone.
    let page = ScreenshotOptions { full_page: true, ..annotated.clone() };
    for format in [ScreenshotFormat::Png, ScreenshotFormat::Jpeg, ScreenshotFormat::Webp] {
        let taken =
            stage.tab.screenshot(ScreenshotOptions { format: Some(format), ..page.clone() }, soon()).await.unwrap();
        assert!(lines(&taken.labels).contains(&r#"button "Below""#), "{:?}", taken.labels);
        assert_eq!(taken.labels.len(), 4);
        assert_eq!(pictures(&taken)[0].dimensions(), (taken.width, taken.height));
    }
    let target = Some(Target::Ref(taken.labels[0].reference));
    let element = stage.tab.screenshot(ScreenshotOptions { target, ..annotated }, soon()).await.unwrap();
    assert_eq!((lines(&element.labels).len(), element.width, element.height), (1, 100, 40));
    for label in &taken.labels {
        stage.tab.click(&Target::Ref(label.reference), ClickOptions::default(), soon()).await.unwrap();
    }
    let text = stage.tab.text(TextOptions { max_chars: 2_000, ..TextOptions::default() }, soon()).await.unwrap().text;
    assert_eq!(text.matches("clicked").count(), 3, "{text}");
}

#[tokio::test]
async fn a_page_of_very_many_elements_has_as_many_labels_as_can_be_read_and_notices_nothing() {
    let buttons: String = (0..400).map(|index| format!("<button>{index}</button> ")).collect();
    let stage = Stage::showing(&format!(
        "<body>{buttons}<p id=told></p><script>addEventListener('resize', () => {{ told.textContent = 'noticed' }});
         new MutationObserver((all) => {{ told.textContent = 'noticed' }})
           .observe(document.body, {{subtree: true, childList: true, attributes: true}})</script>"
    ))
    .await;
    let options = ScreenshotOptions { annotate: true, ..ScreenshotOptions::default() };
    let taken = stage.tab.screenshot(options.clone(), soon()).await.unwrap();
    assert_eq!((taken.labels.len(), taken.unlabelled), (100, 300));
    let target = Some(Target::Ref(taken.labels[7].reference));
    let element = stage.tab.screenshot(ScreenshotOptions { target, ..options }, soon()).await.unwrap();
    assert_eq!(lines(&element.labels), [r#"button "7""#]);
    let text = stage.tab.text(TextOptions { max_chars: 10_000, ..TextOptions::default() }, soon()).await.unwrap();
    assert!(!text.text.contains("noticed"), "{}", text.text);
}

#[tokio::test]
async fn what_must_not_be_seen_is_covered_wherever_a_page_shows_it() {
    let stage = Stage::set().await;
    let site = &stage.site;
    let inner = site.page(format!("<body style='margin:0;color:#f00;font-size:30px'>framed {SECRET}"));
    let inner = inner.replace(&site.origin(), &site.other_origin());
    let html = format!(
        "<style>.r, .r * {{ color: #f00; font-size: 20px }} ::placeholder {{ color: #f00 }}</style>
         <p>Nothing else is red. <b class=r>{SECRET}</b></p>
         <p class=r>{0}<b>{1}</b></p>
         <input class=r size=40 value='is {SECRET}'><textarea class=r>{SECRET}</textarea><input placeholder='{SECRET}'>
         <select class=r><option>{SECRET}</option><option>other</option></select><input class=r type=submit value='{SECRET}'>
         <input class=r type=password value='{SECRET}'>
         <div id=open></div><div id=closed></div>
         <iframe src='{inner}' style='width:800px;height:200px;border:0;transform:rotate(20deg) scale(.5)'></iframe>
         <div style='height:2000px'></div><p class=r id=below>{SECRET}</p>
         <script>for (const mode of ['open', 'closed']) document.getElementById(mode).attachShadow({{mode}}).innerHTML =
           '<p style=\"color:#f00\">in {SECRET}</p>'</script>",
        &SECRET[..6],
        &SECRET[6..],
    );
    let tab = discreet(&stage, &html).await;
    let view = tab.screenshot(ScreenshotOptions::default(), soon()).await.unwrap();
    assert_eq!(view.covered, 11);
    // Bullets are no secret.
    let bullets = 14 * 100;
    assert!(red(&view) < bullets, "{} red pixels", red(&view));
    for format in [ScreenshotFormat::Png, ScreenshotFormat::Jpeg, ScreenshotFormat::Webp] {
        let options =
            ScreenshotOptions { full_page: true, format: Some(format), annotate: true, ..ScreenshotOptions::default() };
        let page = tab.screenshot(options, soon()).await.unwrap();
        assert!(red(&page) < bullets && page.covered >= 12, "{format:?}: {} red pixels", red(&page));
    }
    let button = FindOptions { role: Some("button".to_owned()), limit: 1, ..FindOptions::default() };
    let found = tab.find(&button, soon()).await.unwrap();
    let target = Some(Target::Ref(found.matches[0].reference));
    let element = tab.screenshot(ScreenshotOptions { target, ..ScreenshotOptions::default() }, soon()).await.unwrap();
    assert!(red(&element) == 0 && element.covered > 0);

    // A session without anything to conceal shows it, and asks the page nothing.
    stage.show(&html).await;
    let before = stage.engine.commands_sent().await;
    let open = stage.tab.screenshot(ScreenshotOptions::default(), soon()).await.unwrap();
    assert_eq!(stage.engine.commands_sent().await - before, 3);
    assert!(red(&open) > 2 * bullets && open.covered == 0, "{} red pixels", red(&open));
}

#[tokio::test]
async fn what_cannot_be_covered_is_not_taken_and_no_file_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let artifacts_directory = Some(folder.path().to_owned());
    let stage = Stage::with(EngineOptions { artifacts_directory, ..options(open_policy()) }).await;
    let stuck = stage.site.page("<p>quiet</p><script>setTimeout(() => { for (;;); }, 100)</script>");
    let stuck = stuck.replace(&stage.site.origin(), &stage.site.other_origin());
    for (html, reason) in [
        (
            format!(
                "<p id=p style='position:absolute'>{SECRET}</p><script>let x = 0;
                 setInterval(() => {{ p.style.left = `${{(x += 7) % 600}}px` }}, 5)</script>"
            ),
            Unconcealed::Moving,
        ),
        (format!("<style>p::after {{ content: '{SECRET}' }}</style><p>It is "), Unconcealed::Astray),
        (format!("<p>{SECRET}</p><iframe src='{stuck}'></iframe>"), Unconcealed::Silent),
        (format!("<p>{}</p>", "much ".repeat(500_000)), Unconcealed::Excess),
    ] {
        let tab = discreet(&stage, &html).await;
        if reason == Unconcealed::Silent {
            tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        }
        let error = tab.screenshot(ScreenshotOptions::default(), soon()).await.unwrap_err();
        assert!(matches!(error, Error::Unconcealed(found) if found == reason), "{reason:?}: {error:?}");
    }
    // What takes no part in the picture need not answer.
    let tab = discreet(&stage, &format!("<p>{SECRET}</p><iframe style='display:none' src='{stuck}'></iframe>")).await;
    assert_eq!(files(folder.path()), 0);
    assert_eq!(tab.screenshot(ScreenshotOptions::default(), soon()).await.unwrap().covered, 1);
    stage.engine.close().await;
}

#[tokio::test]
async fn a_page_that_holds_what_must_not_be_seen_is_not_printed_even_where_the_screen_does_not_show_it() {
    let folder = tempfile::tempdir().unwrap();
    let artifacts_directory = Some(folder.path().to_owned());
    let stage = Stage::with(EngineOptions { artifacts_directory, ..options(open_policy()) }).await;
    let inner = stage.site.page(format!("<p>{SECRET}"));
    let inner = inner.replace(&stage.site.origin(), &stage.site.other_origin());
    for html in [
        format!("<p>It is {SECRET}."),
        format!("<style>@media screen {{ p {{ display: none }} }}</style><p>{SECRET}"),
        format!("<style>@media print {{ p::before {{ content: '{SECRET}' }} }}</style><p>It is"),
        format!("<iframe src='{inner}' style='display:none'></iframe>"),
        format!("<a href='/go?with={SECRET}'>Go</a>"),
        format!("<title>{SECRET}</title>"),
        format!("<input value='{SECRET}'>"),
    ] {
        let tab = discreet(&stage, &html).await;
        let error = tab.pdf(soon()).await.unwrap_err();
        assert!(matches!(error, Error::Unconcealed(Unconcealed::Printed)), "{html}: {error:?}");
    }
    assert_eq!(files(folder.path()), 0);
    let tab = discreet(&stage, "<p>Nothing of that kind</p><input type=password>").await;
    assert!(tab.pdf(soon()).await.unwrap().path.is_file());
    stage.engine.close().await;
}
