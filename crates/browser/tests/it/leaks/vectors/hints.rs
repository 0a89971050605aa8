//! What a page asks the browser to fetch ahead, and where it asks it to report to.

use std::time::Duration;

use super::{Vector, html, script};

/// Reports are sent in batches, guesses when the browser is idle.
const IDLE: Duration = Duration::from_secs(2);

const NO_GUESS: &str = "the headless browser does not connect, fetch or render on a guess";

pub(super) fn vectors() -> Vec<Vector> {
    [links(), headers(), guesses(), reports()].into_iter().flatten().collect()
}

fn links() -> Vec<Vector> {
    let link = |attributes: &str| {
        html(format!("hint: {attributes}"), format!("<link {attributes} href='http://{{canary}}/hint'>"))
    };
    let kinds = ["image", "script", "style", "fetch", "font", "track"];
    let preloads = kinds.map(|kind| link(&format!("rel=preload as={kind} crossorigin")));
    let mut all: Vec<Vector> = preloads.into();
    all.extend([
        link("rel=preload as=image"),
        link("rel=modulepreload"),
        link("rel=prefetch"),
        link("rel=prefetch as=document"),
        html("hint: rel=preconnect", "<link rel=preconnect href='https://{canary}'>").never(NO_GUESS),
        html("hint: rel=preconnect crossorigin", "<link rel=preconnect crossorigin href='https://{canary}'>").never(NO_GUESS),
        html("hint: rel=preconnect without TLS", "<link rel=preconnect href='http://{canary}'>").never(NO_GUESS),
        link("rel=dns-prefetch").never("the browser looks nothing up behind a proxy, and an address is no name"),
        link("rel=prerender").patience(IDLE).never("the browser no longer knows this hint"),
        link("rel=compression-dictionary").patience(IDLE)
            .never("dictionaries are for encrypted connections"),
        script(
            "hint by script",
            "document.head.append(Object.assign(document.createElement('link'), {rel: 'prefetch', href: 'http://{canary}/hint'}))",
        ),
    ]);
    all
}

fn headers() -> Vec<Vector> {
    let link = |value: &str| {
        html(format!("link header: {value}"), "x").header("link", format!("<http://{{canary}}/link>; {value}"))
    };
    vec![
        link("rel=preload; as=image"),
        link("rel=preload; as=script"),
        link("rel=modulepreload"),
        html("link header: rel=preconnect", "x").header("link", "<https://{canary}>; rel=preconnect").never(NO_GUESS),
        link("rel=prefetch"),
        link("rel=stylesheet").never("the browser takes no stylesheets from headers"),
        html("link header of a picture", "<iframe src='{files}/inner.html'></iframe>")
            .file("inner.html", "x")
            .file_header("link", "<http://{canary}/inner>; rel=preload; as=image"),
        html("speculation rules header", "x")
            .header("speculation-rules", "\"http://{canary}/rules.json\"")
            .patience(IDLE),
        html("activation of a dictionary", "x")
            .header("use-as-dictionary", "match=\"http://{canary}/*\"")
            .never("a dictionary is a promise, not a request"),
    ]
}

