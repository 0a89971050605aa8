//! Files that may be uploaded: plain files directly in the operator's folder, by their bare names.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::Error;
use crate::artifact::{open_plain, random_letters, write_new};

/// The most names of files that an error lists.
const LISTED: usize = 20;
/// The longest name of a file in bytes.
const LONGEST: usize = 255;

/// The files that a context may upload. Copies that the browser reads go with it.
#[derive(Debug)]
pub(crate) struct Uploads {
    /// The operator's folder.
    source: Option<PathBuf>,
    /// Where the copies of this context are.
    copies: PathBuf,
    /// The group that the browser reads as, where it is not ours.
    group: Option<u32>,
}

/// A file that may be uploaded, open.
#[derive(Debug)]
pub(crate) struct Upload {
    pub(crate) name: String,
    file: File,
}

impl Uploads {
    /// Nothing is made before the first upload. `id` is a safe name that no other context has.
    pub(crate) fn new(source: Option<PathBuf>, browser_folder: &Path, id: &str, group: Option<u32>) -> Self {
        Self { source, copies: browser_folder.join(id), group }
    }

    /// Opens a file by its bare name.
    ///
    /// # Errors
    /// [`Error::UploadNotAllowed`].
    pub(crate) fn open(&self, name: &str) -> Result<Upload, Error> {
        let refused = |reason: &str, available: Vec<String>| Error::UploadNotAllowed {
            name: name.chars().take(LONGEST).collect(),
            reason: reason.to_owned(),
            available,
        };
        let Some(source) = &self.source else {
            return Err(refused("the operator has not set uploadsDir, so nothing can be uploaded", Vec::new()));
        };
        if !is_bare(name) {
            return Err(refused("it is not a bare file name", names(source)));
        }
        match open_plain(&source.join(name)) {
            Ok(file) => Ok(Upload { name: name.to_owned(), file }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(refused("there is no such file in uploadsDir", names(source)))
            }
            Err(error) => Err(refused(&error.to_string(), names(source))),
        }
    }

    /// Copies files to where the browser can read them under the same names, and nobody can write them. It reads them
    /// when their form is sent, so they stay until the context ends.
    ///
    /// # Errors
    /// [`Error::Artifact`] with the system's reason.
    pub(crate) fn copy(&self, uploads: Vec<Upload>) -> Result<Vec<PathBuf>, Error> {
        let mut paths = Vec::new();
        for Upload { name, mut file } in uploads {
            let copied = self.folder().and_then(|folder| {
                let path = folder.join(&name);
                let mut copy = write_new(&path)?;
                io::copy(&mut file, &mut copy)?;
                self.share(&path, 0o640)?;
                Ok(path)
            });
            paths.push(copied.map_err(|error| Error::Artifact { name, reason: error.to_string() })?);
        }
        Ok(paths)
    }

    /// A fresh folder: two files of one name are two files.
    fn folder(&self) -> io::Result<PathBuf> {
        let folder = self.copies.join(random_letters(16));
        fs::create_dir_all(&folder)?;
        self.share(&self.copies, 0o750)?;
        self.share(&folder, 0o750)?;
        Ok(folder)
    }

    /// Lets the browser's group read.
    fn share(&self, path: &Path, mode: u32) -> io::Result<()> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::{PermissionsExt, chown};
            if self.group.is_some() {
                chown(path, None, self.group)?;
            }
            fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
        }
        Ok(())
    }
}

impl Drop for Uploads {
    fn drop(&mut self) {
        // Mostly there is nothing; what cannot be removed goes with the browser's home.
        let _ = fs::remove_dir_all(&self.copies);
    }
}

fn is_bare(name: &str) -> bool {
    !name.is_empty() && name.len() <= LONGEST && name != "." && name != ".." && !name.contains(['/', '\\', '\0'])
}

/// The plain files of the folder, some of them where they are many.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let plain = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    let mut names: Vec<String> = plain.filter_map(|entry| entry.file_name().into_string().ok()).take(LISTED).collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_files_directly_in_the_folder_can_be_opened() {
        let outside = tempfile::tempdir().unwrap();
        let source = outside.path().join("uploads");
        fs::create_dir_all(source.join("folder")).unwrap();
        fs::write(outside.path().join("secret"), "secret").unwrap();
        fs::write(source.join("good.txt"), "good").unwrap();
        fs::write(source.join("folder/inner.txt"), "inner").unwrap();
        std::os::unix::fs::symlink(outside.path().join("secret"), source.join("link")).unwrap();
        std::os::unix::fs::symlink(source.join("good.txt"), source.join("near-link")).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(source.join("pipe")).status().unwrap().success());
        let uploads = Uploads::new(Some(source.clone()), outside.path(), "copies", None);
        let absolute = source.join("good.txt").display().to_string();
        for name in [
            "../secret",
            "..",
            ".",
            "",
            "/etc/passwd",
            "folder/inner.txt",
            "folder",
            "folder\\inner.txt",
            "link",
            "near-link",
            "pipe",
            "missing",
            "good.txt\0",
            "./good.txt",
            &absolute,
            &"a".repeat(300),
        ] {
            let error = uploads.open(name).unwrap_err();
            assert!(matches!(error, Error::UploadNotAllowed { .. }), "{name:?}: {error}");
        }
        let paths = uploads.copy(vec![uploads.open("good.txt").unwrap(), uploads.open("good.txt").unwrap()]).unwrap();
        assert!(paths[0] != paths[1] && paths.iter().all(|path| path.ends_with("good.txt")));
        assert_eq!(fs::read_to_string(&paths[1]).unwrap(), "good");
        drop(uploads);
        assert!(!paths[0].exists() && source.join("good.txt").exists());
        let off = Uploads::new(None, outside.path(), "copies", None);
        assert!(off.open("good.txt").unwrap_err().to_string().contains("uploadsDir"));
    }
}
