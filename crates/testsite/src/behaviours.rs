//! Paths that do something: redirect, hang, drip, stream, echo, challenge.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ws::{WebSocket, WebSocketUpgrade};
use axum::extract::{Path, Query, Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{any, get, post};
use bytes::Bytes;
use futures::{Stream, stream};
use serde::Deserialize;
use serde_json::json;

use crate::record::Report;
use crate::site::Shared;

/// The size of one piece of a big answer.
const PIECE: usize = 64 << 10;

pub(crate) fn routes() -> Router<Arc<Shared>> {
    Router::new()
        .route("/report", post(report))
        .route("/redirect/{status}", any(redirect))
        .route("/slow", any(slow))
        .route("/hang", any(async || std::future::pending::<Response>().await))
        .route("/half", any(half))
        .route("/cut", any(cut))
        .route("/drip", any(drip))
        .route("/trickle", any(trickle))
        .route("/stream", get(event_stream))
        .route("/status/{code}", any(status))
        .route("/no-content", any(async || StatusCode::NO_CONTENT))
        .route("/download/{name}", any(download))
        .route("/big", any(big))
        .route("/echo", any(echo))
        .route("/echo.html", any(echo_page))
        .route("/cookie/set", any(set_cookies))
        .route("/headers", any(with_headers))
        .route("/auth", any(challenge))
        .route("/ws", any(async |upgrade: WebSocketUpgrade| upgrade.on_upgrade(echo_messages)))
        .route("/favicon.ico", any(async || StatusCode::NO_CONTENT))
}

/// A page tells what happened. Any origin may, a sandboxed frame too.
async fn report(State(shared): State<Arc<Shared>>, body: Bytes) -> Response {
    match serde_json::from_slice::<Report>(&body) {
        Ok(report) => {
            shared.reports.push(report);
            (StatusCode::NO_CONTENT, [(header::ACCESS_CONTROL_ALLOW_ORIGIN, "*")]).into_response()
        }
        Err(error) => (StatusCode::BAD_REQUEST, format!("not a report: {error}")).into_response(),
    }
}

#[derive(Deserialize)]
struct Target {
    to: String,
}

/// `/redirect/307?to=URL`; with `/redirect/refresh` or `/redirect/meta` a redirect by header or by element.
async fn redirect(Path(status): Path<String>, Query(Target { to }): Query<Target>) -> Response {
    let Ok(location) = HeaderValue::from_bytes(to.as_bytes()) else {
        return (StatusCode::BAD_REQUEST, "`to` cannot stand in a header").into_response();
    };
    match status.as_str() {
        "refresh" => {
            let mut value = b"0;url=".to_vec();
            value.extend_from_slice(location.as_bytes());
            match HeaderValue::from_bytes(&value) {
                Ok(value) => ([(HeaderName::from_static("refresh"), value)], Html("moved")).into_response(),
                Err(_) => StatusCode::BAD_REQUEST.into_response(),
            }
        }
        "meta" => Html(format!("<meta http-equiv=refresh content=\"0;url={}\">", escape(&to))).into_response(),
        code => match code.parse().ok().and_then(|code| StatusCode::from_u16(code).ok()) {
            Some(code) => (code, [(header::LOCATION, location)]).into_response(),
            None => (StatusCode::BAD_REQUEST, "use a status, `refresh` or `meta`").into_response(),
        },
    }
}

#[derive(Deserialize)]
struct Slow {
    ms: u64,
    page: Option<String>,
}

/// `/slow?ms=500&page=forms/order.html`: the page, late.
async fn slow(State(shared): State<Arc<Shared>>, Query(Slow { ms, page }): Query<Slow>) -> Response {
    tokio::time::sleep(Duration::from_millis(ms)).await;
    match page {
        Some(page) => shared.page(&page).await,
        None => Html("<!doctype html><title>Slow</title><p>Slow but here.").into_response(),
    }
}

/// A head and half a page; the rest never comes.
async fn half() -> Response {
    let first = stream::iter([Ok::<_, Infallible>("<!doctype html><title>Half</title><p>Half a page.")]);
    html_stream(stream::StreamExt::chain(first, stream::pending()))
}

/// A head and half a page, then the connection breaks.
async fn cut() -> Response {
    let broken = Err(io::Error::from(io::ErrorKind::ConnectionReset));
    html_stream(stream::iter([Ok("<!doctype html><title>Cut</title><p>Cut off."), broken]))
}

#[derive(Deserialize)]
struct Drip {
    chunks: u32,
    ms: u64,
}

/// `/drip?chunks=10&ms=100`: a page in pieces.
async fn drip(Query(Drip { chunks, ms }): Query<Drip>) -> Response {
    html_stream(stream::unfold(0, move |number| async move {
        if number == chunks {
            return None;
        }
        if number > 0 {
            tokio::time::sleep(Duration::from_millis(ms)).await;
        }
        Some((Ok::<_, Infallible>(format!("<p>Drop {number}</p>\n")), number + 1))
    }))
}

/// A page of which a bit comes now and then, for ever. How many such answers are open can be asked.
async fn trickle(State(shared): State<Arc<Shared>>) -> Response {
    let open = shared.trickles.open();
    html_stream(stream::unfold((0_u64, open), move |(number, open)| async move {
        if number > 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let piece = if number == 0 { "<!doctype html><title>Trickle</title>" } else { "<!-- -->" };
        Some((Ok::<_, Infallible>(piece), (number + 1, open)))
    }))
}

fn html_stream<T, E>(pieces: impl Stream<Item = Result<T, E>> + Send + 'static) -> Response
where
    T: Into<Bytes> + 'static,
    E: Into<Box<dyn std::error::Error + Send + Sync>> + 'static,
{
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], Body::from_stream(pieces)).into_response()
}

