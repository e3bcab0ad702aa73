//! The options with which a table is made and opened.

use crate::alloc::capacity;
use crate::engine::UidPolicy;
use crate::region::{FileRights, Region};
use crate::values::{Durability, LivesWith};
use std::time::Duration;

mod geometry;
mod home;

/// Bytes of records in one file of the journal of a durable table.
const SEGMENT: u64 = 16 << 20;

/// Options of a table. All have defaults.
#[derive(Clone, Debug)]
pub struct Options {
    max_size: Option<u64>,
    pub(super) capacity: Option<u64>,
    mode: Option<u32>,
    group: Option<u32>,
    is_group_lenient: bool,
    shards: Option<u32>,
    pub(super) background: bool,
    pub(super) uid_policy: UidPolicy,
    lengths: Option<(u32, u32)>,
    ttl: Option<Duration>,
    versions: bool,
    pub(super) core_dumps: bool,
    pub(super) any_owner: bool,
    pub(super) durable: Option<Durability>,
    segment: u64,
    /// Whether damage of a durable table's files is cut off.
    pub(super) cut: bool,
    lives_with: Option<LivesWith>,
}

impl Options {
    pub(super) fn new() -> Self {
        Self {
            max_size: None,
            capacity: None,
            mode: None,
            group: None,
            is_group_lenient: false,
            shards: None,
            background: false,
            uid_policy: UidPolicy::Keep,
            lengths: None,
            ttl: None,
            versions: false,
            core_dumps: false,
            any_owner: false,
            durable: None,
            segment: SEGMENT,
            cut: false,
            lives_with: None,
        }
    }

    /// The options of a table like this one.
    pub(super) fn like(region: &Region, mode: u32) -> Self {
        let geometry = region.geometry();
        let is_cache = geometry.is_cache;
        let fixed = geometry.fixed;
        let has_uids = fixed.is_some_and(|fixed| fixed.uids);
        Self {
            max_size: Some(region.max_size()),
            // A cache whose word of the capacity is damaged may take all of the file.
            capacity: capacity(region).or(is_cache.then(|| region.max_size())),
            mode: Some(mode),
            shards: Some(geometry.shards()),
            uid_policy: if has_uids {
                UidPolicy::Give
            } else {
                UidPolicy::Keep
            },
            lengths: fixed.map(|fixed| (fixed.key_len, fixed.value_len)),
            ttl: (geometry.ttl_ms > 0).then(|| Duration::from_millis(geometry.ttl_ms)),
            versions: geometry.has_versions,
            ..Self::new()
        }
    }

    /// Sets the maximum size of a new table, 1 MiB to 4 TiB, rounded up to 16 KiB. The default is
    /// 64 GiB on tmpfs. On other file systems it is 4 GiB, because backup programs read a file up
    /// to this size. It reserves address space, not memory. An existing table keeps its own, which
    /// [`Table::set_max_size`](super::Table::set_max_size) can raise up to 16 times, and at most to
    /// 64 GiB.
    pub fn max_size(mut self, bytes: u64) -> Self {
        self.max_size = Some(bytes);
        self
    }

