//! Connections to sites that wait for the next plain-HTTP request. A pool belongs to one session of one door; it is
//! never shared, so that no session can see by timing or by connection where another has been.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bathy_policy::Host;
use hyper::client::conn::http1::SendRequest;
use tokio::time::Instant;

use crate::body::Outgoing;
use crate::stream::Meter;

/// One connection to a site, in the hands of one exchange.
pub(crate) struct Lease {
    pub(crate) sender: SendRequest<Outgoing>,
    pub(crate) host: Host,
    pub(crate) port: u16,
    pub(crate) address: SocketAddr,
    pub(crate) meter: Arc<Meter>,
}

pub(crate) struct Pool {
    // Given back from the destructor of a body, which cannot wait for an owning task; held for a short scan.
    idle: Mutex<Vec<(Lease, Instant)>>,
    capacity: usize,
    timeout: Duration,
}

impl Pool {
    pub(crate) fn new(capacity: usize, timeout: Duration) -> Self {
        Self { idle: Mutex::new(Vec::new()), capacity, timeout }
    }

    pub(crate) fn take(&self, host: &Host, port: u16) -> Option<Lease> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|(lease, since)| !lease.sender.is_closed() && since.elapsed() < self.timeout);
        // One that is not ready still sends the last request's body, or its task has not run since.
        let found =
            idle.iter().rposition(|(lease, _)| lease.port == port && lease.host == *host && lease.sender.is_ready())?;
        Some(idle.remove(found).0)
    }

    pub(crate) fn put(&self, lease: Lease) {
        if self.capacity == 0 || lease.sender.is_closed() {
            return;
        }
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() == self.capacity {
            idle.remove(0);
        }
        idle.push((lease, Instant::now()));
    }
}