/// Server-sent events, five a second, for ever.
async fn event_stream() -> Response {
    let events = stream::unfold(0_u64, |number| async move {
        if number > 0 {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        Some((Ok::<_, Infallible>(format!("data: {number}\n\n")), number + 1))
    });
    ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(events)).into_response()
}

async fn status(Path(code): Path<u16>) -> Response {
    match StatusCode::from_u16(code) {
        Ok(code) => {
            let page = format!("<!doctype html><title>Status {code}</title><h1>Status {code}</h1>");
            (code, Html(page)).into_response()
        }
        Err(_) => (StatusCode::BAD_REQUEST, "a status is a number from 100 to 999").into_response(),
    }
}

#[derive(Deserialize)]
struct Download {
    bytes: Option<usize>,
    disposition: Option<String>,
}

/// `/download/report.csv?bytes=1000`: an attachment. `disposition` replaces the whole `Content-Disposition`, raw.
async fn download(Path(name): Path<String>, Query(options): Query<Download>) -> Response {
    let disposition = options.disposition.unwrap_or_else(|| {
        let encoded: String = url::form_urlencoded::byte_serialize(name.as_bytes()).collect();
        format!("attachment; filename*=UTF-8''{}", encoded.replace('+', "%20"))
    });
    let Ok(disposition) = HeaderValue::from_bytes(disposition.as_bytes()) else {
        return (StatusCode::BAD_REQUEST, "`disposition` cannot stand in a header").into_response();
    };
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream")),
        (header::CONTENT_DISPOSITION, disposition),
    ];
    (headers, vec![b'd'; options.bytes.unwrap_or(1000)]).into_response()
}

#[derive(Deserialize)]
struct Big {
    bytes: usize,
}

/// `/big?bytes=100000000`: plain text of exactly that size.
async fn big(Query(Big { bytes }): Query<Big>) -> Response {
    let piece = Bytes::from(vec![b'x'; PIECE]);
    let pieces = stream::unfold(bytes, move |left| {
        let piece = piece.slice(..left.min(PIECE));
        async move { (left > 0).then(|| (Ok::<_, Infallible>(piece), left - left.min(PIECE))) }
    });
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/plain")),
        (header::CONTENT_LENGTH, HeaderValue::from(bytes)),
    ];
    (headers, Body::from_stream(pieces)).into_response()
}

/// The request as JSON: `method`, `path`, `headers` (lists, by lower-case name), `body`.
async fn echo(request: Request) -> Response {
    let said = description(request).await;
    ([(header::CONTENT_TYPE, "application/json")], said).into_response()
}

/// The request as a page that shows the same JSON.
async fn echo_page(request: Request) -> Response {
    let said = description(request).await;
    Html(format!("<!doctype html><title>Echo</title><h1>Echo</h1><pre id=\"echo\">{}</pre>", escape(&said)))
        .into_response()
}

async fn description(request: Request) -> String {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, usize::MAX).await.unwrap_or_default();
    let mut headers: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (name, value) in &parts.headers {
        headers.entry(name.as_str()).or_default().push(String::from_utf8_lossy(value.as_bytes()).into_owned());
    }
    let path = parts.uri.path_and_query().map(ToString::to_string);
    let body = String::from_utf8_lossy(&body);
    format!("{:#}", json!({"method": parts.method.as_str(), "path": path, "headers": headers, "body": body}))
}

/// `/cookie/set?client=7&attributes=HttpOnly`: each pair a cookie; `attributes` is added to all of them.
async fn set_cookies(Query(pairs): Query<Vec<(String, String)>>) -> Response {
    let attributes = pairs.iter().find(|(name, _)| name == "attributes").map(|(_, value)| value.as_str());
    let mut response = Html("<!doctype html><title>Cookies set</title><p>Cookies set.").into_response();
    for (name, value) in pairs.iter().filter(|(name, _)| name != "attributes") {
        let cookie = format!("{name}={value}; Path=/; {}", attributes.unwrap_or_default());
        let Ok(cookie) = HeaderValue::from_bytes(cookie.as_bytes()) else {
            return (StatusCode::BAD_REQUEST, "a cookie cannot stand in a header").into_response();
        };
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    response
}

/// `/headers?x-frame-options=DENY`: a page with these response headers.
async fn with_headers(Query(pairs): Query<Vec<(String, String)>>) -> Response {
    let mut response = Html("<!doctype html><title>Headers</title><p>Headers set.").into_response();
    for (name, value) in pairs {
        let name = HeaderName::from_bytes(name.as_bytes());
        let (Ok(name), Ok(value)) = (name, HeaderValue::from_bytes(value.as_bytes())) else {
            return (StatusCode::BAD_REQUEST, "not a header").into_response();
        };
        response.headers_mut().append(name, value);
    }
    response
}

/// Asks for a password (Basic) and lets anybody in who gives one.
async fn challenge(request: Request) -> Response {
    if request.headers().contains_key(header::AUTHORIZATION) {
        Html("<!doctype html><title>Inside</title><p>You are in.").into_response()
    } else {
        let ask = [(header::WWW_AUTHENTICATE, "Basic realm=\"test site\"")];
        (StatusCode::UNAUTHORIZED, ask, Html("<!doctype html><title>Password</title><p>Password, please."))
            .into_response()
    }
}

async fn echo_messages(mut socket: WebSocket) {
    while let Some(Ok(message)) = socket.recv().await {
        if socket.send(message).await.is_err() {
            return;
        }
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}
