//! Who is at the other end of a loopback connection (Linux): any local process can reach a door that listens on the
//! machine's own loopback, and only the browser may use it.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};

/// Whether the socket at `peer`, which is connected to our `local` address, belongs to the user `uid`.
///
/// # Errors
/// When the kernel's table cannot be read. The caller refuses then.
#[cfg(target_os = "linux")]
pub(crate) async fn belongs_to(uid: u32, peer: SocketAddr, local: SocketAddr) -> io::Result<bool> {
    let (SocketAddr::V4(peer), SocketAddr::V4(local)) = (peer, local) else {
        return Ok(false);
    };
    // The table is read in pieces while other sockets come and go, so that a row can be passed over.
    for _ in 0..3 {
        let table = tokio::fs::read_to_string("/proc/net/tcp").await?;
        if let Some(owner) = owner(&table, peer, local) {
            return Ok(owner == uid);
        }
    }
    Ok(false)
}

/// Only Linux has the table; elsewhere a door with a required user refuses everything.
#[cfg(not(target_os = "linux"))]
pub(crate) async fn belongs_to(_uid: u32, _peer: SocketAddr, _local: SocketAddr) -> io::Result<bool> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "the owner of a connection can be told on Linux only"))
}

/// Finds the row whose own address is `peer` and whose far address is `local`
/// (<https://docs.kernel.org/networking/proc_net_tcp.html>).
#[cfg_attr(not(any(target_os = "linux", test)), expect(dead_code, reason = "the table exists on Linux only"))]
fn owner(table: &str, peer: SocketAddrV4, local: SocketAddrV4) -> Option<u32> {
    table.lines().skip(1).find_map(|line| {
        let mut fields = line.split_ascii_whitespace().skip(1);
        let ours = address(fields.next()?)?;
        let theirs = address(fields.next()?)?;
        if ours != peer || theirs != local {
            return None;
        }
        fields.nth(4)?.parse().ok()
    })
}

/// `0100007F:1F90` is 127.0.0.1:8080: the address is a number in the machine's own byte order.
fn address(text: &str) -> Option<SocketAddrV4> {
    let (address, port) = text.split_once(':')?;
    let address = u32::from_str_radix(address, 16).ok()?;
    Some(SocketAddrV4::new(Ipv4Addr::from(address.to_ne_bytes()), u16::from_str_radix(port, 16).ok()?))
}

#[cfg(all(test, target_endian = "little"))]
mod tests {
    use super::*;

    const TABLE: &str =
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0 100 0 0 10 0
   1: 0100007F:C350 0201007F:1F90 01 00000000:00000000 02:000000CE 00000000  1234        0 4712 2 0 20 4 30 10 -1
";

    #[test]
    fn the_row_with_both_addresses_names_the_owner() {
        let peer = "127.0.0.1:50000".parse().unwrap();
        assert_eq!(owner(TABLE, peer, "127.0.1.2:8080".parse().unwrap()), Some(1234));
        assert_eq!(owner(TABLE, peer, "127.0.0.1:8080".parse().unwrap()), None);
        assert_eq!(owner("", peer, peer), None);
    }
}
