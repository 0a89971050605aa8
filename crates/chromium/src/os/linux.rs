#![expect(unsafe_code, reason = "namespaces, filters and descriptor passing need libc")]
#![expect(clippy::cast_possible_truncation, reason = "constants and sizes of C fit the types that C gives them")]

use std::io;
use std::net::TcpListener;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use super::Step;
use super::unix::check;

/// How the child confines itself before exec. Prepared in the parent; [`Confinement::enter`] allocates nothing.
pub(crate) struct Confinement {
    wall: Wall,
    report: OwnedFd,
}

/// What stands between the browser and the network.
enum Wall {
    Namespace(Namespace),
    Filter(SocketFilter),
}

/// A user and a network namespace, with the gate's socket inside.
pub(crate) struct Namespace {
    user_map: Vec<u8>,
    group_map: Vec<u8>,
    port: u16,
}

/// A program for the kernel that refuses sockets which could get around a proxy.
pub(crate) struct SocketFilter {
    program: Vec<libc::sock_filter>,
}

/// The parent's end: what the child says before exec.
pub(crate) struct Report {
    socket: OwnedFd,
}

impl Confinement {
    /// A namespace for the child, and the end at which the gate's socket arrives.
    pub(crate) fn namespace(namespace: Namespace) -> io::Result<(Self, Report)> {
        Self::new(Wall::Namespace(namespace))
    }

    /// A filter for the child.
    pub(crate) fn filter(filter: SocketFilter) -> io::Result<(Self, Report)> {
        Self::new(Wall::Filter(filter))
    }

    fn new(wall: Wall) -> io::Result<(Self, Report)> {
        let mut ends = [0 as RawFd; 2];
        let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;
        // SAFETY: points to room for two descriptors, which are then owned by nobody else.
        let (ours, childs) = unsafe {
            check(libc::socketpair(libc::AF_UNIX, kind, 0, ends.as_mut_ptr()))?;
            (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1]))
        };
        Ok((Self { wall, report: childs }, Report { socket: ours }))
    }

    /// Confines the calling process. System calls only, on memory that exists already.
    pub(super) fn enter(&self) -> Result<(), (Step, io::Error)> {
        // Also the sockets and files that whoever started us forgot to close on exec stay out of the browser. Kernels
        // before 5.11 lack the flag; all that is ours is closed on exec anyway.
        // SAFETY: no pointers.
        unsafe { libc::syscall(libc::SYS_close_range, 5, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
        // SAFETY: no pointers.
        check(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) })
            .map_err(|error| (Step::NoNewPrivileges, error))?;
        match &self.wall {
            Wall::Namespace(namespace) => namespace.enter(&self.report),
            Wall::Filter(filter) => filter.install().map_err(|error| (Step::SocketFilter, error)),
        }
    }

    /// Tells the parent which step failed and why; the exit that follows carries only the latter.
    pub(super) fn report_failure(&self, step: Step, error: &io::Error) {
        let words = [step.to_wire(), error.raw_os_error().unwrap_or(0)];
        // SAFETY: pointer and length are those of one live array.
        unsafe { libc::send(self.report.as_raw_fd(), words.as_ptr().cast(), size_of_val(&words), libc::MSG_NOSIGNAL) };
    }
}

impl Namespace {
    /// A namespace in which user and group are what they are outside, and the gate's socket listens on `port` of every
    /// address.
    pub(crate) fn new(user: u32, group: u32, port: u16) -> Self {
        // Mapping to root would make Chromium think that it is root, and it refuses to run as root.
        Self {
            user_map: format!("{user} {user} 1\n").into_bytes(),
            group_map: format!("{group} {group} 1\n").into_bytes(),
            port,
        }
    }

    fn enter(&self, report: &OwnedFd) -> Result<(), (Step, io::Error)> {
        // A process that changed its user is not dumpable, and then root owns its files under /proc: the maps could not
        // be written. Exec restores the rule that fits the program.
        // SAFETY: no pointers.
        unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 1, 0, 0, 0) };
        // SAFETY: no pointers; the child has a single thread, as CLONE_NEWUSER asks.
        check(unsafe { libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNET) })
            .map_err(|error| (Step::Namespaces, error))?;
        write_file(c"/proc/self/setgroups", b"deny")
            .and_then(|()| write_file(c"/proc/self/gid_map", &self.group_map))
            .and_then(|()| write_file(c"/proc/self/uid_map", &self.user_map))
            .map_err(|error| (Step::IdentityMaps, error))?;
        bring_loopback_up().map_err(|error| (Step::Loopback, error))?;
        let gate = listen_everywhere(self.port).map_err(|error| (Step::GateSocket, error))?;
        hand_out(report.as_raw_fd(), gate).map_err(|error| (Step::HandOut, error))
        // The socket itself is closed by exec; a copy travels to the parent.
    }
}

