//! Requests and connections that a page's script makes.

use super::{Vector, html, script};

pub(super) fn vectors() -> Vec<Vector> {
    vec![
        script("fetch", "fetch('http://{canary}/fetch', {mode: 'no-cors'}).catch(() => 0)"),
        script("fetch across origins", "fetch('http://{canary}/cors').catch(() => 0)"),
        script(
            "fetch with a question first",
            "fetch('http://{canary}/preflight', {method: 'PUT', headers: {'x-secret': '1'}}).catch(() => 0)",
        ),
        script("fetch over https", "fetch('https://{canary}/https', {mode: 'no-cors'}).catch(() => 0)"),
        script(
            "fetch of the local network",
            "fetch('http://{canary}/local', {mode: 'no-cors', targetAddressSpace: 'loopback'}).catch(() => 0)",
        )
        .never("behind a proxy the browser cannot tell the network of an address, and drops what names one"),
        script(
            "XMLHttpRequest",
            "const x = new XMLHttpRequest; x.open('GET', 'http://{canary}/xhr'); x.send()",
        ),
        script(
            "XMLHttpRequest that waits",
            "const x = new XMLHttpRequest; x.open('POST', 'http://{canary}/sync', false); try { x.send('s') } catch {}",
        ),
        script("event stream", "new EventSource('http://{canary}/events')"),
        script("WebSocket", "new WebSocket('ws://{canary}/socket')"),
        script("WebSocket over TLS", "new WebSocket('wss://{canary}/socket')"),
        script("WebSocket by an http URL", "new WebSocket('http://{canary}/socket')"),
        script(
            "WebSocket of a blank frame",
            "const f = document.createElement('iframe'); document.body.append(f);
             new f.contentWindow.WebSocket('ws://{canary}/blank')",
        ),
        script("WebSocket of a popup", "new (open('').WebSocket)('ws://{canary}/popup')"),
        script(
            "fetch of a popup that is gone",
            "const w = open(''); const get = w.fetch.bind(w);
             get('http://{canary}/gone', {mode: 'no-cors', keepalive: true}).catch(() => 0); w.close()",
        ),
        script(
            "audio worklet",
            "new OfflineAudioContext(1, 1, 44100).audioWorklet.addModule('http://{canary}/audio').catch(() => 0)",
        ),
        script(
            "payment",
            "new PaymentRequest([{supportedMethods: 'https://{canary}/pay'}], {total: {label: 'x', amount: {currency: 'EUR', value: '1'}}})
               .canMakePayment().catch(() => 0)",
        )
        .never("the headless browser has no payments"),
        script(
            "sign-in with an identity provider",
            "navigator.credentials.get({identity: {providers: [{configURL: 'https://{canary}/config.json', clientId: '1'}]}}).catch(() => 0)",
        )
        .never("the headless browser has no sign-in dialog, and an address is no registrable domain"),
        html(
            "background fetch",
            "<script>navigator.serviceWorker.register('{files}/worker.js').then(() => navigator.serviceWorker.ready)
               .then(r => r.backgroundFetch.fetch('x', ['http://{canary}/background'])).catch(() => 0)</script>",
        )
        .file("worker.js", "addEventListener('fetch', () => 0)")
        .never("the headless browser has no background downloads"),
        html(
            "registration of an attribution source",
            "<img attributionsrc='http://{canary}/attribution' src='data:,'>",
        )
        .never("the browser has no attribution reporting"),
        script(
            "interest group",
            "navigator.joinAdInterestGroup({owner: location.origin, name: 'x', lifetimeMs: 1000, updateURL: 'http://{canary}/group'}).catch(() => 0)",
        )
        .never("the browser has no interest groups"),
        script(
            "notification with a picture",
            "new Notification('x', {icon: 'http://{canary}/icon'})",
        )
        .never("nobody gave the page the right to notify"),
        script(
            "artwork of a media session",
            "navigator.mediaSession.metadata = new MediaMetadata({title: 'x', artwork: [{src: 'http://{canary}/artwork'}]})",
        )
        .never("a browser without a window does not show it and does not load it"),
    ]
}
