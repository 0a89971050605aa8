//! The file: read whole, replaced whole, one writer at a time.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::state::{StorageState, StorageStateError};
use crate::artifact::{create_directory, open_plain_with};

/// The largest file that is read, in bytes.
const SIZE_LIMIT: u64 = 256 << 20;
/// How long others may hold the lock; they hold it for milliseconds.
const LOCK_PATIENCE: Duration = Duration::from_millis(1_500);
/// How often a lock is tried.
const LOCK_INTERVAL: Duration = Duration::from_millis(5);

/// The operator's file for storage state. It holds live credentials: it is written so that its owner alone can read it,
/// replaced as a whole, and never reached through a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StorageFile {
    path: PathBuf,
}

/// Why the file cannot be used. It is as it was then.
#[derive(Debug, thiserror::Error)]
pub enum StorageFileError {
    /// It is no storage state.
    #[error("{} is damaged at {problem}", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where and how.
        problem: StorageStateError,
    },
    /// It is no UTF-8, or larger than any state.
    #[error("{} is not a storage state: {reason}", .path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What it is instead.
        reason: &'static str,
    },
    /// The system does not let us.
    #[error("{} cannot be {act}: {source}", .path.display())]
    System {
        /// The file.
        path: PathBuf,
        /// `read`, `written` or `locked`.
        act: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// Another process holds the lock.
    #[error("{} is held by another process", .path.display())]
    Held {
        /// The lock's file.
        path: PathBuf,
    },
}

impl StorageFile {
    /// The file at this path, which need not be there yet.
    pub fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it holds; nothing where it is not there.
    ///
    /// # Errors
    /// [`StorageFileError`].
    pub fn read(&self) -> Result<Option<StorageState>, StorageFileError> {
        let failed = |source| StorageFileError::System { path: self.path.clone(), act: "read", source };
        let foreign = |reason| StorageFileError::Foreign { path: self.path.clone(), reason };
        let file = match open(OpenOptions::new().read(true), &self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        warn_of_readers(&self.path, &file);
        let mut bytes = Vec::new();
        file.take(SIZE_LIMIT + 1).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 > SIZE_LIMIT {
            return Err(foreign("it is larger than 256 MB"));
        }
        let text = String::from_utf8(bytes).map_err(|_| foreign("it is not UTF-8"))?;
        let state = StorageState::parse(text.strip_prefix('\u{feff}').unwrap_or(&text))
            .map_err(|problem| StorageFileError::Damaged { path: self.path.clone(), problem })?;
        Ok(Some(state))
    }

    /// Reads the file, changes what it holds, and replaces it, while nobody else does. Nothing is written where
    /// `change` leaves the state as it is.
    ///
    /// # Errors
    /// [`StorageFileError`]; the file is as it was then.
    pub fn update(&self, change: impl FnOnce(&mut StorageState)) -> Result<(), StorageFileError> {
        let failed = |source| StorageFileError::System { path: self.path.clone(), act: "written", source };
        let folder = folder_of(&self.path);
        create_directory(folder).map_err(failed)?;
        let _lock = self.lock()?;
        let known = self.read()?;
        let mut state = known.clone().unwrap_or_default();
        change(&mut state);
        if state == known.unwrap_or_default() {
            return Ok(());
        }
        replace(folder, &self.path, state.to_text().as_bytes()).map_err(failed)
    }

    /// The lock lies beside the file, since the file itself is replaced.
    fn lock(&self) -> Result<File, StorageFileError> {
        let mut name = self.path.file_name().unwrap_or_default().to_owned();
        name.push(".lock");
        let path = self.path.with_file_name(name);
        let failed = |source| StorageFileError::System { path: path.clone(), act: "locked", source };
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = open(&mut options, &path).map_err(failed)?;
        let begun = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::WouldBlock) if begun.elapsed() < LOCK_PATIENCE => std::thread::sleep(LOCK_INTERVAL),
                Err(TryLockError::WouldBlock) => return Err(StorageFileError::Held { path }),
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
        }
    }
}

/// Opens a plain file, and says what is there in place of one.
fn open(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    open_plain_with(options, path).map_err(|error| match fs::symlink_metadata(path) {
        Ok(found) if error.kind() == io::ErrorKind::InvalidInput => {
            let what = match found.file_type() {
                kind if kind.is_symlink() => "a symbolic link",
                kind if kind.is_dir() => "a folder",
                _ => "a device or a pipe",
            };
            io::Error::new(error.kind(), format!("it is {what}, not a plain file"))
        }
        _ => error,
    })
}

#[cfg(unix)]
fn warn_of_readers(path: &Path, file: &File) {
    use std::os::unix::fs::PermissionsExt;
    if file.metadata().is_ok_and(|found| found.permissions().mode() & 0o077 != 0) {
        tracing::warn!(path = %path.display(), "other users can read this file, which holds live credentials; chmod 600 it");
    }
}

