//! Listening on Unix sockets. The file of such a socket stays when its server is killed, so that
//! the next server has to find out whether a server still uses it.

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

/// How long a server waits for another one that is starting in the same folder.
const FOLDER_WAIT: Duration = Duration::from_secs(1);

/// The file of a Unix socket. Dropping it removes the file, unless another file has its path by
/// now.
#[derive(Debug)]
pub(crate) struct SocketFile {
    path: PathBuf,
    /// The device and the inode of the file.
    identity: (u64, u64),
}

impl SocketFile {
    /// Finds the file that is at `path` now. Returns `None` if there is none.
    pub(crate) fn at(path: &Path) -> Option<Self> {
        Some(Self {
            path: path.to_path_buf(),
            identity: identity(path).ok()?,
        })
    }

    /// Leaves the file in place.
    pub(crate) fn keep(mut self) {
        self.path.clear();
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if identity(&self.path).is_ok_and(|found| found == self.identity) {
            // If this fails, the next server replaces the file.
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
    // The mode is set before bind makes the file, so that no user whom the mode excludes can
    // connect in between. It is set once more afterwards, because the umask of the process removes
    // bits when the file is made.
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

/// Locks the folder of a socket, so that only one server at a time checks whether the socket is
/// stale and replaces it. Without the lock two servers that start at once could each take the
/// other's new socket for a stale one.
///
/// Any process can hold this lock, so the server continues without it after `FOLDER_WAIT`.
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

/// Removes a stale socket: one whose server has ended.
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
        // A server with a full queue, or one that does not let this user in, is alive as well.
        _ => Err(Error::AddressInUse {
            address: path.display().to_string(),
        }),
    }
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let found = fs::symlink_metadata(path)?;
    Ok((found.dev(), found.ino()))
}
