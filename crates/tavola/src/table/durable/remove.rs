//! Removing a durable table.

use super::directory::open_directory;
use crate::error::Result;
use crate::journal::{Place, TABLE, number_of, snapshot_position};
use crate::region::explained;
use crate::sys::disk::{HomeDir, RealHome};
use crate::sys::file::FileRights;
use std::io::{self, ErrorKind};
use std::path::Path;

/// The name of the file `table` while the other files are removed.
const REMOVED: &str = "table.removed";

/// Removes a durable table: its files, its memory, and its directory if nothing else is in it.
/// Processes that have it open cannot write any more.
pub(crate) fn remove_home(path: &Path, any_owner: bool) -> Result<()> {
    let failed = |source| explained("removing the durable table", path, source);
    let rights = FileRights::of_mode(0o600);
    let home = RealHome::open(open_directory(path, any_owner)?, path, TABLE, rights);
    let home = home.map_err(failed)?;
    let place = home.open(TABLE).and_then(|file| Place::read(&*file));
    if let Some(place) = place.map_err(failed)? {
        let _ = std::fs::remove_file(&place.path);
    }
    // First the file that makes it a table: if this process dies now, the directory has no table
    // any more, and one that is created in it removes the rest.
    home.rename(TABLE, REMOVED)
        .and_then(|()| home.sync())
        .and_then(|()| remove_files(&home))
        .map_err(failed)?;
    match std::fs::remove_dir(path) {
        Err(error) if error.kind() != ErrorKind::DirectoryNotEmpty => Err(failed(error)),
        _ => Ok(()),
    }
}

/// Removes what a removal has left that died.
pub(super) fn finish_removal(home: &dyn HomeDir) -> io::Result<()> {
    match home.names()?.iter().any(|name| name == REMOVED) {
        true => remove_files(home),
        false => Ok(()),
    }
}

fn remove_files(home: &dyn HomeDir) -> io::Result<()> {
    for name in home.names()? {
        let is_ours = number_of(&name).is_some()
            || snapshot_position(&name).is_some()
            || name.ends_with(".new");
        if is_ours {
            home.remove(&name)?;
        }
    }
    home.remove(REMOVED)
}
