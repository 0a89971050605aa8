//! What the gate does not let a browser wait for.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::time::{Duration, Instant};

use crate::support::{Browser, open_door};

/// A site that writes head and body apart, with Nagle's algorithm on: its body waits until its head is acknowledged.
fn site_that_writes_in_two_parts() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
        while let Some(Ok(line)) = lines.next() {
            if line.is_empty() {
                (&stream).write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n").unwrap();
                (&stream).write_all(b"hi").unwrap();
            }
        }
    });
    address
}

#[tokio::test]
async fn a_site_that_writes_head_and_body_apart_does_not_wait_for_a_delayed_acknowledgement() {
    let url = format!("http://{}/", site_that_writes_in_two_parts());
    let (_gate, door) = open_door().await;
    let mut browser = Browser::connect(door.address()).await;
    let mut durations = Vec::new();
    for _ in 0..15 {
        let started = Instant::now();
        assert_eq!(browser.get(&url).await.body, "hi");
        durations.push(started.elapsed());
    }
    durations.sort();
    // Linux holds an acknowledgement back for 40 ms at least (TCP_DELACK_MIN).
    assert!(durations[durations.len() / 2] < Duration::from_millis(40), "{durations:?}");
}
