//! The directory of a durable table: how it is found and opened, and what its file `table` says.

use crate::error::{Error, Result};
use crate::journal::{Home, Place, TABLE};
use crate::layout::fold;
use crate::region::{Location, explained, names};
use crate::sys::clock;
use crate::sys::disk::HomeDir;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// How the names of files with memory begin.
pub(super) const MEMORY: &str = "durable-";

/// Returns whether a path is the directory of a durable table.
pub(crate) fn is_home(path: &Path) -> bool {
    path.join(TABLE).is_file()
}

/// Returns the path of a name if that is a directory.
pub(crate) fn find_home(name: &OsStr) -> Option<PathBuf> {
    let path = names::path_of(name).ok()?;
    path.is_dir().then_some(path)
}

/// Opens the directory of a durable table. In a directory where everybody may make files, it must
/// belong to this user or to root, unless all owners are trusted.
pub(super) fn open_directory(path: &Path, any_owner: bool) -> Result<OwnedFd> {
    let at = Location::of(path.as_os_str(), any_owner)?;
    at.open(false)
        .map_err(|source| explained("opening the durable table", path, source))
}

/// Reads what a durable table was created with, and where its memory is.
pub(super) fn read_home(home: &dyn HomeDir, path: &Path) -> Result<(Home, Option<Place>)> {
    let failed = |source| explained("opening the durable table", path, source);
    let file = match home.open(TABLE) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(Error::NotATable {
                path: path.to_path_buf(),
                why: "it is a directory without a durable table".to_string(),
            });
        }
        opened => opened.map_err(failed)?,
    };
    let mut bytes = [0; 2048];
    file.read_at(&mut bytes, 0).map_err(failed)?;
    let table = Home::decode(&bytes).map_err(|why| Error::DamagedJournal {
        path: path.join(TABLE),
        why,
    })?;
    let place = Place::read(&*file).map_err(failed)?;
    Ok((table, place))
}

/// Returns a number of this boot of the machine.
pub(super) fn boot() -> u64 {
    let mut buffer = [0; 64];
    let id = clock::boot_id(&mut buffer).unwrap_or(b"unknown");
    let words: Vec<u64> = id.iter().map(|byte| u64::from(*byte)).collect();
    fold(&words)
}
