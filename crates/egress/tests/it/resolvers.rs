//! Where addresses come from.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bathy_egress::{
    GateOptions, HostOverrideError, HostOverrides, Limits, NameServerResolver, OverrideResolver, Resolve,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, UdpSocket};

use crate::support::{Browser, Names, Site, gate, networks, soon};

/// A DNS server for `*.test`: one A record; names that begin with `big` are cut short over UDP.
async fn name_server(answer: Ipv4Addr) -> SocketAddr {
    // Both protocols must have the same port, and the port that UDP gets may be taken for TCP.
    let (udp, tcp) = loop {
        let udp = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        if let Ok(tcp) = TcpListener::bind(udp.local_addr().unwrap()).await {
            break (udp, tcp);
        }
    };
    let address = udp.local_addr().unwrap();
    tokio::spawn(async move {
        let mut buffer = [0; 1500];
        while let Ok((length, peer)) = udp.recv_from(&mut buffer).await {
            let _ = udp.send_to(&respond(&buffer[..length], answer, true), peer).await;
        }
    });
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = tcp.accept().await {
            tokio::spawn(async move {
                while let Ok(length) = stream.read_u16().await {
                    let mut query = vec![0; length.into()];
                    stream.read_exact(&mut query).await.unwrap();
                    let response = respond(&query, answer, false);
                    stream.write_u16(response.len().try_into().unwrap()).await.unwrap();
                    stream.write_all(&response).await.unwrap();
                }
            });
        }
    });
    address
}

/// RFC 1035 §4.1: header, the question as it came, and one record for a question of type A.
fn respond(query: &[u8], answer: Ipv4Addr, datagram: bool) -> Vec<u8> {
    let mut end = 12;
    while query[end] != 0 {
        end += usize::from(query[end]) + 1;
    }
    let question = &query[12..end + 5];
    let is_a = query[end + 1..end + 3] == [0, 1];
    let is_test = query[..end].ends_with(b"\x04test");
    let cut = datagram && query[13..].starts_with(b"big");
    let answers = u8::from(is_a && is_test && !cut);
    let code = if is_test { 0 } else { 3 };
    let mut response = query[..2].to_vec();
    response.extend([0x81 | u8::from(cut) << 1, 0x80 | code, 0, 1, 0, answers, 0, 0, 0, 0]);
    response.extend(question);
    if answers == 1 {
        response.extend([0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4]);
        response.extend(answer.octets());
    }
    response
}

#[tokio::test]
async fn a_name_server_is_asked_over_udp_and_over_tcp_when_the_answer_is_cut() {
    let server = name_server(Ipv4Addr::new(127, 0, 0, 5)).await;
    let resolver = NameServerResolver::new(server).unwrap();
    let expected: Vec<IpAddr> = vec![Ipv4Addr::new(127, 0, 0, 5).into()];
    assert_eq!(soon(resolver.resolve("some.test")).await.unwrap(), expected);
    assert_eq!(soon(resolver.resolve("big.test")).await.unwrap(), expected);
    assert!(soon(resolver.resolve("some.other")).await.is_err());
}

#[tokio::test]
async fn what_a_name_server_says_is_checked() {
    let server = name_server(Ipv4Addr::new(127, 0, 0, 5)).await;
    let resolver = Arc::new(NameServerResolver::new(server).unwrap());
    let gate = gate(GateOptions { resolver, ..GateOptions::default() });
    let door = gate.open_door("s1", networks(&["127.0.0.1/32"])).await.unwrap();
    let reply = Browser::connect(door.address()).await.get("http://some.test/").await;
    assert_eq!((reply.status, reply.refusal()), (403, Some("private-network")));
}

#[tokio::test]
async fn overrides_come_first_and_are_checked_like_any_answer() {
    let site = Site::saying("site").await;
    let port = site.address.port();
    let overrides = HostOverrides::new([
        ("Pinned.test.", vec!["127.0.0.1".parse().unwrap()]),
        ("bad.test", vec!["127.0.0.2".parse().unwrap()]),
    ])
    .unwrap();
    let names = Names::new(&[("other.test", &[&["127.0.0.1"]])]);
    let resolver = Arc::new(OverrideResolver::new(overrides, names.clone()));
    let gate = gate(GateOptions { resolver, ..GateOptions::default() });
    let door = gate.open_door("s1", networks(&["127.0.0.1/32"])).await.unwrap();
    let mut browser = Browser::connect(door.address()).await;
    assert_eq!(browser.get(&format!("http://pinned.test:{port}/")).await.body, "site");
    assert_eq!(browser.get(&format!("http://bad.test:{port}/")).await.refusal(), Some("private-network"));
    assert_eq!(names.lookups(), 0);
    assert_eq!(browser.get(&format!("http://other.test:{port}/")).await.body, "site");
    assert_eq!(names.lookups(), 1);
}

#[test]
fn overrides_that_cannot_mean_anything_are_refused() {
    let address: IpAddr = "127.0.0.1".parse().unwrap();
    let read = |name: &str, addresses: Vec<IpAddr>| HostOverrides::new([(name, addresses)]).unwrap_err();
    assert!(matches!(read("a b", vec![address]), HostOverrideError::Name { .. }));
    assert!(matches!(read("127.0.0.1", vec![address]), HostOverrideError::Address(_)));
    assert!(matches!(read("a.test", Vec::new()), HostOverrideError::Empty(_)));
    assert!(HostOverrides::default().is_empty());
}

#[tokio::test]
async fn a_dead_name_server_fails_within_the_deadline() {
    let dead = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let resolver = Arc::new(NameServerResolver::new(dead.local_addr().unwrap()).unwrap());
    let limits = Limits { resolve_timeout: Duration::from_millis(200), ..Limits::default() };
    let gate = gate(GateOptions { resolver, limits, ..GateOptions::default() });
    let door = gate.open_door("s1", networks(&[])).await.unwrap();
    let reply = Browser::connect(door.address()).await.get("http://some.test/").await;
    assert!(matches!(reply.refusal(), Some("timed-out" | "name-not-resolved")), "{}", reply.head);
}
