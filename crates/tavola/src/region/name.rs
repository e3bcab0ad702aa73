//! Names of tables. A name means a file in the user's own directory; a name with a `/` in it is a
//! path.

use super::cause::explained;
use super::location::Location;
use super::paths::{directory, path_of};
use crate::error::Result;
use std::ffi::OsStr;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Makes the directory of named tables, with mode 0700, if the table will be in it.
pub(crate) fn make_directory(path: &Path) -> Result<()> {
    let dir = directory();
    if path.parent() != Some(dir.as_path()) {
        return Ok(());
    }
    std::fs::DirBuilder::new()
        .mode(0o700)
        .recursive(true)
        .create(&dir)
        .map_err(|source| explained("making the directory of tables", &dir, source))
}

/// Returns the paths of all tables in the directory, sorted by name, including unreadable ones: a
/// file that cannot be opened counts if its length is possible for a table. The error of opening it
/// gives the reason.
///
/// # Errors
/// [`Error::Permission`](crate::Error::Permission) if the directory is not safe to use, else those
/// of reading it; one that does not exist holds no tables.
pub fn list() -> Result<Vec<PathBuf>> {
    super::location::list()
}

/// Removes the file of a table. Processes that have it open can use it until they close it.
///
/// # Errors
/// [`Error::NotFound`](crate::Error::NotFound); [`Error::NotATable`](crate::Error::NotATable) if
/// the file is not a table; it is not removed. [`Error::Permission`](crate::Error::Permission),
/// also for a table of another user in a world-writable directory, see
/// [`Options::remove`](crate::Options::remove).
///
/// # Concurrency
/// If several processes remove a table at the same time, one succeeds, and the others get
/// [`Error::NotFound`](crate::Error::NotFound).
pub fn remove(name: impl AsRef<OsStr>) -> Result<()> {
    remove_of(name.as_ref(), false)
}

/// Removes a table as [`remove`], of any owner if `any_owner` is set.
pub(crate) fn remove_of(name: &OsStr, any_owner: bool) -> Result<()> {
    Location::of(name, any_owner)?.remove()
}

/// Renames a table atomically: other processes find it under the old or the new name. Processes
/// that have it open can continue to use it. A symbolic link is renamed, not its target.
///
/// # Errors
/// [`Error::AlreadyExists`](crate::Error::AlreadyExists) if a table has the new name already; it
/// does not change. [`Error::NotATable`](crate::Error::NotATable) if a file of either name is not a
/// table; [`Error::NotFound`](crate::Error::NotFound); [`Error::Io`](crate::Error::Io) if the new
/// name is on another file system (`tavola copy` copies it there);
/// [`Error::Permission`](crate::Error::Permission) as of [`remove`].
///
/// # Concurrency
/// If several processes give tables the same new name at the same time, one succeeds.
///
/// # Crash
/// The table has one of the names. On a file system without `renameat2` it may have both.
pub fn rename(from: impl AsRef<OsStr>, to: impl AsRef<OsStr>) -> Result<()> {
    rename_of(from.as_ref(), to.as_ref(), false)
}

/// Renames a table as [`rename`], of any owner if `any_owner` is set.
pub(crate) fn rename_of(from: &OsStr, to: &OsStr, any_owner: bool) -> Result<()> {
    let from = Location::of(from, any_owner)?;
    make_directory(&path_of(to)?)?;
    from.rename(&Location::of(to, any_owner)?)
}
