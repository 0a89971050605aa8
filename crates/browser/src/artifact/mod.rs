//! Artifacts: the only files that a page can influence. Names are ours, files are created
//! exclusively and never through links.

mod name;
mod new;
mod plain;

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bathy_chromium::Janitor;
use tokio::sync::OnceCell;

use crate::Error;

pub(crate) use name::{ArtifactName, random_letters};
pub(crate) use new::{NewArtifact, write_new};
pub(crate) use plain::{open_plain, open_plain_with};

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
    pub(crate) async fn write(&self, name: ArtifactName, bytes: bytes::Bytes) -> Result<PathBuf, Error> {
        self.make(name, move |file| file.write_all(&bytes)).await
    }

    /// Makes a new artifact of what stands in an open file, at most `limit` bytes.
    ///
    /// # Errors
    /// As [`Artifacts::write`].
    pub(crate) async fn keep(&self, name: ArtifactName, mut source: File, limit: u64) -> Result<PathBuf, Error> {
        self.make(name, move |file| {
            // One byte more than is allowed tells that there is more.
            let copied = io::copy(&mut io::Read::take(&mut source, limit.saturating_add(1)), file)?;
            if copied > limit { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(()) }
        })
        .await
    }

    /// Begins a new artifact, to be written piece by piece.
    ///
    /// # Errors
    /// As [`Artifacts::write`].
    pub(crate) async fn begin(&self, name: ArtifactName) -> Result<NewArtifact, Error> {
        let directory = self.directory().await.map_err(|error| failed(Path::new(FOLDER), &error))?.to_owned();
        let begun = tokio::task::spawn_blocking(move || {
            create_directory(&directory)
                .and_then(|()| NewArtifact::create(directory.clone(), name))
                .map_err(|error| failed(&directory, &error))
        });
        begun.await.map_err(|error| Error::ActionFailed(error.to_string()))?
    }

    async fn make(
        &self,
        name: ArtifactName,
        writing: impl FnOnce(&mut NewArtifact) -> io::Result<()> + Send + 'static,
    ) -> Result<PathBuf, Error> {
        let mut file = self.begin(name).await?;
        let made = tokio::task::spawn_blocking(move || {
            let written = writing(&mut file);
            let path = file.path();
            written.and_then(|()| file.finish()).map_err(|error| failed(&path, &error))
        });
        made.await.map_err(|error| Error::ActionFailed(error.to_string()))?
    }
}

/// What the folder is called before it has a path.
const FOLDER: &str = "the folder for artifacts";

fn failed(path: &Path, error: &io::Error) -> Error {
    Error::Artifact { name: path.display().to_string(), reason: error.to_string() }
}

impl PrivateFolder {
    /// Chooses a name that nobody can guess. The folder itself is made by the first artifact, after the janitor that
    /// removes it is at its post.
    fn choose() -> io::Result<Self> {
        let parent = std::path::absolute(std::env::temp_dir())?;
        let path = parent.join(format!("bathysphere-artifacts-{}", random_letters(20)));
        let janitor = Janitor::start(&path)?;
        Ok(Self { path, _janitor: janitor })
    }
}

/// Makes a folder for us alone, and those above it that are missing.
pub(crate) fn create_directory(directory: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn written(artifacts: &Artifacts, bytes: &'static [u8]) -> Result<PathBuf, Error> {
        artifacts.write(ArtifactName::fresh("screenshot", "png"), bytes::Bytes::from_static(bytes)).await
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

    #[tokio::test]
    async fn a_name_that_is_taken_gets_a_number_and_a_link_in_the_way_is_never_followed() {
        let directory = tempfile::tempdir().unwrap();
        let victim = directory.path().join("victim");
        std::os::unix::fs::symlink(&victim, directory.path().join("a.csv")).unwrap();
        fs::write(directory.path().join("a (2).csv"), "theirs").unwrap();
        let artifacts = Artifacts::open(Some(directory.path().to_owned()));
        let path = artifacts.write(ArtifactName::near("../a.csv"), bytes::Bytes::from_static(b"ours")).await.unwrap();
        assert_eq!(path, directory.path().join("a (3).csv"));
        assert_eq!(fs::read(path).unwrap(), b"ours");
        assert!(!victim.exists());
    }

    #[tokio::test]
    async fn what_is_too_large_or_torn_leaves_nothing_behind() {
        let directory = tempfile::tempdir().unwrap();
        let artifacts = Artifacts::open(Some(directory.path().to_owned()));
        let source = || {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(&[0; 100]).unwrap();
            io::Seek::rewind(&mut file).unwrap();
            file
        };
        let error = artifacts.keep(ArtifactName::near("x"), source(), 99).await.unwrap_err();
        assert!(error.to_string().contains("file too large"), "{error}");
        drop(artifacts.begin(ArtifactName::near("x")).await.unwrap());
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
        assert!(artifacts.keep(ArtifactName::near("x"), source(), 100).await.is_ok());
    }
}
