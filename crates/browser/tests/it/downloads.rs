//! Downloads: how they begin, where they end, and what never becomes one.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bathy_browser::{
    ClickOptions, Containment, Deadline, Download, DownloadState, EngineOptions, Error, Session, SessionOptions,
    Target, WaitUntil,
};
use bathy_egress::Verdict;
use bathy_policy::{Policy, PolicyConfig};
use bathy_testsite::processes::{arguments, browser_naming, signal};
use bathy_testsite::{Canary, Page, SmallDisk};

use crate::support::{Stage, comes_true, open_policy, options, soon};

/// How long something that must come is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// Ways for a page to begin a download with a click on `#go`, each with the name that the site proposes and the text
/// or the size of the file.
const WAYS: &[(&str, &str, &str, &str)] = &[
    ("link", "<a id=go download='link.txt' href='/files/plain.bin'>Go</a>", "link.txt", "1000"),
    ("link to an attachment", "<a id=go href='/download/report.csv?bytes=7'>Go</a>", "report.csv", "ddddddd"),
    ("link over a redirect", "<a id=go href='/redirect/302?to=/download/moved.csv'>Go</a>", "moved.csv", "1000"),
    ("link to another site", "<a id=go href='{{other}}/download/other.csv'>Go</a>", "other.csv", "1000"),
    ("type of no page", "<a id=go href='/files/plain.bin'>Go</a>", "plain.bin", "1000"),
    (
        "blob",
        "<a id=go download='blob.txt'>Go</a><script>go.href = URL.createObjectURL(new Blob(['blobbed']))</script>",
        "blob.txt",
        "blobbed",
    ),
    ("data", "<a id=go download='data.txt' href='data:text/plain,dated'>Go</a>", "data.txt", "dated"),
    (
        "form",
        "<form method=post action='/files/posted'><input name=a value=b><button id=go>Go</button></form>",
        "posted.txt",
        "a=b",
    ),
    ("popup", "<a id=go target=_blank href='/download/popup.csv'>Go</a>", "popup.csv", "1000"),
    ("window", "<button id=go onclick=\"window.open('/download/window.csv')\">Go</button>", "window.csv", "1000"),
    ("frame", "<button id=go onclick=\"f.src='/download/frame.csv'\">Go</button><iframe id=f></iframe>", "frame.csv", "1000"),
    (
        "frame of another site",
        "<button id=go onclick=\"f.src='{{other}}/download/far.csv'\">Go</button><iframe id=f></iframe>",
        "far.csv",
        "1000",
    ),
    (
        "sandboxed frame that may",
        "<button id=go onclick=\"f.src='/download/sandboxed.csv'\">Go</button><iframe id=f sandbox=allow-downloads></iframe>",
        "sandboxed.csv",
        "1000",
    ),
    ("location", "<button id=go onclick=\"location='/download/location.csv'\">Go</button>", "location.csv", "1000"),
    (
        "script",
        "<button id=go onclick=\"const a = document.createElement('a'); a.href = window.URL.createObjectURL(new Blob(['made']));
         a.download = 'script.txt'; a.click()\">Go</button>",
        "script.txt",
        "made",
    ),
];

fn go() -> Target {
    Target::Selector("#go".to_owned())
}

async fn done(session: &Session) -> Vec<Download> {
    session.wait_for_downloads(soon(), |_| {}).await.unwrap();
    session.downloads().await.unwrap()
}

fn path(download: &Download) -> &Path {
    download.state.path().unwrap_or_else(|| panic!("{download:?}"))
}

/// A stage with artifacts in `folder`, and the id of its browser's main process.
async fn marked(folder: &Path, max_download_bytes: u64) -> (Stage, u32) {
    let marker = format!("Downloads/{}-{:x}", std::process::id(), rand::random::<u64>());
    let stage = Stage::with(EngineOptions {
        artifacts_directory: Some(folder.to_owned()),
        user_agent: Some(marker.clone()),
        max_download_bytes,
        ..options(open_policy())
    })
    .await;
    let browser = browser_naming(&marker).unwrap();
    (stage, browser)
}

