//! An address that nobody should ever talk to.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::task::JoinSet;

use crate::record::Record;

/// How much of each connection or packet is kept.
const KEPT: usize = 4096;

/// How long a connection may stay silent before the canary hangs up.
const PATIENCE: Duration = Duration::from_secs(2);

/// A generous answer, so that a leak shows all that it would send.
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nContent-Type: text/html\r\n\
    Content-Length: 6\r\nConnection: close\r\n\r\nLEAKED";

/// How something reached a [`Canary`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Protocol {
    /// A connection, even one that said nothing.
    Tcp,
    /// A packet.
    Udp,
}

/// One connection or packet that reached a [`Canary`].
#[derive(Clone, Debug)]
pub struct Hit {
    /// Connection or packet.
    pub protocol: Protocol,
    /// Where it came from.
    pub peer: SocketAddr,
    /// The first bytes; empty for a connection that said nothing (yet).
    pub bytes: Bytes,
}

impl Hit {
    /// The bytes as text, for a message: the first line of a request tells which page leaked.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

/// Listens on TCP and UDP, on one port, and records every connection and packet. It stops when dropped.
#[derive(Debug)]
pub struct Canary {
    address: SocketAddr,
    hits: Arc<Record<Hit>>,
    _listening: JoinSet<()>,
}

impl Canary {
    /// Starts a canary on a free port of `ip`.
    ///
    /// # Panics
    /// When no port of `ip` can be bound for both TCP and UDP.
    pub async fn start(ip: impl Into<IpAddr>) -> Self {
        let ip = ip.into();
        // A port that is free for TCP may be taken for UDP: try some.
        for _ in 0..20 {
            if let Ok(canary) = Self::bind(SocketAddr::new(ip, 0)).await {
                return canary;
            }
        }
        panic!("no port of {ip} is free for both TCP and UDP");
    }

    /// Starts a canary on an address and port; port 0 means any that is free.
    ///
    /// # Errors
    /// When the port is not free for both TCP and UDP.
    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        let tcp = TcpListener::bind(address).await?;
        let address = tcp.local_addr()?;
        let udp = UdpSocket::bind(address).await?;
        let hits = Arc::new(Record::default());
        let mut listening = JoinSet::new();
        listening.spawn(accept(tcp, Arc::clone(&hits)));
        listening.spawn(receive(udp, Arc::clone(&hits)));
        Ok(Self { address, hits, _listening: listening })
    }

    /// The address that should stay silent; `to_string()` gives `127.0.0.9:40123`.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Everything that arrived until now.
    pub fn hits(&self) -> Vec<Hit> {
        self.hits.all()
    }

    /// The first hit that `wanted` accepts, past or future, or nothing when none came within `deadline`. A connection
    /// is seen twice: when it opens, with no bytes, and when it has said something.
    pub async fn wait_hit(&self, wanted: impl Fn(&Hit) -> bool, deadline: Duration) -> Option<Hit> {
        self.hits.wait(deadline, wanted).await
    }

    /// Forgets all hits.
    pub fn forget(&self) {
        self.hits.clear();
    }
}

async fn accept(listener: TcpListener, hits: Arc<Record<Hit>>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, peer)) = listener.accept().await {
        let index = hits.push(Hit { protocol: Protocol::Tcp, peer, bytes: Bytes::new() });
        connections.spawn(listen(stream, index, Arc::clone(&hits)));
        while connections.try_join_next().is_some() {}
    }
}

async fn listen(mut stream: TcpStream, index: usize, hits: Arc<Record<Hit>>) {
    let mut buffer = vec![0; KEPT];
    if let Ok(Ok(count @ 1..)) = tokio::time::timeout(PATIENCE, stream.read(&mut buffer)).await {
        buffer.truncate(count);
        hits.update(index, |hit| hit.bytes = buffer.into());
        // Whoever leaked may be gone already.
        let _ = stream.write_all(ANSWER).await;
    }
}

async fn receive(socket: UdpSocket, hits: Arc<Record<Hit>>) {
    let mut buffer = vec![0; KEPT];
    loop {
        // An error here is an earlier packet's "port unreachable"; there is nothing to record.
        if let Ok((count, peer)) = socket.recv_from(&mut buffer).await {
            hits.push(Hit { protocol: Protocol::Udp, peer, bytes: Bytes::copy_from_slice(&buffer[..count]) });
        }
    }
}
