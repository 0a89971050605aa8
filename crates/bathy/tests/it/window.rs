//! A browser with a window, for people who want to look on.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use bathy_chromium::Lookup;
use bathy_testsite::TestSite;
use serde_json::json;

use crate::client::{Client, folder};

/// A display in memory; it ends with this.
struct Display {
    server: Child,
    name: String,
}

impl Display {
    /// None where the server is not installed.
    fn start() -> Option<Self> {
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "1280x1024x24", "-nolisten", "tcp"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let mut number = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut number).unwrap();
        Some(Self { server, name: format!(":{}", number.trim()) })
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// A browser that can show a window; none where only a headless shell is installed.
fn whole_browser() -> Option<PathBuf> {
    let lookup = Lookup { headless: false, ..Lookup::of_this_process() };
    bathy_chromium::find(&lookup).ok().map(|found| found.path().to_owned())
}

#[tokio::test]
async fn headless_false_opens_pages_in_a_window_under_a_display_and_says_so_where_there_is_none() {
    let Some(browser) = whole_browser() else {
        eprintln!("skipped: no browser that can show a window is installed (on Debian: chromium)");
        return;
    };
    let site = TestSite::start().await;
    let flags =
        ["--allow-private-network", "--tools=all", "--headless=false", "--executable-path", browser.to_str().unwrap()];
    let mut blind = Client::start(&flags);
    blind.initialize().await;
    let failure = blind.err("browser_navigate", json!({"url": site.url("forms/order.html")})).await;
    assert!(failure.starts_with("BROWSER_LAUNCH_FAILED") && failure.contains("display"), "{failure}");

    let Some(display) = Display::start() else {
        eprintln!("skipped: no Xvfb is installed (on Debian: xvfb)");
        return;
    };
    let _home = folder();
    let mut client = Client::start_with(&flags, &[("DISPLAY", Path::new(&display.name))]);
    client.initialize().await;
    client.ok("browser_navigate", json!({"url": site.url("echo")})).await;
    let agent = site.requests()[0].header("user-agent").unwrap().to_owned();
    assert!(agent.contains("Chrome/") && !agent.contains("Headless"), "{agent}");
    let picture = client.call("browser_screenshot", json!({})).await;
    assert!(picture["content"].as_array().unwrap().iter().any(|block| block["type"] == "image"), "{picture}");
    assert!(client.ok("browser_pdf", json!({})).await.contains(".pdf"));
    let outline = client.ok("browser_navigate", json!({"url": site.url("forms/order.html"), "read": "outline"})).await;
    assert!(outline.contains("heading"), "{outline}");
    // The last window is not the end of the browser, nor is that of the session it belonged to.
    client.ok("browser_tab_close", json!({})).await;
    client.ok("browser_navigate", json!({"url": site.url("echo")})).await;
    client.ok("browser_session_stop", json!({})).await;
    client.ok("browser_navigate", json!({"url": site.url("echo")})).await;
    client.ok("browser_close", json!({})).await;
}
