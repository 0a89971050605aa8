//! What a request head asks for, and what of it may travel on (RFC 9110 §7.6.1, RFC 9112 §3.2).

use bathy_policy::{Host, HostError};
use hyper::header::{
    CONNECTION, CONTENT_LENGTH, EXPECT, HOST, HeaderMap, HeaderName, HeaderValue, PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use hyper::http::uri::{Authority, PathAndQuery};
use hyper::{Method, Uri};
use thiserror::Error;

/// Where a request wants to go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) host: Host,
    pub(crate) port: u16,
    pub(crate) form: Form,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `CONNECT host:port`.
    Tunnel,
    /// `GET http://host/path`.
    Forward,
    /// The same with `Upgrade: websocket`.
    WebSocket,
}

/// A head that is well-formed HTTP and yet no request to a proxy.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum HeadError {
    #[error("the request has no host; a proxy needs `CONNECT host:port` or `GET http://host/`")]
    NotAbsolute,
    #[error("requests with the scheme `{0}` cannot be forwarded; use CONNECT")]
    Scheme(String),
    #[error("the target carries a user name or password")]
    UserInfo,
    #[error("the host of the target cannot be used: {0}")]
    Host(#[from] HostError),
    #[error("the port of the target is missing or not between 1 and 65535")]
    Port,
    #[error("a CONNECT request carries a body")]
    Body,
}

/// Reads where a request wants to go; looks at nothing else.
pub(crate) fn target(method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<Target, HeadError> {
    let authority = uri.authority().ok_or(HeadError::NotAbsolute)?;
    if authority.as_str().contains('@') {
        return Err(HeadError::UserInfo);
    }
    if method == Method::CONNECT {
        if uri.scheme().is_some() || uri.path_and_query().is_some_and(|path| path != "/") {
            return Err(HeadError::NotAbsolute);
        }
        if headers.contains_key(CONTENT_LENGTH) || headers.contains_key(TRANSFER_ENCODING) {
            return Err(HeadError::Body);
        }
        let port = port(authority)?.ok_or(HeadError::Port)?;
        return Ok(Target { host: Host::parse(authority.host())?, port, form: Form::Tunnel });
    }
    match uri.scheme_str() {
        None => return Err(HeadError::NotAbsolute),
        Some("http" | "ws") => {}
        Some(other) => return Err(HeadError::Scheme(other.chars().take(32).collect())),
    }
    let form = if asks_for_web_socket(method, headers) { Form::WebSocket } else { Form::Forward };
    Ok(Target { host: Host::parse(authority.host())?, port: port(authority)?.unwrap_or(80), form })
}

/// The port that the authority spells out. `http` takes any text for one and gives `None` for what is no number.
fn port(authority: &Authority) -> Result<Option<u16>, HeadError> {
    let rest = authority.as_str().strip_prefix(authority.host()).ok_or(HeadError::Port)?;
    match rest.strip_prefix(':') {
        None if rest.is_empty() => Ok(None),
        // RFC 3986 §3.2.3 allows an empty port, which means the default one.
        Some("") => Ok(None),
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => match digits.parse() {
            Ok(0) | Err(_) => Err(HeadError::Port),
            Ok(port) => Ok(Some(port)),
        },
        _ => Err(HeadError::Port),
    }
}

/// WebSocket is the only protocol that is switched to: `h2c` would carry requests that nobody checks.
fn asks_for_web_socket(method: &Method, headers: &HeaderMap) -> bool {
    method == Method::GET && names(headers, &CONNECTION, "upgrade") && is_web_socket(headers)
}

pub(crate) fn is_web_socket(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(UPGRADE).iter();
    values.next().is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"websocket")) && values.next().is_none()
}

fn names(headers: &HeaderMap, header: &HeaderName, token: &str) -> bool {
    list(headers, header).any(|item| item.eq_ignore_ascii_case(token))
}

fn list<'a>(headers: &'a HeaderMap, header: &HeaderName) -> impl Iterator<Item = &'a str> {
    headers
        .get_all(header)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim)
}