    /// Makes a new table a cache with this capacity in bytes, which includes keys, values, the
    /// index and free memory. A full cache evicts keys, preferably those that were not read. An
    /// existing table does not change, see [`Table::set_capacity`](super::Table::set_capacity). If
    /// `max_size` is not set, it is twice the capacity, and at least its default.
    ///
    /// # Examples
    /// ```
    /// # let dir = std::env::temp_dir().join(format!("tavola-cache-{}", std::process::id()));
    /// # std::fs::create_dir_all(&dir)?;
    /// let cache = tavola::Table::options().capacity(4 << 20).open(dir.join("t"))?;
    /// for n in 0..100_000u32 {
    ///     cache.set(&n.to_le_bytes(), &[0; 100])?;
    /// }
    /// assert!(cache.stats()?.resident_bytes <= 4 << 20);
    /// # std::fs::remove_dir_all(&dir)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn capacity(mut self, bytes: u64) -> Self {
        self.capacity = Some(bytes);
        self
    }

    /// Makes a new table durable: it survives a restart of the machine. Its name is the path of a
    /// directory, in which its files are; the directory is made if it is missing.
    ///
    /// An existing durable table keeps its own policy, unless this one is stricter: then it is that
    /// of this handle.
    ///
    /// # Examples
    /// ```
    /// # let dir = std::env::temp_dir().join(format!("tavola-durable-{}", std::process::id()));
    /// use tavola::{Durability, Table};
    ///
    /// let users = Table::options().durable(Durability::Commit).max_size(8 << 20).open(&dir)?;
    /// users.set(b"alice", b"1")?;
    /// # drop(users);
    /// # Table::options().remove(&dir)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn durable(mut self, durability: Durability) -> Self {
        self.durable = Some(durability);
        self
    }

    /// Sets the size of the files of a new durable table's journal, which is 16 MiB by default.
    pub fn journal_file_size(mut self, bytes: u64) -> Self {
        self.segment = bytes;
        self
    }

    /// Opens a durable table although its files are damaged. What follows the damage in the journal
    /// is lost; of a damaged snapshot, the keys whose records are damaged, unless the journal
    /// behind it sets them again. All other keys have their last values.
    pub fn cut_damage(mut self, on: bool) -> Self {
        self.cut = on;
        self
    }

    /// Lets a new table go with its owner: after the end of a process, or of its last user, however
    /// that came, the name leads to nothing. An existing table keeps its own setting.
    ///
    /// No process waits for the end of the owner. The next process that opens or lists the table
    /// removes its name, and finds it missing; `tavola drop NAME --after-pid PID` waits for it. A
    /// table that lives with its last user is removed when the last handle that may write is
    /// closed, too. Processes that have the table open can use it until they close it.
    ///
    /// # Examples
    /// ```
    /// # let dir = std::env::temp_dir().join(format!("tavola-owner-{}", std::process::id()));
    /// # std::fs::create_dir_all(&dir)?;
    /// # let path = dir.join("scratch");
    /// use tavola::{Error, LivesWith, Table};
    ///
    /// let scratch = Table::options().lives_with(LivesWith::LastUser).open(&path)?;
    /// let other = Table::open(&path)?;
    /// drop(scratch);
    /// drop(other);
    /// assert!(matches!(Table::open_read_only(&path), Err(Error::NotFound { .. })));
    /// # std::fs::remove_dir_all(&dir)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Concurrency
    /// A process that was stopped lives. A forked child is a user of its own from its first write
    /// on; before that, the end of its parent may be that of the last user. If the owner is a
    /// process of another pid namespace, its end is not seen from here.
    pub fn lives_with(mut self, owner: LivesWith) -> Self {
        self.lives_with = Some(owner);
        self
    }

    /// Sets the mode of the file of a new table, independent of the umask. The default is 0o600, or
    /// 0o660 if [`Options::group`] is set.
    pub fn mode(mut self, mode: u32) -> Self {
        self.mode = Some(mode);
        self
    }

    /// Sets the group of a new table's file, by its number. Nobody sees the file with another
    /// group. When not set, the file gets the group of its directory if that has the setgid bit,
    /// or else that of the process.
    ///
    /// Creating the table fails with [`Error::Permission`](crate::Error::Permission) if the user of
    /// this process is not in the group.
    pub fn group(mut self, gid: u32) -> Self {
        self.group = Some(gid);
        self
    }

    /// Sets the group of a new table's file if that is allowed. If not, its group has no rights.
    pub(in crate::table) fn group_if_can(mut self, gid: Option<u32>) -> Self {
        self.group = gid;
        self.is_group_lenient = true;
        self
    }

    /// Sets the number of shards of a new table, a power of two from 1 to 1024. The default depends
    /// on `max_size` or `capacity`.
    pub fn shards(mut self, count: u32) -> Self {
        self.shards = Some(count);
        self
    }

    /// Lets this handle start a background thread, which calls
    /// [`Table::maintain`](super::Table::maintain) from time to time.
    pub fn background(mut self, on: bool) -> Self {
        self.background = on;
        self
    }

    /// Creates a new table for keys of exactly `key` bytes and values of exactly `value` bytes,
    /// which saves 8 bytes per key. Its keys can have uids if [`Options::uids`] is set, too. An
    /// existing table keeps its own lengths.
    ///
    /// # Examples
    /// ```
    /// # let dir = std::env::temp_dir().join(format!("tavola-fixed-{}", std::process::id()));
    /// # std::fs::create_dir_all(&dir)?;
    /// let table = tavola::Table::options().fixed(8, 8).open(dir.join("t"))?;
    /// table.set(&1u64.to_le_bytes(), &2u64.to_le_bytes())?;
    /// assert_eq!(table.get(&1u64.to_le_bytes())?.unwrap(), 2u64.to_le_bytes());
    /// assert!(table.set(b"a longer key", &2u64.to_le_bytes()).is_err());
    /// # std::fs::remove_dir_all(&dir)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fixed(mut self, key: u32, value: u32) -> Self {
        self.lengths = Some((key, value));
        self
    }

    /// Sets the default TTL of keys of a new table, in whole milliseconds, at least one.
    /// [`Expiry`](crate::Expiry) overrides it for a key. If it is not set, keys do not expire. An
    /// existing table keeps its own.
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = Some(ttl);
        self
    }

    /// Gives each key of a new table a version, which changes whenever the key is set or its value
    /// changes. A [`CasToken`](crate::CasToken) is then the version instead of a hash of the value.
    /// Versions cost 8 bytes per key, and no value is changed in place. An existing table keeps its
    /// own setting.
    pub fn versions(mut self, on: bool) -> Self {
        self.versions = on;
        self
    }

    /// Includes the table in core dumps of this process. By default it is excluded: a dump would
    /// contain all memory in use by the table, and for a table whose file was removed all of
    /// `max_size`.
    pub fn core_dumps(mut self, on: bool) -> Self {
        self.core_dumps = on;
        self
    }

    /// Allows tables of any owner in any directory. By default, a table or symbolic link of another
    /// user is refused in a world-writable directory such as `/tmp`, because that user may have put
    /// it there to deceive others. Files of root are always accepted.
    pub fn any_owner(mut self, on: bool) -> Self {
        self.any_owner = on;
        self
    }

    /// Gives a uid to every key that this handle stores. By default a key gets a uid on request.
    pub fn uids(mut self, on: bool) -> Self {
        self.uid_policy = if on { UidPolicy::Give } else { UidPolicy::Keep };
        self
    }

    pub(super) fn rights(&self) -> FileRights {
        let usual = match self.group {
            Some(_) => 0o660,
            None => 0o600,
        };
        FileRights {
            mode: self.mode.unwrap_or(usual),
            group: self.group,
            is_lenient: self.is_group_lenient,
        }
    }
}
