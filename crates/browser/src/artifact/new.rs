//! A file that is being written.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::ArtifactName;

/// How many numbers are tried for a name that is taken.
const ATTEMPTS: u32 = 9_999;

/// Creates a file that was not there, for us alone; `O_EXCL` does not follow links either.
pub(crate) fn write_new(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// A new artifact. Unless it is [finished](Self::finish) nothing of it stays: a torn file is worse than none. Where the
/// system lets it, that holds for a sudden death of ours, too.
#[derive(Debug)]
pub(crate) struct NewArtifact {
    file: File,
    directory: PathBuf,
    name: ArtifactName,
    /// Where the file is already, though it is not whole.
    torn: Option<Torn>,
}

/// A file that is not whole, removed with this.
#[derive(Debug)]
struct Torn(PathBuf);

impl NewArtifact {
    /// Creates the file: without a name, where the system has such files, else under its own.
    pub(super) fn create(directory: PathBuf, name: ArtifactName) -> io::Result<Self> {
        if let Some(file) = nameless(&directory) {
            return Ok(Self { file, directory, name, torn: None });
        }
        let (path, file) = free_name(&directory, &name, write_new)?;
        Ok(Self { file, directory, name, torn: Some(Torn(path)) })
    }

    /// Where it is to be, unless that is taken by then.
    pub(crate) fn path(&self) -> PathBuf {
        self.directory.join(self.name.to_string())
    }

    /// Keeps the file and says where it is.
    pub(crate) fn finish(mut self) -> io::Result<PathBuf> {
        self.file.flush()?;
        match self.torn.take() {
            Some(torn) => Ok(torn.whole()),
            None => free_name(&self.directory, &self.name, |path| give_name(&self.file, path)).map(|(path, ())| path),
        }
    }
}

impl Write for NewArtifact {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Torn {
    fn whole(mut self) -> PathBuf {
        std::mem::take(&mut self.0)
    }
}

impl Drop for Torn {
    fn drop(&mut self) {
        if !self.0.as_os_str().is_empty() {
            // Where it cannot be removed there is nobody to tell, and nothing more to do.
            let _ = fs::remove_file(&self.0);
        }
    }
}

/// Makes something under this name, or under this name with a number where it is taken.
fn free_name<T>(
    directory: &Path,
    name: &ArtifactName,
    attempt: impl Fn(&Path) -> io::Result<T>,
) -> io::Result<(PathBuf, T)> {
    let names = std::iter::once(name.clone()).chain((2..=ATTEMPTS).map(|number| name.numbered(number)));
    for name in names {
        let path = directory.join(name.to_string());
        match attempt(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|made| (path, made)),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// A file for us alone that is in no folder yet (`O_TMPFILE`); none where the file system has no such files.
#[cfg(target_os = "linux")]
fn nameless(directory: &Path) -> Option<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let file = OpenOptions::new().write(true).mode(0o600).custom_flags(libc::O_TMPFILE).open(directory).ok()?;
    descriptor(&file).exists().then_some(file)
}

/// Puts a file that has no name into a folder. What stands there under the name stays, links included.
#[cfg(target_os = "linux")]
fn give_name(file: &File, path: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    Ok(linkat(CWD, descriptor(file), CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

/// The way to name an open file that needs no privilege (`open(2)`, on `O_TMPFILE`).
#[cfg(target_os = "linux")]
fn descriptor(file: &File) -> PathBuf {
    use std::os::fd::AsRawFd;
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

#[cfg(not(target_os = "linux"))]
fn nameless(_: &Path) -> Option<File> {
    None
}

#[cfg(not(target_os = "linux"))]
fn give_name(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_finished_is_never_there_by_either_way() {
        let directory = tempfile::tempdir().unwrap();
        let name = ArtifactName::near("a.txt");
        let count = || fs::read_dir(directory.path()).unwrap().count();
        let mut named = NewArtifact {
            torn: Some(Torn(directory.path().join("a.txt"))),
            file: write_new(&directory.path().join("a.txt")).unwrap(),
            directory: directory.path().to_owned(),
            name: name.clone(),
        };
        named.write_all(b"torn").unwrap();
        assert_eq!(count(), 1);
        drop(named);
        assert_eq!(count(), 0);

        let mut begun = NewArtifact::create(directory.path().to_owned(), name).unwrap();
        begun.write_all(b"whole").unwrap();
        let left_by_a_sudden_death = count();
        assert_eq!(left_by_a_sudden_death, usize::from(begun.torn.is_some()));
        assert!(begun.torn.is_none() || !cfg!(target_os = "linux"), "this file system has files without a name");
        // The name was taken meanwhile.
        fs::write(directory.path().join("a.txt"), "theirs").unwrap();
        let path = begun.finish().unwrap();
        assert_eq!(
            (path.file_name().unwrap().to_str(), fs::read(&path).unwrap()),
            (Some("a (2).txt"), b"whole".to_vec())
        );
        assert_eq!(fs::read(directory.path().join("a.txt")).unwrap(), b"theirs");
        let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&path).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600);
    }
}
