//! Copies a table key by key into a new file, while other processes continue to write.
//!
//! The new file gets its name when it is complete. So no process opens an incomplete copy, and if
//! this process dies, no file is left. Copying the bytes (`cp`) of a table that is being written is
//! not safe: one value may consist of bytes of two moments.

use super::iter::WholeEntry;
use super::{Options, Table};
use crate::alloc::{Stamp, extent_names};
use crate::engine::{Core, Metadata, UidPolicy, WriteCondition, WriteRequest};
use crate::error::{Error, Result};
use crate::layout::{COPIED_IN_USE, ExtentKind};
use crate::lock::is_copied_in_use;
use crate::region::{explained, sync_directory};
use crate::sync::Ordering;
use std::ffi::OsStr;

impl Core {
    /// Returns the options for an empty table like this one.
    pub(super) fn options_of_copy(&self) -> Result<Options> {
        let region = self.region();
        let failed = |source| explained("reading the table", self.path(), source);
        let mode = region.mode().map_err(failed)?;
        let group = region.group().map_err(failed)?;
        Ok(Options::like(region, mode).group_if_can(group))
    }

    /// Returns an error if the file is a queue pool or a log, which have no keys: the copy would be
    /// empty.
    pub(super) fn check_has_keys(&self) -> Result<()> {
        let kinds = [
            (ExtentKind::QueuePool, "a queue pool"),
            (ExtentKind::Log, "a log"),
        ];
        for (kind, what) in kinds {
            if extent_names(self.region(), kind).contains(&Vec::new()) {
                return Err(Error::NotATable {
                    path: self.path().to_path_buf(),
                    why: format!("it is {what}, but only tables can be copied"),
                });
            }
        }
        Ok(())
    }

    /// Stores a key of the table `from` with all its attributes; if it has a uid, it gets a new
    /// one.
    fn store_copy(&self, from: &Table, entry: &WholeEntry<'_>) -> Result<()> {
        let names = from.tag_names(&entry.tags)?;
        let ends_ms = entry.shown.expiry_ms;
        let left_ms = ends_ms.saturating_sub(from.core()?.region().now_ms());
        let has_ended = ends_ms != 0 && left_ms == 0;
        // If a name is missing, that tag was invalidated, and the key with it.
        if has_ended || names.len() != entry.tags.len() {
            return Ok(());
        }
        let tags = self.tags(&names)?;
        let metadata = Metadata::new(
            Stamp {
                expiry_ms: match ends_ms {
                    0 => 0,
                    _ => self.region().now_ms() + left_ms,
                },
                client: entry.shown.client,
                marks: entry.shown.marks,
                tags: &tags,
                version: entry.shown.version,
            },
            false,
        );
        let uid_policy = if entry.has_uid {
            UidPolicy::Give
        } else {
            UidPolicy::Keep
        };
        let request = WriteRequest {
            uid_policy,
            ..self.request(entry.key, WriteCondition::Always, Some(&metadata))?
        };
        self.write(&request, entry.value).map(|_| ())
    }

    /// Makes the copy continue the versions of `from`, so that none of them is given to another
    /// value.
    fn continue_versions(&self, from: &Core) {
        let versions =
            |core: &Core, shard| core.region().shard(shard).versions.load(Ordering::Relaxed);
        let shards = from.region().geometry().shards();
        let last = (0..shards).map(|shard| versions(from, shard)).max();
        for shard in 0..self.region().geometry().shards() {
            let word = &self.region().shard(shard).versions;
            word.store(last.unwrap_or(0), Ordering::Relaxed);
        }
    }

    pub(super) fn fill_from(&self, from: &Table) -> Result<()> {
        let mut entries = from.iter();
        while let Some(entry) = entries.next_whole()? {
            self.store_copy(from, &entry)?;
        }
        if self.region().geometry().has_versions {
            self.continue_versions(from.core()?);
        }
        if is_copied_in_use(from.core()?.region(), from.core()?.participant()) {
            let word = &self.region().superblock().copied;
            word.store(COPIED_IN_USE, Ordering::Relaxed);
        }
        let synced = self.region().sync();
        synced.map_err(|source| explained("writing the copy", self.path(), source))
    }
}

impl Table {
    /// Copies all keys into a new table, while other processes can use this one. Returns the number
    /// of keys in the copy.
    ///
    /// The copy has the same limits and options, the same mode and the same group. If this process
    /// may not give it that group, the group of the copy has no rights. A key keeps its value,
    /// expiry, flags, tags, marks and version. A key that has a uid gets a new uid in the copy.
    /// Queue pools and logs are not copied. The new file is complete and synchronised
    /// to its disk before it gets its name.
    ///
    /// # Examples
    /// ```
    /// # let dir = std::env::temp_dir().join(format!("tavola-copy-{}", std::process::id()));
    /// # std::fs::create_dir_all(&dir)?;
    /// let table = tavola::Table::open(dir.join("live"))?;
    /// table.set(b"alice", b"1")?;
    /// assert_eq!(table.copy_to(dir.join("backup"))?, 1);
    /// let copy = tavola::Table::open_read_only(dir.join("backup"))?;
    /// assert_eq!(copy.get(b"alice")?.as_deref(), Some(&b"1"[..]));
    /// # std::fs::remove_dir_all(&dir)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::AlreadyExists`] if the name is in use; that file is unchanged. [`Error::NotATable`]
    /// if this file is a queue pool or a log. Otherwise as [`Options::create`], [`Table::set`] and
    /// [`Iter::next_entry`](super::Iter::next_entry).
    ///
    /// # Concurrency
    /// As [`Table::iter`]: a key that exists during the whole copy is in it, with a complete value
    /// that it had meanwhile. The copy is not a snapshot of one moment.
    ///
    /// # Crash
    /// The copy appears completely or not at all.
    pub fn copy_to(&self, name: impl AsRef<OsStr>) -> Result<u64> {
        let core = self.core()?;
        core.check_has_keys()?;
        let options = core.options_of_copy()?;
        let copy = options.create_with(name, |new| new.fill_from(self))?;
        sync_directory(copy.path());
        copy.len()
    }
}