/// The folder that a browser writes downloads into.
fn staging(browser: u32) -> PathBuf {
    let profile =
        arguments(browser).into_iter().find_map(|argument| Some(argument.strip_prefix("--user-data-dir=")?.to_owned()));
    Path::new(&profile.unwrap()).ancestors().nth(2).unwrap().join("downloads")
}

/// Whatever lies in a folder and in all that are in it.
fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        found.push(entry.file_name().to_string_lossy().into_owned());
        found.extend(files(&entry.path()));
    }
    found
}

#[tokio::test]
async fn each_way_to_begin_a_download_gives_a_file_and_the_action_says_so() {
    for containment in [Containment::Auto, Containment::Browser] {
        let folder = tempfile::tempdir().unwrap();
        let stage = Stage::with(EngineOptions {
            containment,
            artifacts_directory: Some(folder.path().to_owned()),
            ..options(open_policy())
        })
        .await;
        for (number, (way, html, name, content)) in WAYS.iter().enumerate() {
            let page = stage.site.page(format!("<title>{way}</title>{html}"));
            stage.tab.navigate(&page, WaitUntil::Load, soon()).await.unwrap();
            let acted = stage.tab.click(&go(), ClickOptions::default(), soon()).await;
            let acted = acted.unwrap_or_else(|error| panic!("{way}: {error}"));
            assert_eq!(acted.changes.downloads, [*name], "{way}: {acted:?}");
            assert_eq!((acted.url.as_str(), acted.title.as_str(), &acted.changes.url), (page.as_str(), *way, &None));
            let downloads = done(&stage.session).await;
            assert_eq!(downloads.len(), number + 1, "{way}");
            let download = &downloads[number];
            assert_eq!((download.index, download.suggested_filename.as_str()), (number, *name), "{way}");
            assert_eq!(path(download), folder.path().join(name), "{way}");
            let bytes = fs::read(path(download)).unwrap();
            assert_eq!(bytes.len() as u64, download.bytes, "{way}");
            let size = bytes.len().to_string();
            assert!(*content == size || content.as_bytes() == bytes, "{way}: {size} bytes");
            #[cfg(unix)]
            {
                use std::os::unix::fs::MetadataExt;
                let (file, ours) = (fs::metadata(path(download)).unwrap(), fs::metadata(folder.path()).unwrap());
                assert_eq!((file.mode() & 0o777, file.uid()), (0o600, ours.uid()), "{way}");
            }
        }
        stage.engine.close().await;
        assert_eq!(files(folder.path()).len(), WAYS.len(), "the files stay");
    }
}

#[tokio::test]
async fn a_navigation_to_a_file_is_no_error_and_leaves_the_page_as_it_was() {
    let stage = Stage::set().await;
    let page = stage.site.page("<title>Kept</title><p>still here");
    for (number, from) in ["about:blank", &page].into_iter().enumerate() {
        if number > 0 {
            stage.tab.navigate(from, WaitUntil::Load, soon()).await.unwrap();
        }
        let landed = stage.tab.navigate(&stage.site.url("files/plain.bin"), WaitUntil::Load, soon()).await.unwrap();
        let title = if number > 0 { "Kept" } else { "" };
        assert_eq!((landed.url.as_str(), landed.title.as_str(), landed.status_code), (from, title, None));
        assert_eq!(landed.download.unwrap().suggested_filename, "plain.bin");
        let downloads = done(&stage.session).await;
        assert_eq!(downloads.len(), number + 1);
        assert_eq!(fs::read(path(&downloads[number])).unwrap(), [b'p'; 1000]);
        assert_eq!(downloads[number].url, stage.site.url("files/plain.bin"));
    }
    let empty = stage.tab.navigate(&stage.site.url("no-content"), WaitUntil::Load, soon()).await.unwrap();
    assert!(empty.download.is_none() && empty.url == page);
}

/// Documents from the site's first address alone; anything that pages load besides from `resources`.
fn narrow(resources: Option<&[&str]>) -> Policy {
    Policy::new(PolicyConfig {
        allowed_hosts: vec!["127.0.0.1".parse().unwrap()],
        allowed_resource_hosts: resources.map(|hosts| hosts.iter().map(|host| host.parse().unwrap()).collect()),
        allow_private_network: true,
        ..PolicyConfig::default()
    })
}

