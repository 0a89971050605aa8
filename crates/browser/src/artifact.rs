//! Artifacts: the only files that a page can influence. Names are ours, files are created
//! exclusively and never through links.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bathy_chromium::Janitor;
use tokio::sync::OnceCell;

use crate::Error;

/// How often a name is tried anew when something of this name exists.
const ATTEMPTS: usize = 16;

/// A safe single path segment, made by us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ArtifactName(String);

impl ArtifactName {
    /// A fresh name such as `screenshot-20261130-191545-k3x9.png`; both parts are words of ours.
    pub(crate) fn fresh(kind: &'static str, extension: &'static str) -> Self {
        let now = time::OffsetDateTime::now_utc();
        let mark: String = (0..4).map(|_| char::from(rand::random_range(b'a'..=b'z'))).collect();
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
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// The folder that artifacts go to. A cheap handle.
#[derive(Debug, Clone)]
pub(crate) struct Artifacts {
    folder: Arc<Folder>,
}

#[derive(Debug)]
enum Folder {
    /// The operator's; made when the first artifact comes.
    Given(PathBuf),
    /// Ours, made when the first artifact comes.
    Private(Box<OnceCell<PrivateFolder>>),
}

/// A folder that goes with its last handle, or with this process however it dies.
#[derive(Debug)]
struct PrivateFolder {
    path: PathBuf,
    _janitor: Janitor,
}

impl Artifacts {
    /// Artifacts in a folder of the operator's, or in a private one that is removed with the last handle.
    pub(crate) fn open(directory: Option<PathBuf>) -> Self {
        let folder = directory.map_or_else(|| Folder::Private(Box::default()), Folder::Given);
        Self { folder: Arc::new(folder) }
    }

    async fn directory(&self) -> io::Result<&Path> {
        match &*self.folder {
            Folder::Given(path) => Ok(path),
            Folder::Private(folder) => {
                let folder = folder.get_or_try_init(|| async { PrivateFolder::choose() }).await?;
                Ok(&folder.path)
            }
        }
    }

    /// Writes a new artifact, whole or not at all, and says where it is.
    ///
    /// # Errors
    /// [`Error::Artifact`] with the system's reason, such as a full disk.
    pub(crate) async fn write(
        &self,
        kind: &'static str,
        extension: &'static str,
        bytes: bytes::Bytes,
    ) -> Result<PathBuf, Error> {
        let failed = |path: &Path, error: &io::Error| Error::Artifact {
            name: path.display().to_string(),
            reason: error.to_string(),
        };
        let directory =
            self.directory().await.map_err(|error| failed(Path::new("the folder for artifacts"), &error))?.to_owned();
        let written = tokio::task::spawn_blocking(move || {
            write(&directory, kind, extension, &bytes).map_err(|error| (directory, error))
        });
        let written = written.await.map_err(|error| Error::ActionFailed(error.to_string()))?;
        written.map_err(|(directory, error)| failed(&directory, &error))
    }
}

impl PrivateFolder {
    /// Chooses a name that nobody can guess. The folder itself is made by the first artifact, after the janitor that
    /// removes it is at its post.
    fn choose() -> io::Result<Self> {
        let parent = std::path::absolute(std::env::temp_dir())?;
        let name: String = (0..20).map(|_| char::from(rand::random_range(b'a'..=b'z'))).collect();
        let path = parent.join(format!("bathysphere-artifacts-{name}"));
        let janitor = Janitor::start(&path)?;
        Ok(Self { path, _janitor: janitor })
    }
}

/// Writes a file of a fresh name, whole or not at all.
fn write(directory: &Path, kind: &'static str, extension: &'static str, bytes: &[u8]) -> io::Result<PathBuf> {
    create_directory(directory)?;
    for _ in 0..ATTEMPTS {
        let path = directory.join(ArtifactName::fresh(kind, extension).as_str());
        let mut file = match create(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(error),
        };
        return file.write_all(bytes).and_then(|()| file.flush()).map(|()| path.clone()).inspect_err(|_| {
            // A torn picture is worse than none; that it can't be removed changes nothing.
            let _ = fs::remove_file(&path);
        });
    }
    Err(io::ErrorKind::AlreadyExists.into())
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

    async fn written(artifacts: &Artifacts, bytes: &'static [u8]) -> Result<PathBuf, Error> {
        artifacts.write("screenshot", "png", bytes::Bytes::from_static(bytes)).await
    }

    #[tokio::test]
    async fn each_artifact_is_a_file_of_its_own_that_only_we_can_read_and_that_goes_with_us() {
        let artifacts = Artifacts::open(None);
        let first = written(&artifacts, b"1").await.unwrap();
        let second = written(&artifacts, b"2").await.unwrap();
        assert_ne!(first, second);
        assert_eq!(fs::read(&first).unwrap(), b"1");
        #[cfg(unix)]
        assert_eq!(
            std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&first).unwrap().permissions()) & 0o777,
            0o600
        );
        let directory = first.parent().unwrap().to_owned();
        drop(artifacts);
        let gone = async {
            while directory.exists() {
                tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(std::time::Duration::from_secs(10), gone).await.unwrap();
    }

    #[tokio::test]
    async fn a_folder_that_cannot_be_written_is_an_error_that_names_it() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = written(&Artifacts::open(Some(file.path().join("below-a-file"))), b"").await.unwrap_err();
        assert!(matches!(&error, Error::Artifact { name, .. } if name.contains("below-a-file")), "{error}");
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
