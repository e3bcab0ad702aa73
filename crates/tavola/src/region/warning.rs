//! What is wrong with a place for tables, although tables can be made there.

use super::name::path_of;
use crate::error::Result;
use crate::sys::file::{Kind, kind_of};
use std::ffi::OsStr;

/// Says why processes may not see each other's writes to this table, because of the file system
/// that it is on or will be on; `None` if they do. The sentence says what to do after a semicolon.
///
/// Tables belong on tmpfs, or on a file system of the machine's own disks. On overlayfs, as in a
/// container, a handle that was opened for reading before the first write to the table stays with
/// the old file for ever. Network file systems do not share memory between machines.
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
    // The nearest that is there: the table, or the directory it will be in.
    let kind = path
        .ancestors()
        .find_map(|place| match place.as_os_str().is_empty() {
            true => kind_of(".".as_ref()).ok(),
            false => kind_of(place).ok(),
        });
    let shown = path.display();
    Ok(match kind {
        None | Some(Kind::Shared) => None,
        Some(Kind::Overlay) => Some(format!(
            "{shown} is on overlayfs: a process that opened the table for reading before the first \
             write to it never sees a write; {ADVICE}"
        )),
        Some(Kind::Network(name)) => Some(format!(
            "{shown} is on {name}, which does not share memory between machines: processes of two \
             machines read old values and destroy the table; {ADVICE}"
        )),
        Some(Kind::Fuse) => Some(format!(
            "{shown} is on a file system in user space (FUSE), which may not share memory between \
             processes; {ADVICE}"
        )),
    })
}

const ADVICE: &str = "keep tables on tmpfs or a local volume (TAVOLA_DIR)";