#[tokio::test]
async fn a_download_from_a_refused_url_is_recorded_as_refused_and_never_written() {
    // With the second address in the list for resources the gate lets it pass, and the browser must not.
    for resources in [None, Some(["127.0.0.1", "127.0.0.2"].as_slice())] {
        let canary = Canary::start(std::net::Ipv4Addr::new(127, 0, 0, 3)).await;
        let folder = tempfile::tempdir().unwrap();
        let stage = Stage::with(EngineOptions {
            artifacts_directory: Some(folder.path().to_owned()),
            ..options(narrow(resources))
        })
        .await;
        stage.site.define("canary", format!("http://{}", canary.address()));
        let refused = [
            "<a id=go download href='/redirect/302?to={{canary}}/x'>Go</a>",
            "<a id=go download href='/redirect/302?to={{other}}/download/x.csv'>Go</a>",
            // It comes back to an allowed place in the end.
            "<a id=go download href='/redirect/302?to={{other}}/redirect/302?to={{self}}/files/plain.bin'>Go</a>",
            "<a id=go href='/redirect/302?to={{other}}/download/x.csv'>Go</a>",
            "<a id=go download=x.zip href='{{canary}}/x.zip'>Go</a>",
            "<a id=go target=_blank href='{{other}}/download/x.csv'>Go</a>",
            "<button id=go onclick=\"f.src='{{other}}/download/x.csv'\">Go</button><iframe id=f></iframe>",
        ];
        let mut recorded = 0;
        for html in refused {
            stage.show(html).await;
            let acted = stage.tab.click(&go(), ClickOptions::default(), soon()).await;
            let downloads = done(&stage.session).await;
            // Nobody asks a refused host whether it would have been a download; a link that says so is known to be one.
            let (said, frame) = (html.contains("id=go download"), html.contains("iframe"));
            assert_eq!(downloads.len() - recorded, usize::from(said), "{resources:?} {html}: {acted:?}");
            let told = match &acted {
                Err(error) => matches!(error, Error::Refused(_)),
                Ok(acted) => frame || acted.changes.new_tabs.iter().any(|tab| !tab.allowed),
            };
            assert!(told, "{resources:?} {html}: {acted:?}");
            recorded = downloads.len();
            for download in downloads {
                assert!(matches!(&download.state, DownloadState::Refused(_)), "{resources:?} {html}: {download:?}");
            }
        }
        assert_eq!(recorded, 4);
        let entries = stage.engine.ledger().recent(Some("test"), usize::MAX);
        let refusals = entries.iter().filter(|entry| entry.kind == "download" && entry.verdict == Verdict::Refused);
        assert_eq!(refusals.count(), recorded);
        assert!(
            stage.site.requests().iter().all(|request| !request.path.starts_with("/download")),
            "a refused request"
        );
        assert!(canary.hits().is_empty(), "{:?}", canary.hits());
        assert_eq!(files(folder.path()), Vec::<String>::new());
        stage.engine.close().await;
    }
}

