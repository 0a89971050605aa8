//! Embedded pages, pages made by a test, and the variables that both may use.

use std::collections::HashMap;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, Response, StatusCode, header};

/// Every embedded file: its path under `pages/` and its text.
const EMBEDDED: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/pages.rs"));

/// The paths of all embedded pages and scripts, sorted, such as `forms/order.html`.
pub fn page_names() -> impl Iterator<Item = &'static str> {
    EMBEDDED.iter().map(|(name, _)| *name)
}

/// A page that a test makes for itself; see [`TestSite::add`](crate::TestSite::add).
#[derive(Clone, Debug)]
pub struct Page {
    pub(crate) path: Option<String>,
    body: Vec<u8>,
    status: StatusCode,
    headers: Vec<(HeaderName, HeaderValue)>,
    content_type: HeaderValue,
    pub(crate) delay: Duration,
}

impl Page {
    /// An HTML page, status 200. Variables such as `{{other}}` are filled in.
    pub fn html(html: impl Into<String>) -> Self {
        Self::bytes("text/html; charset=utf-8", html.into())
    }

    /// A resource of any type, status 200. Variables are filled in where the body is UTF-8.
    ///
    /// # Panics
    /// When `content_type` cannot stand in a header.
    pub fn bytes(content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        Self {
            path: None,
            body: body.into(),
            status: StatusCode::OK,
            headers: Vec::new(),
            content_type: HeaderValue::from_str(content_type).expect("a content type that can stand in a header"),
            delay: Duration::ZERO,
        }
    }

    /// Serves the page at this path instead of one that the site chooses. It wins over an embedded page.
    #[must_use]
    pub fn at(mut self, path: impl AsRef<str>) -> Self {
        self.path = Some(path.as_ref().trim_start_matches('/').to_owned());
        self
    }

    /// Answers with this status.
    ///
    /// # Panics
    /// When `status` is no status of HTTP (100 to 999).
    #[must_use]
    pub fn status(mut self, status: u16) -> Self {
        self.status = StatusCode::from_u16(status).expect("a status from 100 to 999");
        self
    }

    /// Adds a header to the answer. Variables in the value are filled in.
    ///
    /// # Panics
    /// When name or value cannot stand in a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        let name = HeaderName::from_bytes(name.as_bytes()).expect("a valid header name");
        let value = HeaderValue::from_str(value).expect("a valid header value");
        self.headers.push((name, value));
        self
    }

    /// Waits before it answers.
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    pub(crate) fn respond(&self, variables: &Variables) -> Response<Body> {
        let body = match std::str::from_utf8(&self.body) {
            Ok(text) => variables.fill(text).into_bytes(),
            Err(_) => self.body.clone(),
        };
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = self.status;
        response.headers_mut().insert(header::CONTENT_TYPE, self.content_type.clone());
        for (name, value) in &self.headers {
            let filled = value.to_str().ok().map(|text| variables.fill(text));
            let value = filled.and_then(|text| HeaderValue::from_str(&text).ok()).unwrap_or_else(|| value.clone());
            response.headers_mut().append(name, value);
        }
        response
    }
}

/// The embedded page at `path`; a folder means its `index.html`.
pub(crate) fn embedded(path: &str) -> Option<Page> {
    let find = |wanted: &str| EMBEDDED.iter().find(|(name, _)| *name == wanted);
    let (name, text) =
        if path.is_empty() || path.ends_with('/') { find(&format!("{path}index.html"))? } else { find(path)? };
    let content_type = match extension(name) {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        _ => "text/plain; charset=utf-8",
    };
    Some(Page::bytes(content_type, *text).header("cache-control", "no-cache"))
}

fn extension(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(_, extension)| extension)
}

/// A list of links to all pages, for people.
pub(crate) fn index() -> Page {
    let items: Vec<String> = page_names()
        .filter(|name| extension(name) == "html")
        .map(|name| format!("<li><a href=\"/{name}\">{name}</a></li>"))
        .collect();
    let items = items.join("\n");
    Page::html(format!("<!doctype html><title>Test site</title><h1>Test site</h1><ul>\n{items}</ul>"))
}

/// Values for `{{name}}` in pages.
#[derive(Clone, Debug, Default)]
pub(crate) struct Variables(HashMap<String, String>);

impl Variables {
    pub(crate) fn define(&mut self, name: &str, value: impl Into<String>) {
        self.0.insert(name.to_owned(), value.into());
    }

    /// Replaces each `{{name}}` that is defined and leaves every other text alone.
    fn fill(&self, text: &str) -> String {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find("{{") {
            let (before, from) = rest.split_at(start);
            filled.push_str(before);
            let known = from.find("}}").and_then(|end| Some((end, self.0.get(from[2..end].trim())?)));
            if let Some((end, value)) = known {
                filled.push_str(value);
                rest = &from[end + 2..];
            } else {
                filled.push_str("{{");
                rest = &from[2..];
            }
        }
        filled.push_str(rest);
        filled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_variables_are_filled_and_all_other_braces_stay() {
        let mut variables = Variables::default();
        variables.define("other", "http://127.0.0.2:80");
        let filled = variables.fill("a {{other}}/x {{ other }} {{unknown}} {{ {{other}} }} {{");
        assert_eq!(filled, "a http://127.0.0.2:80/x http://127.0.0.2:80 {{unknown}} {{ http://127.0.0.2:80 }} {{");
    }

    #[test]
    fn a_folder_means_its_index() {
        assert!(embedded("shop/").is_some());
        assert!(embedded("shop").is_none());
        assert!(embedded("no/such.html").is_none());
    }
}
