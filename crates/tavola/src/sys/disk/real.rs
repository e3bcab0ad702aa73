//! The directory of a durable table on a real file system.

use super::lock::flock;
use super::{DiskFile, HomeDir};
use crate::sync::before_disk_call;
use crate::sys::process::effective_uid;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A directory, by its path, and the mode of new files.
pub(crate) struct RealHome {
    path: PathBuf,
    dir: File,
    mode: u32,
    writable: bool,
}

impl RealHome {
    pub(crate) fn open(path: &Path, mode: u32) -> io::Result<Self> {
        let dir = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_DIRECTORY)
            .open(path)?;
        Ok(Self {
            // The process may change its working directory.
            path: std::path::absolute(path)?,
            dir,
            mode,
            writable: true,
        })
    }

    /// Opens a directory whose files are only read.
    pub(crate) fn read_only(path: &Path) -> io::Result<Self> {
        let home = Self::open(path, 0)?;
        Ok(Self {
            writable: false,
            ..home
        })
    }
}

impl HomeDir for RealHome {
    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        before_disk_call();
        let file = OpenOptions::new()
            .read(true)
            .write(self.writable)
            .open(self.path.join(name))?;
        Ok(Arc::new(RealFile(file)))
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        before_disk_call();
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(self.mode)
            .open(self.path.join(name))?;
        Ok(Arc::new(RealFile(file)))
    }

    fn claim(&self, name: &str) -> io::Result<Option<Arc<dyn DiskFile>>> {
        let path = self.path.join(name);
        loop {
            before_disk_call();
            let file = OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .mode(self.mode)
                .custom_flags(libc::O_NOFOLLOW)
                .open(&path)?;
            if !flock(&file, libc::LOCK_EX | libc::LOCK_NB)? {
                return Ok(None);
            }
            let info = file.metadata()?;
            // The one who had the lock may have given the file its name, or removed it.
            let is_it = std::fs::symlink_metadata(&path)
                .is_ok_and(|now| (now.dev(), now.ino()) == (info.dev(), info.ino()));
            if !is_it {
                continue;
            }
            if info.uid() != effective_uid() || info.nlink() != 1 || !info.is_file() {
                let why = format!("{} belongs to another user", path.display());
                return Err(io::Error::new(ErrorKind::PermissionDenied, why));
            }
            file.set_len(0)?;
            return Ok(Some(Arc::new(RealFile(file))));
        }
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        before_disk_call();
        std::fs::rename(self.path.join(from), self.path.join(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        before_disk_call();
        std::fs::remove_file(self.path.join(name))
    }

    fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(&self.path)? {
            names.extend(entry?.file_name().into_string());
        }
        Ok(names)
    }

    fn sync(&self) -> io::Result<()> {
        before_disk_call();
        self.dir.sync_all()
    }
}

struct RealFile(File);

impl DiskFile for RealFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn read_at(&self, out: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut done = 0;
        while done < out.len() {
            match self.0.read_at(&mut out[done..], offset + done as u64) {
                Ok(0) => break,
                Ok(count) => done += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(done)
    }

    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        before_disk_call();
        self.0.write_all_at(bytes, offset)
    }

    fn allocate(&self, len: u64) -> io::Result<()> {
        crate::sys::file::allocate(self.0.as_fd(), 0, len)
    }

    fn sync_data(&self) -> io::Result<()> {
        before_disk_call();
        self.0.sync_data()
    }
}
