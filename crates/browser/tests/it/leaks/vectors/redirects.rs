//! Redirects of every status, for everything that can be redirected.

use super::{Vector, html, load, script};

const STATUSES: [u16; 5] = [301, 302, 303, 307, 308];

pub(super) fn vectors() -> Vec<Vector> {
    let navigations = STATUSES.iter().map(|status| {
        load(
            format!("redirect {status} of a navigation"),
            format!("/redirect/{status}?to=http://{{canary}}/navigation"),
        )
    });
    let others = vec![
        load("redirect by refresh header", "/redirect/refresh?to=http://{canary}/refresh"),
        load("redirect by meta element", "/redirect/meta?to=http://{canary}/meta"),
        load("redirect behind a redirect", "/redirect/302?to=/redirect/307%3Fto=http://{canary}/second"),
        of_each("images", |url| format!("<img src='{url}'>")),
        of_each("scripts", |url| format!("<script src='{url}'></script>")),
        of_each("modules", |url| format!("<script type=module src='{url}'></script>")),
        of_each("stylesheets", |url| format!("<link rel=stylesheet href='{url}'>")),
        of_each("frames", |url| format!("<iframe src='{url}'></iframe>")),
        of_each("objects", |url| format!("<object data='{url}'></object>")),
        of_each("fonts", |url| {
            let status = status_of(url);
            format!(
                "<style>@font-face {{ font-family: f{status}; src: url('{url}') }}</style><p style='font-family: f{status}'>x"
            )
        }),
        of_each("videos", |url| format!("<video preload=auto src='{url}'></video>")),
        of_each("fetches", |url| format!("<script>fetch('{url}', {{mode: 'no-cors'}}).catch(() => 0)</script>")),
        of_each("fetches with a body", |url| {
            format!("<script>fetch('{url}', {{method: 'POST', mode: 'no-cors', body: 's'}}).catch(() => 0)</script>")
        }),
        of_each("fetches across origins", |url| format!("<script>fetch('{url}').catch(() => 0)</script>")),
        of_each("XMLHttpRequests", |url| {
            format!("<script>{{ const x = new XMLHttpRequest; x.open('GET', '{url}'); x.send() }}</script>")
        }),
        of_each("beacons", |url| format!("<script>navigator.sendBeacon('{url}', 's')</script>")),
        of_each("event streams", |url| format!("<script>new EventSource('{url}')</script>")),
        of_each("forms", |url| {
            let status = status_of(url);
            format!(
                "<iframe name=f{status}></iframe><form id=g{status} target=f{status} method=post action='{url}'><input name=s></form>
                 <script>g{status}.submit()</script>"
            )
        }),
        of_each("popups", |url| format!("<script>open('{url}')</script>")),
        of_each("downloads", |url| {
            let status = status_of(url);
            format!("<a id=a{status} download href='{url}'>x</a><script>a{status}.click()</script>")
        })
        .never("a download ends before it is asked for, unless it may be written"),
        of_each("workers", |url| format!("<script>new Worker('{url}')</script>"))
            .never("a worker's script may not be redirected to another origin"),
        of_each("WebSockets", |url| format!("<script>new WebSocket('ws://' + location.host + '{url}')</script>"))
            .never("the browser does not follow redirects of a WebSocket's handshake"),
        script(
            "redirects of a form with a body",
            "const f = document.createElement('form'); f.method = 'post';
             f.action = '/redirect/307?to=http://{canary}/body'; f.innerHTML = '<input name=s value=1>';
             document.body.append(f); f.submit()",
        ),
    ];
    navigations.chain(others).collect()
}

/// One page that does something over a redirect of every status.
fn of_each(what: &str, element: impl Fn(&str) -> String) -> Vector {
    let elements: String =
        STATUSES.iter().map(|status| element(&format!("/redirect/{status}?to=http://{{canary}}/{status}"))).collect();
    html(format!("redirects of {what}"), format!("<body>{elements}")).tries(STATUSES.len())
}

/// The status that a redirect's path carries.
fn status_of(url: &str) -> usize {
    url.split(['/', '?']).find_map(|part| part.parse().ok()).unwrap_or_default()
}