#[tokio::test]
async fn a_name_from_a_site_never_leaves_the_folder_and_two_of_one_name_are_two_files() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("artifacts");
    let stage = Stage::with(EngineOptions { artifacts_directory: Some(inner.clone()), ..options(open_policy()) }).await;
    let long = "ö".repeat(300);
    let names = [
        "../../escape.txt",
        "/etc/cron.d/evil",
        "C:\\\\Windows\\\\evil.exe",
        "..\\\\..\\\\up.txt",
        "CON",
        "nul.txt",
        ".hidden",
        "a\\u202egpj.exe",
        "tab\\tnew\\nline",
        "zero\\u200bwidth",
        "\\u0000",
        "...",
        "same.txt",
        "same.txt",
        "same.txt",
        &format!("{long}.pdf"),
    ];
    let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    stage
        .show(&format!(
            "<button id=go>Go</button><script>go.onclick = () => [{}].forEach((name, index) => setTimeout(() => {{
               const a = document.createElement('a');
               a.href = URL.createObjectURL(new Blob([String(index)])); a.download = name; a.click();
               // A page may begin ten in a second.
             }}, index * 110))</script>",
            quoted.join(",")
        ))
        .await;
    stage.tab.click(&go(), ClickOptions::default(), soon()).await.unwrap();
    let deadline = soon();
    while stage.session.downloads().await.unwrap().len() < names.len() {
        assert!(!deadline.has_passed(), "{:?}", stage.session.downloads().await);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let downloads = done(&stage.session).await;
    let mut seen = Vec::new();
    for (index, download) in downloads.iter().enumerate() {
        let path = path(download);
        assert_eq!(path.parent(), Some(inner.as_path()), "{}", path.display());
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(name.len() <= 255 && !name.starts_with('.') && !name.contains(['\u{202e}', '\u{200b}', '\n', '\\']));
        assert_eq!(fs::read_to_string(path).unwrap(), index.to_string());
        seen.push(name.to_owned());
    }
    for wanted in ["same.txt", "same (2).txt", "same (3).txt", "_CON.txt"] {
        assert!(seen.iter().any(|name| name == wanted), "{wanted}: {seen:?}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing beside the folder");
}

#[tokio::test]
async fn what_is_too_large_or_breaks_off_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let (stage, browser) = marked(folder.path(), 100_000).await;
    let table = [
        ("size told", "/files/slow.bin?pieces=1000&size=10000&ms=20&told=true", "canceled", "maxDownloadBytes"),
        ("size not told", "/files/slow.bin?pieces=1000&size=10000&ms=20", "canceled", "maxDownloadBytes"),
        ("all at once", "/download/large.bin?bytes=100001", "canceled", "maxDownloadBytes"),
        ("broken off", "/files/cut.bin", "failed", "connection broke"),
        ("an error", "/status/404", "failed", "error"),
        ("just small enough", "/download/fits.bin?bytes=100000", "completed", ""),
    ];
    for (number, (what, url, state, reason)) in table.into_iter().enumerate() {
        stage.show(&format!("<a id=go download='x.bin' href='{url}'>Go</a>")).await;
        stage.tab.click(&go(), ClickOptions::default(), soon()).await.unwrap();
        let downloads = done(&stage.session).await;
        let download = &downloads[number];
        assert_eq!(download.state.word(), state, "{what}: {download:?}");
        assert!(download.state.error().unwrap_or_default().contains(reason), "{what}: {download:?}");
    }
    assert_eq!(files(folder.path()).len(), 1);
    let staged = staging(browser);
    assert!(staged.exists() && comes_true(PATIENCE, || files(&staged).is_empty()).await, "{:?}", files(&staged));
}

