//! Plain HTTP: what is passed on, and what is not.

use bathy_egress::{GateOptions, Verdict, kind};

use crate::support::{Browser, Names, Site, entries, gate, ok, open, open_door};

#[tokio::test]
async fn a_request_passes_with_its_own_host_and_without_what_was_meant_for_the_proxy() {
    let site = Site::saying("hello").await;
    let (_gate, door) = open_door().await;
    let reply = Browser::connect(door.address())
        .await
        .ask(format!(
            "GET http://{}/path?query=1 HTTP/1.1\r\nHost: other.test\r\nProxy-Connection: keep-alive\r\n\
             Proxy-Authorization: Basic eA==\r\nConnection: keep-alive, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: 1\r\nTE: trailers\r\n\
             Upgrade: h2c\r\nHTTP2-Settings: AAA\r\nX-Kept: yes\r\n\r\n",
            site.address
        ))
        .await;
    assert_eq!((reply.status, reply.body.as_str()), (200, "hello"));
    let got = &site.received()[0];
    assert!(got.head.starts_with("GET /path?query=1 HTTP/1.1\r\n"), "{}", got.head);
    assert_eq!(got.header("host"), Some(site.address.to_string().as_str()));
    assert!(got.head.contains("X-Kept: yes"), "the spelling of headers is kept: {}", got.head);
    for gone in ["proxy-connection", "proxy-authorization", "connection", "x-hop", "keep-alive", "te", "upgrade"] {
        assert_eq!(got.header(gone), None, "{gone} in {}", got.head);
    }
}

#[tokio::test]
async fn a_site_cannot_pose_as_the_gate() {
    let site = Site::start(|_| {
        b"HTTP/1.1 200 OK\r\nX-Bathysphere-Refusal: private-network\r\nConnection: X-Secret\r\nX-Secret: 1\r\n\
          Proxy-Authenticate: Basic\r\nTransfer-Encoding: chunked\r\nTrailer: X-Bathysphere-Refusal\r\n\r\n\
          2\r\nhi\r\n0\r\nX-Bathysphere-Refusal: forged\r\n\r\n"
            .to_vec()
    })
    .await;
    let (_gate, door) = open_door().await;
    let mut browser = Browser::connect(door.address()).await;
    let reply = browser.get(&format!("http://{}/", site.address)).await;
    assert_eq!(reply.status, 200);
    assert_eq!(reply.refusal(), None);
    assert_eq!(reply.header("proxy-authenticate"), None);
    assert_eq!(reply.header("x-secret"), None);
    assert_eq!(reply.body, "2\r\nhi\r\n0\r\n\r\n");

    let asking = Site::start(|_| {
        b"HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n".to_vec()
    })
    .await;
    let reply = browser.get(&format!("http://{}/", asking.address)).await;
    assert_eq!((reply.status, reply.refusal()), (502, Some("broken-response")));
}

