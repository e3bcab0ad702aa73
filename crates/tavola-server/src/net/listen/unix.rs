//! Listening on Unix sockets, whose files outlive who made them.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, Mode, fchmod, flock};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, bind, connect, listen};

use super::{Address, Listener, refused, socket};
use crate::net::error::{Error, Result};

/// How long a server waits for another that is just starting in the same folder.
const FOLDER_WAIT: Duration = Duration::from_secs(1);

/// The file of a Unix socket; removed when dropped, unless another is there now.
#[derive(Debug)]
pub(crate) struct SocketFile {
    path: PathBuf,
    /// Device and inode.
    identity: (u64, u64),
}

impl SocketFile {
    /// The file that is there now, if any.
    pub(crate) fn at(path: &Path) -> Option<Self> {
        Some(Self {
            path: path.to_path_buf(),
            identity: identity(path).ok()?,
        })
    }

    /// Leaves the file where it is.
    pub(crate) fn keep(mut self) {
        self.path.clear();
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if identity(&self.path).is_ok_and(|found| found == self.identity) {
            // Anyone who starts next replaces it if this fails.
            let _ = fs::remove_file(&self.path);
        }
    }
}

pub(super) fn open(path: PathBuf, mode: u32, backlog: i32) -> Result<Listener> {
    let bad_path = |source| Error::BadPath {
        path: path.clone(),
        source,
    };
    let address = SocketAddrUnix::new(&path).map_err(|errno| bad_path(errno.into()))?;
    let socket = socket(AddressFamily::UNIX)?;
    let lock = lock_folder(&path).map_err(bad_path)?;
    remove_stale_socket(&path, &address)?;
    let mode = Mode::from_raw_mode(mode & 0o777);
    // Before the file is there: nobody may connect in between whom the mode shuts out. The
    // process's mask takes away more, so that it is set once more after.
    fchmod(&socket, mode).map_err(Error::system("setting the mode of a socket"))?;
    let action = "listening on a Unix socket";
    bind(&socket, &address).map_err(refused(path.display(), action))?;
    let identity = identity(&path).map_err(bad_path)?;
    let file = SocketFile {
        path: path.clone(),
        identity,
    };
    fs::set_permissions(&path, fs::Permissions::from_mode(mode.as_raw_mode()))
        .map_err(|source| Error::System { action, source })?;
    listen(&socket, backlog).map_err(refused(path.display(), action))?;
    drop(lock);
    Ok(Listener {
        socket,
        address: Address::Unix(path),
        file: Some(file),
    })
}

/// One server at a time looks whether a socket is stale and puts its own in its place: two would
/// take each other's for stale. After a while it continues without the lock, because anybody can
/// hold it.
fn lock_folder(path: &Path) -> io::Result<fs::File> {
    let parent = path.parent().filter(|parent| parent != &Path::new(""));
    let folder = fs::File::open(parent.unwrap_or(Path::new(".")))?;
    let until = Instant::now() + FOLDER_WAIT;
    while flock(&folder, FlockOperation::NonBlockingLockExclusive) == Err(Errno::AGAIN)
        && Instant::now() < until
    {
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(folder)
}

/// Removes the socket of a server that is no more.
fn remove_stale_socket(path: &Path, address: &SocketAddrUnix) -> Result<()> {
    let Ok(found) = fs::symlink_metadata(path) else {
        return Ok(());
    };
    if !found.file_type().is_socket() {
        return Err(Error::NotASocket { path: path.into() });
    }
    let probe: OwnedFd = socket(AddressFamily::UNIX)?;
    match connect(&probe, address) {
        Err(Errno::CONNREFUSED) => fs::remove_file(path).map_err(|source| Error::Permission {
            address: path.display().to_string(),
            source,
        }),
        Err(Errno::NOENT) => Ok(()),
        // A server whose queue is full, or that does not let this user in, lives as well.
        _ => Err(Error::AddressInUse {
            address: path.display().to_string(),
        }),
    }
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let found = fs::symlink_metadata(path)?;
    Ok((found.dev(), found.ino()))
}
