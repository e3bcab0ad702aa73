//! Warnings about places where a table can be made but does not work as it should.

use super::paths::path_of;
use crate::error::Result;
use crate::sys::file::{Kind, is_memory, kind_of};
use std::ffi::OsStr;
use std::io;
use std::path::Path;

/// Says why processes may not see each other's writes to this table, because of the file system
/// that it is on or will be on; `None` if they do. The sentence says what to do after a semicolon.
///
/// Tables belong on tmpfs, or on a file system of the machine's own disks. On overlayfs, as in a
/// container, a handle that was opened for reading before the first write to the table stays with
/// the old file forever. Network file systems do not share memory between machines.
///
/// # Examples
/// ```
/// assert_eq!(tavola::names::warning("/dev/shm/any")?, None);
/// # Ok::<(), tavola::Error>(())
/// ```
///
/// # Errors
/// [`Error::BadName`](crate::Error::BadName). A place that cannot be asked about has no warning:
/// opening the table says what is wrong there.
pub fn warning(name: impl AsRef<OsStr>) -> Result<Option<String>> {
    let path = path_of(name)?;
    let kind = nearest(&path, kind_of);
    let shown = path.display();
    Ok(match kind {
        None | Some(Kind::Shared) => None,
        Some(Kind::Overlay) => Some(format!(
            "{shown} is on overlayfs: a process that opens the table read-only before the first \
            write never sees any write; {ADVICE}"
        )),
        Some(Kind::Network(name)) => Some(format!(
            "{shown} is on {name}, which does not share memory between machines: processes of \
            two machines read stale values and corrupt the table; {ADVICE}"
        )),
        Some(Kind::Fuse) => Some(format!(
            "{shown} is on a FUSE file system, which may not share memory between processes; \
            {ADVICE}"
        )),
    })
}

/// Says why a durable table should not be in this directory, because of the file system that it is
/// on or will be on; `None` if nothing is wrong with it. The sentence says what to do after a
/// semicolon.
///
/// # Examples
/// ```
/// let warning = tavola::durable::warning("/dev/shm/users").unwrap();
/// assert!(warning.contains("in memory"));
/// ```
pub fn home_warning(home: impl AsRef<Path>) -> Option<String> {
    let path = std::path::absolute(home.as_ref()).ok()?;
    let shown = path.display();
    if nearest(&path, is_memory) == Some(true) {
        return Some(format!(
            "{shown} is on a file system in memory, which a restart of the machine empties; \
            use a directory on a disk"
        ));
    }
    match nearest(&path, kind_of)? {
        Kind::Shared => None,
        Kind::Overlay => Some(format!(
            "{shown} is on overlayfs, which is removed with its container; use a directory on a \
            volume"
        )),
        Kind::Network(name) => Some(format!(
            "{shown} is on {name}: if processes of two machines open the table, they damage it; \
            use a directory on a local disk"
        )),
        Kind::Fuse => Some(format!(
            "{shown} is on a FUSE file system, which may not write to a disk at all; use a \
            directory on a local disk"
        )),
    }
}

/// Returns whether a table at this path is, or will be, on a file system in memory; true if
/// unknown.
pub(crate) fn is_in_memory(path: &Path) -> bool {
    nearest(path, is_memory).unwrap_or(true)
}

/// Asks about the nearest path that exists: the table, or the directory that it will be in.
fn nearest<T>(path: &Path, ask: impl Fn(&Path) -> io::Result<T>) -> Option<T> {
    path.ancestors()
        .find_map(|place| match place.as_os_str().is_empty() {
            true => ask(".".as_ref()).ok(),
            false => ask(place).ok(),
        })
}

const ADVICE: &str = "keep tables on tmpfs or a local volume (TAVOLA_DIR)";