impl Report {
    /// What the child said, once it has reached exec or failed: the socket that it made, or the step that failed.
    pub(crate) fn read(&self) -> io::Result<Result<Option<TcpListener>, (Step, io::Error)>> {
        let mut words = [0_i32; 2];
        let mut part = libc::iovec { iov_base: words.as_mut_ptr().cast(), iov_len: size_of_val(&words) };
        let mut control = ControlBuffer::default();
        // SAFETY: all bytes zero is a valid `msghdr`.
        let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        message.msg_control = (&raw mut control).cast();
        message.msg_controllen = size_of::<ControlBuffer>() as _;
        let flags = libc::MSG_DONTWAIT | libc::MSG_CMSG_CLOEXEC;
        // SAFETY: the message describes live buffers of the lengths given.
        let received = unsafe { libc::recvmsg(self.socket.as_raw_fd(), &raw mut message, flags) };
        if received < 0 {
            let error = io::Error::last_os_error();
            return if error.kind() == io::ErrorKind::WouldBlock { Ok(Ok(None)) } else { Err(error) };
        }
        if let Some(step) = Step::from_wire(words[0]) {
            return Ok(Err((step, io::Error::from_raw_os_error(words[1]))));
        }
        // SAFETY: the header lies in the control buffer, which the kernel filled as far as it says; a descriptor that
        // arrived is new and owned by nobody else.
        let socket = unsafe {
            let header = libc::CMSG_FIRSTHDR(&raw const message);
            if header.is_null() || (*header).cmsg_type != libc::SCM_RIGHTS {
                return Ok(Ok(None));
            }
            OwnedFd::from_raw_fd(libc::CMSG_DATA(header).cast::<RawFd>().read_unaligned())
        };
        Ok(Ok(Some(TcpListener::from(socket))))
    }
}

/// Room for one control message with one descriptor, aligned as its header asks.
#[derive(Default)]
#[repr(C, align(8))]
struct ControlBuffer([u8; 32]);

impl SocketFilter {
    /// Allows `AF_UNIX`, `AF_NETLINK` and TCP; refuses all other sockets with `EACCES`: without datagrams there is no
    /// WebRTC, no QUIC and no DNS, without `AF_VSOCK` no way to the host of a virtual machine. `io_uring` is refused
    /// since it opens sockets without the system call, and foreign system-call tables since their numbers differ.
    pub(crate) fn tcp_only() -> Self {
        use libc::{BPF_ABS, BPF_ALU, BPF_AND, BPF_JEQ, BPF_JGE, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W};
        let load = |offset| statement(BPF_LD | BPF_W | BPF_ABS, offset);
        let give = |value| statement(BPF_RET | BPF_K, value);
        let equal = |value, yes, no| jump(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no);
        let at_least = |value, yes, no| jump(BPF_JMP | BPF_JGE | BPF_K, value, yes, no);
        let allow = libc::SECCOMP_RET_ALLOW;
        let refuse = libc::SECCOMP_RET_ERRNO | libc::EACCES.cast_unsigned();
        let absent = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned();
        // The kernel reads `int` arguments from the low half; both supported machines are little-endian.
        let argument = |index: u32| 16 + 8 * index;
        let program = vec![
            load(4),
            equal(AUDIT_ARCHITECTURE, 1, 0),
            give(absent),
            load(0),
            // x32 calls on x86-64 carry this bit; no call of either machine's own table does.
            at_least(0x4000_0000, 0, 1),
            give(absent),
            equal(number(libc::SYS_io_uring_setup), 0, 1),
            give(absent),
            equal(number(libc::SYS_socket), 1, 0),
            give(allow),
            load(argument(0)),
            equal(libc::AF_UNIX.cast_unsigned(), 9, 0),
            equal(libc::AF_NETLINK.cast_unsigned(), 8, 0),
            equal(libc::AF_INET.cast_unsigned(), 1, 0),
            equal(libc::AF_INET6.cast_unsigned(), 0, 5),
            load(argument(1)),
            statement(BPF_ALU | BPF_AND | BPF_K, 0xf),
            equal(libc::SOCK_STREAM.cast_unsigned(), 0, 2),
            load(argument(2)),
            equal(0, 1, 2),
            give(refuse),
            give(allow),
            equal(libc::IPPROTO_TCP.cast_unsigned(), 0, 1),
            give(allow),
            give(refuse),
        ];
        Self { program }
    }

