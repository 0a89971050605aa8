//! What the machine can do: the same browser, through no proxy, driven by nothing but the protocol.

use std::io;
use std::time::Duration;

use bathy_cdp::protocol::{BrowserContextId, browser, input, page, runtime, target};
use bathy_cdp::{CallError, Command as CdpCommand, Connection, Lane, Session};
use bathy_chromium::{Lookup, find};
use command_fds::{CommandFdExt as _, FdMapping};

use tempfile::TempDir;
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::problem::{Doing as _, Problem};
use crate::setup::is_root;

/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// The user that the browser runs as when we are root, since its sandbox refuses root: `nobody` on every Linux.
const NOBODY: u32 = 65534;

/// A browser with a profile of its own, killed when dropped.
pub(super) struct BareBrowser {
    process: Child,
    connection: Connection,
    profile: TempDir,
}

/// A page in a context of its own.
pub(super) struct BarePage {
    browser: Session,
    session: Session,
    context: BrowserContextId,
    lane: Lane,
}

impl From<CallError> for Problem {
    fn from(error: CallError) -> Self {
        Self::BareBrowser(error.to_string())
    }
}

impl BareBrowser {
    /// Starts the browser and waits for its first answer.
    pub(super) async fn start() -> Result<Self, Problem> {
        let executable = find(&Lookup::of_this_process())
            .map_err(|error| Problem::Missing { what: "a Chromium".to_owned(), advice: error.advice() })?;
        let profile =
            tempfile::Builder::new().prefix("bathy-bench-").tempdir().doing(|| "make a profile".to_owned())?;
        let pipes = || -> io::Result<_> { Ok((io::pipe()?, io::pipe()?)) };
        let ((browser_reads, we_write), (we_read, browser_writes)) = pipes().doing(|| "make a pipe".to_owned())?;
        let mut command = Command::new(executable.path());
        command
            .args([
                "--headless",
                "--remote-debugging-pipe",
                "--no-first-run",
                "--disable-gpu",
                "--disable-background-networking",
            ])
            .args(["--disable-component-update", "--disable-sync", "--site-per-process", "--window-size=1280,800"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .env("HOME", profile.path())
            .stdin(std::process::Stdio::null())
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .kill_on_drop(true);
        if is_root() {
            std::os::unix::fs::chown(profile.path(), Some(NOBODY), Some(NOBODY))
                .doing(|| "give the profile away".to_owned())?;
            command.uid(NOBODY).gid(NOBODY);
        }
        command
            .fd_mappings(vec![
                FdMapping { parent_fd: browser_reads.into(), child_fd: 3 },
                FdMapping { parent_fd: browser_writes.into(), child_fd: 4 },
            ])
            .map_err(|error| Problem::BareBrowser(error.to_string()))?;
        let process = command.spawn().doing(|| format!("start {}", executable.path().display()))?;
        // The command holds the browser's ends of the pipes; they must not stay open here.
        drop(command);
        let (connection, mut lane) = Connection::open(
            pipe::Receiver::from_owned_fd(we_read.into()).doing(|| "read from a pipe".to_owned())?,
            pipe::Sender::from_owned_fd(we_write.into()).doing(|| "write to a pipe".to_owned())?,
        );
        tokio::spawn(async move { while lane.next().await.is_some() {} });
        let bare = Self { process, connection, profile };
        call(&bare.connection.browser(), browser::GetVersion {}).await?;
        Ok(bare)
    }

    /// Makes a context and opens an empty page in it.
    pub(super) async fn open_page(&self) -> Result<BarePage, Problem> {
        let browser = self.connection.browser();
        let context = call(&browser, target::CreateBrowserContext::default()).await?.browser_context_id;
        let created = target::CreateTarget {
            url: "about:blank".to_owned(),
            browser_context_id: Some(context.clone()),
            ..target::CreateTarget::default()
        };
        let target_id = call(&browser, created).await?.target_id;
        let attach = target::AttachToTarget { target_id, flatten: Some(true) };
        let id = call(&browser, attach).await?.session_id;
        let lane = self.connection.claim(&id);
        let session = self.connection.session(id);
        call(&session, page::Enable {}).await?;
        call(&session, page::SetLifecycleEventsEnabled { enabled: true }).await?;
        Ok(BarePage { browser, session, context, lane })
    }

    /// Ends the browser and removes its profile.
    pub(super) async fn stop(mut self) -> Result<(), Problem> {
        call(&self.connection.browser(), browser::Close {}).await?;
        timeout(PATIENCE, self.process.wait())
            .await
            .map_err(|_| Problem::BareBrowser("it did not end".to_owned()))?
            .doing(|| "wait for the bare browser".to_owned())?;
        self.profile.close().doing(|| "remove the profile".to_owned())
    }
}

impl BarePage {
    /// Loads a page, until its load event.
    pub(super) async fn load(&mut self, url: &str) -> Result<(), Problem> {
        let navigate = page::Navigate { url: url.to_owned(), frame_id: None };
        let loader = call(&self.session, navigate).await?.loader_id;
        let finish = async {
            while let Some(message) = self.lane.next().await {
                let step = message.decode::<page::LifecycleEvent>();
                if step.is_some_and(|step| step.name == "load" && Some(step.loader_id) == loader) {
                    return Ok(());
                }
            }
            Err(Problem::BareBrowser("it went away".to_owned()))
        };
        timeout(PATIENCE, finish).await.map_err(|_| Problem::BareBrowser(format!("{url} did not load")))?
    }

    /// Reads the visible text, for which the page is laid out.
    pub(super) async fn read(&self) -> Result<(), Problem> {
        let expression = "document.body.innerText".to_owned();
        let evaluate = runtime::Evaluate { expression, return_by_value: Some(true), ..runtime::Evaluate::default() };
        call(&self.session, evaluate).await.map(drop)
    }

    /// Clicks at a point, given in CSS pixels of the viewport.
    pub(super) async fn click(&self, x: f64, y: f64) -> Result<(), Problem> {
        use input::{DispatchMouseEvent, MouseButton, MouseEventType};
        for r#type in [MouseEventType::MouseMoved, MouseEventType::MousePressed, MouseEventType::MouseReleased] {
            let mut event = DispatchMouseEvent { r#type, x, y, ..DispatchMouseEvent::default() };
            if !matches!(event.r#type, MouseEventType::MouseMoved) {
                event.button = Some(MouseButton::Left);
                event.click_count = Some(1);
            }
            call(&self.session, event).await?;
        }
        Ok(())
    }

    /// Removes the page with its context.
    pub(super) async fn close(self) -> Result<(), Problem> {
        let dispose = target::DisposeBrowserContext { browser_context_id: self.context };
        call(&self.browser, dispose).await.map(drop)
    }
}

async fn call<C: CdpCommand>(session: &Session, command: C) -> Result<C::Output, Problem> {
    Ok(session.call(command, PATIENCE).await?)
}
