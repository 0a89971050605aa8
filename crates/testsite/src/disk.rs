//! Disks that are soon full.

use std::io;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

/// A file system of a few kilobytes, until it is dropped.
#[derive(Debug)]
pub struct SmallDisk {
    folder: TempDir,
}

impl SmallDisk {
    /// A disk with room for so many kilobytes, whose folder others may pass through. Nothing where this user may not
    /// mount one, which only root may.
    ///
    /// # Errors
    /// Those of making a folder.
    #[expect(clippy::print_stdout, reason = "whoever runs the test is to see that it tested nothing")]
    pub fn mount(kilobytes: u32) -> io::Result<Option<Self>> {
        let folder = tempfile::tempdir()?;
        let mut mount = Command::new("mount");
        let size = format!("size={kilobytes}k,mode=0711");
        let mounted = mount.args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(folder.path()).output();
        if mounted.is_ok_and(|output| output.status.success()) {
            return Ok(Some(Self { folder }));
        }
        println!("only root can make a small disk; nothing was tested");
        Ok(None)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // A disk that is in use goes once it is not.
        let _ = Command::new("umount").arg("--lazy").arg(self.folder.path()).output();
    }
}