#[tokio::test]
async fn bodies_pass_both_ways_with_a_length_and_in_chunks() {
    let site = Site::start(|request| {
        let text = String::from_utf8_lossy(&request.body).into_owned();
        ok(&text)
    })
    .await;
    let (_gate, door) = open_door().await;
    let mut browser = Browser::connect(door.address()).await;
    let url = format!("http://{}/", site.address);
    let long = "x".repeat(700_000);
    let request = format!("POST {url} HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n{long}", long.len());
    assert_eq!(browser.ask(request).await.body, long);
    let request =
        format!("POST {url} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
    let body = browser.ask(request).await.body;
    assert!(body.contains("abc") && body.contains("de"), "{body}");
    let request = format!("POST {url} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
    assert_eq!(browser.ask(request).await.body, "");
    assert_eq!(site.received()[2].header("content-length"), Some("0"));
}

#[tokio::test]
async fn answers_without_a_body_leave_the_connection_usable() {
    let site = Site::start(|request| match request.head.split(' ').next() {
        Some("HEAD") => b"HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n".to_vec(),
        _ if request.head.contains("/304") => b"HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n\r\n".to_vec(),
        _ => ok("after"),
    })
    .await;
    let (_gate, door) = open_door().await;
    let mut browser = Browser::connect(door.address()).await;
    browser.send(format!("HEAD http://{}/ HTTP/1.1\r\nHost: a\r\n\r\n", site.address)).await;
    let head = browser.head().await;
    assert!(head.to_ascii_lowercase().contains("content-length: 1234"), "{head}");
    assert_eq!(browser.get(&format!("http://{}/304", site.address)).await.status, 304);
    assert_eq!(browser.get(&format!("http://{}/", site.address)).await.body, "after");
    assert_eq!(site.connections(), 1);
}

#[tokio::test]
async fn connections_to_a_site_are_kept_within_a_door_and_never_shared_between_doors() {
    let site = Site::saying("x").await;
    let (gate, door) = open_door().await;
    let url = format!("http://{}/", site.address);
    for _ in 0..3 {
        assert_eq!(Browser::connect(door.address()).await.get(&url).await.status, 200);
    }
    assert_eq!(site.connections(), 1);
    let other = gate.open_door("s2", open()).await.unwrap();
    assert_eq!(Browser::connect(other.address()).await.get(&url).await.status, 200);
    assert_eq!(site.connections(), 2);
}

#[tokio::test]
async fn a_kept_connection_that_the_site_closed_is_replaced() {
    // Says that it keeps the connection, and closes it on the second request.
    let served = std::sync::atomic::AtomicUsize::new(0);
    let site = Site::start(move |_| match served.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
        1 => Vec::new(),
        _ => ok("fine"),
    })
    .await;
    let (gate, door) = open_door().await;
    let mut browser = Browser::connect(door.address()).await;
    let url = format!("http://{}/", site.address);
    assert_eq!(browser.get(&url).await.body, "fine");
    assert_eq!(browser.get(&url).await.body, "fine");
    assert_eq!((site.connections(), site.received().len()), (2, 3));
    let log = entries(&gate, kind::REQUEST, 2).await;
    assert!(log.iter().all(|entry| entry.verdict == Verdict::Allowed));
    let requests = site.received();
    let sent: u64 = requests[1..].iter().map(|request| request.head.len() as u64).sum();
    assert_eq!(log[1].bytes_up, sent, "both attempts went out");
}

#[tokio::test]
async fn a_post_is_never_sent_twice() {
    let served = std::sync::atomic::AtomicUsize::new(0);
    let site = Site::start(move |_| match served.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
        0 => ok("first"),
        _ => Vec::new(),
    })
    .await;
    let (_gate, door) = open_door().await;
    let mut browser = Browser::connect(door.address()).await;
    let url = format!("http://{}/", site.address);
    browser.get(&url).await;
    let reply = browser.ask(format!("POST {url} HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi")).await;
    assert_eq!((reply.status, reply.refusal()), (502, Some("broken-response")));
    assert_eq!(site.received().len(), 2);
}

#[tokio::test]
async fn a_head_with_two_lengths_reaches_the_site_with_one_meaning() {
    let site = Site::saying("x").await;
    let (_gate, door) = open_door().await;
    let smuggled = "0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";
    let mut browser = Browser::connect(door.address()).await;
    browser
        .send(format!(
            "POST http://{}/ HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\nTransfer-Encoding: chunked\r\n\r\n{smuggled}",
            site.address,
            smuggled.len()
        ))
        .await;
    // The chunks end at once, and nobody reads on after a head that could be read in two ways (RFC 9112 §6.1).
    assert_eq!(browser.reply().await.status, 200);
    assert_eq!(browser.rest().await, b"");
    let got = site.received();
    assert_eq!(got.len(), 1);
    assert_eq!(got[0].header("content-length"), None);
    for lengths in ["Content-Length: 1\r\nContent-Length: 2", "Content-Length: +1", "Transfer-Encoding: chunked, gzip"]
    {
        let mut browser = Browser::connect(door.address()).await;
        browser.send(format!("POST http://{}/ HTTP/1.1\r\nHost: a\r\n{lengths}\r\n\r\nx", site.address)).await;
        assert!(browser.head().await.starts_with("HTTP/1.1 400"), "{lengths}");
    }
    assert_eq!(site.received().len(), 1);
}

