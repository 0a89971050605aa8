//! The tasks that accept connections. Each owns its listener, and the shared one the table of doors as well.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};

use crate::door::DoorState;

/// A listener at this address of its own: loopback, and no door's.
pub(crate) const REFUSING: Ipv4Addr = Ipv4Addr::LOCALHOST;

/// The first address that may become a door's; the last is 127.254.255.254.
const FIRST: u32 = 0x7F01_0001;
const LAST: u32 = 0x7FFE_FFFE;

/// Asks the shared listener's task for an address.
pub(crate) struct OpenDoor {
    pub(crate) state: Arc<DoorState>,
    pub(crate) reply: oneshot::Sender<SocketAddr>,
}

/// Serves one listener for all doors, told apart by the address that was connected to. Ends when no one can ask for a
/// door any more.
pub(crate) async fn share(
    listener: TcpListener,
    port: u16,
    refusing: Arc<DoorState>,
    mut orders: mpsc::Receiver<OpenDoor>,
) {
    let mut doors: HashMap<IpAddr, Arc<DoorState>> = HashMap::new();
    let mut next = FIRST;
    loop {
        tokio::select! {
            biased;
            order = orders.recv() => {
                let Some(OpenDoor { state, reply }) = order else { return };
                doors.retain(|_, door| !door.closed.is_cancelled());
                while doors.contains_key(&IpAddr::V4(Ipv4Addr::from(next))) {
                    next = following(next);
                }
                let ip = IpAddr::V4(Ipv4Addr::from(next));
                // Going round keeps an address that was just given up out of use for as long as can be.
                next = following(next);
                doors.insert(ip, state);
                // A caller that is gone has dropped its door, and the next order clears it away.
                let _ = reply.send(SocketAddr::new(ip, port));
            }
            accepted = listener.accept() => {
                let Some((stream, peer)) = accepted_or_rest(accepted).await else { continue };
                let door = stream.local_addr().ok().and_then(|local| doors.get(&local.ip().to_canonical()));
                let door = door.filter(|door| !door.closed.is_cancelled()).unwrap_or(&refusing);
                door.admit(stream, peer, false);
            }
        }
    }
}

/// Serves a listener that belongs to one door, until that closes.
pub(crate) async fn own(listener: TcpListener, state: Arc<DoorState>) {
    let closed = state.closed.clone();
    loop {
        tokio::select! {
            biased;
            () = closed.cancelled() => return,
            accepted = listener.accept() => {
                let Some((stream, peer)) = accepted_or_rest(accepted).await else { continue };
                state.admit(stream, peer, true);
            }
        }
    }
}

/// A failed accept is the caller's bad luck or a lack of descriptors; the latter does not go away by trying at once.
async fn accepted_or_rest(accepted: io::Result<(TcpStream, SocketAddr)>) -> Option<(TcpStream, SocketAddr)> {
    match accepted {
        Ok(accepted) => Some(accepted),
        Err(error) => {
            tracing::warn!(%error, "a connection to the gate could not be accepted");
            tokio::time::sleep(Duration::from_millis(20)).await;
            None
        }
    }
}

/// The next address for a door.
pub(crate) fn following(address: u32) -> u32 {
    let mut next = address + 1;
    // Last octets 0 and 255 look like a network and its broadcast address, which some tools refuse.
    while matches!(next & 0xFF, 0 | 0xFF) {
        next += 1;
    }
    if next > LAST { FIRST } else { next }
}

/// A loopback listener of a door's own: on Linux at an address of its own, elsewhere at 127.0.0.1.
pub(crate) async fn bind_own(address: Ipv4Addr) -> io::Result<TcpListener> {
    let address = if cfg!(target_os = "linux") { address } else { REFUSING };
    TcpListener::bind((address, 0)).await
}

/// Where the addresses of doors begin for a process: spread, so that two programs seldom meet.
pub(crate) fn first_own() -> u32 {
    let spread = std::process::id().wrapping_mul(0x9E37) % (LAST - FIRST - 512);
    following(FIRST + spread)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_go_round_and_skip_network_and_broadcast() {
        assert_eq!(Ipv4Addr::from(following(0x7F01_00FE)), Ipv4Addr::new(127, 1, 1, 1));
        assert_eq!(following(LAST), FIRST);
        let first = Ipv4Addr::from(first_own());
        assert!(first.is_loopback() && first != REFUSING);
    }
}
