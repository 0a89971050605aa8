use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;

use crate::containment::{Containment, Level};
use crate::find::Executable;
use crate::home::{self, Directories};
use crate::os::Step;
use crate::process::{Ending, Exit, Process};
use crate::start::{NotStarted, Started, start};
use crate::user::BrowserUser;

/// The port on which the gate's socket listens inside a namespace, at every loopback address.
pub const GATE_PORT: u16 = 3128;

/// How long after the end of a browser its namespaces may still count against the machine's limits, where nothing is wrong.
const NAMESPACES_RETURN: Duration = Duration::from_millis(300);

/// The longest first answer that is read.
const ANSWER_BYTES: usize = 64 * 1024;

/// What to launch, and how.
#[derive(Debug, Clone)]
pub struct LaunchOptions {
    /// The browser.
    pub executable: Executable,
    /// How firmly to hold it.
    pub containment: Containment,
    /// Whether to do without a window.
    pub headless: bool,
    /// Width and height of the window in CSS pixels.
    pub window: (u32, u32),
    /// What to send instead of Chromium's own `User-Agent`.
    pub user_agent: Option<String>,
    /// At the browser level: the address of a proxy that refuses everything, for traffic that belongs to no session.
    /// When absent, a port is taken on which nothing listens. Not used at the kernel level, where one is always at hand.
    pub refusing_proxy: Option<SocketAddr>,
    /// How long the browser may take until its first protocol answer.
    pub deadline: Duration,
    /// The most that the disk cache may hold.
    pub disk_cache_bytes: u64,
    /// Where the private directory is made; the system's place for temporary files when absent.
    pub parent_directory: Option<PathBuf>,
}

/// A browser that answers on its protocol pipe.
#[derive(Debug)]
pub struct Launched {
    /// The browser's processes.
    pub process: Process,
    /// Where the browser's protocol messages arrive, each ended by a NUL. The answer to command 0 is taken already.
    pub reader: pipe::Receiver,
    /// Where protocol messages go, each ended by a NUL.
    pub writer: pipe::Sender,
    /// How firmly it is held.
    pub level: Level,
    /// Why it is held less firmly than `auto` tried first.
    pub shortfall: Option<LaunchError>,
    /// At the kernel level: the socket that listens inside the browser's namespace on [`GATE_PORT`] of every address,
    /// where each `127.x.y.z` is local. It is non-blocking.
    pub gate_listener: Option<TcpListener>,
    /// The browser's private directories.
    pub directories: Directories,
    /// The browser's product and version, as in `HeadlessChrome/156.0.7204.1`.
    pub product: String,
}

/// Why no browser came up. Nothing is left of the attempt.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// The browser could not be confined.
    #[error("the browser cannot be confined: {step} failed: {source}")]
    Confine {
        /// What failed.
        step: Step,
        /// What the operating system said.
        source: io::Error,
    },
    /// This operating system has no containment by the kernel.
    #[error("containment by the kernel needs Linux")]
    NoKernelContainment,
    /// Chromium's own sandbox cannot start here, and without it there is no browser.
    #[error("Chromium's sandbox cannot start on this machine: {exit}")]
    NoSandbox {
        /// How Chromium gave up.
        exit: Exit,
    },
    /// Root's browser runs as another user, and there is none.
    #[error("no unprivileged user is mapped into this container, and a browser never runs as root")]
    NoUnprivilegedUser,
    /// Root's browser runs as another user, who cannot get at the executable.
    #[error(
        "{} is closed to user {user}, as whom the browser of root runs, because of {}",
        .executable.display(),
        .barrier.display()
    )]
    OutOfReach {
        /// The executable.
        executable: PathBuf,
        /// The folder that lets only its owner through.
        barrier: PathBuf,
        /// The user that the browser would run as.
        user: u32,
    },
    /// The private directory could not be made.
    #[error("the browser's private directory {} cannot be made: {source}", .directory.display())]
    Directory {
        /// The directory.
        directory: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The process that cleans up after us could not be started.
    #[error("the janitor (/bin/sh) cannot be started: {source}")]
    Janitor {
        /// What the operating system said.
        source: io::Error,
    },
    /// A pipe or a socket for the launch could not be made.
    #[error("no pipe for the browser: {source}")]
    Pipe {
        /// What the operating system said.
        source: io::Error,
    },
    /// The executable could not be started.
    #[error("{} cannot be started: {source}", .executable.display())]
    Start {
        /// The executable.
        executable: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The browser is to show a window and finds no display that lets it.
    #[error(
        "no display takes the browser's window; run it under one (`DISPLAY`, `WAYLAND_DISPLAY`), or without a window (`headless`): {exit}"
    )]
    NoDisplay {
        /// How Chromium gave up.
        exit: Exit,
    },
    /// The browser ended before its first answer.
    #[error("the browser ended at once with {exit}")]
    Exited {
        /// How it ended.
        exit: Exit,
    },
    /// The browser did not answer in time.
    #[error("the browser did not answer within {} ms", .waited.as_millis())]
    Deadline {
        /// How long it was given.
        waited: Duration,
        /// How it ended when it was told to.
        exit: Exit,
    },
    /// What the browser said first is no answer.
    #[error("the program does not speak the DevTools protocol on its pipe")]
    NotABrowser,
}

