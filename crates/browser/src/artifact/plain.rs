//! Opening files that others put somewhere.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

/// Opens a plain file for reading, and nothing else: a link is not followed, a pipe does not make us wait, and what was
/// looked at is what is read.
///
/// # Errors
/// [`io::ErrorKind::InvalidInput`] for what is there and is no plain file; otherwise the system's.
pub(crate) fn open_plain(path: &Path) -> io::Result<File> {
    open_plain_with(OpenOptions::new().read(true), path)
}

/// The same for more than reading.
///
/// # Errors
/// As [`open_plain`].
pub(crate) fn open_plain_with(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY);
    let not_plain = || io::Error::new(io::ErrorKind::InvalidInput, "it is not a plain file");
    let file = options.open(path).map_err(|error| match error.raw_os_error() {
        // A link, a socket, or a pipe or device with nothing behind it.
        Some(libc::ELOOP | libc::ENXIO) => not_plain(),
        _ => error,
    })?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(not_plain()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_file_can_be_opened() {
        let folder = tempfile::tempdir().unwrap();
        let plain = folder.path().join("plain");
        std::fs::write(&plain, "x").unwrap();
        assert!(open_plain(&plain).is_ok());
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&plain, &link).unwrap();
        let socket = folder.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for path in [&link, &socket, &pipe, folder.path(), Path::new("/dev/null"), Path::new("/dev/zero")] {
            let error = open_plain(path).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{}: {error}", path.display());
        }
        assert_eq!(open_plain(&folder.path().join("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