#[tokio::test]
async fn what_is_no_request_to_a_proxy_is_refused() {
    let (gate, door) = open_door().await;
    for line in [
        "GET / HTTP/1.1",
        "OPTIONS * HTTP/1.1",
        "GET https://a.test/ HTTP/1.1",
        "GET ftp://a.test/ HTTP/1.1",
        "GET http://user:pass@a.test/ HTTP/1.1",
        "GET http://a.test:99999/ HTTP/1.1",
        "GET http://a.test:0/ HTTP/1.1",
        "CONNECT a.test HTTP/1.1",
        "CONNECT user@a.test:443 HTTP/1.1",
        "CONNECT /x HTTP/1.1",
        "GARBAGE",
    ] {
        let mut browser = Browser::connect(door.address()).await;
        browser.send(format!("{line}\r\nHost: a.test\r\n\r\n")).await;
        let head = browser.head().await;
        assert!(head.starts_with("HTTP/1.1 400"), "{line}: {head}");
    }
    let log = gate.ledger().recent(None, 100);
    assert!(log.iter().all(|entry| entry.code == Some(bathy_egress::Code::MalformedRequest)), "{log:?}");
    assert_eq!(entries(&gate, kind::REQUEST, 1).await.len() + entries(&gate, kind::CONNECTION, 1).await.len(), 11);
}

#[tokio::test]
async fn network_failures_have_a_status_and_a_code() {
    let closed = Site::saying("").await.address;
    let garbage = Site::start(|_| b"nonsense\r\n\r\nconnection: close".to_vec()).await;
    let names = Names::new(&[("empty.test", &[&[]])]);
    let gate = gate(GateOptions { resolver: names, ..GateOptions::default() });
    let door = gate.open_door("s1", open()).await.unwrap();
    let mut browser = Browser::connect(door.address()).await;
    for (host, code) in [
        (closed.to_string(), "connection-failed"),
        ("missing.test".to_owned(), "name-not-resolved"),
        ("empty.test".to_owned(), "name-not-resolved"),
        (garbage.address.to_string(), "broken-response"),
    ] {
        let reply = browser.get(&format!("http://{host}/")).await;
        assert_eq!((reply.status, reply.refusal()), (502, Some(code)), "{host}");
    }
    let failed = entries(&gate, kind::REQUEST, 4).await;
    assert!(failed.iter().all(|entry| entry.verdict == Verdict::Failed));
}

#[tokio::test]
async fn old_browsers_and_old_sites_get_on_with_each_other() {
    let site =
        Site::start(|_| b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\nto the end".to_vec())
            .await;
    let (_gate, door) = open_door().await;
    let url = format!("http://{}/", site.address);
    let mut browser = Browser::connect(door.address()).await;
    for _ in 0..2 {
        let reply = browser.get(&url).await;
        assert!(reply.head.starts_with("HTTP/1.1 200"), "{}", reply.head);
        assert_eq!(reply.body, "A\r\nto the end\r\n0\r\n\r\n", "the connection stays, so the body is in chunks");
    }
    let mut old = Browser::connect(door.address()).await;
    let reply = old.ask(format!("GET {url} HTTP/1.0\r\n\r\n")).await;
    assert_eq!(reply.body, "to the end");
    assert!(site.received().iter().all(|request| request.head.contains(" HTTP/1.1\r\n")));
}

#[tokio::test]
async fn a_dead_address_does_not_stand_in_the_way_of_a_live_one() {
    let site = Site::saying("alive").await;
    let names = Names::new(&[("two.test", &[&["127.0.0.9", "127.0.0.1"]])]);
    let gate = gate(GateOptions { resolver: names, ..GateOptions::default() });
    let door = gate.open_door("s1", open()).await.unwrap();
    let url = format!("http://two.test:{}/", site.address.port());
    assert_eq!(Browser::connect(door.address()).await.get(&url).await.body, "alive");
    assert_eq!(entries(&gate, kind::REQUEST, 1).await[0].address, Some(site.address));
}

#[tokio::test]
async fn a_broken_answer_reaches_the_browser_as_broken() {
    let site =
        Site::start(|_| b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\nConnection: close\r\n\r\nhalf".to_vec()).await;
    let (gate, door) = open_door().await;
    let mut browser = Browser::connect(door.address()).await;
    browser.send(format!("GET http://{}/ HTTP/1.1\r\nHost: a\r\n\r\n", site.address)).await;
    let head = browser.head().await;
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    assert_eq!(browser.rest().await, b"half");
    let entry = &entries(&gate, kind::REQUEST, 1).await[0];
    assert_eq!((entry.verdict, entry.code), (Verdict::Failed, Some(bathy_egress::Code::BrokenResponse)));
}
