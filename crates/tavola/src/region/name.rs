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

/// Returns the paths of all files in the directory that are tables, sorted by name, including
/// unreadable ones: a file that cannot be opened counts if its length is possible for a table.
pub(crate) fn list() -> Result<Vec<PathBuf>> {
    super::location::list()
}

/// Removes the file of a table, of any owner if `any_owner` is set.
pub(crate) fn remove_of(name: &OsStr, any_owner: bool) -> Result<()> {
    Location::of(name, any_owner)?.remove()
}

/// Renames the file of a table atomically, of any owner if `any_owner` is set.
pub(crate) fn rename_of(from: &OsStr, to: &OsStr, any_owner: bool) -> Result<()> {
    let from = Location::of(from, any_owner)?;
    make_directory(&path_of(to)?)?;
    from.rename(&Location::of(to, any_owner)?)
}
