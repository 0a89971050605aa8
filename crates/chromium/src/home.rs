use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, chown};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::os;
use crate::user::{BrowserUser, barrier};

const PREFIX: &str = "bathy-";
const LOCK: &str = "owner.lock";
/// A directory without a lock is one that is just being made, unless it is older than this.
const MAKING: Duration = Duration::from_mins(1);

/// The private directories of one browser. They exist as long as the browser does, and only its user (and root) can
/// look into them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Directories {
    root: PathBuf,
}

impl Directories {
    /// The directory that holds the others.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The browser's `HOME`, with its profile.
    pub fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    /// The browser's `TMPDIR`.
    pub fn temporary(&self) -> PathBuf {
        self.root.join("tmp")
    }

    /// Where the browser can write downloads. Move them elsewhere before the browser ends, and do not follow links:
    /// a browser that was taken over can put there what it likes.
    pub fn downloads(&self) -> PathBuf {
        self.root.join("downloads")
    }

    /// Where files can be put that the browser is to read. Where it has a user of its own it cannot write here; a file
    /// must then be readable by the group of the number [`crate::Process::user_id`].
    pub fn uploads(&self) -> PathBuf {
        self.root.join("uploads")
    }

    /// The browser's `--user-data-dir`.
    pub(crate) fn profile(&self) -> PathBuf {
        self.home().join("profile")
    }

    /// A name in `parent` that nothing has and nobody can guess. Nothing is made yet.
    pub(crate) fn choose(parent: Option<&Path>, user: Option<BrowserUser>) -> io::Result<Self> {
        let parent = match parent {
            Some(parent) => parent.to_owned(),
            None => default_parent(user),
        };
        // The maker only keeps the name: the janitor must know it before anything is there to clean.
        let unmade =
            tempfile::Builder::new().prefix(PREFIX).rand_bytes(20).make_in(std::path::absolute(parent)?, |path| {
                if path.exists() { Err(io::ErrorKind::AlreadyExists.into()) } else { Ok(()) }
            })?;
        let ((), path) = unmade.into_parts();
        Ok(Self { root: path.keep()? })
    }

    /// Makes the directories and locks them as ours for as long as the file that comes back is open.
    pub(crate) fn make(&self, user: Option<BrowserUser>) -> io::Result<File> {
        // The browser's user passes through the root of it, and can neither list it nor touch the lock.
        DirBuilder::new().mode(if user.is_some() { 0o711 } else { 0o700 }).create(&self.root)?;
        let unnamed = self.root.join("owner.new");
        let lock = File::create_new(&unnamed)?;
        lock.lock()?;
        fs::rename(&unnamed, self.root.join(LOCK))?;
        for path in [self.home(), self.temporary(), self.downloads()] {
            DirBuilder::new().mode(0o700).create(&path)?;
            if let Some(BrowserUser(number)) = user {
                chown(&path, Some(number), Some(number))?;
            }
        }
        let uploads = self.uploads();
        DirBuilder::new().mode(0o750).create(&uploads)?;
        if let Some(BrowserUser(number)) = user {
            chown(&uploads, None, Some(number))?;
        }
        Ok(lock)
    }
}

/// Removes the directories of launches that nobody is left to clean up after, say because the machine lost power.
pub(crate) fn sweep(parent: Option<&Path>, user: Option<BrowserUser>) {
    let parent = parent.map_or_else(|| default_parent(user), Path::to_owned);
    let Ok(entries) = fs::read_dir(parent) else {
        return;
    };
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().starts_with(PREFIX) && is_stale(&entry.path()) {
            tracing::debug!(directory = %entry.path().display(), "removing what a dead launch left");
            // Whatever cannot be removed stays for the next launch.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn is_stale(path: &Path) -> bool {
    let Ok(found) = fs::symlink_metadata(path) else {
        return false;
    };
    if !found.is_dir() || found.uid() != os::effective_user() {
        return false;
    }
    match File::open(path.join(LOCK)) {
        Ok(lock) => lock.try_lock().is_ok(),
        Err(_) if path.join("home").exists() || is_empty(path) => {
            found.modified().ok().and_then(|time| time.elapsed().ok()).is_some_and(|age| age > MAKING)
        }
        Err(_) => false,
    }
}

/// Other programs may use names with our prefix; without a lock only what looks like ours, or holds nothing, is.
fn is_empty(path: &Path) -> bool {
    fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}

/// The directory for temporary files, unless the browser's user could not get into it.
fn default_parent(user: Option<BrowserUser>) -> PathBuf {
    let usual = std::env::temp_dir();
    if user.is_some() && barrier(&usual.join("x")).is_some() { PathBuf::from("/tmp") } else { usual }
}
