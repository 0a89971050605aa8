//! Every way out that a hostile page is known to have. One vector is one page in a session of its own.
//!
//! In all texts `{canary}` stands for the address and port of the vector's canary, `{port}` for its port, and
//! `{files}` for the folder of the vector's own files on the allowed site.

mod addresses;
mod departures;
mod embedded;
mod frames;
mod hints;
mod peers;
mod redirects;
mod requests;
mod workers;

use std::time::Duration;

use bathy_testsite::{Page, TestSite};

/// How long a page may take to try, once it has loaded.
const PATIENCE: Duration = Duration::from_millis(1_200);

/// One way out.
pub(super) struct Vector {
    pub(super) name: String,
    html: String,
    headers: Vec<(&'static str, String)>,
    files: Vec<File>,
    url: Option<String>,
    /// How many connections it tries to make.
    pub(super) tries: usize,
    pub(super) patience: Duration,
    /// Why it reaches nothing even where everything is allowed.
    pub(super) never: Option<&'static str>,
}

struct File {
    name: &'static str,
    text: String,
    headers: Vec<(&'static str, String)>,
}

/// All of them.
pub(super) fn all() -> Vec<Vector> {
    let mut all = Vec::new();
    all.extend(departures::vectors());
    all.extend(redirects::vectors());
    all.extend(embedded::vectors());
    all.extend(frames::vectors());
    all.extend(requests::vectors());
    all.extend(workers::vectors());
    all.extend(peers::vectors());
    all.extend(hints::vectors());
    all.extend(addresses::vectors());
    all
}

/// A vector that is a page with this body.
fn html(name: impl Into<String>, html: impl Into<String>) -> Vector {
    Vector {
        name: name.into(),
        html: html.into(),
        headers: Vec::new(),
        files: Vec::new(),
        url: None,
        tries: 1,
        patience: PATIENCE,
        never: None,
    }
}

/// A vector that is a page with this script.
fn script(name: impl Into<String>, script: impl AsRef<str>) -> Vector {
    html(name, format!("<body><script>{}</script>", script.as_ref()))
}

/// A vector that is a load of this URL.
fn load(name: impl Into<String>, url: impl Into<String>) -> Vector {
    Vector { url: Some(url.into()), ..html(name, "") }
}

impl Vector {
    /// Adds a header to the page's answer.
    fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Serves a file beside the page; its type follows from its name.
    fn file(mut self, name: &'static str, text: impl Into<String>) -> Self {
        self.files.push(File { name, text: text.into(), headers: Vec::new() });
        self
    }

    /// Adds a header to the answer of the file that was added last.
    fn file_header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        if let Some(file) = self.files.last_mut() {
            file.headers.push((name, value.into()));
        }
        self
    }

    fn tries(mut self, tries: usize) -> Self {
        self.tries = tries;
        self
    }

    fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Says why it reaches nothing even where everything is allowed.
    fn never(mut self, reason: &'static str) -> Self {
        self.never = Some(reason);
        self
    }

    /// Serves the page with its files, and gives the URL to load.
    pub(super) fn serve(&self, site: &TestSite, number: usize, canary: std::net::SocketAddr) -> String {
        let folder = format!("/leaks/{number}");
        let fill = |text: &str| {
            text.replace("{canary}", &canary.to_string())
                .replace("{port}", &canary.port().to_string())
                .replace("{files}", &folder)
        };
        let page = Page::html(format!("<!doctype html><meta charset=utf-8><title>vector</title>{}", fill(&self.html)));
        let page = self.headers.iter().fold(page, |page, (name, value)| page.header(name, &fill(value)));
        let url = site.add(page.at(format!("{folder}/")));
        for file in &self.files {
            let page = Page::bytes(content_type(file.name), fill(&file.text));
            let page = file.headers.iter().fold(page, |page, (name, value)| page.header(name, &fill(value)));
            site.add(page.at(format!("{folder}/{}", file.name)));
        }
        match &self.url {
            Some(url) => {
                let url = fill(url);
                if url.starts_with('/') { site.url(&url) } else { url }
            }
            None => url,
        }
    }
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.') {
        Some((_, "js")) => "text/javascript",
        Some((_, "css")) => "text/css",
        Some((_, "svg")) => "image/svg+xml",
        Some((_, "xml")) => "application/xml",
        Some((_, "json")) => "application/json",
        _ => "text/html; charset=utf-8",
    }
}
