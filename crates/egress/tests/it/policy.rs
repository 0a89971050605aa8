//! What the policy refuses never leaves.

use bathy_egress::{GateOptions, Verdict, examine, kind};
use bathy_policy::Policy;

use crate::support::{Browser, Names, Site, entries, gate, listed, networks, open_door};

/// Ways to write this machine, its network or a mapped form of it; `{}` stands for the port.
const LOCAL_SPELLINGS: &[&str] = &[
    "127.0.0.1:{}",
    "localhost:{}",
    "LOCALHOST.:{}",
    "anything.localhost:{}",
    "127.1:{}",
    "127.0.1:{}",
    "0x7f.1:{}",
    "0x7f000001:{}",
    "2130706433:{}",
    "0177.0.0.1:{}",
    "017700000001:{}",
    "127.0.0.1.:{}",
    "127.255.255.254:{}",
    "0.0.0.0:{}",
    "0:{}",
    "[::1]:{}",
    "[::]:{}",
    "[0:0:0:0:0:0:0:1]:{}",
    "[::ffff:127.0.0.1]:{}",
    "[::ffff:7f00:1]:{}",
    "[::127.0.0.1]:{}",
    "[64:ff9b::7f00:1]:{}",
    "[2002:7f00:1::]:{}",
    "%31%32%37.0.0.1:{}",
    "10.0.0.1:{}",
    "192.168.1.1:{}",
    "172.16.0.1:{}",
    "169.254.169.254:{}",
    "100.64.0.1:{}",
    "[fe80::1]:{}",
    "[fd00::1]:{}",
    "[ff02::1]:{}",
    "255.255.255.255:{}",
];

#[tokio::test]
async fn no_spelling_of_a_local_address_passes_and_the_canary_hears_nothing() {
    let canary = Site::saying("canary").await;
    let gate = gate(GateOptions::default());
    let door = gate.open_door("s1", Policy::default()).await.unwrap();
    for spelling in LOCAL_SPELLINGS {
        let authority = spelling.replace("{}", &canary.address.port().to_string());
        let reply = Browser::connect(door.address()).await.get(&format!("http://{authority}/")).await;
        assert!(matches!(reply.status, 400 | 403), "GET {authority}: {}", reply.head);
        let mut browser = Browser::connect(door.address()).await;
        browser.send(format!("CONNECT {authority} HTTP/1.1\r\nHost: a.test\r\n\r\n")).await;
        let head = browser.head().await;
        assert!(head.starts_with("HTTP/1.1 403") || head.starts_with("HTTP/1.1 400"), "CONNECT {authority}: {head}");
    }
    assert_eq!(canary.connections(), 0);
    let refused = gate.ledger().recent(Some("s1"), usize::MAX);
    assert!(refused.iter().all(|entry| entry.verdict == Verdict::Refused), "{refused:?}");
    assert!(refused.len() >= 2 * LOCAL_SPELLINGS.len() - 4, "only {} entries", refused.len());
}

#[tokio::test]
async fn one_bad_address_among_good_ones_refuses_the_name() {
    let site = Site::saying("site").await;
    let port = site.address.port();
    let names = Names::new(&[("mixed.test", &[&["127.0.0.1", "127.0.0.2"]])]);
    let gate = gate(GateOptions { resolver: names, ..GateOptions::default() });
    let door = gate.open_door("s1", networks(&["127.0.0.1/32"])).await.unwrap();
    let mut browser = Browser::connect(door.address()).await;
    let reply = browser.get(&format!("http://mixed.test:{port}/")).await;
    assert_eq!((reply.status, reply.refusal()), (403, Some("private-network")));
    let reply = browser.tunnel(&format!("mixed.test:{port}")).await;
    assert_eq!((reply.status, reply.refusal()), (403, Some("private-network")));
    assert_eq!(site.connections(), 0);
    let refused = &gate.ledger().last_refusal("s1", "mixed.test", port).unwrap();
    assert_eq!(refused.address.unwrap().ip().to_string(), "127.0.0.2");
}