    fn install(&self) -> io::Result<()> {
        let program = libc::sock_fprog {
            len: u16::try_from(self.program.len()).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))?,
            filter: self.program.as_ptr().cast_mut(),
        };
        // SAFETY: the program is live and has the length that is given; the kernel only reads it.
        let result = unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const program) };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

#[cfg(target_arch = "x86_64")]
const AUDIT_ARCHITECTURE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const AUDIT_ARCHITECTURE: u32 = 0xc000_00b7;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
compile_error!("the filter of system calls is written for x86-64 and aarch64");

fn number(call: libc::c_long) -> u32 {
    u32::try_from(call).unwrap_or(u32::MAX)
}

fn statement(code: u32, value: u32) -> libc::sock_filter {
    jump(code, value, 0, 0)
}

fn jump(code: u32, value: u32, yes: u8, no: u8) -> libc::sock_filter {
    libc::sock_filter { code: u16::try_from(code).unwrap_or(u16::MAX), jt: yes, jf: no, k: value }
}

fn write_file(path: &std::ffi::CStr, content: &[u8]) -> io::Result<()> {
    // SAFETY: a live C string.
    let file = check(unsafe { libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC) })?;
    // SAFETY: pointer and length are those of one live slice; the descriptor was opened here and is closed here.
    unsafe {
        let written = libc::write(file, content.as_ptr().cast(), content.len());
        let result = if written < 0 { Err(io::Error::last_os_error()) } else { Ok(()) };
        libc::close(file);
        result
    }
}

fn bring_loopback_up() -> io::Result<()> {
    // SAFETY: all bytes zero is a valid `ifreq`.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    request.ifr_name[0] = b'l'.cast_signed() as libc::c_char;
    request.ifr_name[1] = b'o'.cast_signed() as libc::c_char;
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    // SAFETY: no pointers in `socket`; `ioctl` reads one live `ifreq`; the descriptor is closed where it was opened.
    unsafe {
        let socket = check(libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0))?;
        let result = check(libc::ioctl(socket, libc::SIOCSIFFLAGS, &raw const request)).map(|_| ());
        libc::close(socket);
        result
    }
}

fn listen_everywhere(port: u16) -> io::Result<RawFd> {
    // SAFETY: all bytes zero is a valid `sockaddr_in`, and means every address.
    let mut address: libc::sockaddr_in = unsafe { std::mem::zeroed() };
    address.sin_family = libc::AF_INET as libc::sa_family_t;
    address.sin_port = port.to_be();
    let length = size_of::<libc::sockaddr_in>() as libc::socklen_t;
    // SAFETY: address and length describe one live value.
    unsafe {
        let socket = check(libc::socket(libc::AF_INET, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0))?;
        check(libc::bind(socket, (&raw const address).cast(), length))?;
        check(libc::listen(socket, 1024))?;
        Ok(socket)
    }
}

fn hand_out(through: RawFd, descriptor: RawFd) -> io::Result<()> {
    let mut words = [0_i32; 2];
    let mut part = libc::iovec { iov_base: words.as_mut_ptr().cast(), iov_len: size_of_val(&words) };
    let mut control = ControlBuffer::default();
    // SAFETY: all bytes zero is a valid `msghdr`; it then describes live buffers, and the control message of one
    // descriptor (24 bytes on 64-bit machines) fits into its buffer, which is aligned for the header.
    unsafe {
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        message.msg_control = (&raw mut control).cast();
        message.msg_controllen = libc::CMSG_SPACE(size_of::<RawFd>() as u32) as _;
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        (*header).cmsg_level = libc::SOL_SOCKET;
        (*header).cmsg_type = libc::SCM_RIGHTS;
        (*header).cmsg_len = libc::CMSG_LEN(size_of::<RawFd>() as u32) as _;
        libc::CMSG_DATA(header).cast::<RawFd>().write_unaligned(descriptor);
        if libc::sendmsg(through, &raw const message, libc::MSG_NOSIGNAL) < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}
