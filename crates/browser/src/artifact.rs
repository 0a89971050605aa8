//! Artifacts: the only files that a page can influence. Names are ours, files are created
//! exclusively and never through links.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::Error;

/// How often a name is tried anew when something of this name exists.
const ATTEMPTS: usize = 16;

/// A safe single path segment, made by us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtifactName(String);

impl ArtifactName {
    /// A fresh name such as `screenshot-20261130-191545-k3x9.png`; both parts are words of ours.
    pub fn fresh(kind: &'static str, extension: &'static str) -> Self {
        let now = time::OffsetDateTime::now_utc();
        let mark: String = (0..4)
            .map(|_| char::from(rand::random_range(b'a'..=b'z')))
            .collect();
        Self(format!(
            "{kind}-{:04}{:02}{:02}-{:02}{:02}{:02}-{mark}.{extension}",
            now.year(),
            u8::from(now.month()),
            now.day(),
            now.hour(),
            now.minute(),
            now.second()
        ))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The folder that artifacts go to. A cheap handle.
#[derive(Debug, Clone)]
pub struct Artifacts {
    folder: Arc<Folder>,
}

#[derive(Debug)]
enum Folder {
    /// The operator's; made when the first artifact comes.
    Given(PathBuf),
    /// Ours, removed with the last handle.
    Private(tempfile::TempDir),
}

impl Artifacts {
    /// Artifacts in a folder of the operator's, or in a private one that is removed with the last handle.
    ///
    /// # Errors
    /// Those of making the private folder.
    pub fn open(directory: Option<PathBuf>) -> io::Result<Self> {
        let folder = match directory {
            Some(path) => Folder::Given(path),
            None => Folder::Private(
                tempfile::Builder::new()
                    .prefix("bathysphere-artifacts-")
                    .tempdir()?,
            ),
        };
        Ok(Self {
            folder: Arc::new(folder),
        })
    }

    /// The folder.
    pub fn directory(&self) -> &Path {
        match &*self.folder {
            Folder::Given(path) => path,
            Folder::Private(directory) => directory.path(),
        }
    }

    /// Writes a new artifact, whole or not at all, and says where it is.
    ///
    /// # Errors
    /// [`Error::Artifact`] with the system's reason, such as a full disk.
    pub async fn write(
        &self,
        kind: &'static str,
        extension: &'static str,
        bytes: bytes::Bytes,
    ) -> Result<PathBuf, Error> {
        let artifacts = self.clone();
        tokio::task::spawn_blocking(move || artifacts.write_now(kind, extension, &bytes))
            .await
            .map_err(|error| Error::ActionFailed(error.to_string()))?
    }

    fn write_now(
        &self,
        kind: &'static str,
        extension: &'static str,
        bytes: &[u8],
    ) -> Result<PathBuf, Error> {
        let directory = self.directory();
        let mut name = ArtifactName::fresh(kind, extension);
        let failed = |name: &ArtifactName, error: &io::Error| Error::Artifact {
            name: directory.join(name.as_str()).display().to_string(),
            reason: error.to_string(),
        };
        create_directory(directory).map_err(|error| failed(&name, &error))?;
        for _ in 0..ATTEMPTS {
            let path = directory.join(name.as_str());
            match create(&path) {
                Ok(mut file) => {
                    return match file.write_all(bytes).and_then(|()| file.flush()) {
                        Ok(()) => Ok(path),
                        Err(error) => {
                            // A torn picture is worse than none; that it can't be removed changes nothing.
                            let _ = fs::remove_file(&path);
                            Err(failed(&name, &error))
                        }
                    };
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    name = ArtifactName::fresh(kind, extension);
                }
                Err(error) => return Err(failed(&name, &error)),
            }
        }
        Err(failed(
            &name,
            &io::Error::from(io::ErrorKind::AlreadyExists),
        ))
    }
}

fn create_directory(directory: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}

/// Creates a file that was not there; `O_EXCL` does not follow links either.
fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn each_artifact_is_a_file_of_its_own_that_only_we_can_read() {
        let artifacts = Artifacts::open(None).unwrap();
        let first = artifacts
            .write("screenshot", "png", bytes::Bytes::from_static(b"1"))
            .await
            .unwrap();
        let second = artifacts
            .write("screenshot", "png", bytes::Bytes::from_static(b"2"))
            .await
            .unwrap();
        assert_ne!(first, second);
        assert_eq!(fs::read(&first).unwrap(), b"1");
        #[cfg(unix)]
        assert_eq!(
            std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&first).unwrap().permissions())
                & 0o777,
            0o600
        );
        let directory = artifacts.directory().to_owned();
        drop(artifacts);
        assert!(!directory.exists());
    }

    #[tokio::test]
    async fn a_folder_that_cannot_be_written_is_an_error_that_names_it() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let artifacts = Artifacts::open(Some(file.path().join("below-a-file"))).unwrap();
        let error = artifacts
            .write("screenshot", "png", bytes::Bytes::new())
            .await
            .unwrap_err();
        assert!(
            matches!(&error, Error::Artifact { name, .. } if name.contains("below-a-file")),
            "{error}"
        );
    }

    #[test]
    fn a_link_in_the_way_is_never_followed() {
        let directory = tempfile::tempdir().unwrap();
        let victim = directory.path().join("victim");
        #[cfg(unix)]
        std::os::unix::fs::symlink(&victim, directory.path().join("link.png")).unwrap();
        assert!(create(&directory.path().join("link.png")).is_err());
        assert!(!victim.exists());
    }
}
