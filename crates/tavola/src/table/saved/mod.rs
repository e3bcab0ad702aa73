//! Saving all keys to a file, and restoring them, so that a cache starts warm. The bytes of the
//! file are in `journal/saved.rs`.

mod restore;
mod save;
#[cfg(all(test, not(miri)))]
mod tests;

use super::Table;
use crate::engine::Core;
use crate::error::{Error, Result};
use crate::journal::{SAVED_FORMAT, Unusable};
use crate::sync::Ordering;
use crate::sys::disk::RealHome;
use crate::sys::file;
use crate::values::{Restored, Saved, SavedFile};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// How far a save or a restore is: what was done, and what is to be done.
type Progress<'p> = dyn FnMut(u64, u64) + 'p;

/// A file in a directory.
struct Place<'p> {
    dir: PathBuf,
    name: &'p str,
    path: &'p Path,
}

impl<'p> Place<'p> {
    fn of(path: &'p Path) -> Result<Self> {
        let name = path.file_name().and_then(|name| name.to_str());
        let Some(name) = name else {
            return Err(Error::Io {
                op: "naming the saved file",
                path: path.to_path_buf(),
                source: io::Error::new(
                    ErrorKind::InvalidInput,
                    "its name is not valid UTF-8, or missing; choose another",
                ),
            });
        };
        let dir = match path.parent() {
            Some(dir) if !dir.as_os_str().is_empty() => dir.to_path_buf(),
            _ => PathBuf::from("."),
        };
        Ok(Self { dir, name, path })
    }

    /// Opens the directory. Only the owner may read a file that is created in it.
    fn home(&self, writable: bool, op: &'static str) -> Result<RealHome> {
        let opened = match writable {
            true => RealHome::of_mode(&self.dir, 0o600),
            false => {
                file::open(&self.dir, false).and_then(|dir| RealHome::read_only(dir, &self.dir))
            }
        };
        opened.map_err(self.failed(op))
    }

    fn failed(&self, op: &'static str) -> impl Fn(io::Error) -> Error + use<> {
        let path = self.path.to_path_buf();
        move |source| Error::Io {
            op,
            path: path.clone(),
            source,
        }
    }

    fn refused(&self, why: String) -> Error {
        let path = self.path.to_path_buf();
        Error::NotRestorable { path, why }
    }

    fn unusable(&self, unusable: Unusable) -> Error {
        self.refused(match unusable {
            Unusable::Foreign => "it was not written by 'tavola save'".to_string(),
            Unusable::Snapshot => {
                "it is a snapshot of a durable table, which belongs to the directory that it is in"
                    .to_string()
            }
            Unusable::Newer(found) => {
                format!("it has format {found}, and this library reads {SAVED_FORMAT}")
            }
            Unusable::Damaged(at) => format!("it is damaged at byte {at}"),
        })
    }
}

/// Returns what identifies a table, as long as its memory is there.
fn uuid(core: &Core) -> [u64; 2] {
    let words = &core.region().superblock().uuid;
    [0, 1].map(|i| words[i].load(Ordering::Relaxed))
}

/// Returns whether a table is the one that was saved. Private tables, which have no file, are
/// not recognised.
fn is_same(core: &Core, saved: [u64; 2]) -> bool {
    saved != [0; 2] && saved == uuid(core)
}

