//! Where the browser writes downloads before they are ours.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::artifact::open_plain;

/// The browser's ending for files that it still writes.
const PARTIAL: &str = "crdownload";

/// The folder that the browser writes downloads into, each under its id. A browser that was taken over can put there
/// what it likes.
#[derive(Debug, Clone)]
pub(crate) struct Staging {
    folder: PathBuf,
    /// The user that the browser runs as, where it is not ours.
    owner: Option<u32>,
}

impl Staging {
    pub(crate) fn new(folder: PathBuf, owner: Option<u32>) -> Self {
        Self { folder, owner }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Opens what the browser has written: a plain file of its own, and no other name of somebody else's.
    pub(super) fn open(&self, id: &DownloadId) -> io::Result<File> {
        let file = open_plain(&self.folder.join(&id.0))?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let found = file.metadata()?;
            if found.nlink() != 1 || self.owner.is_some_and(|owner| owner != found.uid()) {
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is not a file of the browser's own"));
            }
        }
        Ok(file)
    }

    /// How much has been written.
    pub(super) fn written(&self, id: &DownloadId) -> u64 {
        self.names(id)
            .iter()
            .filter_map(|path| fs::symlink_metadata(path).ok())
            .map(|found| found.len())
            .max()
            .unwrap_or(0)
    }

    /// Removes whatever the browser has written.
    pub(super) fn remove(&self, id: &DownloadId) {
        for path in self.names(id) {
            // Mostly there is nothing; what cannot be removed goes with the browser's home.
            let _ = fs::remove_file(path);
        }
    }

    /// The bytes that are free where the browser writes.
    pub(super) fn free(&self) -> u64 {
        bathy_chromium::free_bytes(&self.folder).unwrap_or(u64::MAX)
    }

    fn names(&self, id: &DownloadId) -> [PathBuf; 2] {
        [self.folder.join(&id.0), self.folder.join(format!("{}.{PARTIAL}", id.0))]
    }
}

/// The browser's name for a download: a GUID, and so a safe name of a file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct DownloadId(String);

impl DownloadId {
    /// Only what looks like a GUID is one.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let good =
            (1..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        good.then(|| Self(text.to_owned()))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_file_of_the_browsers_own_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let user = std::os::unix::fs::MetadataExt::uid(&fs::metadata(folder.path()).unwrap());
        let staging = Staging::new(folder.path().to_owned(), Some(user));
        let id = DownloadId::parse("1b4e28ba-2fa1-11d2-883f-0016d3cca427").unwrap();
        let path = folder.path().join(id.as_str());
        assert!(staging.open(&id).is_err());

        fs::write(&path, "x").unwrap();
        assert!(staging.open(&id).is_ok());
        let other = Staging::new(folder.path().to_owned(), Some(user + 1));
        assert_eq!(other.open(&id).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        let second = folder.path().join("second");
        fs::hard_link(&path, &second).unwrap();
        assert_eq!(staging.open(&id).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(&second, &path).unwrap();
        assert!(staging.open(&id).is_err());

        staging.remove(&id);
        fs::write(folder.path().join(format!("{}.crdownload", id.as_str())), "12345").unwrap();
        assert_eq!(staging.written(&id), 5);
        staging.remove(&id);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "the link's target stays");
        assert_eq!(staging.written(&id), 0);
    }

    #[test]
    fn no_path_is_an_id() {
        for text in ["", "..", "a/b", "a\\b", "a.b", "é", "\0"] {
            assert_eq!(DownloadId::parse(text), None, "{text:?}");
        }
    }
}
