//! What the gate itself answers.

use hyper::Response;
use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue, X_CONTENT_TYPE_OPTIONS,
};

use crate::body::GateBody;
use crate::failure::{Code, Failure};

/// Header that marks an answer of the gate's own; its value is a [`Code`].
///
/// It is taken out of every answer that comes from a site over plain HTTP. Inside a tunnel the gate changes nothing, so
/// that on an `https` answer the header means nothing.
pub const REFUSAL_HEADER: &str = "x-bathysphere-refusal";

pub(crate) const REFUSAL: HeaderName = HeaderName::from_static(REFUSAL_HEADER);

/// The answer to a plain-HTTP request: a small page that says what happened.
pub(crate) fn explained(failure: &Failure) -> Response<GateBody> {
    let (title, lead) = words(failure.code);
    let reason = escape(&failure.reason);
    let code = failure.code;
    let html = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>{title}</title>\
         <style>body{{font:16px/1.5 system-ui,sans-serif;max-width:40em;margin:4em auto;padding:0 1em}}</style>\
         <h1>{title}</h1><p>{lead}</p><p>{reason}</p><p><code>{code}</code></p></html>\n"
    );
    let mut response = bare(failure, GateBody::own(html));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(
        CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'"),
    );
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// The answer to a `CONNECT`, whose body no browser shows.
pub(crate) fn bodiless(failure: &Failure) -> Response<GateBody> {
    bare(failure, GateBody::empty())
}

fn bare(failure: &Failure, body: GateBody) -> Response<GateBody> {
    let mut response = Response::new(body);
    *response.status_mut() = failure.code.status();
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response.headers_mut().insert(REFUSAL, HeaderValue::from_static(failure.code.as_str()));
    response
}

fn words(code: Code) -> (&'static str, &'static str) {
    match code {
        Code::HostNotAllowed | Code::PrivateNetwork => (
            "Refused by policy",
            "The policy of the operator of this browser does not allow this request. Nothing was sent.",
        ),
        Code::NoSession | Code::StrangePeer => {
            ("Refused", "This way out does not belong to whoever asked. Nothing was sent.")
        }
        Code::MalformedRequest => {
            ("Not understood", "The request is not one that a proxy can forward. Nothing was sent.")
        }
        Code::LimitReached => ("Too much at once", "A limit of the gate was reached. Nothing was sent."),
        Code::NameNotResolved => ("No such host", "The name of the host could not be resolved."),
        Code::ConnectionFailed => ("No connection", "The host could not be reached."),
        Code::TimedOut => ("Too slow", "The host took too long."),
        Code::UpstreamProxyFailed => ("No connection", "The proxy behind the gate could not be used."),
        Code::BrokenResponse | Code::Closed => ("Broken answer", "The host broke off or did not answer in HTTP."),
    }
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars().take(1000) {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            character if character.is_control() => escaped.push(' '),
            character => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_cannot_become_markup() {
        assert_eq!(escape("<script>\"&'\n"), "&lt;script&gt;&quot;&amp;&#39; ");
        assert_eq!(escape(&"<".repeat(2000)).len(), 4000);
    }
}
