//! The directory of a durable table on a real file system.
//!
//! The directory and its files stay open, and are known by their descriptors: the directory may be
//! renamed while the table is in use, and a process may close descriptors that it does not know
//! ([`KeptFile`]).

use super::lock::flock;
use super::{DiskFile, HomeDir};
use crate::sync::before_disk_call;
use crate::sys::file::{self, FileRights, KeptFile, OpenDir};
use crate::sys::process::effective_uid;
use std::ffi::CString;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;

/// A directory.
pub(crate) struct RealHome {
    dir: KeptFile,
    like: &'static str,
    rights: FileRights,
    writable: bool,
}

impl RealHome {
    /// Keeps a directory that was just opened. All users give new files the mode and the group of
    /// the file `like` in it, and these rights if that is not there.
    pub(crate) fn open(
        dir: OwnedFd,
        path: &Path,
        like: &'static str,
        rights: FileRights,
    ) -> io::Result<Self> {
        let info = file::len_and_blocks(dir.as_fd())?;
        if info.kind != libc::S_IFDIR {
            return Err(io::Error::from_raw_os_error(libc::ENOTDIR));
        }
        Ok(Self {
            dir: KeptFile::new(dir, &info, path, false)?,
            like,
            rights,
            writable: true,
        })
    }

    /// Opens a directory whose new files get this mode.
    pub(crate) fn of_mode(path: &Path, mode: u32) -> io::Result<Self> {
        Self::open(
            file::open(path, false)?,
            path,
            "",
            FileRights::of_mode(mode),
        )
    }

    /// Keeps a directory whose files are only read.
    pub(crate) fn read_only(dir: OwnedFd, path: &Path) -> io::Result<Self> {
        let home = Self::open(dir, path, "", FileRights::of_mode(0))?;
        Ok(Self {
            writable: false,
            ..home
        })
    }

    fn with<T>(&self, action: impl FnOnce(&OpenDir) -> io::Result<T>) -> io::Result<T> {
        self.dir
            .with(|fd| action(&OpenDir::from(fd.try_clone_to_owned()?)))
    }

    fn opened(&self, fd: OwnedFd, name: &str, writable: bool) -> io::Result<Arc<dyn DiskFile>> {
        let info = file::len_and_blocks(fd.as_fd())?;
        let path = self.dir.path().join(name);
        Ok(Arc::new(RealFile(KeptFile::new(
            fd, &info, &path, writable,
        )?)))
    }
}

impl HomeDir for RealHome {
    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        before_disk_call();
        let c_name = CString::new(name)?;
        let fd = self.with(|dir| dir.open_file(&c_name, self.writable, file::Links::Followed))?;
        self.opened(fd, name, self.writable)
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        before_disk_call();
        let (c_name, like) = (CString::new(name)?, CString::new(self.like)?);
        let fd = self.with(|dir| {
            let rights = dir
                .info_of(&like, true)
                .map_or(self.rights, |info| FileRights {
                    mode: info.mode & 0o666,
                    group: Some(info.gid),
                    is_lenient: true,
                });
            file::create_named_in(dir.as_fd(), &c_name, rights)
        })?;
        self.opened(fd, name, true)
    }

    fn claim(&self, name: &str) -> io::Result<Option<Arc<dyn DiskFile>>> {
        let c_name = CString::new(name)?;
        loop {
            before_disk_call();
            let made = self
                .dir
                .with(|dir| file::create_named_in(dir, &c_name, self.rights));
            let fd = match made {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    match self.with(|dir| dir.open_file(&c_name, true, file::Links::Refused)) {
                        // Its writer has given it its name.
                        Err(error) if error.kind() == ErrorKind::NotFound => continue,
                        opened => opened?,
                    }
                }
                made => made?,
            };
            if !flock(fd.as_fd(), libc::LOCK_EX | libc::LOCK_NB)? {
                return Ok(None);
            }
            let info = file::len_and_blocks(fd.as_fd())?;
            // The one who had the lock may have given the file its name, or removed it.
            let is_it = self
                .with(|dir| dir.info_of(&c_name, false))
                .is_ok_and(|now| (now.dev, now.ino) == (info.dev, info.ino));
            if !is_it {
                continue;
            }
            if info.uid != effective_uid() || info.names != 1 || !info.is_regular {
                let why = format!("{name} belongs to another user");
                return Err(io::Error::new(ErrorKind::PermissionDenied, why));
            }
            before_disk_call();
            file::set_len(fd.as_fd(), 0)?;
            return self.opened(fd, name, true).map(Some);
        }
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        before_disk_call();
        let (from, to) = (CString::new(from)?, CString::new(to)?);
        self.dir.with(|dir| file::rename(dir, &from, &to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        before_disk_call();
        let name = CString::new(name)?;
        self.with(|dir| dir.unlink(&name))
    }

    fn names(&self) -> io::Result<Vec<String>> {
        let names = self.with(OpenDir::names)?;
        // All of ours are text.
        Ok(names.into_iter().flat_map(CString::into_string).collect())
    }

    fn sync(&self) -> io::Result<()> {
        before_disk_call();
        self.dir.with(file::sync)
    }
}

struct RealFile(KeptFile);

impl DiskFile for RealFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.with(file::len_and_blocks)?.len)
    }

    fn read_at(&self, out: &mut [u8], offset: u64) -> io::Result<usize> {
        self.0.with(|fd| file::read_at(fd, out, offset))
    }

    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        before_disk_call();
        self.0.with(|fd| file::write_at(fd, bytes, offset))
    }

    fn allocate(&self, len: u64) -> io::Result<()> {
        before_disk_call();
        self.0.with(|fd| file::allocate(fd, 0, len))
    }

    fn sync_data(&self) -> io::Result<()> {
        before_disk_call();
        self.0.with(file::sync_data)
    }
}
