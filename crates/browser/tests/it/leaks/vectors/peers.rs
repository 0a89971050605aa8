//! WebRTC and WebTransport, which do not care for proxies.

use std::time::Duration;

use super::{Vector, html, script};

/// Gathering takes a while.
const GATHERED: Duration = Duration::from_secs(2);

/// A peer without a network or a datagram finds no address of its own, and then tries no other.
const NO_DATAGRAM: &str = "no datagram leaves at either level, and peers begin with one";

/// `dial(window, servers)`: makes a peer of that window's and gathers.
const DIAL: &str = "
function dial(w, servers) {
  const Peer = w.RTCPeerConnection || w.webkitRTCPeerConnection;
  const pc = w.kept = new Peer({iceServers: servers, iceCandidatePoolSize: 4});
  pc.createDataChannel('x');
  return pc.createOffer().then(offer => pc.setLocalDescription(offer)).then(() => pc);
}
const name = {username: 'a', credential: 'b'};
const stun = [{urls: 'stun:{canary}'}];
const udp = [{urls: 'turn:{canary}?transport=udp', ...name}];
const tcp = [{urls: 'turn:{canary}?transport=tcp', ...name}];
const tls = [{urls: 'turns:{canary}?transport=tcp', ...name}];
const every = [...stun, ...udp, ...tcp, ...tls];
function peer(...candidates) {
  return {type: 'answer', sdp: ['v=0', 'o=- 1 1 IN IP4 127.0.0.1', 's=-', 't=0 0', 'a=group:BUNDLE 0',
    'm=application 9 UDP/DTLS/SCTP webrtc-datachannel', 'c=IN IP4 0.0.0.0', 'a=ice-ufrag:abcd',
    'a=ice-pwd:abcdefghijklmnopqrstuvwx', 'a=fingerprint:sha-256 ' + Array(32).fill('AA').join(':'),
    'a=setup:active', 'a=mid:0', 'a=sctp-port:5000', ...candidates.map(c => 'a=candidate:' + c), ''].join('\\r\\n')};
}
";

pub(super) fn vectors() -> Vec<Vector> {
    [servers(), candidates(), windows(), transports()]
        .into_iter()
        .flatten()
        .map(|vector| vector.patience(GATHERED).never(NO_DATAGRAM))
        .collect()
}

fn peer(name: &str, body: &str) -> Vector {
    script(format!("WebRTC: {name}"), format!("{DIAL}{body}"))
}

fn servers() -> Vec<Vector> {
    vec![
        peer("STUN", "dial(window, stun)"),
        peer("TURN over UDP", "dial(window, udp)"),
        peer("TURN over TCP", "dial(window, tcp)"),
        peer("TURN over TLS", "dial(window, tls)"),
        peer("STUN of a name", "dial(window, [{urls: 'stun:allowed.test:{port}'}])"),
        peer(
            "servers that are set later",
            "const pc = new RTCPeerConnection(); pc.setConfiguration({iceServers: every}); pc.createDataChannel('x');
             pc.createOffer().then(offer => pc.setLocalDescription(offer)); window.kept = pc",
        ),
    ]
}

fn candidates() -> Vec<Vector> {
    vec![
        peer(
            "peer over UDP",
            "dial(window, []).then(pc => pc.setRemoteDescription(peer('1 1 udp 2130706431 127.0.0.3 {port} typ host')))",
        )
        ,
        peer(
            "peer over TCP",
            "dial(window, []).then(pc => pc.setRemoteDescription(peer('1 1 tcp 1518280447 127.0.0.3 {port} typ host tcptype passive')))",
        ),
        peer(
            "peer that is added later",
            "dial(window, []).then(pc => pc.setRemoteDescription(peer()).then(() => {
               pc.addIceCandidate({sdpMid: '0', candidate: 'candidate:1 1 udp 2130706431 127.0.0.3 {port} typ host'});
               pc.addIceCandidate({sdpMid: '0', candidate: 'candidate:2 1 tcp 1518280447 127.0.0.3 {port} typ host tcptype passive'});
             }))",
        ),
        peer(
            "peer with a local name",
            "dial(window, []).then(pc => pc.setRemoteDescription(
               peer('1 1 udp 2130706431 0f3e5d1c-aaaa-4bbb-8ccc-123456789abc.local {port} typ host')))",
        )
        ,
    ]
}

fn windows() -> Vec<Vector> {
    vec![
        peer(
            "in a blank frame",
            "const f = document.createElement('iframe'); document.body.append(f); dial(f.contentWindow, every)",
        ),
        peer("in a blank popup at once", "dial(open(''), every)"),
        peer("in a named popup at once", "dial(open('about:blank', 'other'), every)"),
        peer(
            "in a frame of a popup at once",
            "const w = open(''); const f = w.document.createElement('iframe'); w.document.body.append(f); dial(f.contentWindow, every)",
        ),
        peer(
            "in a frame of a frame",
            "const f = document.createElement('iframe'); document.body.append(f);
             const g = f.contentDocument.createElement('iframe'); f.contentDocument.body.append(g); dial(g.contentWindow, every)",
        ),
        html(
            "WebRTC: in a frame of text",
            format!("<iframe srcdoc=\"<script>{}dial(window, every)</script>\"></iframe>", DIAL.replace('"', "&quot;")),
        ),
        html(
            "WebRTC: in a sandboxed frame of text",
            format!("<iframe sandbox=allow-scripts srcdoc=\"<script>{DIAL}dial(window, every)</script>\"></iframe>"),
        ),
        html(
            "WebRTC: in a frame of a data URL",
            format!(
                "<script type=text/plain id=text>{DIAL}dial(window, every)</script><iframe id=f></iframe>
                 <script>f.src = 'data:text/html,' + encodeURIComponent('<script>' + text.textContent + '<\\/script>')</script>"
            ),
        ),
        html("WebRTC: in a frame of a file", "<iframe src='{files}/inner.html'></iframe>")
            .file("inner.html", format!("<script>{DIAL}dial(window, every)</script>")),
        html(
            "WebRTC: in a blank frame of a sandboxed frame",
            "<iframe sandbox='allow-scripts' src='{files}/inner.html'></iframe>",
        )
        .file(
            "inner.html",
            format!("<body><script>{DIAL}const f = document.createElement('iframe'); document.body.append(f);
             try {{ dial(f.contentWindow, every) }} catch {{}} dial(window, every)</script>"),
        ),
        script(
            "WebRTC: in a popup of a file",
            "open('{files}/inner.html')",
        )
        .file("inner.html", format!("<script>{DIAL}dial(window, every)</script>")),
    ]
}

fn transports() -> Vec<Vector> {
    vec![
        script("WebTransport", "new WebTransport('https://{canary}/transport').ready.catch(() => 0)"),
        script(
            "WebTransport with a known certificate",
            "new WebTransport('https://{canary}/transport', {serverCertificateHashes: [{algorithm: 'sha-256', value: new Uint8Array(32)}]}).ready.catch(() => 0)",
        ),
        script(
            "WebTransport of a blank popup at once",
            "const w = open(''); new w.WebTransport('https://{canary}/transport').ready.catch(() => 0)",
        ),
        script(
            "WebTransport of a blank frame",
            "const f = document.createElement('iframe'); document.body.append(f);
             new f.contentWindow.WebTransport('https://{canary}/transport').ready.catch(() => 0)",
        ),
    ]
}
