//! Migrates tables of an older format to the current one.
//!
//! Format 1 has the same items, buckets and areas. So its keys can be read by the code for the
//! current format; they are copied into a new file. Nothing is written to the old file.

use super::lazy::Lazy;
use super::{Options, Table};
use crate::engine::Core;
use crate::error::{Error, Result};
use crate::layout::FORMAT;
use crate::region::{self, Location, explained, sync_directory};
use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// The suffixes of the old file afterwards, and of the new file until it is complete.
const KEPT: &str = ".old";
const UNFINISHED: &str = ".migrating";

/// What a migration did; from [`Options::migrate`].
#[non_exhaustive]
#[derive(Clone, Debug, Default)]
pub struct Migrated {
    /// The format version that the table had. If it is the current one, nothing was done.
    pub found: u32,
    /// The format version that it has now.
    pub now: u32,
    /// Keys of the new table.
    pub keys: u64,
    /// The old file.
    pub old: PathBuf,
    /// Queue pools and logs of the old table, which were not copied.
    pub left_out: Vec<String>,
}

impl Options {
    /// Replaces a table of an older format with a table of the current format and the same keys.
    /// The old file is kept as `NAME.old`. A table that has the current format already is not
    /// changed.
    ///
    /// A key keeps its value, expiry, flags, tags, marks and version; a key that has a uid gets
    /// a new one. The table keeps its limits, options, mode and owner. Queue pools and logs are not
    /// copied. Of these options only [`Options::any_owner`] counts.
    ///
    /// # Errors
    /// [`Error::Io`] if a process has the table open for writing, or is migrating it;
    /// [`Error::AlreadyExists`] if `NAME.old` is another file. [`Error::Version`] if the format is
    /// one that this library cannot read. Otherwise as [`Table::copy_to`].
    ///
    /// # Concurrency
    /// Processes that have the table open read-only continue to use the old file.
    ///
    /// # Crash
    /// The name belongs to the old table or to the complete new one. The next migration continues.
    pub fn migrate(&self, name: impl AsRef<OsStr>) -> Result<Migrated> {
        let path = resolved(&region::names::path_of(name)?)?;
        let at = Location::of(path.as_os_str(), self.any_owner)?;
        let Some(old) = self.open_old(&at)? else {
            return Ok(unchanged(path));
        };
        let (kept, unfinished) = (with_suffix(&path, KEPT), with_suffix(&path, UNFINISHED));
        let kept_at = Location::of(kept.as_os_str(), self.any_owner)?;
        at.check_kept(&kept_at)?;
        let new_at = Location::of(unfinished.as_os_str(), self.any_owner)?;
        // A migration that was killed may have left this file. No other migration is running,
        // because the old file is locked.
        match region::remove_of(unfinished.as_os_str(), self.any_owner) {
            Ok(()) | Err(Error::NotFound { .. }) => {}
            Err(error) => return Err(error),
        }
        let mut migrated = self.migrate_keys(&old, unfinished.as_os_str())?;
        // A process may have opened the old file for writing during the migration.
        if let Err(error) = refuse_attached(&old) {
            let _ = region::remove_of(unfinished.as_os_str(), self.any_owner);
            return Err(error);
        }
        at.replace_by(&new_at, &kept_at)?;
        sync_directory(&path);
        migrated.old = kept;
        Ok(migrated)
    }

    /// Migrates a table as [`Options::migrate`], but to a new name, which must be free. The old
    /// file keeps its name.
    ///
    /// # Errors
    /// Those of [`Options::migrate`]; [`Error::AlreadyExists`] if the new name is in use.
    ///
    /// # Crash
    /// The new table appears completely or not at all.
    pub fn migrate_to(&self, name: impl AsRef<OsStr>, new: impl AsRef<OsStr>) -> Result<Migrated> {
        let at = Location::of(name.as_ref(), self.any_owner)?;
        match self.open_old(&at)? {
            None => Ok(unchanged(at.path().to_path_buf())),
            Some(old) => {
                let migrated = self.migrate_keys(&old, new.as_ref())?;
                sync_directory(&region::names::path_of(new)?);
                Ok(migrated)
            }
        }
    }

    /// Opens a table of an older format for reading, and locks it against other migrations. Returns
    /// `None` if it has the current format.
    fn open_old(&self, at: &Location) -> Result<Option<Table>> {
        let Some(file) = region::open_old(at)? else {
            return Ok(None);
        };
        let lazy = Lazy::unmapped(file, at.path().into(), self.uid_policy);
        self.table(lazy).map(Some)
    }

    fn migrate_keys(&self, old: &Table, new: &OsStr) -> Result<Migrated> {
        let core = old.core()?;
        core.check_has_keys()?;
        refuse_attached(old)?;
        let options = core.options_of_copy()?.any_owner(self.any_owner);
        let table = options.create_with(new, |made| {
            made.fill_from(old)?;
            made.take_owner_of(core)
        })?;
        let mut left_out = old.pools()?;
        left_out.extend(old.logs()?);
        Ok(Migrated {
            found: old.stats()?.format_version,
            now: FORMAT,
            keys: table.len()?,
            old: old.path().to_path_buf(),
            left_out,
        })
    }
}

impl Core {
    /// Gives the new file the user and group of the old one, if they differ.
    fn take_owner_of(&self, old: &Core) -> Result<()> {
        let given = self.region().take_owner_of(old.region());
        given.map_err(|source| {
            explained(
                "changing the owner of the new table to that of the old one",
                self.path(),
                source,
            )
        })
    }
}

fn unchanged(path: PathBuf) -> Migrated {
    Migrated {
        found: FORMAT,
        now: FORMAT,
        old: path,
        ..Migrated::default()
    }
}

/// Returns an error if a process is attached for writing: its writes to the old file would be lost.
fn refuse_attached(old: &Table) -> Result<()> {
    let attached = old.participants()?.into_iter().find(|one| one.alive);
    let Some(one) = attached else {
        return Ok(());
    };
    let command = one.command.map(|command| format!(" ({command})"));
    let why = format!(
        "process {}{} has it open for writing; end that process and try again",
        one.pid,
        command.unwrap_or_default()
    );
    Err(Error::Io {
        op: "migrating the table",
        path: old.path().to_path_buf(),
        source: io::Error::new(ErrorKind::ResourceBusy, why),
    })
}

/// Returns the path of the file itself. If the name is a symbolic link, the link is kept.
fn resolved(path: &Path) -> Result<PathBuf> {
    std::fs::canonicalize(path).map_err(|source| explained("opening the table", path, source))
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}