/// Launches a browser and waits for its first answer. Dropping the future ends what was started.
pub async fn launch(options: LaunchOptions) -> Result<Launched, LaunchError> {
    let launched = match options.containment {
        Containment::Browser => launch_at(options.clone(), Level::Browser).await?,
        Containment::Kernel => launch_at(options.clone(), Level::Kernel).await?,
        Containment::Auto => match launch_at(options.clone(), Level::Kernel).await {
            Err(error) if error.leaves_browser_level() => {
                tracing::warn!(%error, "no containment by the kernel; the browser level holds the browser");
                if matches!(error, LaunchError::Exited { .. }) {
                    tokio::time::sleep(NAMESPACES_RETURN).await;
                }
                Launched { shortfall: Some(error), ..launch_at(options.clone(), Level::Browser).await? }
            }
            result => result?,
        },
    };
    let user = launched.process.user_id().map(BrowserUser);
    // Not awaited: the launch is done, and a sweep that is cut short goes on with the next launch.
    tokio::task::spawn_blocking(move || home::sweep(options.parent_directory.as_deref(), user));
    Ok(launched)
}

impl LaunchOptions {
    /// A headless launch of `executable` with the defaults: `auto`, 1280 × 720, 20 s, 64 MB of disk cache.
    pub fn new(executable: Executable) -> Self {
        Self {
            executable,
            containment: Containment::Auto,
            headless: true,
            window: (1280, 720),
            user_agent: None,
            refusing_proxy: None,
            deadline: Duration::from_secs(20),
            disk_cache_bytes: 64 * 1024 * 1024,
            parent_directory: None,
        }
    }
}

impl LaunchError {
    /// What the operator can do about it, in one or two sentences.
    pub fn advice(&self) -> String {
        match self {
            Self::Confine { step, source } if step.is_of_kernel_level() => format!(
                "{}; or set `containment = browser`, or run on a machine that allows it",
                namespace_advice(source)
            ),
            Self::Confine { .. } => "the kernel must be built with seccomp filters (Linux 3.17 or later)".to_owned(),
            Self::NoKernelContainment => "set `containment` to `auto` or `browser`".to_owned(),
            Self::NoSandbox { .. } => format!(
                "Chromium's sandbox needs user namespaces: {}. It is never switched off",
                namespace_advice(&io::Error::from_raw_os_error(libc::EPERM))
            ),
            Self::NoUnprivilegedUser => {
                "map more users into the container, or run bathy as an ordinary user".to_owned()
            }
            Self::OutOfReach { .. } => "install the browser where every user can read it (on Debian `apt-get install \
                 chromium-headless-shell`), or run bathy as an ordinary user"
                .to_owned(),
            Self::Directory { .. } => "make room on it, or point TMPDIR at a writable folder".to_owned(),
            Self::Janitor { .. } | Self::Pipe { .. } => {
                "raise the limits of processes and open files (`ulimit -u`, `ulimit -n`)".to_owned()
            }
            Self::Start { .. } | Self::NotABrowser => {
                "point `executablePath` at a Chromium program of this machine's kind".to_owned()
            }
            Self::NoDisplay { .. } => {
                "set `headless = true`, or start bathy where a display is (over ssh: `xvfb-run`)".to_owned()
            }
            Self::Exited { .. } => {
                "run `bathy doctor`; where libraries are missing, install the distribution's package".to_owned()
            }
            Self::Deadline { .. } => "try again when the machine is less busy".to_owned(),
        }
    }

    /// Whether the browser level may succeed where the kernel level met with this.
    fn leaves_browser_level(&self) -> bool {
        match self {
            Self::Confine { step, .. } => step.is_of_kernel_level(),
            Self::NoSandbox { .. } | Self::NoKernelContainment => true,
            // Namespaces of the sandbox inside ours may exceed a limit, and then Chromium says nothing.
            Self::Exited { exit } => exit.ending == Ending::Signal(libc::SIGTRAP),
            _ => false,
        }
    }
}

/// How to let the browser make namespaces, as far as this machine shows what is in the way.
fn namespace_advice(error: &io::Error) -> &'static str {
    forbidding_setting().unwrap_or(if error.raw_os_error() == Some(libc::ENOSPC) {
        "raise `user.max_user_namespaces` and `user.max_net_namespaces` with sysctl"
    } else {
        "let the container make user namespaces (Docker: a seccomp profile that allows `unshare` and `clone`)"
    })
}