#[tokio::test]
async fn a_download_outlives_its_tab_and_ends_with_its_session() {
    let folder = tempfile::tempdir().unwrap();
    let (stage, browser) = marked(folder.path(), 1 << 30).await;
    let staged = staging(browser);
    stage.site.add(
        Page::html(
            "<title>Popup</title><a id=a download=slow.bin href='/files/slow.bin?pieces=10&size=1000&ms=60'>x</a>
                    <script>a.click(); setTimeout(() => close(), 250)</script>",
        )
        .at("closing"),
    );
    stage.show("<button id=go onclick=\"window.open('/closing')\">Go</button>").await;
    let acted = stage.tab.click(&go(), ClickOptions::default(), soon()).await.unwrap();
    assert_eq!(acted.changes.new_tabs.len(), 1, "{acted:?}");
    let deadline = soon();
    while stage.session.downloads().await.unwrap().is_empty() {
        assert!(!deadline.has_passed());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(stage.session.downloads().await.unwrap()[0].state, DownloadState::InProgress);
    assert!(comes_true(PATIENCE, || stage.session.tab_count() == 1).await);
    let downloads = done(&stage.session).await;
    assert_eq!(fs::read(path(&downloads[0])).unwrap(), [b's'; 10_000]);

    let other = stage.engine.open_session(SessionOptions { id: "other".to_owned(), ..SessionOptions::default() }).await;
    let other = other.unwrap();
    let endless = stage.site.url("files/slow.bin?pieces=10000&size=1000&ms=50");
    let tab = other.tab(None).await.unwrap();
    assert!(tab.navigate(&endless, WaitUntil::Load, soon()).await.unwrap().download.is_some());
    let waited = other.wait_for_downloads(Deadline::after(Duration::from_millis(100)), |_| {}).await;
    assert!(matches!(waited, Err(Error::TimedOut { .. })), "{waited:?}");
    let own = stage.session.downloads().await.unwrap();
    assert_eq!(own.len(), 1, "sessions see their own alone: {own:?}");
    assert_eq!(files(&staged).len(), 1, "{:?}", files(&staged));
    other.close().await;
    assert!(matches!(other.downloads().await, Err(Error::SessionClosed)));
    assert_eq!(files(&staged), Vec::<String>::new());
    assert_eq!(files(folder.path()), ["slow.bin"]);
}

#[tokio::test]
async fn a_page_that_begins_downloads_without_end_is_held_to_a_few() {
    let stage = Stage::set().await;
    stage
        .show(
            "<button id=go>Go</button><script>go.onclick = () => { for (let i = 0; i < 60; i += 1) {
               const f = document.createElement('iframe');
               const origin = ['{{self}}', '{{other}}', '{{third}}'][i % 3];
               f.src = origin + '/files/slow.bin?pieces=10000&size=1&ms=100&n=' + i; document.body.append(f); } }</script>",
        )
        .await;
    stage.tab.click(&go(), ClickOptions::default(), soon()).await.unwrap();
    let deadline = soon();
    loop {
        let downloads = stage.session.downloads().await.unwrap();
        let count = |word| downloads.iter().filter(|download| download.state.word() == word).count();
        assert!(count("inProgress") <= 16, "{downloads:?}");
        if count("canceled") > 0 {
            break;
        }
        assert!(!deadline.has_passed(), "{downloads:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    tokio::time::timeout(PATIENCE, stage.session.close()).await.unwrap();
}

#[tokio::test]
async fn a_full_disk_is_told_and_leaves_nothing_torn() {
    let Some(disk) = SmallDisk::mount(64).unwrap() else { return };
    let small = disk.path().to_owned();
    let stage = Stage::with(EngineOptions { artifacts_directory: Some(small.clone()), ..options(open_policy()) }).await;
    let landed = stage.tab.navigate(&stage.site.url("download/big.bin?bytes=200000"), WaitUntil::Load, soon()).await;
    let downloads = done(&stage.session).await;
    let left = files(&small);
    let small_one = stage.tab.navigate(&stage.site.url("download/small.bin?bytes=100"), WaitUntil::Load, soon()).await;
    let second = done(&stage.session).await;
    stage.engine.close().await;
    assert!(landed.is_ok() && small_one.is_ok());
    assert!(
        matches!(&downloads[0].state, DownloadState::Failed(why) if why.contains("No space left")),
        "{downloads:?}"
    );
    assert_eq!(left, Vec::<String>::new());
    assert!(second[1].state.path().is_some(), "{second:?}");
}

#[tokio::test]
async fn after_the_browser_crashed_the_session_still_knows_its_downloads() {
    let folder = tempfile::tempdir().unwrap();
    let (stage, browser) = marked(folder.path(), 1 << 30).await;
    stage.tab.navigate(&stage.site.url("files/plain.bin"), WaitUntil::Load, soon()).await.unwrap();
    done(&stage.session).await;
    let endless = stage.site.url("files/slow.bin?pieces=10000&size=1000&ms=50");
    stage.tab.navigate(&endless, WaitUntil::Load, soon()).await.unwrap();
    let staged = staging(browser);
    assert!(staged.exists());
    signal("KILL", browser);
    assert!(comes_true(PATIENCE, || !staged.exists()).await);
    assert!(matches!(stage.session.tab(None).await, Err(Error::BrowserGone(_))));
    let tab = stage.session.tab(None).await.unwrap();
    tab.navigate(&stage.site.url("files/plain.bin"), WaitUntil::Load, soon()).await.unwrap();
    let downloads = done(&stage.session).await;
    let states: Vec<&str> = downloads.iter().map(|download| download.state.word()).collect();
    assert_eq!(states, ["completed", "failed", "completed"], "{downloads:?}");
    assert!(downloads[0].state.path().unwrap().exists());
}
