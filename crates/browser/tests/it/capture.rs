//! Pictures.

use std::fs;

use bathy_browser::{EngineOptions, Error, FindOptions, ScreenshotFormat, ScreenshotOptions, Target};
use bathy_testsite::SmallDisk;

use crate::support::{Stage, open_policy, options, soon};

#[tokio::test]
async fn a_picture_shows_the_viewport_the_page_or_an_element_and_is_a_file_of_ours() {
    let stage = Stage::set().await;
    let frame =
        stage.site.page("<body style='margin:0'><button style='width:50px;height:20px;margin:30px'>In</button>");
    let frame = frame.replace(&stage.site.origin(), &stage.site.other_origin());
    stage
        .show(&format!(
            "<body style='margin:0'><div style='width:200px;height:100px' role=button>Box</div>
             <div style='height:3000px'></div><iframe style='width:300px;height:200px;border:0' src='{frame}'></iframe>"
        ))
        .await;
    let take = |options| stage.tab.screenshot(options, soon());
    let viewport = take(ScreenshotOptions::default()).await.unwrap();
    assert_eq!((viewport.width, viewport.height, viewport.mime_type), (1280, 800, "image/png"));
    assert_eq!(fs::read(&viewport.path).unwrap(), viewport.bytes);
    assert!(viewport.path.file_name().unwrap().to_str().unwrap().starts_with("screenshot-"));
    let page = take(ScreenshotOptions { full_page: true, ..ScreenshotOptions::default() }).await.unwrap();
    let pictures = std::iter::once(page.height).chain(page.more.iter().map(|one| one.height));
    assert!(page.width > 600 && pictures.sum::<u32>() >= 1_500, "{} × {}", page.width, page.height);
    for (name, width, height) in [("In", 50, 20), ("Box", 200, 100)] {
        let options = FindOptions { name: Some(name.to_owned()), limit: 1, ..FindOptions::default() };
        let found = stage.tab.find(&options, soon()).await.unwrap();
        let target = Some(Target::Ref(found.matches[0].reference));
        let format = Some(ScreenshotFormat::Webp);
        let element = take(ScreenshotOptions { target, format, ..ScreenshotOptions::default() }).await.unwrap();
        assert_eq!((element.width, element.height, element.mime_type), (width, height, "image/webp"), "{name}");
    }
}

#[tokio::test]
async fn a_very_tall_page_is_taken_in_pictures_within_model_limits_that_are_not_empty() {
    let stripes: String = (0..1_000).map(|row| format!("<p style='height:50px;margin:0'>row {row} of many")).collect();
    let stage = Stage::showing(&stripes).await;
    for format in [ScreenshotFormat::Png, ScreenshotFormat::Jpeg, ScreenshotFormat::Webp] {
        let options = ScreenshotOptions { full_page: true, format: Some(format), ..ScreenshotOptions::default() };
        let taken = stage.tab.screenshot(options, soon()).await.unwrap();
        assert_eq!(taken.more.len(), 5);
        assert!(taken.left_out > 10_000.0, "{}", taken.left_out);
        let first = [(taken.width, taken.height, taken.bytes, taken.path)];
        let more = taken.more.into_iter().map(|one| (one.width, one.height, one.bytes, one.path));
        for (width, height, bytes, path) in first.into_iter().chain(more) {
            assert!(width.max(height) <= 1_569 && width * height <= 1_155_000, "{width} × {height}");
            // A picture of nothing is far smaller than one with rows of text.
            assert!(bytes.len() > 8_000, "{} bytes", bytes.len());
            assert_eq!(std::fs::read(path).unwrap(), bytes);
        }
    }
}

#[tokio::test]
async fn a_page_is_printed_to_a_file_of_ours() {
    let stage = Stage::showing("<title>Printed</title><h1>On paper</h1><div style='height:30000px'>long").await;
    let pdf = stage.tab.pdf(soon()).await.unwrap();
    let bytes = std::fs::read(&pdf.path).unwrap();
    assert!(bytes.starts_with(b"%PDF-") && bytes.trim_ascii_end().ends_with(b"%%EOF"), "{} bytes", bytes.len());
    assert_eq!((pdf.title.as_str(), pdf.url), ("Printed", stage.tab.url()));
    assert!(pdf.path.file_name().unwrap().to_str().unwrap().starts_with("page-"));
}

#[tokio::test]
async fn a_full_disk_takes_no_picture_and_is_told_and_the_next_one_works() {
    let Some(disk) = SmallDisk::mount(64).unwrap() else { return };
    let artifacts_directory = Some(disk.path().to_owned());
    let stage = Stage::with(EngineOptions { artifacts_directory, ..options(open_policy()) }).await;
    stage.show("<p>A page that is small as a picture").await;
    let filler = disk.path().join("filler");
    // A disk is full where it takes a part of what it is given.
    assert!(fs::write(&filler, vec![1; 80 * 1024]).is_err());
    let error = stage.tab.screenshot(ScreenshotOptions::default(), soon()).await.unwrap_err();
    assert!(matches!(&error, Error::Artifact { reason, .. } if reason.contains("No space left")), "{error:?}");
    assert_eq!(fs::read_dir(disk.path()).unwrap().count(), 1, "nothing torn stays");
    fs::remove_file(&filler).unwrap();
    let options = ScreenshotOptions { format: Some(ScreenshotFormat::Jpeg), ..ScreenshotOptions::default() };
    assert!(stage.tab.screenshot(options, soon()).await.unwrap().path.is_file());
    stage.engine.close().await;
}