#[cfg(not(unix))]
fn warn_of_readers(_: &Path, _: &File) {}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."))
}

/// Puts a new file in the place of the old one, whole and on the disk, or leaves the old one alone.
fn replace(folder: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Ok(found) = fs::symlink_metadata(path)
        && !found.is_file()
    {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "something that is not a plain file is in its place"));
    }
    // Created exclusively, for its owner alone.
    let mut file = tempfile::Builder::new().prefix(".storage-state-").suffix(".tmp").tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    #[cfg(unix)]
    File::open(folder)?.sync_all()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = r#"{"cookies": [{"name": "a", "value": "1", "domain": "a.test"}], "origins": []}"#;

    fn state(text: &str) -> StorageState {
        StorageState::parse(text).unwrap()
    }

    #[test]
    fn a_file_is_made_for_its_owner_alone_in_a_folder_that_is_made_too() {
        let home = tempfile::tempdir().unwrap();
        let file = StorageFile::at(home.path().join("new/folder/state.json"));
        assert_eq!(file.read().unwrap(), None);
        file.update(|found| found.merge(state(ONE))).unwrap();
        assert_eq!(file.read().unwrap(), Some(state(ONE)));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode(file.path()), 0o600);
            assert_eq!(mode(file.path().parent().unwrap()), 0o700);
        }
        let names: Vec<_> = fs::read_dir(file.path().parent().unwrap()).unwrap().flatten().collect();
        assert_eq!(names.len(), 2, "the file and its lock: {names:?}");
    }

    #[test]
    fn a_change_of_nothing_writes_nothing() {
        let home = tempfile::tempdir().unwrap();
        let file = StorageFile::at(home.path().join("state.json"));
        file.update(|_| {}).unwrap();
        assert!(!file.path().exists());
        fs::write(file.path(), ONE).unwrap();
        file.update(|_| {}).unwrap();
        assert_eq!(fs::read_to_string(file.path()).unwrap(), ONE);
    }

    #[test]
    fn a_damaged_file_is_an_error_that_names_it_and_stays_as_it_is() {
        let home = tempfile::tempdir().unwrap();
        let file = StorageFile::at(home.path().join("state.json"));
        for damaged in ["", "{\"cookies\": [{", "\u{0}", "[1]"] {
            fs::write(file.path(), damaged).unwrap();
            for error in [file.read().unwrap_err(), file.update(|found| found.merge(state(ONE))).unwrap_err()] {
                let error = error.to_string();
                assert!(error.contains("state.json is damaged at ") && error.contains("line 1 column"), "{error}");
            }
            assert_eq!(fs::read_to_string(file.path()).unwrap(), damaged);
        }
        fs::write(file.path(), [0xff, 0xfe]).unwrap();
        assert!(file.read().unwrap_err().to_string().contains("not UTF-8"));
    }

    #[cfg(unix)]
    #[test]
    fn nothing_is_read_or_written_through_a_link() {
        let home = tempfile::tempdir().unwrap();
        let victim = home.path().join("victim");
        fs::write(&victim, ONE).unwrap();
        for link in ["state.json", "state.json.lock"] {
            let folder = tempfile::tempdir_in(home.path()).unwrap();
            std::os::unix::fs::symlink(&victim, folder.path().join(link)).unwrap();
            let file = StorageFile::at(folder.path().join("state.json"));
            let error = file.update(|found| *found = StorageState::default()).unwrap_err().to_string();
            assert!(error.contains("symbolic link"), "{error}");
        }
        assert_eq!(fs::read_to_string(&victim).unwrap(), ONE);
        let folder = StorageFile::at(home.path().to_owned());
        assert!(folder.read().unwrap_err().to_string().contains("a folder"));
    }

    #[test]
    fn writers_wait_for_each_other_and_none_loses_anything() {
        let home = tempfile::tempdir().unwrap();
        let file = StorageFile::at(home.path().join("state.json"));
        std::thread::scope(|scope| {
            for writer in 0..8 {
                let file = file.clone();
                scope.spawn(move || {
                    for round in 0..5 {
                        let text = format!(
                            r#"{{"cookies": [{{"name": "c{writer}-{round}", "value": "1", "domain": "a.test"}}]}}"#
                        );
                        file.update(|found| found.merge(state(&text))).unwrap();
                    }
                });
            }
        });
        assert_eq!(file.read().unwrap().unwrap().counts(), (40, 0));
    }

    #[test]
    fn a_lock_that_is_never_let_go_of_is_an_error() {
        let home = tempfile::tempdir().unwrap();
        let file = StorageFile::at(home.path().join("state.json"));
        let held = file.lock().unwrap();
        let error = file.update(|found| found.merge(state(ONE))).unwrap_err().to_string();
        assert!(error.contains("state.json.lock is held by another process"), "{error}");
        drop(held);
        file.update(|found| found.merge(state(ONE))).unwrap();
    }
}
