//! What one session may take of the gate.

use std::time::Duration;

/// Bounds on what a client or a site can make the gate hold, and for how long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections that one door serves at the same time, tunnels included. Further ones get a 503. Default: 256
    /// (Chromium opens at most 32 to a proxy for each of its pools).
    pub connections: usize,
    /// Bytes of a request or response head. A longer request gets a 431, a longer response a 502. At least 8 KiB.
    /// Default: 128 KiB.
    pub head_bytes: usize,
    /// Header lines of a request or response. Default: 200.
    pub headers: usize,
    /// How long a client may take over one request head, and how long an unused connection of a client stays open.
    /// Default: 60 s.
    pub head_timeout: Duration,
    /// How long a look-up of a name may take. Default: 10 s.
    pub resolve_timeout: Duration,
    /// How long one address may take to accept a connection, and an upstream proxy to make one. Default: 10 s.
    pub connect_timeout: Duration,
    /// How long a site may take until its response head has arrived. Default: 300 s, since pages do long polls.
    pub response_timeout: Duration,
    /// How long a connection may be silent in both directions before it is closed. Default: 600 s.
    pub idle_timeout: Duration,
    /// Connections to sites that a door keeps open for later plain-HTTP requests. Default: 32.
    pub pooled: usize,
    /// How long such a connection is kept. Default: 30 s.
    pub pooled_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 256,
            head_bytes: 128 * 1024,
            headers: 200,
            head_timeout: Duration::from_mins(1),
            resolve_timeout: Duration::from_secs(10),
            connect_timeout: Duration::from_secs(10),
            response_timeout: Duration::from_mins(5),
            idle_timeout: Duration::from_mins(10),
            pooled: 32,
            pooled_timeout: Duration::from_secs(30),
        }
    }
}

impl Limits {
    /// hyper refuses buffers below 8 KiB; a head must fit into the buffer.
    pub(crate) fn head_bytes(&self) -> usize {
        self.head_bytes.max(8 * 1024)
    }
}
