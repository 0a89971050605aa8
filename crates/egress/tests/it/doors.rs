//! Doors and the addresses that are none.

use bathy_egress::{Code, GateOptions, kind};
use tokio::net::{TcpListener, TcpStream};

use crate::support::{Browser, Site, entries, gate, listed, open, open_door};

#[cfg(target_os = "linux")]
#[tokio::test]
async fn one_listener_tells_doors_apart_by_their_address() {
    let site = Site::saying("site").await;
    let gate = gate(GateOptions::default());
    let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    gate.attach_shared(listener).unwrap();
    let wide = gate.open_door("wide", open()).await.unwrap();
    let narrow = gate.open_door("narrow", listed(&["good.test"], false)).await.unwrap();
    assert_ne!(wide.address(), narrow.address());
    assert!(wide.address().ip().is_loopback() && wide.address().port() == port);
    let url = format!("http://{}/", site.address);
    assert_eq!(Browser::connect(wide.address()).await.get(&url).await.body, "site");
    assert_eq!(Browser::connect(narrow.address()).await.get(&url).await.status, 403);
    let nobody = gate.refusing_address().await.unwrap();
    for address in [nobody, ([127, 9, 9, 9], port).into()] {
        let reply = Browser::connect(address).await.get(&url).await;
        assert_eq!((reply.status, reply.refusal()), (403, Some("no-session")), "{address}");
        let reply = Browser::connect(address).await.tunnel(&site.address.to_string()).await;
        assert_eq!((reply.status, reply.refusal()), (403, Some("no-session")), "{address}");
    }
    assert_eq!(site.received().len(), 1);
    assert_eq!(gate.ledger().recent(Some(""), 100).len(), 4);

    let former = wide.address();
    drop(wide);
    assert_eq!(Browser::connect(former).await.get(&url).await.refusal(), Some("no-session"));
    let next = gate.open_door("next", open()).await.unwrap();
    assert_ne!(next.address(), former, "an address is not given to the next session at once");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_shared_listener_lives_as_long_as_a_handle_or_a_door() {
    let gate = gate(GateOptions::default());
    gate.attach_shared(TcpListener::bind("0.0.0.0:0").await.unwrap()).unwrap();
    let door = gate.open_door("s1", open()).await.unwrap();
    let address = door.address();
    drop(gate);
    assert_eq!(Browser::connect(address).await.get("http://a.test:0/").await.status, 400);
    drop(door);
    // The task ends when it is next run.
    while TcpStream::connect(address).await.is_ok() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn without_a_shared_listener_each_door_has_its_own_and_one_address_refuses() {
    let site = Site::saying("site").await;
    let (gate, door) = open_door().await;
    let other = gate.open_door("s2", listed(&["good.test"], false)).await.unwrap();
    assert_ne!(door.address(), other.address());
    let url = format!("http://{}/", site.address);
    assert_eq!(Browser::connect(door.address()).await.get(&url).await.body, "site");
    assert_eq!(Browser::connect(other.address()).await.get(&url).await.status, 403);
    let nobody = gate.refusing_address().await.unwrap();
    assert_eq!(gate.refusing_address().await.unwrap(), nobody);
    assert_eq!(Browser::connect(nobody).await.get(&url).await.refusal(), Some("no-session"));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn only_the_browsers_user_may_use_a_door_on_the_machines_loopback() {
    use std::os::unix::fs::MetadataExt;
    let ours = std::fs::metadata("/proc/self").unwrap().uid();
    let site = Site::saying("site").await;
    let url = format!("http://{}/", site.address);
    let same = gate(GateOptions { peer_uid: Some(ours), ..GateOptions::default() });
    let door = same.open_door("s1", open()).await.unwrap();
    assert_eq!(Browser::connect(door.address()).await.get(&url).await.body, "site");

    let other = gate(GateOptions { peer_uid: Some(ours + 1), ..GateOptions::default() });
    let door = other.open_door("s1", open()).await.unwrap();
    let mut browser = Browser::connect(door.address()).await;
    assert_eq!(browser.rest().await, b"");
    assert_eq!(entries(&other, kind::CONNECTION, 1).await[0].code, Some(Code::StrangePeer));
    assert_eq!(site.received().len(), 1);
}
