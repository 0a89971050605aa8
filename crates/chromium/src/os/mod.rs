//! Everything that must talk to the operating system without the standard library's help.
//!
//! This module and its children hold all `unsafe` code of the product.

#[cfg(target_os = "linux")]
mod linux;
mod unix;

#[cfg(target_os = "linux")]
pub(crate) use linux::{Confinement, Namespace, SocketFilter};
#[cfg(target_os = "linux")]
pub(crate) use unix::effective_identity;
pub use unix::free_bytes;
pub(crate) use unix::{ChildSetup, ClosedPort, ask_to_end, effective_user, end_group, high_copy};

/// A step of confining the browser, between fork and exec.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// `setsid`: a session of its own.
    Session,
    /// Telling the janitor which process group to end.
    Janitor,
    /// `prctl(PR_SET_NO_NEW_PRIVS)`.
    NoNewPrivileges,
    /// `unshare(CLONE_NEWUSER | CLONE_NEWNET)`.
    Namespaces,
    /// Writing `setgroups`, `gid_map` and `uid_map`.
    IdentityMaps,
    /// Bringing the loopback interface up.
    Loopback,
    /// Binding the gate's socket inside the namespace and listening on it.
    GateSocket,
    /// Handing the gate's socket out.
    HandOut,
    /// Installing the filter of system calls.
    SocketFilter,
    /// Putting the protocol pipe at descriptors 3 and 4.
    Descriptors,
}

impl Step {
    /// All steps; a step crosses from the child to the parent as its place in this list, counted from one.
    #[cfg(target_os = "linux")]
    const ALL: [Self; 10] = [
        Self::Session,
        Self::Janitor,
        Self::NoNewPrivileges,
        Self::Namespaces,
        Self::IdentityMaps,
        Self::Loopback,
        Self::GateSocket,
        Self::HandOut,
        Self::SocketFilter,
        Self::Descriptors,
    ];

    /// Whether this step belongs to the kernel level alone, so that the browser level may still be had.
    pub fn is_of_kernel_level(self) -> bool {
        matches!(self, Self::Namespaces | Self::IdentityMaps | Self::Loopback | Self::GateSocket | Self::HandOut)
    }

    #[cfg(target_os = "linux")]
    fn to_wire(self) -> i32 {
        self as i32 + 1
    }

    #[cfg(target_os = "linux")]
    fn from_wire(number: i32) -> Option<Self> {
        Self::ALL.get(usize::try_from(number.checked_sub(1)?).ok()?).copied()
    }
}

impl std::fmt::Display for Step {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Session => "starting a process session",
            Self::Janitor => "telling the janitor",
            Self::NoNewPrivileges => "giving up new privileges",
            Self::Namespaces => "making a user and a network namespace",
            Self::IdentityMaps => "mapping the user into the namespace",
            Self::Loopback => "bringing loopback up in the namespace",
            Self::GateSocket => "opening the gate's socket in the namespace",
            Self::HandOut => "handing the gate's socket out of the namespace",
            Self::SocketFilter => "installing the filter of system calls",
            Self::Descriptors => "placing the protocol pipe",
        })
    }
}
