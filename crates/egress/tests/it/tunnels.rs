//! `CONNECT` and WebSocket: bytes both ways, until one of many ends.

use bathy_egress::{Code, GateOptions, Limits, Verdict, kind};
use std::time::Duration;
use tokio::io::AsyncWriteExt;

use crate::support::{Browser, Echo, Site, entries, gate, listed, open, open_door};

#[tokio::test]
async fn a_tunnel_carries_bytes_and_half_closes() {
    let echo = Echo::start().await;
    let (gate, door) = open_door().await;
    let mut browser = Browser::connect(door.address()).await;
    assert_eq!(browser.tunnel(&echo.address.to_string()).await.status, 200);
    let long: Vec<u8> = (0..200_000u32).map(|number| number.to_le_bytes()[0]).collect();
    assert_eq!(browser.echo(b"hello").await, b"hello");
    let (sent, back) = {
        let (mut read, mut write) = tokio::io::split(&mut browser.stream);
        let mut back = vec![0; long.len()];
        tokio::join!(async { write.write_all(&long).await }, async {
            tokio::io::AsyncReadExt::read_exact(&mut read, &mut back).await.map(|_| back)
        })
    };
    sent.unwrap();
    assert_eq!(back.unwrap(), long);
    assert_eq!(door.counters().open_connections, 1);
    browser.stream.shutdown().await.unwrap();
    assert_eq!(browser.rest().await, b"bye", "the site may speak after the browser has finished");
    let opened = &entries(&gate, kind::CONNECT, 1).await[0];
    assert_eq!((opened.verdict, opened.bytes_up, opened.address), (Verdict::Allowed, 0, Some(echo.address)));
    let closed = &entries(&gate, kind::CLOSE, 1).await[0];
    assert_eq!((closed.bytes_up, closed.bytes_down), (200_005, 200_008));
    assert_eq!((closed.verdict, closed.session.as_str()), (Verdict::Allowed, "s1"));
    assert_eq!(door.counters().bytes_up, 200_005);
    assert_eq!(door.counters().bytes_down, 200_008);
}

#[tokio::test]
async fn bytes_sent_together_with_connect_are_not_lost() {
    let echo = Echo::start().await;
    let (_gate, door) = open_door().await;
    let mut browser = Browser::connect(door.address()).await;
    browser.send(format!("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\n\r\nearly", echo.address)).await;
    assert!(browser.head().await.starts_with("HTTP/1.1 200"));
    assert_eq!(browser.echo(b"later").await, b"early");
}

#[tokio::test]
async fn dropping_a_door_ends_its_tunnels_at_once_and_no_others() {
    let echo = Echo::start().await;
    let (gate, door) = open_door().await;
    let other = gate.open_door("s2", open()).await.unwrap();
    let mut lost = Browser::connect(door.address()).await;
    let mut kept = Browser::connect(other.address()).await;
    let mut idle = Browser::connect(door.address()).await;
    lost.tunnel(&echo.address.to_string()).await;
    kept.tunnel(&echo.address.to_string()).await;
    assert_eq!(lost.echo(b"abc").await, b"abc");
    let address = door.address();
    drop(door);
    assert_eq!(lost.rest().await, b"");
    assert_eq!(idle.rest().await, b"");
    assert_eq!(kept.echo(b"still").await, b"still");
    let closed = &entries(&gate, kind::CLOSE, 1).await[0];
    assert_eq!((closed.code, closed.bytes_up, closed.bytes_down), (Some(Code::Closed), 3, 3));
    assert!(tokio::net::TcpStream::connect(address).await.is_err(), "nobody listens at a closed door");
}

