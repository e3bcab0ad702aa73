//! Tables by their names: a list of them, and how they are removed and renamed. A durable table is
//! known by the path of its directory; its memory, a file in the directory of tables, has no name
//! that users need.

use super::Options;
use super::durable::home_of_memory;
use super::owner::remove_if_over_at;
use crate::error::Result;
use crate::region;
use std::ffi::OsStr;
use std::path::PathBuf;

/// Returns the paths of all tables in the directory, sorted, including unreadable ones: a file that
/// cannot be opened counts if its length is possible for a table. The error of opening it gives the
/// reason.
///
/// A durable table whose memory is in the directory is listed by the path of its own directory.
/// Memory of which that is gone, or was moved and not opened since, is listed as a file, which can
/// be read and removed.
///
/// A table whose owner is gone ([`Options::lives_with`](crate::Options::lives_with)) is removed and
/// not listed.
///
/// # Errors
/// [`Error::Permission`](crate::Error::Permission) if the directory is not safe to use, else those
/// of reading it; one that does not exist holds no tables.
pub fn list() -> Result<Vec<PathBuf>> {
    let files = region::names::list()?.into_iter();
    let mut tables: Vec<PathBuf> = files
        .filter(|path| !remove_if_over_at(path))
        .map(|path| home_of_memory(&path).unwrap_or(path))
        .collect();
    tables.sort();
    Ok(tables)
}

/// Removes a table. Processes that have it open can use it until they close it; those that have a
/// durable table open cannot write any more.
///
/// # Errors
/// [`Error::NotFound`](crate::Error::NotFound); [`Error::NotATable`](crate::Error::NotATable) if
/// the file is not a table; it is not removed. [`Error::BadOption`](crate::Error::BadOption) if it
/// is the memory of a durable table, which is removed by the path of its directory.
/// [`Error::Permission`](crate::Error::Permission), also for a table of another user in a
/// world-writable directory, see [`Options::remove`](crate::Options::remove).
///
/// # Concurrency
/// If several processes remove a table at the same time, one succeeds, and the others get
/// [`Error::NotFound`](crate::Error::NotFound).
pub fn remove(name: impl AsRef<OsStr>) -> Result<()> {
    Options::new().remove(name)
}

/// Renames a table atomically: other processes find it under the old or the new name. Processes
/// that have it open can continue to use it. A symbolic link is renamed, not its target. The
/// directory of a durable table is renamed only if no process has it open.
///
/// # Errors
/// [`Error::AlreadyExists`](crate::Error::AlreadyExists) if a table has the new name already; it
/// does not change. [`Error::NotATable`](crate::Error::NotATable) if a file of either name is not a
/// table; [`Error::NotFound`](crate::Error::NotFound); [`Error::Io`](crate::Error::Io) if the new
/// name is on another file system (`tavola copy` copies it there), or if a process has a durable
/// table open; [`Error::BadOption`](crate::Error::BadOption) and
/// [`Error::Permission`](crate::Error::Permission) as of [`remove`].
///
/// # Concurrency
/// If several processes give tables the same new name at the same time, one succeeds.
///
/// # Crash
/// The table has one of the names. On a file system without `renameat2` it may have both.
pub fn rename(from: impl AsRef<OsStr>, to: impl AsRef<OsStr>) -> Result<()> {
    Options::new().rename(from, to)
}