#[tokio::test]
async fn a_name_that_changes_its_mind_is_asked_once_and_pinned() {
    let site = Site::saying("site").await;
    let port = site.address.port();
    let canary = Site::at(([127, 0, 0, 2], port).into(), |_| Vec::new()).await;
    let names = Names::new(&[("rebind.test", &[&["127.0.0.1"], &["127.0.0.2"]])]);
    let gate = gate(GateOptions { resolver: names.clone(), ..GateOptions::default() });
    let door = gate.open_door("s1", networks(&["127.0.0.1/32"])).await.unwrap();
    let url = format!("http://rebind.test:{port}/");
    let mut browser = Browser::connect(door.address()).await;
    assert_eq!(browser.get(&url).await.body, "site");
    assert_eq!(names.lookups(), 1, "one look-up makes one connection");
    // The kept connection still leads to the checked address, so the name need not be asked again.
    assert_eq!(browser.get(&url).await.body, "site");
    assert_eq!(names.lookups(), 1);
    let reply = Browser::connect(door.address()).await.tunnel(&format!("rebind.test:{port}")).await;
    assert_eq!((reply.status, reply.refusal()), (403, Some("private-network")));
    assert_eq!(canary.connections(), 0);
}

#[tokio::test]
async fn a_kept_connection_that_asks_for_a_refused_host_is_refused() {
    let site = Site::saying("site").await;
    let port = site.address.port();
    let names = Names::new(&[("good.test", &[&["127.0.0.1"]]), ("notgood.test", &[&["127.0.0.1"]])]);
    let gate = gate(GateOptions { resolver: names.clone(), ..GateOptions::default() });
    let door = gate.open_door("s1", listed(&["good.test"], true)).await.unwrap();
    let mut browser = Browser::connect(door.address()).await;
    assert_eq!(browser.get(&format!("http://good.test:{port}/")).await.body, "site");
    for host in ["notgood.test", "good.test.evil.test", "127.0.0.1"] {
        let reply = browser.get(&format!("http://{host}:{port}/secret")).await;
        assert_eq!((reply.status, reply.refusal()), (403, Some("host-not-allowed")), "{host}");
    }
    assert_eq!(browser.get(&format!("http://www.good.test:{port}/")).await.refusal(), Some("name-not-resolved"));
    assert_eq!(site.received().len(), 1);
    assert_eq!(names.lookups(), 2, "a refused host is not even looked up");
    assert_eq!(entries(&gate, kind::REQUEST, 5).await.len(), 5);
}

#[tokio::test]
async fn a_refusal_page_is_escaped_uncached_and_blames_the_operators_policy() {
    let (_gate, door) = open_door().await;
    door.set_policy(listed(&["good.test"], false));
    let mut browser = Browser::connect(door.address()).await;
    let reply = browser.get("http://a'b\"c.test/").await;
    assert_eq!(reply.status, 400, "{}", reply.head);
    let mut browser = Browser::connect(door.address()).await;
    let reply = browser.get("http://bad.test/?secret").await;
    assert_eq!(reply.status, 403);
    assert_eq!(reply.header("cache-control"), Some("no-store"));
    assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
    assert!(reply.body.contains("policy of the operator"), "{}", reply.body);
    assert!(!reply.body.contains("secret"));
}

#[tokio::test]
async fn the_reading_end_judges_heads_without_a_socket() {
    let heads = b"GET http://bad.test/ HTTP/1.1\r\nhost: x\r\n\r\n\
        GET http://good.test:81/ HTTP/1.1\r\nhost: x\r\n\r\nGET / HTTP/1.1\r\nhost: x\r\n\r\n";
    let seen: Vec<_> = examine(heads, &listed(&["good.test"], false))
        .await
        .into_iter()
        .map(|seen| (seen.host.to_string(), seen.port, seen.allowed))
        .collect();
    assert_eq!(seen, [("bad.test".to_owned(), 80, false), ("good.test".to_owned(), 81, true)]);
    assert!(examine(b"\x16\x03\x01", &Policy::default()).await.is_empty());
}
