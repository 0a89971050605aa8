//! A file that is being written.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Creates a file that was not there, for us alone; `O_EXCL` does not follow links either.
pub(crate) fn write_new(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// A new artifact. Unless it is [finished](Self::finish) it is removed again: a torn file is worse than none.
#[derive(Debug)]
pub(crate) struct NewArtifact {
    file: File,
    path: PathBuf,
    finished: bool,
}

impl NewArtifact {
    /// Creates the file.
    pub(super) fn create(path: PathBuf) -> io::Result<Self> {
        let file = write_new(&path)?;
        Ok(Self { file, path, finished: false })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Keeps the file.
    pub(crate) fn finish(mut self) -> io::Result<PathBuf> {
        self.file.flush()?;
        self.finished = true;
        Ok(self.path.clone())
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

impl Drop for NewArtifact {
    fn drop(&mut self) {
        if !self.finished {
            // Where it cannot be removed there is nobody to tell, and nothing more to do.
            let _ = fs::remove_file(&self.path);
        }
    }
}