/// The change to the setting of this machine that forbids namespaces.
fn forbidding_setting() -> Option<&'static str> {
    const SETTINGS: [(&str, &str, &str); 4] = [
        (
            "/proc/sys/kernel/unprivileged_userns_clone",
            "0",
            "run `sysctl -w kernel.unprivileged_userns_clone=1` as root",
        ),
        ("/proc/sys/user/max_user_namespaces", "0", "run `sysctl -w user.max_user_namespaces=10000` as root"),
        ("/proc/sys/user/max_net_namespaces", "0", "run `sysctl -w user.max_net_namespaces=10000` as root"),
        (
            "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
            "1",
            "run `sysctl -w kernel.apparmor_restrict_unprivileged_userns=0` as root, or give the browser an AppArmor \
             profile with `userns`",
        ),
    ];
    SETTINGS.into_iter().find_map(|(path, forbidding, advice)| {
        let value = std::fs::read_to_string(path).ok()?;
        (value.trim() == forbidding).then_some(advice)
    })
}

async fn launch_at(options: LaunchOptions, level: Level) -> Result<Launched, LaunchError> {
    let until = Instant::now() + options.deadline;
    let deadline = options.deadline;
    // Fork and namespaces take milliseconds and block. A caller that goes away, or gives up, drops what comes of it.
    let starting = tokio::task::spawn_blocking(move || start(&options, level));
    let Ok(started) = tokio::time::timeout(deadline, starting).await else {
        let exit = Exit { ending: Ending::Unknown, stderr: Vec::new() };
        return Err(LaunchError::Deadline { waited: deadline, exit });
    };
    let started = started.map_err(|error| LaunchError::Pipe { source: io::Error::other(error) })?;
    let Started { parts, mut reader, mut writer, gate_listener } = match started {
        Ok(started) => started,
        Err(NotStarted { error, janitor }) => {
            if let Some(janitor) = janitor {
                janitor.clean().await;
            }
            return Err(error);
        }
    };
    let directories = parts.directories.clone();
    let process = Process::keep(parts);
    let left = until.saturating_duration_since(Instant::now());
    let answer = tokio::select! {
        answer = tokio::time::timeout(left, first_answer(&mut reader, &mut writer)) => answer,
        exit = process.exited() => {
            process.close(Duration::ZERO).await;
            return Err(early_exit(exit));
        }
    };
    let product = match answer {
        Ok(Ok(Some(product))) => product,
        Ok(Ok(None)) => {
            process.close(Duration::ZERO).await;
            return Err(LaunchError::NotABrowser);
        }
        // The pipe breaks when the browser ends, which the keeper learns a moment later.
        Ok(Err(_)) => return Err(early_exit(process.close(Duration::from_secs(1)).await)),
        Err(_) => {
            let exit = process.close(Duration::ZERO).await;
            return Err(LaunchError::Deadline { waited: deadline, exit });
        }
    };
    Ok(Launched { process, reader, writer, level, shortfall: None, gate_listener, directories, product })
}

/// Asks for the version as command 0 and reads the answer, which is all that the browser says unasked-for.
/// `None` is an answer that no browser gives.
async fn first_answer(reader: &mut pipe::Receiver, writer: &mut pipe::Sender) -> io::Result<Option<String>> {
    writer.write_all(b"{\"id\":0,\"method\":\"Browser.getVersion\"}\0").await?;
    let mut answer = Vec::with_capacity(1024);
    while answer.last() != Some(&0) {
        if answer.len() > ANSWER_BYTES {
            return Ok(None);
        }
        if reader.read_buf(&mut answer).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    answer.pop();
    let answer: Option<serde_json::Value> = serde_json::from_slice(&answer).ok();
    Ok(answer.and_then(|answer| Some(answer.get("result")?.get("product")?.as_str()?.to_owned())))
}

/// Tells a sandbox that cannot start from any other early end. Chromium names the one at times; at others it only
/// traps, as it does on every broken assumption.
fn early_exit(exit: Exit) -> LaunchError {
    let says = |words: &str| exit.stderr.iter().any(|line| line.contains(words));
    let named =
        says("No usable sandbox") || says("Failed to move to new namespace") || says("zygote_host_impl_linux.cc");
    let trapped = exit.ending == Ending::Signal(libc::SIGTRAP);
    if says("The platform failed to initialize") || says("Missing X server") {
        LaunchError::NoDisplay { exit }
    } else if named || (trapped && forbidding_setting().is_some()) {
        LaunchError::NoSandbox { exit }
    } else {
        LaunchError::Exited { exit }
    }
}