fn guesses() -> Vec<Vector> {
    let rules = |name: &str, rules: &str| {
        html(
            format!("speculation: {name}"),
            format!("<script type=speculationrules>{rules}</script><a href='http://{{canary}}/linked'>x</a>"),
        )
        .patience(IDLE)
        .never(NO_GUESS)
    };
    let guess = |action: &str| {
        format!(
            "{{\"{action}\": [{{\"source\": \"list\", \"urls\": [\"http://{{canary}}/guess\"], \"eagerness\": \"immediate\"}}]}}"
        )
    };
    vec![
        rules("prefetch", &guess("prefetch")),
        rules("prerender", &guess("prerender")),
        rules(
            "prefetch of all links",
            "{\"prefetch\": [{\"source\": \"document\", \"eagerness\": \"immediate\"}]}",
        ),
        rules(
            "prefetch over a redirect",
            "{\"prefetch\": [{\"source\": \"list\", \"urls\": [\"/redirect/302?to=http://{canary}/redirected\"], \"eagerness\": \"immediate\"}]}",
        ),
        rules(
            "prerender of a page that loads more",
            "{\"prerender\": [{\"source\": \"list\", \"urls\": [\"{files}/ahead.html\"], \"eagerness\": \"immediate\"}]}",
        )
        .file("ahead.html", "<img src='http://{canary}/ahead'><script>fetch('http://{canary}/ahead', {mode: 'no-cors'})</script>"),
        rules(
            "prerender over a redirect",
            "{\"prerender\": [{\"source\": \"list\", \"urls\": [\"/redirect/302?to=http://{canary}/redirected\"], \"eagerness\": \"immediate\"}]}",
        ),
        rules(
            "prefetch with the network's help",
            "{\"prefetch\": [{\"source\": \"list\", \"urls\": [\"http://{canary}/anonymous\"], \"requires\": [\"anonymous-client-ip-when-cross-origin\"], \"eagerness\": \"immediate\"}]}",
        ),
    ]
}

fn reports() -> Vec<Vector> {
    let violation = "<img src='http://127.0.0.1:1/violation'>";
    // What is left to report goes out when the document goes.
    let leave = "<script>setTimeout(() => location = '/blank', 300)</script>";
    let report = |name: &str, body: &str| {
        html(format!("report {name}"), format!("{body}{leave}"))
            .patience(IDLE)
            .never("the reporting service gathers for a minute, where a headless browser has one at all")
    };
    vec![
        html("report of a broken content policy", violation)
            .header("content-security-policy", "img-src 'none'; report-uri http://{canary}/csp"),
        html("report of a content policy that only reports", violation)
            .header("content-security-policy-report-only", "img-src 'none'; report-uri http://{canary}/only"),
        report("by the reporting service", violation)
            .header("reporting-endpoints", "out=\"http://{canary}/endpoint\"")
            .header("content-security-policy", "img-src 'none'; report-to out"),
        report("by the reporting service over TLS", violation)
            .header("reporting-endpoints", "out=\"https://{canary}/endpoint\"")
            .header("content-security-policy", "img-src 'none'; report-to out"),
        html("report of a frame's content policy", "<iframe src='{files}/inner.html'></iframe>")
            .file("inner.html", violation)
            .file_header("content-security-policy", "img-src 'none'; report-uri http://{canary}/inner"),
        report("of a permission", "<script>navigator.geolocation.getCurrentPosition(() => 0, () => 0)</script>")
            .header("reporting-endpoints", "out=\"https://{canary}/permission\"")
            .header("permissions-policy", "geolocation=();report-to=out"),
        report("of a document policy", "<script>document.write('x')</script>")
            .header("reporting-endpoints", "default=\"https://{canary}/default\"")
            .header("document-policy-report-only", "document-write=?0;report-to=default"),
        report("of an opener policy", "<script>open('{files}/other.html')</script>")
            .header("reporting-endpoints", "out=\"https://{canary}/opener\"")
            .header("cross-origin-opener-policy", "same-origin; report-to=\"out\"")
            .file("other.html", "x"),
        report(
            "of an embedder policy",
            "<img src='/redirect/302?to=http://localhost:1/'><iframe src='/blank'></iframe>",
        )
        .header("reporting-endpoints", "out=\"https://{canary}/embedder\"")
        .header("cross-origin-embedder-policy", "require-corp; report-to=\"out\""),
        report("of the network", "<img src='/status/500'>")
            .header(
                "report-to",
                "{\"group\": \"out\", \"max_age\": 1000, \"endpoints\": [{\"url\": \"https://{canary}/nel\"}]}",
            )
            .header("nel", "{\"report_to\": \"out\", \"max_age\": 1000, \"success_fraction\": 1}"),
        html("registration of a device-bound session", "x")
            .header("secure-session-registration", "(ES256);path=\"https://{canary}/bound\";challenge=\"c\"")
            .header("sec-session-registration", "(ES256);path=\"https://{canary}/bound\";challenge=\"c\"")
            .never("device-bound sessions are for encrypted sites"),
    ]
}
