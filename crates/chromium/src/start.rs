use std::fs;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::net::unix::pipe;
use tokio::process::{Child, Command};

use crate::containment::Level;
use crate::find::Environment;
use crate::flags;
use crate::home::Directories;
use crate::janitor::Janitor;
#[cfg(target_os = "linux")]
use crate::launch::GATE_PORT;
use crate::launch::{LaunchError, LaunchOptions};
use crate::os::{self, ChildSetup, ClosedPort};
use crate::process::Parts;
use crate::user::{BrowserUser, barrier};

/// Nothing else is in a new namespace, so nothing listens here.
const CLOSED_PORT_IN_NAMESPACE: u16 = 9;
/// With less free in `/dev/shm` Chromium uses files: pages with large images need more than the 64 MB of containers.
pub(crate) const SMALL_SHARED_MEMORY: u64 = 256 * 1024 * 1024;

/// A browser that was started and has not answered yet.
pub(crate) struct Started {
    pub(crate) parts: Parts,
    pub(crate) reader: pipe::Receiver,
    pub(crate) writer: pipe::Sender,
    pub(crate) gate_listener: Option<TcpListener>,
}

/// A launch that failed, with the janitor where there is something to clean up.
pub(crate) struct NotStarted {
    pub(crate) error: LaunchError,
    pub(crate) janitor: Option<Box<Janitor>>,
}

/// Starts everything in an order that leaves no moment without somebody to clean up: janitor, directory, browser.
pub(crate) fn start(options: &LaunchOptions, level: Level) -> Result<Started, NotStarted> {
    let nothing_yet = |error| NotStarted { error, janitor: None };
    let user = if os::effective_user() == 0 {
        Some(unprivileged_user(options.executable.path()).map_err(nothing_yet)?)
    } else {
        None
    };
    let parent = options.parent_directory.as_deref();
    let directories = Directories::choose(parent, user).map_err(|source| {
        let directory = parent.map_or_else(std::env::temp_dir, Path::to_owned);
        nothing_yet(LaunchError::Directory { directory, source })
    })?;
    let janitor = Janitor::start(directories.root()).map_err(|source| nothing_yet(LaunchError::Janitor { source }))?;
    match start_browser(options, level, user, &directories, &janitor) {
        Ok(Browser { child, id, reader, writer, gate_listener, lock, closed_port }) => Ok(Started {
            parts: Parts { child, id, user, janitor, directories, lock, closed_port },
            reader,
            writer,
            gate_listener,
        }),
        Err(error) => Err(NotStarted { error, janitor: Some(Box::new(janitor)) }),
    }
}

struct Browser {
    child: Child,
    id: u32,
    reader: pipe::Receiver,
    writer: pipe::Sender,
    gate_listener: Option<TcpListener>,
    lock: fs::File,
    closed_port: Option<ClosedPort>,
}

fn start_browser(
    options: &LaunchOptions,
    level: Level,
    user: Option<BrowserUser>,
    directories: &Directories,
    janitor: &Janitor,
) -> Result<Browser, LaunchError> {
    let lock = directories
        .make(user)
        .map_err(|source| LaunchError::Directory { directory: directories.root().to_owned(), source })?;
    let pipe_error = |source| LaunchError::Pipe { source };
    let closed_port = match (level, options.refusing_proxy) {
        (Level::Browser, None) => Some(ClosedPort::reserve().map_err(pipe_error)?),
        _ => None,
    };
    let refusing_proxy = match (level, options.refusing_proxy, &closed_port) {
        (Level::Browser, Some(address), _) => address,
        (Level::Browser, None, Some(port)) => port.address(),
        _ => (Ipv4Addr::LOCALHOST, CLOSED_PORT_IN_NAMESPACE).into(),
    };
    let (from_us, to_browser) = io::pipe().map_err(pipe_error)?;
    let (from_browser, to_us) = io::pipe().map_err(pipe_error)?;

    let mut command = Command::new(options.executable.path());
    command
        .args(flags::arguments(options, directories, refusing_proxy, has_small_shared_memory()))
        .current_dir(directories.home())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    set_environment(&mut command, directories, options.headless, user);
    if let Some(BrowserUser(number)) = user {
        command.gid(number).uid(number);
    }
    let copies = os::high_copy(&from_us).and_then(|read| Ok((read, os::high_copy(&to_us)?)));
    let (child, gate_listener) =
        spawn(command, level, user, janitor.line().map_err(pipe_error)?, copies.map_err(pipe_error)?)?;
    let id = child.id().ok_or(LaunchError::NotABrowser)?;
    Ok(Browser {
        child,
        id,
        reader: pipe::Receiver::from_owned_fd(from_browser.into()).map_err(pipe_error)?,
        writer: pipe::Sender::from_owned_fd(to_browser.into()).map_err(pipe_error)?,
        gate_listener,
        lock,
        closed_port,
    })
}

fn unprivileged_user(executable: &Path) -> Result<BrowserUser, LaunchError> {
    let user = BrowserUser::choose().ok_or(LaunchError::NoUnprivilegedUser)?;
    match barrier(executable) {
        None => Ok(user),
        Some(barrier) => Err(LaunchError::OutOfReach { executable: executable.to_owned(), barrier, user: user.0 }),
    }
}

