//! A real file system that is cut: ext4 in a file, behind a loop device.
//!
//! The kernel can shut a file system down without writing anything more, as if power had failed:
//! what was not sent to the device is lost, and the file system's own journal is replayed by the
//! next mount. It needs root, a loop device and `mkfs.ext4`.

use crate::system::{becomes_private, shared_words, shut_down};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Release};

const BYTES: u64 = 256 << 20;

/// A file system in a file, mounted.
pub(super) struct Disk {
    image: PathBuf,
    at: PathBuf,
    is_cut: &'static AtomicU64,
}

impl Disk {
    /// Makes and mounts one. An error says what is missing for that.
    pub(super) fn make(dir: &Path) -> io::Result<Self> {
        let disk = Self {
            image: dir.join("disk.ext4"),
            at: dir.join("disk"),
            is_cut: shared_words(1)?.first().ok_or(io::ErrorKind::OutOfMemory)?,
        };
        if !becomes_private() {
            return Err(io::Error::other("this user may not mount"));
        }
        File::create(&disk.image)?.set_len(BYTES)?;
        std::fs::create_dir_all(&disk.at)?;
        run(Command::new("mkfs.ext4").arg("-q").arg(&disk.image))?;
        disk.mount()?;
        Ok(disk)
    }

    pub(super) fn path(&self) -> &Path {
        &self.at
    }

    fn mount(&self) -> io::Result<()> {
        let mut mount = Command::new("mount");
        run(mount.args(["-o", "loop"]).arg(&self.image).arg(&self.at))
    }

    /// Cuts it: from now on all calls fail.
    pub(super) fn cut(&self) -> io::Result<()> {
        self.is_cut.store(1, Release);
        shut_down(&File::open(&self.at)?)
    }

    /// Returns whether it was cut, so that every call may fail.
    pub(super) fn is_cut(&self) -> bool {
        self.is_cut.load(Acquire) != 0
    }

    /// Mounts it again. While nobody uses it.
    pub(super) fn restart(&self) -> io::Result<()> {
        run(Command::new("umount").arg(&self.at))?;
        self.is_cut.store(0, Release);
        self.mount()
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = run(Command::new("umount").arg(&self.at));
    }
}

fn run(command: &mut Command) -> io::Result<()> {
    let output = command.stdin(Stdio::null()).output();
    let name = command.get_program().display();
    let output = output.map_err(|error| io::Error::other(format!("{name}: {error}")))?;
    match output.status.success() {
        true => Ok(()),
        false => {
            let text = String::from_utf8_lossy(&output.stderr).trim().to_string();
            Err(io::Error::other(format!("{name}: {text}")))
        }
    }
}
