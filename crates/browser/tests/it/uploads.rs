//! Uploads: which files, and by what elements.

use std::fs;
use std::time::Duration;

use bathy_browser::{ClickOptions, Containment, EngineOptions, Error, Target};

use crate::support::{Stage, open_policy, options, soon};

fn go() -> Target {
    Target::Selector("#go".to_owned())
}

async fn stage(containment: Containment, folder: &std::path::Path) -> Stage {
    fs::write(folder.join("one.txt"), "first").unwrap();
    fs::write(folder.join("two.png"), "second").unwrap();
    Stage::with(EngineOptions { containment, uploads_directory: Some(folder.to_owned()), ..options(open_policy()) })
        .await
}

/// What the page shows of its files: `seen` names their values, names and contents.
const SEEN: &str = "<p id=seen></p><script>const see = async (input) => { let text = input.value;
    for (const file of input.files) text += ' ' + file.name + '=' + await file.text(); document.title = text; };
    addEventListener('change', (event) => see(event.composedPath()[0]), true)</script>";

const INPUTS: &[(&str, &str)] = &[
    ("input", "<input id=go type=file>"),
    ("hidden input", "<input id=go type=file hidden>"),
    ("label", "<label id=go for=f>Choose</label><input id=f type=file style='display:none'>"),
    ("label around", "<label><span id=go>Choose</span><input type=file style='opacity:0;width:0'></label>"),
    ("button for an input", "<button id=go onclick=\"f.click()\">Choose</button><input id=f type=file hidden>"),
    (
        "button that makes an input",
        "<button id=go>Choose</button><script>go.onclick = () => { const i = document.createElement('input');
         i.type = 'file'; i.onchange = () => see(i); i.click(); }</script>",
    ),
    (
        "button that asks late",
        "<button id=go>Choose</button><input id=f type=file hidden><script>go.onclick = () => setTimeout(() => f.click(), 200)</script>",
    ),
    (
        "input in a shadow root",
        "<div id=go></div><script>go.attachShadow({mode: 'open'}).innerHTML = '<input type=file>';
         const i = go.shadowRoot.querySelector('input'); i.onchange = () => see(i);
         go.onclick = () => i.click(); go.style.height = '30px'</script>",
    ),
];

#[tokio::test]
async fn every_way_to_ask_for_a_file_takes_one_and_the_page_sees_its_bare_name() {
    for containment in [Containment::Auto, Containment::Browser] {
        let folder = tempfile::tempdir().unwrap();
        let stage = stage(containment, folder.path()).await;
        for (way, html) in INPUTS {
            stage.show(&format!("{SEEN}{html}")).await;
            let acted = stage.tab.upload(&go(), &["one.txt".to_owned()], soon()).await;
            acted.unwrap_or_else(|error| panic!("{way}: {error}"));
            let deadline = soon();
            while stage.tab.title(soon()).await.unwrap().is_empty() && !deadline.has_passed() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            assert_eq!(stage.tab.title(soon()).await.unwrap(), "C:\\fakepath\\one.txt one.txt=first", "{way}");
        }
        stage.engine.close().await;
    }
}

#[tokio::test]
async fn a_form_sends_the_files_it_was_given_also_from_a_frame_of_another_site() {
    let folder = tempfile::tempdir().unwrap();
    let stage = stage(Containment::Auto, folder.path()).await;
    let form = "<form method=post enctype=multipart/form-data action='/echo.html'>
        <input id=go name=f type=file multiple accept='.txt'><button id=send>Send</button></form>";
    let inner = stage.site.page(form).replace(&stage.site.origin(), &stage.site.other_origin());
    for html in [form.to_owned(), format!("<iframe src='{inner}' width=400 height=200></iframe>")] {
        stage.show(&html).await;
        let names = ["one.txt".to_owned(), "two.png".to_owned()];
        let acted = stage.tab.upload(&go(), &names, soon()).await.unwrap();
        assert!(acted.changes.notes.iter().any(|note| note.contains("two.png")), "{acted:?}");
        stage.site.forget();
        stage.tab.click(&Target::Selector("#send".to_owned()), ClickOptions::default(), soon()).await.unwrap();
        let sent =
            stage.site.wait_request(|request| request.path == "/echo.html", Duration::from_secs(10)).await.unwrap();
        let body = String::from_utf8_lossy(&sent.body).into_owned();
        for part in ["filename=\"one.txt\"", "first", "filename=\"two.png\"", "second"] {
            assert!(body.contains(part), "{part}: {body}");
        }
    }
}

#[tokio::test]
async fn what_cannot_take_a_file_or_may_not_be_one_is_refused_and_nothing_blocks() {
    let folder = tempfile::tempdir().unwrap();
    let stage = stage(Containment::Auto, folder.path()).await;
    std::os::unix::fs::symlink("/etc/passwd", folder.path().join("link.txt")).unwrap();
    stage.show("<input id=go type=file>").await;
    for name in ["../one.txt", "/etc/passwd", "link.txt", "..", "none.txt", ""] {
        let error = stage.tab.upload(&go(), &[name.to_owned()], soon()).await.unwrap_err();
        assert!(matches!(error, Error::UploadNotAllowed { .. }), "{name}: {error}");
    }
    let two = ["one.txt".to_owned(), "two.png".to_owned()];
    for (html, names, reason) in [
        ("<input id=go type=file disabled>", &two[..1], "disabled"),
        ("<fieldset disabled><input id=go type=file></fieldset>", &two[..1], "disabled"),
        ("<input id=go type=file webkitdirectory>", &two[..1], "folders"),
        ("<input id=go type=file>", &two[..], "one file"),
        ("<button id=go>Nothing</button>", &two[..1], "no way to choose"),
    ] {
        stage.show(html).await;
        let error = stage.tab.upload(&go(), names, soon()).await.unwrap_err();
        assert!(matches!(&error, Error::NotActionable { reason: why, .. } if why.contains(reason)), "{html}: {error}");
    }
    // A chooser that nobody answers keeps nothing from going on.
    stage.show("<input id=go type=file><p>here").await;
    let acted = stage.tab.click(&go(), ClickOptions::default(), soon()).await.unwrap();
    assert!(acted.changes.file_chooser);
    stage.show("<title>On</title>").await;
    assert_eq!(stage.tab.title(soon()).await.unwrap(), "On");

    let off = Stage::showing("<input id=go type=file>").await;
    let error = off.tab.upload(&go(), &two[..1], soon()).await.unwrap_err();
    assert!(error.to_string().contains("uploadsDir"), "{error}");
}
