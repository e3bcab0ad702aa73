//! Renaming the directory of a durable table.

use super::directory::open_directory;
use crate::error::{Error, Result};
use crate::region::{self, explained};
use crate::sys::disk::DirLock;
use crate::table::Options;
use std::io::{self, ErrorKind};
use std::path::Path;

/// Gives the directory of a durable table another name. Nobody may use the table meanwhile, as its
/// users know the directory by its path.
pub(crate) fn rename_home(options: &Options, from: &Path, to: &Path) -> Result<()> {
    const OP: &str = "renaming the durable table";
    let failed = |source| explained(OP, from, source);
    let lock = DirLock::of(open_directory(from, options.any_owner)?, from).map_err(failed)?;
    if !lock.try_alone().map_err(failed)? {
        return Err(Error::Io {
            op: OP,
            path: from.to_path_buf(),
            source: io::Error::new(
                ErrorKind::ResourceBusy,
                "processes have it open; end them and try again",
            ),
        });
    }
    if std::fs::symlink_metadata(to).is_ok() {
        return Err(Error::AlreadyExists {
            path: to.to_path_buf(),
        });
    }
    std::fs::rename(from, to).map_err(failed)?;
    region::sync_directory(to);
    drop(lock);
    if let Ok(true) = options.has_memory(to) {
        // A writer notes in memory where the directory is now; the next one does, if this fails.
        let _ = options.open_home(to, true);
    }
    Ok(())
}
