use std::time::Duration;

use bathy_testsite::{Page, TestSite};

use crate::request::{get, request};

const SOON: Duration = Duration::from_secs(5);

#[tokio::test]
async fn sites_run_side_by_side_and_each_remembers_only_its_own_visitors() {
    let (one, two) = (TestSite::start().await, TestSite::start().await);
    get(&one.url("shop/")).await;
    assert_eq!(one.requests().len(), 1);
    assert_eq!(one.connections(), 1);
    assert!(two.requests().is_empty());
}

#[tokio::test]
async fn a_page_of_a_test_is_served_with_its_status_headers_and_variables() {
    let site = TestSite::start().await;
    let page = Page::html("<a href={{other}}/x>").status(404).header("location", "{{third}}/y");
    let answer = get(&site.add(page.at("/made/here.html"))).await;
    assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");
    assert!(answer.contains(&format!("<a href={}/x>", site.other_origin())), "{answer}");
    assert!(answer.contains(&format!("location: {}/y", site.third_origin())), "{answer}");
    assert!(get(&site.other_url("made/here.html")).await.starts_with("HTTP/1.1 404"));
}

#[tokio::test]
async fn a_page_that_nobody_made_is_not_found() {
    let site = TestSite::start().await;
    assert!(get(&site.url("no/such.html")).await.starts_with("HTTP/1.1 404"));
}

#[tokio::test]
async fn a_request_is_recorded_as_it_arrived() {
    let site = TestSite::start().await;
    request("POST", &site.other_url("echo?a=1"), "X-Test: yes\r\n", "body").await;
    let recorded = site.wait_request(|request| request.path == "/echo?a=1", SOON).await.unwrap();
    assert_eq!(
        (recorded.method.as_str(), recorded.header("x-test"), recorded.text().as_str()),
        ("POST", Some("yes"), "body")
    );
    assert_eq!(recorded.local, site.addresses()[1]);
}

#[tokio::test]
async fn a_report_reaches_whoever_waits_for_it() {
    let site = TestSite::start().await;
    let body = r#"{"page":"/x","kind":"click","target":"save","trusted":true,"order":0,"button":2}"#;
    let target = format!("{}/report", site.third_origin());
    let waiting = site.wait_report(|report| report.is("click", "save"), SOON);
    let (report, _) = tokio::join!(waiting, request("POST", &target, "", body));
    let report = report.unwrap();
    assert!(report.trusted);
    assert_eq!(report.details["button"], 2);
    site.forget();
    assert_eq!(site.wait_report(|_| true, Duration::from_millis(10)).await, None);
}

#[tokio::test]
async fn a_report_that_is_none_is_refused() {
    let site = TestSite::start().await;
    let answer = request("POST", &site.url("report"), "", "not JSON").await;
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    assert!(site.reports().is_empty());
}

#[tokio::test]
async fn redirects_go_where_they_are_told_by_status_header_or_element() {
    let site = TestSite::start().await;
    for status in [301, 302, 303, 307, 308] {
        let answer = get(&site.url(&format!("redirect/{status}?to=http://10.0.0.1/"))).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{answer}");
        assert!(answer.contains("location: http://10.0.0.1/\r\n"), "{answer}");
    }
    assert!(get(&site.url("redirect/refresh?to=/x")).await.contains("refresh: 0;url=/x"));
    assert!(get(&site.url("redirect/meta?to=/x")).await.contains("content=\"0;url=/x\""));
    assert!(get(&site.url("redirect/soon?to=/x")).await.starts_with("HTTP/1.1 400"));
}

#[tokio::test]
async fn what_hangs_never_ends_and_what_is_cut_ends_early() {
    let site = TestSite::start().await;
    for path in ["hang", "half", "stream"] {
        let waited = tokio::time::timeout(Duration::from_millis(50), get(&site.url(path))).await;
        assert!(waited.is_err(), "{path} ended");
    }
    let cut = get(&site.url("cut")).await;
    assert!(!cut.ends_with("0\r\n\r\n"), "{cut}");
}

#[tokio::test]
async fn a_drip_and_a_big_answer_are_whole() {
    let site = TestSite::start().await;
    let drip = get(&site.url("drip?chunks=3&ms=1")).await;
    assert!(drip.contains("Drop 2") && drip.ends_with("0\r\n\r\n"), "{drip}");
    let big = get(&site.url("big?bytes=200000")).await;
    assert_eq!(big.split_once("\r\n\r\n").unwrap().1.len(), 200_000);
}

#[tokio::test]
async fn a_download_has_its_name_or_the_name_that_the_test_wants() {
    let site = TestSite::start().await;
    assert!(get(&site.url("download/a%20b.csv")).await.contains("attachment; filename*=UTF-8''a%20b.csv"));
    let raw = get(&site.url("download/x?disposition=attachment;%20filename=../../x")).await;
    assert!(raw.contains("content-disposition: attachment; filename=../../x\r\n"), "{raw}");
}

#[tokio::test]
async fn cookies_headers_statuses_and_passwords_are_as_asked() {
    let site = TestSite::start().await;
    let cookies = get(&site.url("cookie/set?a=1&b=2&attributes=HttpOnly")).await;
    assert!(cookies.contains("set-cookie: a=1; Path=/; HttpOnly") && cookies.contains("set-cookie: b=2;"), "{cookies}");
    assert!(get(&site.url("headers?x-frame-options=DENY")).await.contains("x-frame-options: DENY"));
    assert!(get(&site.url("status/503")).await.starts_with("HTTP/1.1 503"));
    assert!(get(&site.url("no-content")).await.starts_with("HTTP/1.1 204"));
    assert!(get(&site.url("auth")).await.starts_with("HTTP/1.1 401"));
    let inside = request("GET", &site.url("auth"), "Authorization: Basic eDp5\r\n", "").await;
    assert!(inside.contains("You are in."), "{inside}");
}

#[tokio::test]
async fn an_echoed_page_cannot_be_injected_into() {
    let site = TestSite::start().await;
    let echo = request("POST", &site.url("echo.html"), "", "<script>alert(1)</script>").await;
    assert!(echo.contains("&lt;script>alert(1)") && !echo.contains("<script>"), "{echo}");
}

#[tokio::test]
async fn a_websocket_is_accepted() {
    let site = TestSite::start().await;
    let origin = site.origin();
    let mut stream = tokio::net::TcpStream::connect(origin.trim_start_matches("http://")).await.unwrap();
    let head = "GET /ws HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
        sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    // A masked text frame "hi" (RFC 6455 §5.2) with the mask 0.
    let frame = [0x81, 0x82, 0, 0, 0, 0, b'h', b'i'];
    tokio::io::AsyncWriteExt::write_all(&mut stream, &[head.as_bytes(), &frame].concat()).await.unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(&[0x81, 2, b'h', b'i']) {
        let mut piece = [0; 1024];
        let count = tokio::io::AsyncReadExt::read(&mut stream, &mut piece).await.unwrap();
        assert_ne!(count, 0, "closed after {:?}", String::from_utf8_lossy(&answer));
        answer.extend(&piece[..count]);
    }
    assert!(answer.starts_with(b"HTTP/1.1 101"));
}
