use std::net::Ipv4Addr;
use std::time::Duration;

use bathy_testsite::{Canary, Protocol};
use tokio::net::{TcpStream, UdpSocket};

use crate::request::get;

const SOON: Duration = Duration::from_secs(5);
const NINTH: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 9);

#[tokio::test]
async fn a_canary_that_nobody_touches_is_silent() {
    let canary = Canary::start(NINTH).await;
    assert!(canary.wait_hit(|_| true, Duration::from_millis(20)).await.is_none());
}

#[tokio::test]
async fn a_request_is_a_hit_with_its_first_bytes() {
    let canary = Canary::start(NINTH).await;
    let answer = get(&format!("http://{}/secret?x=1", canary.address())).await;
    assert!(answer.ends_with("LEAKED"), "{answer}");
    let hit = canary.wait_hit(|hit| hit.text().contains("/secret?x=1"), SOON).await.unwrap();
    assert_eq!(hit.protocol, Protocol::Tcp);
}

#[tokio::test]
async fn a_connection_that_says_nothing_is_a_hit() {
    let canary = Canary::start(NINTH).await;
    let _silent = TcpStream::connect(canary.address()).await.unwrap();
    assert!(canary.wait_hit(|hit| hit.bytes.is_empty(), SOON).await.is_some());
}

#[tokio::test]
async fn a_packet_is_a_hit() {
    let canary = Canary::start(NINTH).await;
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    socket.send_to(b"stun", canary.address()).await.unwrap();
    let hit = canary.wait_hit(|hit| hit.protocol == Protocol::Udp, SOON).await.unwrap();
    assert_eq!(hit.text(), "stun");
}
