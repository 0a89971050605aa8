use std::fmt;
use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::process::{Child, ChildStderr};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::home::Directories;
use crate::janitor::Janitor;
use crate::os;
use crate::os::ClosedPort;
use crate::tail::Tail;
use crate::user::BrowserUser;

/// How long a browser that was ended may keep its last words to itself.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// A browser with all its processes and its private directory. Dropping it ends them all, without waiting.
#[derive(Debug)]
pub struct Process {
    id: u32,
    user: Option<BrowserUser>,
    exit: watch::Receiver<Option<Exit>>,
    close: oneshot::Sender<Duration>,
    keeper: JoinHandle<()>,
}

/// How a browser came to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exit {
    /// What the main process ended with.
    pub ending: Ending,
    /// The last lines that it wrote to its standard error: bounded, with control characters spelled out.
    pub stderr: Vec<String>,
}

/// What a process ended with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It left with this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
    /// The operating system did not say.
    Unknown,
}

/// All that a running browser consists of.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) child: Child,
    pub(crate) id: u32,
    pub(crate) user: Option<BrowserUser>,
    pub(crate) janitor: Janitor,
    pub(crate) directories: Directories,
    pub(crate) lock: File,
    pub(crate) closed_port: Option<ClosedPort>,
}

impl Process {
    /// Takes over a browser that was just started.
    pub(crate) fn keep(parts: Parts) -> Self {
        let (close, closing) = oneshot::channel();
        let (publish, exit) = watch::channel(None);
        let (id, user) = (parts.id, parts.user);
        let keeper = tokio::spawn(keep(parts, closing, publish));
        Self { id, user, exit, close, keeper }
    }

    /// The id of the browser's main process, which is its process group too.
    pub fn pid(&self) -> u32 {
        self.id
    }

    /// The user that the browser runs as, where it is not ours: started by root, it is an unprivileged one, with a
    /// group of the same number.
    pub fn user_id(&self) -> Option<u32> {
        self.user.map(|BrowserUser(number)| number)
    }

    /// Waits until the browser's main process has ended, for whatever reason.
    pub async fn exited(&self) -> Exit {
        let mut exit = self.exit.clone();
        let known = exit.wait_for(Option::is_some).await.ok().and_then(|found| found.clone());
        known.unwrap_or(Exit { ending: Ending::Unknown, stderr: Vec::new() })
    }

    /// Asks the browser to end, ends whatever is left of it after `patience`, and removes its private directory. With
    /// a patience of zero it is not asked: what it would still write goes away with the directory anyway. Nothing of
    /// it exists any more when this returns.
    pub async fn close(self, patience: Duration) -> Exit {
        let Self { exit, close, keeper, .. } = self;
        // The keeper has stopped listening only when the browser has ended already.
        let _ = close.send(patience);
        if let Err(error) = keeper.await {
            tracing::error!(%error, "the keeper of a browser failed");
        }
        let known = exit.borrow().clone();
        known.unwrap_or(Exit { ending: Ending::Unknown, stderr: Vec::new() })
    }
}

/// Owns the browser from its start to the removal of its directory. When this task is dropped with its runtime, the
/// janitor's pipe closes and the janitor does the rest.
async fn keep(parts: Parts, closing: oneshot::Receiver<Duration>, publish: watch::Sender<Option<Exit>>) {
    let Parts { mut child, id, janitor, directories, lock, closed_port, .. } = parts;
    let mut stderr = child.stderr.take();
    let mut tail = Tail::default();
    let ended = tokio::select! {
        status = watched(&mut child, &mut stderr, &mut tail) => status,
        patience = closing => {
            match patience {
                Ok(patience) if !patience.is_zero() => {
                    os::ask_to_end(id);
                    timeout(patience, watched(&mut child, &mut stderr, &mut tail)).await.ok().flatten()
                }
                _ => None,
            }
        }
    };
    // Also after the main process has ended by itself: what it left behind is in its group.
    os::end_group(id);
    let status = match ended {
        Some(status) => Some(status),
        None => child.wait().await.ok(),
    };
    // Every holder of the pipe is dead or dying; a survivor must not hold us up.
    let _ = timeout(LAST_WORDS, drain(&mut stderr, &mut tail)).await;
    let ending = status.map_or(Ending::Unknown, Ending::of);
    publish.send_replace(Some(Exit { ending, stderr: tail.into_lines() }));
    janitor.clean().await;
    if directories.root().exists() {
        // Somebody ended the janitor.
        if let Err(error) = tokio::fs::remove_dir_all(directories.root()).await {
            tracing::warn!(%error, directory = %directories.root().display(), "a private directory stays behind");
        }
    }
    drop((lock, closed_port));
}

/// Waits for the main process while taking in what it says.
async fn watched(child: &mut Child, stderr: &mut Option<ChildStderr>, tail: &mut Tail) -> Option<ExitStatus> {
    tokio::select! {
        status = child.wait() => status.ok(),
        never = async { drain(stderr, tail).await; std::future::pending().await } => never,
    }
}

async fn drain(stderr: &mut Option<ChildStderr>, tail: &mut Tail) {
    let mut buffer = [0; 4096];
    while let Some(pipe) = stderr {
        match pipe.read(&mut buffer).await {
            Ok(length) if length > 0 => tail.push(&buffer[..length]),
            _ => *stderr = None,
        }
    }
}

impl Ending {
    fn of(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Code(code),
            (None, Some(signal)) => Self::Signal(signal),
            (None, None) => Self::Unknown,
        }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(formatter, "exit code {code}"),
            Self::Signal(signal) => write!(formatter, "signal {signal}"),
            Self::Unknown => formatter.write_str("an unknown status"),
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.ending)?;
        if let Some(line) = self.stderr.last() {
            write!(formatter, "; its last words: {line}")?;
        }
        Ok(())
    }
}
