//! Doors: the addresses of the gate that belong to sessions.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use bathy_policy::Policy;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::account::Account;
use crate::assignment::Assignment;
use crate::exchange::{self, Services};
use crate::failure::{Code, Failure};
use crate::gate::Gate;
use crate::ledger::kind;
use crate::peer;
use crate::stream::Counters;

/// What a busy door says; the connection is then closed.
const BUSY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nx-bathysphere-refusal: limit-reached\r\n\
    cache-control: no-store\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

/// One address of the gate, for one session. Closes when dropped, and everything that goes through it ends at once.
pub struct Door {
    pub(crate) state: Arc<DoorState>,
    pub(crate) address: SocketAddr,
    /// The gate lives as long as a door of it.
    pub(crate) _gate: Gate,
}

/// What has gone through a door since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DoorCounters {
    /// Connections from the browser that are open now, tunnels included.
    pub open_connections: usize,
    /// Bytes written to sites.
    pub bytes_up: u64,
    /// Bytes read from sites.
    pub bytes_down: u64,
}

impl Door {
    /// Where the door is. Chromium takes it as `http://ADDRESS` for a context's `proxyServer`.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Gives the door another name in the ledger. What goes through it under the old one ends.
    pub fn set_label(&self, label: impl Into<Arc<str>>) {
        self.state.assign(Some(label.into()), None);
    }

    /// Gives the door another policy. What goes through it under the old one ends, so that nothing the new policy
    /// refuses lives on.
    pub fn set_policy(&self, policy: Policy) {
        self.state.assign(None, Some(policy));
    }

    /// Both at once: a spare door becomes a session's.
    pub fn assign(&self, label: impl Into<Arc<str>>, policy: Policy) {
        self.state.assign(Some(label.into()), Some(policy));
    }

    /// What has gone through the door.
    pub fn counters(&self) -> DoorCounters {
        let counters = &self.state.counters;
        DoorCounters {
            open_connections: counters.open.load(Ordering::Relaxed),
            bytes_up: counters.bytes_up.load(Ordering::Relaxed),
            bytes_down: counters.bytes_down.load(Ordering::Relaxed),
        }
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.state.closed.cancel();
    }
}

pub(crate) struct DoorState {
    services: Arc<Services>,
    current: watch::Sender<Arc<Assignment>>,
    counters: Arc<Counters>,
    pub(crate) closed: CancellationToken,
}

impl DoorState {
    /// Without a policy the door refuses everything.
    pub(crate) fn new(services: Arc<Services>, label: Arc<str>, policy: Option<Policy>) -> Arc<Self> {
        let closed = CancellationToken::new();
        let assignment = Assignment::new(label, policy, services.limits(), &closed);
        let (current, _) = watch::channel(Arc::new(assignment));
        Arc::new(Self { services, current, counters: Arc::default(), closed })
    }

    /// What is not given stays as it is.
    fn assign(&self, label: Option<Arc<str>>, policy: Option<Policy>) {
        self.current.send_modify(|current| {
            let label = label.unwrap_or_else(|| Arc::clone(&current.label));
            let policy = policy.or_else(|| current.policy.clone());
            let next = Assignment::new(label, policy, self.services.limits(), &self.closed);
            std::mem::replace(current, Arc::new(next)).ended.cancel();
        });
    }

    /// Takes a connection in. Where `foreign_processes` can reach the door, the other end must be the browser's user.
    pub(crate) fn admit(self: &Arc<Self>, stream: TcpStream, peer: SocketAddr, foreign_processes: bool) {
        let services = Arc::clone(&self.services);
        let assignment = self.current.borrow().clone();
        let counters = Arc::clone(&self.counters);
        let refuse = {
            let (ledger, label) = (services.ledger.clone(), Arc::clone(&assignment.label));
            move |failure: &Failure| {
                Account::open(&ledger, &label, kind::CONNECTION).settle(Err(failure));
            }
        };
        let limit = services.limits().connections;
        if counters.open.fetch_add(1, Ordering::Relaxed) >= limit {
            counters.open.fetch_sub(1, Ordering::Relaxed);
            refuse(&Failure::new(Code::LimitReached, format_args!("{limit} connections are open already")));
            // A fresh socket has room for so little; where it has not, closing says enough.
            let _ = stream.try_write(BUSY);
            return;
        }
        tokio::spawn(async move {
            if foreign_processes
                && let Some(uid) = services.peer_uid
                && let Err(failure) = require_user(uid, &stream, peer).await
            {
                counters.open.fetch_sub(1, Ordering::Relaxed);
                refuse(&failure);
                return;
            }
            // Without it every answer that comes in two parts would wait for an acknowledgement.
            let _ = stream.set_nodelay(true);
            exchange::serve(services, assignment, counters, stream).await;
        });
    }
}

async fn require_user(uid: u32, stream: &TcpStream, peer: SocketAddr) -> Result<(), Failure> {
    let owned = match stream.local_addr() {
        Ok(local) => peer::belongs_to(uid, peer, local).await,
        Err(error) => Err(error),
    };
    match owned {
        Ok(true) => Ok(()),
        Ok(false) => {
            Err(Failure::new(Code::StrangePeer, format_args!("the connection is not from a process of user {uid}")))
        }
        Err(error) => {
            Err(Failure::new(Code::StrangePeer, format_args!("the owner of the connection cannot be told: {error}")))
        }
    }
}