impl Table {
    /// Writes all keys to a file, from which [`Table::restore`] sets them again: after a restart of
    /// the machine, or in another table. Other processes can use the table meanwhile.
    ///
    /// The file has each key with its value, flags, tags, marks, version and the time at which it
    /// expires, and what a cache knows of how often it is read. It does not have uids, leases,
    /// queue pools and logs. Only its owner may read it. It gets its name when it is complete and
    /// on disk; a file that had the name is replaced. Meanwhile it is called `PATH.new`.
    ///
    /// # Examples
    /// ```
    /// # let dir = std::env::temp_dir().join(format!("tavola-save-{}", std::process::id()));
    /// # std::fs::create_dir_all(&dir)?;
    /// use tavola::Table;
    ///
    /// let options = Table::options().max_size(8 << 20).capacity(4 << 20);
    /// let pages = options.clone().private()?;
    /// pages.set("/", "<p>hello</p>")?;
    /// assert_eq!(pages.save(dir.join("pages.saved"))?.keys, 1);
    ///
    /// let again = options.private()?;
    /// assert_eq!(again.restore(dir.join("pages.saved"))?.keys, 1);
    /// assert!(again.contains("/")?);
    /// # std::fs::remove_dir_all(&dir)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be written: the disk may be full, or another process may be
    /// writing the same file. [`Error::NotATable`] if this is a queue pool or a log.
    /// [`Error::Corrupt`] if the table is damaged. The file that had the name is unchanged then.
    ///
    /// # Concurrency
    /// As [`Table::iter`]: no writer waits. The file has each key as it was at some moment
    /// meanwhile, and is not of one moment.
    ///
    /// # Crash
    /// The file has its earlier content or the new one, also after a power failure. `PATH.new` may
    /// be left, which the next call overwrites.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<Saved> {
        self.save_with_progress(path, |_, _| {})
    }

    /// Does what [`Table::save`] does. Calls `progress` now and then with the number of keys that
    /// were written, and how many there are.
    ///
    /// # Errors
    /// As [`Table::save`].
    pub fn save_with_progress(
        &self,
        path: impl AsRef<Path>,
        mut progress: impl FnMut(u64, u64),
    ) -> Result<Saved> {
        let place = Place::of(path.as_ref())?;
        let home = place.home(true, save::OP)?;
        save::save(self, &home, &place, &mut progress)
    }

    /// Sets all keys of a file that [`Table::save`] has written, and which the table lacks.
    ///
    /// A key that the table has already stays as it is: it is newer. The whole file is read and
    /// checked before the first key is set. Keys that have expired stay out. So do keys that have
    /// lost a tag, if the table is the one that was saved; another table, such as the one after a
    /// restart of the machine, cannot know that. A key that was removed after the file was written
    /// is set again.
    ///
    /// A cache that is smaller than the file takes the keys that eviction would remove last, and
    /// afterwards evicts in about the order in which the cache that was saved would have. In a
    /// table with versions, keys have the same versions as before, and no version that was given
    /// out before is given out again.
    ///
    /// # Errors
    /// [`Error::NotRestorable`] if the file is damaged, is not such a file, or has a newer format;
    /// [`Error::Lengths`] if the table has other fixed lengths: nothing was changed. [`Error::Io`]
    /// if the file cannot be read. Otherwise as [`Table::set`]; a table that is full is not an
    /// error, see [`Restored::left_out`].
    ///
    /// # Concurrency
    /// Each key appears on its own. A key that others set or remove meanwhile may be restored
    /// before or after that, but never replaces what they have set. An invalidation of a tag
    /// concerns its restored keys, too.
    ///
    /// # Crash
    /// Some of the keys are set, each of them whole.
    pub fn restore(&self, path: impl AsRef<Path>) -> Result<Restored> {
        self.restore_with_progress(path, |_, _| {})
    }

    /// Does what [`Table::restore`] does. Calls `progress` now and then with the number of bytes
    /// that were read, and how many there are: twice those of the file, which is checked first.
    ///
    /// # Errors
    /// As [`Table::restore`].
    pub fn restore_with_progress(
        &self,
        path: impl AsRef<Path>,
        mut progress: impl FnMut(u64, u64),
    ) -> Result<Restored> {
        let place = Place::of(path.as_ref())?;
        let home = place.home(false, restore::OP)?;
        restore::restore(self, &home, &place, &mut progress)
    }

    /// Reads and checks a file that [`Table::save`] has written, and changes nothing.
    ///
    /// # Errors
    /// [`Error::NotRestorable`] if it is damaged, is not such a file, or has a newer format;
    /// [`Error::Io`] if it cannot be read.
    pub fn saved_file(&self, path: impl AsRef<Path>) -> Result<SavedFile> {
        let place = Place::of(path.as_ref())?;
        let home = place.home(false, restore::OP)?;
        let (file, is_of) = restore::check(&home, &place)?;
        let is_of_table = is_same(self.core()?, is_of);
        Ok(SavedFile {
            is_of_table,
            ..file
        })
    }
}

/// Reads and checks a file that [`Table::save`] has written, without a table.
///
/// # Errors
/// As [`Table::saved_file`].
pub fn verify_saved(path: impl AsRef<Path>) -> Result<SavedFile> {
    let place = Place::of(path.as_ref())?;
    let home = place.home(false, restore::OP)?;
    restore::check(&home, &place).map(|(file, _)| file)
}
