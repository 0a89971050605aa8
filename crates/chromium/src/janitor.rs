use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::{Child, Command};

use crate::os;

/// Waits for the end of its input, which comes when we let go of the pipe or die. Each line names a process group of
/// the browser; `$1` is the directory to remove. Removing is tried again while dying processes still write into it.
const SCRIPT: &str = r#"
trap '' HUP INT TERM QUIT
group=
while read -r line; do group=$line; done
tries=0
while :; do
    [ -z "$group" ] || kill -s KILL -- "-$group" 2>/dev/null
    rm -rf -- "$1" 2>/dev/null
    [ -e "$1" ] || exit 0
    tries=$((tries + 1))
    [ "$tries" -lt 100 ] || exit 1
    sleep 0.05 2>/dev/null || sleep 1
done
"#;

/// How long the janitor may take to clean up.
const CLEANING: Duration = Duration::from_secs(8);

/// A process that outlives us, however we die, to remove a directory and to end the browser that lives in it. It is to
/// be started before either exists. Dropping it lets it do its work.
#[derive(Debug)]
pub struct Janitor {
    child: Child,
    /// The only lasting write end of the janitor's input.
    line: OwnedFd,
}

impl Janitor {
    /// Starts a janitor for `directory`. Needs a tokio runtime.
    ///
    /// # Errors
    /// When there is no `/bin/sh`, or no process can be had.
    pub fn start(directory: &Path) -> io::Result<Self> {
        let (read, write) = io::pipe()?;
        let child = Command::new("/bin/sh")
            .args(["-c", SCRIPT, "bathy-janitor"])
            .arg(directory)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .current_dir("/")
            .stdin(read)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // A signal for our whole group, as from a terminal, must not take the janitor along.
            .process_group(0)
            .spawn()?;
        Ok(Self { child, line: write.into() })
    }

    /// A copy of the pipe for the browser's process to write its group to.
    pub(crate) fn line(&self) -> io::Result<OwnedFd> {
        os::high_copy(&self.line)
    }

    /// Lets the janitor do its work, and waits until it has.
    pub async fn clean(self) {
        let Self { mut child, line } = self;
        drop(line);
        match tokio::time::timeout(CLEANING, child.wait()).await {
            Ok(Ok(status)) if status.success() => {}
            outcome => tracing::warn!(?outcome, "the janitor could not clean up"),
        }
    }
}