/// Makes a request head fit for the site: origin form, its own `Host`, nothing that was meant for the proxy.
pub(crate) fn prepare_request(target: &Target, uri: &mut Uri, headers: &mut HeaderMap) {
    strip_hop_by_hop(headers);
    // The gate asks for bodies itself; a second `100 Continue` would confuse whoever counts.
    headers.remove(EXPECT);
    let path = uri.path_and_query().cloned().unwrap_or_else(|| PathAndQuery::from_static("/"));
    *uri = Uri::from(path);
    let host = match target.port {
        80 => target.host.to_string(),
        port => format!("{}:{port}", target.host),
    };
    if let Ok(host) = HeaderValue::try_from(host) {
        headers.insert(HOST, host);
    }
    if target.form == Form::WebSocket {
        switch_to_web_socket(headers);
    }
}

/// Takes out what the site said to the gate alone, and what only the gate may say.
pub(crate) fn prepare_response(headers: &mut HeaderMap) {
    // A length beside chunks is wrong for whoever reads the length (RFC 9112 §6.3).
    if headers.contains_key(TRANSFER_ENCODING) {
        headers.remove(CONTENT_LENGTH);
    }
    strip_hop_by_hop(headers);
    headers.remove(crate::page::REFUSAL);
}

pub(crate) fn switch_to_web_socket(headers: &mut HeaderMap) {
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
}

fn strip_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> =
        list(headers, &CONNECTION).filter_map(|name| HeaderName::from_bytes(name.as_bytes()).ok()).collect();
    for name in named {
        // Without its length a body would change its meaning; no honest sender names it.
        if name != CONTENT_LENGTH {
            headers.remove(name);
        }
    }
    let proxy_connection = HeaderName::from_static("proxy-connection");
    let keep_alive = HeaderName::from_static("keep-alive");
    for name in [
        CONNECTION,
        keep_alive,
        proxy_connection,
        PROXY_AUTHENTICATE,
        PROXY_AUTHORIZATION,
        TE,
        TRAILER,
        TRANSFER_ENCODING,
        UPGRADE,
    ] {
        headers.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(method: &Method, uri: &str) -> Result<(String, u16), HeadError> {
        let uri: Uri = uri.parse().unwrap();
        target(method, &uri, &HeaderMap::new()).map(|target| (target.host.to_string(), target.port))
    }

    #[test]
    fn ports_are_spelled_out_or_implied_or_refused() {
        let get = |uri| read(&Method::GET, uri);
        assert_eq!(get("http://a.test/x"), Ok(("a.test".into(), 80)));
        assert_eq!(get("ws://a.test/x"), Ok(("a.test".into(), 80)));
        assert_eq!(get("http://a.test:/x"), Ok(("a.test".into(), 80)));
        assert_eq!(get("http://A.test.:8080"), Ok(("a.test".into(), 8080)));
        assert_eq!(get("http://a.test:0/"), Err(HeadError::Port));
        assert_eq!(get("http://[2001:db8::1]:81/"), Ok(("[2001:db8::1]".into(), 81)));
        assert_eq!(read(&Method::CONNECT, "a.test:443"), Ok(("a.test".into(), 443)));
        assert_eq!(read(&Method::CONNECT, "a.test"), Err(HeadError::Port));
    }

    #[test]
    fn only_absolute_http_targets_are_forwarded() {
        assert_eq!(read(&Method::GET, "/x"), Err(HeadError::NotAbsolute));
        assert_eq!(read(&Method::OPTIONS, "*"), Err(HeadError::NotAbsolute));
        assert_eq!(read(&Method::GET, "https://a.test/"), Err(HeadError::Scheme("https".into())));
        assert_eq!(read(&Method::GET, "http://user:pass@a.test/"), Err(HeadError::UserInfo));
        assert_eq!(read(&Method::CONNECT, "user@a.test:443"), Err(HeadError::UserInfo));
        assert_eq!(read(&Method::CONNECT, "http://a.test:443/"), Err(HeadError::NotAbsolute));
    }

    #[test]
    fn headers_named_by_connection_stay_behind() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("connection", "close, X-Secret, content-length"),
            ("x-secret", "1"),
            ("proxy-authorization", "Basic eA=="),
            ("content-length", "3"),
            ("upgrade", "h2c"),
            ("accept", "*/*"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        strip_hop_by_hop(&mut headers);
        let left: Vec<_> = headers.keys().map(HeaderName::as_str).collect();
        assert_eq!(left, ["content-length", "accept"]);
    }
}
