#![expect(unsafe_code, reason = "signals, descriptors and the code between fork and exec need libc")]
#![expect(clippy::cast_possible_truncation, reason = "constants and sizes of C fit the types that C gives them")]

use std::ffi::CString;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::Step;

/// What the child does between fork and exec, prepared so that it neither allocates nor locks.
pub(crate) struct ChildSetup {
    /// The janitor's pipe: the child writes its process group to it, so that there is no moment at which a browser
    /// exists that the janitor does not know. The janitor's end sees no end of file before exec closes this one.
    pub(crate) janitor: OwnedFd,
    /// The descriptors that become 3 and 4, both above 9 so that placing one cannot overwrite the other.
    pub(crate) protocol: (OwnedFd, OwnedFd),
    #[cfg(target_os = "linux")]
    pub(crate) confinement: super::Confinement,
}

impl ChildSetup {
    /// Makes `command` run this setup in its child.
    pub(crate) fn install(self, command: &mut tokio::process::Command) {
        // SAFETY: `run` makes system calls only. It touches memory that was prepared before the fork and its own
        // stack, allocates nothing and takes no lock, so it is sound in the child of a process with many threads.
        unsafe {
            command.pre_exec(move || self.run());
        }
    }

    fn run(&self) -> io::Result<()> {
        let result = self.steps();
        #[cfg(target_os = "linux")]
        if let Err((step, error)) = &result {
            self.confinement.report_failure(*step, error);
        }
        result.map_err(|(_, error)| error)
    }

    fn steps(&self) -> Result<(), (Step, io::Error)> {
        // SAFETY: plain system calls without pointers.
        unsafe {
            check(libc::setsid()).map_err(|error| (Step::Session, error))?;
            libc::umask(0o077);
        }
        self.tell_janitor().map_err(|error| (Step::Janitor, error))?;
        forbid_core_dumps();
        #[cfg(target_os = "linux")]
        self.confinement.enter()?;
        for (from, to) in [(&self.protocol.0, 3), (&self.protocol.1, 4)] {
            // SAFETY: both are plain descriptor numbers; std's own error pipe is not at 3 or 4, since those or the
            // pipes made for this launch were open before it was.
            check(unsafe { libc::dup2(from.as_raw_fd(), to) }).map_err(|error| (Step::Descriptors, error))?;
        }
        Ok(())
    }

    /// Writes the process group (equal to the process id after `setsid`) and a line end.
    fn tell_janitor(&self) -> io::Result<()> {
        // SAFETY: takes nothing, cannot fail.
        let mut rest = unsafe { libc::getpid() }.unsigned_abs();
        let mut line = [b'\n'; 12];
        let mut start = line.len() - 1;
        loop {
            start -= 1;
            line[start] = b'0' + u8::try_from(rest % 10).unwrap_or(0);
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        let line = &line[start..];
        // SAFETY: pointer and length are those of one live slice. A pipe takes so few bytes whole or not at all.
        let written = unsafe { libc::write(self.janitor.as_raw_fd(), line.as_ptr().cast(), line.len()) };
        if written < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

/// A crash must not leave what pages held in a file that nobody asked for.
fn forbid_core_dumps() {
    let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: points to a live value of the right type; lowering a limit is always allowed.
    unsafe { libc::setrlimit(libc::RLIMIT_CORE, &raw const none) };
}

/// A TCP port of loopback that is taken and on which nothing listens, so that connections to it are refused.
#[derive(Debug)]
pub(crate) struct ClosedPort {
    address: SocketAddr,
    _socket: OwnedFd,
}

impl ClosedPort {
    pub(crate) fn reserve() -> io::Result<Self> {
        // SAFETY: no pointers.
        let socket = check(unsafe { libc::socket(libc::AF_INET, libc::SOCK_STREAM, 0) })?;
        // SAFETY: just opened, owned by nobody else.
        let socket = unsafe { OwnedFd::from_raw_fd(socket) };
        let mut address = loopback(0);
        let mut length = size_of::<libc::sockaddr_in>() as libc::socklen_t;
        // SAFETY: address and length describe one live `sockaddr_in`, which both calls stay within; FD_CLOEXEC is set
        // with no pointer.
        unsafe {
            check(libc::fcntl(socket.as_raw_fd(), libc::F_SETFD, libc::FD_CLOEXEC))?;
            check(libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length))?;
            check(libc::getsockname(socket.as_raw_fd(), (&raw mut address).cast(), &raw mut length))?;
        }
        let port = u16::from_be(address.sin_port);
        Ok(Self { address: SocketAddrV4::new(Ipv4Addr::LOCALHOST, port).into(), _socket: socket })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

fn loopback(port: u16) -> libc::sockaddr_in {
    // SAFETY: all bytes zero is a valid `sockaddr_in`.
    let mut address: libc::sockaddr_in = unsafe { std::mem::zeroed() };
    address.sin_family = libc::AF_INET as libc::sa_family_t;
    address.sin_port = port.to_be();
    address.sin_addr.s_addr = u32::from(Ipv4Addr::LOCALHOST).to_be();
    address
}

/// The user that this process acts as.
pub(crate) fn effective_user() -> u32 {
    // SAFETY: takes nothing, cannot fail.
    unsafe { libc::geteuid() }
}

/// The user and the group that this process acts as.
#[cfg(target_os = "linux")]
pub(crate) fn effective_identity() -> (u32, u32) {
    // SAFETY: takes nothing, cannot fail.
    (effective_user(), unsafe { libc::getegid() })
}

/// Asks one process to end.
pub(crate) fn ask_to_end(process: u32) {
    signal(process.cast_signed(), libc::SIGTERM);
}

/// Ends every process of a group, without appeal. A group that is gone already is no error.
pub(crate) fn end_group(group: u32) {
    signal(-group.cast_signed(), libc::SIGKILL);
}

fn signal(target: libc::pid_t, signal: libc::c_int) {
    // 0, 1, -1 and 0's negation address other processes than the one that was meant.
    if !matches!(target, -1..=1) {
        // SAFETY: no pointers.
        unsafe { libc::kill(target, signal) };
    }
}

/// The bytes that are free on the file system of `path`.
///
/// # Errors
/// The system's, such as for a path that is not there.
pub fn free_bytes(path: &Path) -> io::Result<u64> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: all bytes zero is a valid `statvfs`.
    let mut found: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: a live C string and a live value of the right type.
    check(unsafe { libc::statvfs(path.as_ptr(), &raw mut found) })?;
    #[cfg_attr(
        target_os = "linux",
        expect(clippy::useless_conversion, reason = "the fields are narrower on other systems")
    )]
    Ok(u64::from(found.f_bavail).saturating_mul(u64::from(found.f_frsize)))
}

/// Another descriptor for the same file, above 9 and closed on exec.
pub(crate) fn high_copy(file: impl AsFd) -> io::Result<OwnedFd> {
    let raw: RawFd = file.as_fd().as_raw_fd();
    // SAFETY: no pointers; the result is new and owned by nobody else.
    unsafe { Ok(OwnedFd::from_raw_fd(check(libc::fcntl(raw, libc::F_DUPFD_CLOEXEC, 10))?)) }
}

pub(super) fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