/// Spawns `command` confined at `level`; at the kernel level the gate's socket comes back with the child.
#[cfg(target_os = "linux")]
fn spawn(
    mut command: Command,
    level: Level,
    user: Option<BrowserUser>,
    janitor: OwnedFd,
    protocol: (OwnedFd, OwnedFd),
) -> Result<(Child, Option<TcpListener>), LaunchError> {
    use crate::os::{Confinement, Namespace, SocketFilter};
    let pipe_error = |source| LaunchError::Pipe { source };
    let (confinement, report) = match level {
        Level::Kernel => {
            let (own_user, own_group) = os::effective_identity();
            let (user, group) = user.map_or((own_user, own_group), |user| (user.0, user.0));
            Confinement::namespace(Namespace::new(user, group, GATE_PORT))
        }
        Level::Browser => Confinement::filter(SocketFilter::tcp_only()),
    }
    .map_err(pipe_error)?;
    ChildSetup { janitor, protocol, confinement }.install(&mut command);
    let spawned = command.spawn();
    // Spawning returns after exec or its failure, so whatever the child had to say has been said.
    match (report.read().map_err(pipe_error)?, spawned) {
        (Err((step, source)), _) => Err(LaunchError::Confine { step, source }),
        (Ok(_), Err(source)) => Err(start_error(&command, source)),
        (Ok(None), Ok(_)) if level == Level::Kernel => {
            Err(LaunchError::Confine { step: os::Step::HandOut, source: io::ErrorKind::UnexpectedEof.into() })
        }
        (Ok(listener), Ok(child)) => {
            if let Some(listener) = &listener {
                listener.set_nonblocking(true).map_err(pipe_error)?;
            }
            Ok((child, listener))
        }
    }
}

/// Spawns `command` at the browser level, the only one there is outside Linux.
#[cfg(not(target_os = "linux"))]
fn spawn(
    mut command: Command,
    level: Level,
    _user: Option<BrowserUser>,
    janitor: OwnedFd,
    protocol: (OwnedFd, OwnedFd),
) -> Result<(Child, Option<TcpListener>), LaunchError> {
    if level == Level::Kernel {
        return Err(LaunchError::NoKernelContainment);
    }
    ChildSetup { janitor, protocol }.install(&mut command);
    match command.spawn() {
        Ok(child) => Ok((child, None)),
        Err(source) => Err(start_error(&command, source)),
    }
}

fn start_error(command: &Command, source: io::Error) -> LaunchError {
    LaunchError::Start { executable: PathBuf::from(command.as_std().get_program()), source }
}

/// A minimal environment: nothing that we were given by chance, say a token, is for the browser to know.
fn set_environment(command: &mut Command, directories: &Directories, headless: bool, user: Option<BrowserUser>) {
    let ours = Environment::of_this_process();
    let home = directories.home();
    command
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("LANG", ours.variable("LANG").unwrap_or("C.UTF-8".as_ref()))
        .env("HOME", &home)
        .env("XDG_CONFIG_HOME", home.join(".config"))
        .env("XDG_CACHE_HOME", home.join(".cache"))
        .env("XDG_DATA_HOME", home.join(".local/share"))
        .env("XDG_RUNTIME_DIR", directories.temporary())
        .env("TMPDIR", directories.temporary())
        // An address that no bus listens on; without it Chromium looks for buses, and may start one.
        .env("DBUS_SESSION_BUS_ADDRESS", "disabled:")
        .env("DBUS_SYSTEM_BUS_ADDRESS", "disabled:");
    for name in ["LC_ALL", "TZ"] {
        if let Some(value) = ours.variable(name) {
            command.env(name, value);
        }
    }
    if !headless {
        show_window(command, &ours, &home, user);
    }
}

/// Passes the display on. Root's browser cannot read root's cookie file, so it gets a copy.
fn show_window(command: &mut Command, ours: &Environment, home: &Path, user: Option<BrowserUser>) {
    if let Some(display) = ours.variable("DISPLAY") {
        command.env("DISPLAY", display);
        let usual = ours.home().map(|home| home.join(".Xauthority"));
        if let Some(cookies) = ours.variable("XAUTHORITY").map(PathBuf::from).or(usual) {
            let copy = home.join(".Xauthority");
            // Many displays need no cookie; one that does makes Chromium say so.
            let copied = fs::copy(cookies, &copy).is_ok()
                && user.is_none_or(|BrowserUser(number)| {
                    std::os::unix::fs::chown(&copy, Some(number), Some(number)).is_ok()
                });
            if copied {
                command.env("XAUTHORITY", copy);
            }
        }
    }
    if let (Some(display), Some(folder)) = (ours.variable("WAYLAND_DISPLAY"), ours.variable("XDG_RUNTIME_DIR")) {
        // The name is relative to a folder that the browser's environment names differently.
        command.env("WAYLAND_DISPLAY", Path::new(folder).join(display));
    }
}

fn has_small_shared_memory() -> bool {
    cfg!(target_os = "linux") && os::free_bytes(Path::new("/dev/shm")).is_ok_and(|free| free < SMALL_SHARED_MEMORY)
}