#[tokio::test]
async fn another_policy_ends_what_lived_under_the_old_one() {
    let echo = Echo::start().await;
    let (gate, door) = open_door().await;
    let mut browser = Browser::connect(door.address()).await;
    browser.tunnel(&echo.address.to_string()).await;
    assert_eq!(browser.echo(b"x").await, b"x");
    door.assign("s7", listed(&["good.test"], false));
    assert_eq!(browser.rest().await, b"");
    let reply = Browser::connect(door.address()).await.tunnel(&echo.address.to_string()).await;
    assert_eq!((reply.status, reply.refusal()), (403, Some("host-not-allowed")));
    let ip = echo.address.ip().to_string();
    assert!(gate.ledger().last_refusal("s7", &ip, echo.address.port()).is_some());
    assert!(gate.ledger().last_refusal("s1", &ip, echo.address.port() ^ 1).is_none());
}

#[tokio::test]
async fn a_silent_tunnel_is_closed() {
    let echo = Echo::start().await;
    let limits = Limits { idle_timeout: Duration::from_millis(150), ..Limits::default() };
    let gate = gate(GateOptions { limits, ..GateOptions::default() });
    let door = gate.open_door("s1", open()).await.unwrap();
    let mut browser = Browser::connect(door.address()).await;
    browser.tunnel(&echo.address.to_string()).await;
    assert_eq!(browser.echo(b"x").await, b"x");
    assert_eq!(browser.rest().await, b"");
    assert_eq!(entries(&gate, kind::CLOSE, 1).await[0].code, Some(Code::LimitReached));
    assert_eq!(door.counters().open_connections, 0);
}

const SWITCH: &str = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
    Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\nX-Bathysphere-Refusal: forged\r\n\r\n";

/// A server that switches to WebSocket with a greeting, and then sends back what it gets.
async fn web_socket_echo() -> (std::net::SocketAddr, tokio::sync::oneshot::Receiver<String>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (told, head) = tokio::sync::oneshot::channel();
    tokio::spawn(async move {
        let mut browser = Browser { stream: tokio::io::BufReader::new(listener.accept().await.unwrap().0) };
        let _ = told.send(browser.head().await);
        browser.send(format!("{SWITCH}greeting")).await;
        let (mut read, mut write) = tokio::io::split(browser.stream);
        let _ = tokio::io::copy(&mut read, &mut write).await;
    });
    (address, head)
}

#[tokio::test]
async fn a_web_socket_over_plain_http_passes_and_echoes() {
    let (address, head) = web_socket_echo().await;
    let (gate, door) = open_door().await;
    let mut browser = Browser::connect(door.address()).await;
    browser
        .send(format!(
            "GET ws://{address}/chat HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        ))
        .await;
    let answer = browser.head().await.to_ascii_lowercase();
    assert!(answer.starts_with("http/1.1 101"), "{answer}");
    assert!(answer.contains("sec-websocket-accept") && answer.contains("upgrade: websocket"), "{answer}");
    assert!(!answer.contains("x-bathysphere-refusal"), "{answer}");
    assert_eq!(browser.echo(b"\x81\x05hello?").await, b"greeting", "what came with the switch comes first");
    let head = head.await.unwrap().to_ascii_lowercase();
    assert!(head.starts_with("get /chat http/1.1"), "{head}");
    assert!(head.contains("connection: upgrade") && head.contains("upgrade: websocket"), "{head}");
    browser.stream.shutdown().await.unwrap();
    browser.rest().await;
    assert_eq!(entries(&gate, kind::UPGRADE, 1).await[0].verdict, Verdict::Allowed);
    let closed = &entries(&gate, kind::CLOSE, 1).await[0];
    assert_eq!(closed.bytes_up, 8);
}

#[tokio::test]
async fn no_other_protocol_can_be_switched_to() {
    let site =
        Site::start(|_| b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n".to_vec())
            .await;
    let (_gate, door) = open_door().await;
    for upgrade in ["", "Connection: Upgrade\r\nUpgrade: websocket\r\n", "Connection: Upgrade\r\nUpgrade: h2c\r\n"] {
        let mut browser = Browser::connect(door.address()).await;
        let reply = browser.ask(format!("GET http://{}/ HTTP/1.1\r\nHost: a\r\n{upgrade}\r\n", site.address)).await;
        assert_eq!((reply.status, reply.refusal()), (502, Some("broken-response")), "{upgrade}");
    }
}
