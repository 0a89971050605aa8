//! Workers of every kind.

use std::time::Duration;

use super::{Vector, html, script};

const FETCH: &str = "fetch('http://{canary}/worker', {mode: 'no-cors'}).catch(() => 0)";

/// Service workers are installed before they run.
const INSTALLED: Duration = Duration::from_secs(2);

pub(super) fn vectors() -> Vec<Vector> {
    [dedicated(), shared(), service()].into_iter().flatten().collect()
}

fn dedicated() -> Vec<Vector> {
    let worker = |name: &str, body: &str| {
        script(format!("worker: {name}"), "new Worker('{files}/worker.js')").file("worker.js", body)
    };
    vec![
        worker("fetch", FETCH),
        worker("XMLHttpRequest", "const x = new XMLHttpRequest; x.open('GET', 'http://{canary}/xhr'); x.send()"),
        worker("WebSocket", "new WebSocket('ws://{canary}/socket')"),
        worker("event stream", "new EventSource('http://{canary}/events')"),
        worker("import of scripts", "importScripts('http://{canary}/scripts')"),
        worker("dynamic import", "import('http://{canary}/import').catch(() => 0)"),
        worker(
            "redirected fetch",
            "fetch('/redirect/307?to=http://{canary}/redirected', {mode: 'no-cors'}).catch(() => 0)",
        ),
        worker("redirected import of scripts", "importScripts('/redirect/302?to=http://{canary}/redirected')"),
        worker("font", "new FontFace('z', 'url(http://{canary}/font)').load().catch(() => 0)"),
        worker("worker of a worker", "new Worker('{files}/inner.js')").file("inner.js", FETCH),
        worker("WebTransport", "new WebTransport('https://{canary}/transport').ready.catch(() => 0)")
            .never("no datagram leaves at either level"),
        script("worker: module", "new Worker('{files}/worker.js', {type: 'module'})")
            .file("worker.js", "import 'http://{canary}/module'"),
        script(
            "worker: blob",
            format!("new Worker(URL.createObjectURL(new Blob([\"{FETCH}\"], {{type: 'text/javascript'}})))"),
        ),
        script("worker: data URL", format!("new Worker('data:text/javascript,' + encodeURIComponent(\"{FETCH}\"))")),
        script("worker: script of another origin", "try { new Worker('http://{canary}/script') } catch {}")
            .never("a worker's script is of the page's origin"),
        script("worker: outlives its page", "new Worker('{files}/worker.js').onmessage = () => location = '/blank'")
            .file("worker.js", format!("postMessage(1); for (let i = 0; i < 20; i++) setTimeout(() => {FETCH}, i)")),
    ]
}

fn shared() -> Vec<Vector> {
    let worker = |name: &str, body: &str| {
        script(format!("shared worker: {name}"), "new SharedWorker('{files}/worker.js')").file("worker.js", body)
    };
    vec![
        worker("fetch", FETCH),
        worker("WebSocket", "new WebSocket('ws://{canary}/socket')"),
        worker("import of scripts", "importScripts('http://{canary}/scripts')"),
        worker("event stream", "new EventSource('http://{canary}/events')"),
        worker("worker of a shared worker", "new Worker('{files}/inner.js')")
            .file("inner.js", FETCH)
            .never("the browser lets no shared worker have workers"),
        script("shared worker: module", "new SharedWorker('{files}/worker.js', {type: 'module'})")
            .file("worker.js", "import 'http://{canary}/module'"),
        script(
            "shared worker: blob",
            format!("new SharedWorker(URL.createObjectURL(new Blob([\"{FETCH}\"], {{type: 'text/javascript'}})))"),
        ),
        worker("WebTransport", "new WebTransport('https://{canary}/transport').ready.catch(() => 0)")
            .never("no datagram leaves at either level"),
    ]
}

fn service() -> Vec<Vector> {
    let worker = |name: &str, body: &str| {
        html(
            format!("service worker: {name}"),
            "<script>navigator.serviceWorker.register('{files}/worker.js').catch(() => 0)</script>",
        )
        .file("worker.js", body)
        .patience(INSTALLED)
    };
    let then = |name: &str, then: &str, body: &str| {
        html(
            format!("service worker: {name}"),
            format!(
                "<script>navigator.serviceWorker.register('{{files}}/worker.js').then(() => navigator.serviceWorker.ready).then(async ready => {{ {then} }}).catch(() => 0)</script>"
            ),
        )
        .file("worker.js", format!("addEventListener('activate', event => event.waitUntil(clients.claim()));{body}"))
        .patience(INSTALLED)
    };
    vec![
        worker("fetch at the start", FETCH),
        worker("fetch while it is installed", &format!("addEventListener('install', event => event.waitUntil({FETCH}))")),
        worker("fetch while it is activated", &format!("addEventListener('activate', event => event.waitUntil({FETCH}))")),
        worker("import of scripts", "importScripts('http://{canary}/scripts')"),
        worker(
            "cache",
            "addEventListener('install', event => event.waitUntil(caches.open('x').then(cache =>
               cache.add(new Request('http://{canary}/cache', {mode: 'no-cors'}))).catch(() => 0)))",
        ),
        worker("WebSocket", "addEventListener('install', () => new WebSocket('ws://{canary}/socket'))"),
        then(
            "answer that comes from elsewhere",
            "navigator.serviceWorker.controller || await new Promise(done => navigator.serviceWorker.oncontrollerchange = done);
             fetch('{files}/inside')",
            "addEventListener('fetch', event => event.request.url.endsWith('inside') &&
               event.respondWith(fetch('http://{canary}/elsewhere', {mode: 'no-cors'})))",
        ),
        then(
            "document that comes from elsewhere",
            "document.body.append(Object.assign(document.createElement('iframe'), {src: '{files}/inside'}))",
            "addEventListener('fetch', event => event.request.url.endsWith('inside') &&
               event.respondWith(fetch('http://{canary}/document', {mode: 'no-cors'})))",
        ),
        then(
            "redirect by the worker",
            "document.body.append(Object.assign(document.createElement('iframe'), {src: '{files}/inside'}))",
            "addEventListener('fetch', event => event.request.url.endsWith('inside') &&
               event.respondWith(Response.redirect('http://{canary}/redirect')))",
        ),
        then(
            "navigation preload over a redirect",
            "await ready.navigationPreload.enable();
             document.body.append(Object.assign(document.createElement('iframe'), {src: '{files}/preload'}))",
            "addEventListener('fetch', event => event.request.mode == 'navigate' && event.respondWith(event.preloadResponse))",
        )
        .file("preload", "")
        .file_header("refresh", "0;url=http://{canary}/preload"),
        then(
            "message after the page",
            "ready.active.postMessage(1); location = '/blank'",
            &format!("addEventListener('message', event => event.waitUntil({FETCH}))"),
        ),
        then(
            "window of the worker",
            "ready.active.postMessage(1)",
            "addEventListener('message', event => event.waitUntil(clients.openWindow('http://{canary}/window').catch(() => 0)))",
        )
        .never("a worker may open a window only after a person's click"),
        then(
            "page that the worker sends on",
            "ready.active.postMessage(1)",
            "addEventListener('message', event => event.waitUntil(event.source.navigate('http://{canary}/sent').catch(() => 0)))",
        ),
    ]
}
