//! The memory of a durable table, found by the path of its file.

use super::directory::MEMORY;
use super::open::Opening;
use crate::alloc::find_extent;
use crate::error::{Error, Result};
use crate::layout::ExtentKind;
use crate::region::{self, Location};
use crate::sync::Ordering;
use crate::table::Options;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Returns the directory of the durable table whose memory this file is. Returns `None` for other
/// files, and for memory that its directory does not name any more.
pub(crate) fn home_of_memory(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?;
    if !name.as_bytes().starts_with(MEMORY.as_bytes()) {
        return None;
    }
    let at = Location::of(path.as_os_str(), true).ok()?;
    let file = region::open(&at, false).ok()?;
    if !file.geometry().is_durable {
        return None;
    }
    let region = file.map(at.path()).ok()?;
    let (offset, _) = find_extent(&region, ExtentKind::Journal, b"").ok()??;
    let home = PathBuf::from(OsString::from_vec(region.journal_head(offset).home()?));
    let words = &region.superblock().uuid;
    let uuid = [0, 1].map(|i| words[i].load(Ordering::Relaxed));
    let options = Options::new().any_owner(true);
    let opening = Opening::to_read(&options, &home).ok()?;
    opening.names_memory(uuid).ok()?.then_some(home)
}

/// Returns an error if a file is the memory of a durable table: it is removed and renamed by the
/// path of its directory. Without its memory, the table would lose what is not on disk yet.
pub(crate) fn refuse_memory(path: &Path) -> Result<()> {
    match home_of_memory(path) {
        None => Ok(()),
        Some(home) => Err(Error::BadOption {
            option: "name",
            why: format!(
                "this is the memory of the durable table {}; name that instead",
                home.display()
            ),
        }),
    }
}
