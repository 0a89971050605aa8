//! Nobody can make the gate hold more than its limits, and what they cut is in the ledger.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use bathy_egress::{BoxFuture, Code, GateOptions, Limits, Resolve, kind};

use crate::support::{Browser, Echo, Site, entries, gate, open};

#[tokio::test]
async fn a_head_that_is_too_large_is_refused() {
    let limits = Limits { head_bytes: 16 * 1024, headers: 20, ..Limits::default() };
    let gate = gate(GateOptions { limits, ..GateOptions::default() });
    let door = gate.open_door("s1", open()).await.unwrap();
    let long = format!("GET http://a.test/{} HTTP/1.1\r\nHost: a\r\n\r\n", "x".repeat(20_000));
    let many = format!("GET http://a.test/ HTTP/1.1\r\n{}\r\n", "A: b\r\n".repeat(30));
    for request in [long, many] {
        let mut browser = Browser::connect(door.address()).await;
        browser.send(request).await;
        let head = browser.head().await;
        assert!(head.starts_with("HTTP/1.1 431") || head.starts_with("HTTP/1.1 414"), "{head}");
    }
    let cut = entries(&gate, kind::CONNECTION, 2).await;
    assert!(cut.iter().all(|entry| entry.code == Some(Code::LimitReached)), "{cut:?}");
}

#[tokio::test]
async fn an_answer_whose_head_is_too_large_is_a_502() {
    let site = Site::start(|_| format!("HTTP/1.1 200 OK\r\n{}\r\n", "A: b\r\n".repeat(500)).into_bytes()).await;
    let gate = gate(GateOptions::default());
    let door = gate.open_door("s1", open()).await.unwrap();
    let reply = Browser::connect(door.address()).await.get(&format!("http://{}/", site.address)).await;
    assert_eq!((reply.status, reply.refusal()), (502, Some("broken-response")));
}

#[tokio::test]
async fn a_head_that_drips_is_cut_off_and_an_unused_connection_is_no_event() {
    let limits = Limits { head_timeout: Duration::from_millis(100), ..Limits::default() };
    let gate = gate(GateOptions { limits, ..GateOptions::default() });
    let door = gate.open_door("s1", open()).await.unwrap();
    let mut unused = Browser::connect(door.address()).await;
    assert_eq!(unused.rest().await, b"");
    let mut slow = Browser::connect(door.address()).await;
    slow.send("GET http://a.test/ HT").await;
    slow.rest().await;
    let log = entries(&gate, kind::CONNECTION, 1).await;
    assert_eq!((log.len(), log[0].code), (1, Some(Code::LimitReached)));
}

#[tokio::test]
async fn a_door_serves_so_many_connections_and_tunnels_count() {
    let echo = Echo::start().await;
    let limits = Limits { connections: 2, ..Limits::default() };
    let gate = gate(GateOptions { limits, ..GateOptions::default() });
    let door = gate.open_door("s1", open()).await.unwrap();
    let mut tunnels = Vec::new();
    for _ in 0..2 {
        let mut browser = Browser::connect(door.address()).await;
        assert_eq!(browser.tunnel(&echo.address.to_string()).await.status, 200);
        tunnels.push(browser);
    }
    let mut third = Browser::connect(door.address()).await;
    let reply = third.reply().await;
    assert_eq!((reply.status, reply.refusal()), (503, Some("limit-reached")));
    assert_eq!(entries(&gate, kind::CONNECTION, 1).await[0].code, Some(Code::LimitReached));
    drop(tunnels.pop());
    entries(&gate, kind::CLOSE, 1).await;
    while door.counters().open_connections > 1 {
        tokio::task::yield_now().await;
    }
    assert_eq!(Browser::connect(door.address()).await.tunnel(&echo.address.to_string()).await.status, 200);
}

#[tokio::test]
async fn a_site_that_never_answers_is_a_504() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let limits = Limits { response_timeout: Duration::from_millis(100), ..Limits::default() };
    let gate = gate(GateOptions { limits, ..GateOptions::default() });
    let door = gate.open_door("s1", open()).await.unwrap();
    let url = format!("http://{}/", silent.local_addr().unwrap());
    let reply = Browser::connect(door.address()).await.get(&url).await;
    assert_eq!((reply.status, reply.refusal()), (504, Some("timed-out")));
}

/// A resolver that never comes back.
struct Stuck;

impl Resolve for Stuck {
    fn resolve<'a>(&'a self, _host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test]
async fn a_resolver_that_never_answers_is_a_504() {
    let limits = Limits { resolve_timeout: Duration::from_millis(100), ..Limits::default() };
    let gate = gate(GateOptions { limits, resolver: Arc::new(Stuck), ..GateOptions::default() });
    let door = gate.open_door("s1", open()).await.unwrap();
    let mut browser = Browser::connect(door.address()).await;
    assert_eq!(browser.get("http://a.test/").await.status, 504);
    assert_eq!(browser.tunnel("a.test:443").await.status, 504);
}

#[tokio::test]
async fn a_browser_that_gives_up_is_in_the_ledger() {
    let gate = gate(GateOptions { resolver: Arc::new(Stuck), ..GateOptions::default() });
    let door = gate.open_door("s1", open()).await.unwrap();
    let mut browser = Browser::connect(door.address()).await;
    browser.send("GET http://a.test/ HTTP/1.1\r\nHost: a\r\n\r\n").await;
    while door.counters().open_connections == 0 {
        tokio::task::yield_now().await;
    }
    drop(browser);
    let entry = &entries(&gate, kind::REQUEST, 1).await[0];
    assert_eq!((entry.code, entry.host.as_str()), (Some(Code::Closed), "a.test"));
}

#[tokio::test]
async fn a_browser_that_does_not_read_makes_the_gate_wait_and_not_hoard() {
    const LENGTH: usize = 64 * 1024 * 1024;
    let sent = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let counter = Arc::clone(&sent);
    tokio::spawn(async move {
        let mut browser = Browser { stream: tokio::io::BufReader::new(listener.accept().await.unwrap().0) };
        browser.head().await;
        browser.send(format!("HTTP/1.1 200 OK\r\nContent-Length: {LENGTH}\r\n\r\n")).await;
        let block = vec![b'x'; 64 * 1024];
        while tokio::io::AsyncWriteExt::write_all(&mut browser.stream, &block).await.is_ok() {
            counter.fetch_add(block.len(), std::sync::atomic::Ordering::SeqCst);
        }
    });
    let limits = Limits { idle_timeout: Duration::from_millis(300), ..Limits::default() };
    let gate = gate(GateOptions { limits, ..GateOptions::default() });
    let door = gate.open_door("s1", open()).await.unwrap();
    let mut browser = Browser::connect(door.address()).await;
    browser.send(format!("GET http://{address}/ HTTP/1.1\r\nHost: a\r\n\r\n")).await;
    browser.head().await;
    // Reads nothing more, until the silence is too long.
    let entry = &entries(&gate, kind::REQUEST, 1).await[0];
    assert_eq!(entry.code, Some(Code::Closed));
    let sent = sent.load(std::sync::atomic::Ordering::SeqCst);
    assert!(sent < LENGTH / 2, "{sent} bytes were taken from the site for a browser that reads none");
}
