//! How a table is made and opened.

use super::Table;
use super::attributes::no_room;
use super::background::Background;
use super::core::Core;
use super::how::Naming;
use super::lazy::Lazy;
use crate::alloc::capacity;
use crate::error::{Error, Result};
use crate::layout::{Fixed, Geometry, MAX_SIZE, MIN_SIZE, MOST_MS, MOST_SMALL, PAGE};
use crate::region::{self, Location, Region, is_in_memory, names};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

const DEFAULT_SIZE: u64 = 64 << 30;
/// On a disk less: programs that make backups read as much as the file is long, holes included.
const DEFAULT_SIZE_ON_DISK: u64 = 4 << 30;
/// Races between opening and dropping that are sat out before giving up.
const TRIES: u32 = 100;

/// Options of a table; what is not set has a default that needs no tuning.
#[derive(Clone, Debug)]
pub struct Options {
    max_size: Option<u64>,
    capacity: Option<u64>,
    mode: u32,
    shards: Option<u32>,
    background: bool,
    pub(super) naming: Naming,
    lengths: Option<(u32, u32)>,
    ttl: Option<Duration>,
    versions: bool,
    core_dumps: bool,
    pub(super) any_owner: bool,
}

impl Options {
    pub(super) fn new() -> Self {
        Self {
            max_size: None,
            capacity: None,
            mode: 0o600,
            shards: None,
            background: false,
            naming: Naming::Keep,
            lengths: None,
            ttl: None,
            versions: false,
            core_dumps: false,
            any_owner: false,
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
            mode,
            shards: Some(geometry.shards()),
            naming: if has_uids { Naming::Give } else { Naming::Keep },
            lengths: fixed.map(|fixed| (fixed.key_len, fixed.value_len)),
            ttl: (geometry.ttl_ms > 0).then(|| Duration::from_millis(geometry.ttl_ms)),
            versions: geometry.has_versions,
            ..Self::new()
        }
    }

    /// The most bytes a new table may grow to, 1 MiB to 8 TiB, rounded up to 16 KiB. When it is not
    /// set, 64 GiB on tmpfs and 4 GiB on other file systems, because backup programs read a file
    /// to its end, which is here. It reserves addresses and no memory. An existing table keeps its
    /// own, which [`Table::set_max_size`] can raise up to sixteen times, as far as 256 GiB.
    pub fn max_size(mut self, bytes: u64) -> Self {
        self.max_size = Some(bytes);
        self
    }

    /// Makes a new table a cache of so many bytes, all told: keys, values, the index, free memory.
    /// Where it has no room for a key, it evicts others, best such as were not read. An existing
    /// table stays what it is, and keeps its own capacity, see
    /// [`Table::set_capacity`](super::Table::set_capacity). If `max_size` is not set, it is twice
    /// the capacity, and at least its default.
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

    /// The mode of a new table's file, whatever the umask; 0o600 when not set.
    pub fn mode(mut self, mode: u32) -> Self {
        self.mode = mode;
        self
    }

    /// Shards of a new table, a power of two from 1 to 1024; by `max_size` or `capacity` when not
    /// set.
    pub fn shards(mut self, count: u32) -> Self {
        self.shards = Some(count);
        self
    }

    /// Allows this handle one background thread, which calls [`Table::maintain`] from time to time.
    pub fn background(mut self, on: bool) -> Self {
        self.background = on;
        self
    }

    /// Makes a new table for keys of `key` bytes and values of `value` bytes only: items have no
    /// header then, 8 bytes less a key. Its keys can have uids if [`Options::uids`] is set as well.
    /// An existing table keeps its own lengths.
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

    /// How long keys of a new table live after they were set, unless they are given another time
    /// ([`Expiry`](super::Expiry)); for ever when not set. Milliseconds count, at least one. An
    /// existing table keeps its own.
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = Some(ttl);
        self
    }

    /// Gives each key of a new table a version, another one each time that it is set or its value
    /// is changed: a [`CasToken`](super::CasToken) stands for that then, and not for the value. 8
    /// bytes a key, and no value is changed in place. An existing table keeps its own.
    pub fn versions(mut self, on: bool) -> Self {
        self.versions = on;
        self
    }

    /// Includes the table's bytes in core dumps of this process. They are left out when not set: a
    /// dump would hold all that is in use of the table, and of a table whose name was removed all
    /// that it may grow to.
    pub fn core_dumps(mut self, on: bool) -> Self {
        self.core_dumps = on;
        self
    }

    /// Opens tables of any owner, wherever they are. When not set, another user's table (and a
    /// symbolic link of another user) is refused in a directory where everybody may make files,
    /// such as `/tmp`: that user may have put it there for others to trust. Files of root are not
    /// refused.
    pub fn any_owner(mut self, on: bool) -> Self {
        self.any_owner = on;
        self
    }

    /// Gives a uid to every key that this handle stores; when not set, to those it is asked for.
    pub fn uids(mut self, on: bool) -> Self {
        self.naming = if on { Naming::Give } else { Naming::Keep };
        self
    }

    /// The geometry and `max_size` of a new table: at that path, or without it on the heap, where
    /// there is no room to raise it.
    fn geometry(&self, path: Option<&Path>) -> Result<(Geometry, u64)> {
        let bad = |option, why: String| Err(Error::BadOption { option, why });
        let wanted = self.max_size.unwrap_or_else(|| self.default_size(path));
        if !(MIN_SIZE..=MAX_SIZE).contains(&wanted) {
            return bad(
                "max_size",
                format!("{wanted} is not between 1 MiB and 8 TiB"),
            );
        }
        let max_size = wanted.next_multiple_of(PAGE);
        let by_size = || default_shards(max_size);
        let shards = match self.shards {
            None => self
                .capacity
                .map_or_else(by_size, |bytes| by_size().min(cache_shards(bytes))),
            Some(n) if n.is_power_of_two() && n <= 1024 => n,
            Some(n) => return bad("shards", format!("{n} is not a power of two up to 1024")),
        };
        let fixed = match self.lengths {
            None => None,
            Some((key, value)) => match Fixed::new(key, value, self.naming == Naming::Give) {
                None => {
                    return bad(
                        "fixed",
                        format!(
                            "keys of {key} bytes and values of {value} are not possible: keys \
                            have at least 1 byte, and both together at most {MOST_SMALL}"
                        ),
                    );
                }
                fixed => fixed,
            },
        };
        let make = match path {
            Some(_) => Geometry::with_room,
            None => Geometry::new,
        };
        match make(max_size, shards.ilog2()) {
            Some(_) if self.versions && fixed.is_some() => bad(
                "versions",
                "a table of fixed lengths does not store them".to_string(),
            ),
            Some(geometry) => {
                let geometry = Geometry {
                    fixed,
                    ttl_ms: self.ttl_ms(fixed)?,
                    is_cache: self.capacity.is_some(),
                    has_versions: self.versions,
                    ..geometry
                };
                Ok((geometry, max_size))
            }
            None => bad(
                "shards",
                format!("{max_size} bytes are too few for {shards} shards"),
            ),
        }
    }

    fn default_size(&self, path: Option<&Path>) -> u64 {
        let for_cache = self.capacity.unwrap_or(0).saturating_mul(2);
        let default = match path.is_none_or(is_in_memory) {
            true => DEFAULT_SIZE,
            false => DEFAULT_SIZE_ON_DISK,
        };
        default.max(for_cache.min(MAX_SIZE))
    }

    fn ttl_ms(&self, fixed: Option<Fixed>) -> Result<u64> {
        let Some(ttl) = self.ttl else {
            return Ok(0);
        };
        if fixed.is_some() {
            return Err(no_room());
        }
        match u64::try_from(ttl.as_nanos().div_ceil(1_000_000)) {
            Ok(ms) if ms > 0 && ms <= MOST_MS => Ok(ms),
            _ => Err(Error::BadOption {
                option: "ttl",
                why: format!(
                    "{ttl:?} is not between 1 ms and {} days",
                    MOST_MS / 86_400_000
                ),
            }),
        }
    }

    /// Opens a table, making it when it is not there.
    ///
    /// # Errors
    /// [`Error::NotATable`], [`Error::Version`], [`Error::Endianness`] when the file is not one;
    /// [`Error::BadName`], [`Error::BadOption`], [`Error::Permission`], [`Error::Full`].
    ///
    /// # Concurrency
    /// Of many processes that do this at once, one makes the table and all open that one.
    pub fn open(&self, name: impl AsRef<OsStr>) -> Result<Table> {
        let name = name.as_ref();
        for _ in 0..TRIES {
            match self.open_existing(name) {
                Err(Error::NotFound { .. }) => {}
                outcome => return outcome,
            }
            match self.create(name) {
                Err(Error::AlreadyExists { .. }) => {}
                outcome => return outcome,
            }
        }
        self.open_existing(name)
    }

    /// Makes a table.
    ///
    /// # Errors
    /// [`Error::AlreadyExists`]; else as [`Options::open`].
    ///
    /// # Crash
    /// The table appears whole or not at all.
    pub fn create(&self, name: impl AsRef<OsStr>) -> Result<Table> {
        self.create_with(name, |_| Ok(()))
    }

    /// As [`Options::create`], with something put into it before others see it.
    pub(super) fn create_with(
        &self,
        name: impl AsRef<OsStr>,
        fill: impl FnOnce(&Core) -> Result<()>,
    ) -> Result<Table> {
        let path = names::path_of(&name)?;
        let sized = self.geometry(Some(&path))?;
        region::make_directory(&path)?;
        let at = self.location(name.as_ref()).map_err(no_directory)?;
        let (region, unnamed) = region::create(at, sized, self.mode).map_err(no_directory)?;
        if self.core_dumps {
            let _ = region.set_in_core_dumps(true);
        }
        let core = Core::new(region, path.clone(), self.naming);
        if let Some(bytes) = self.capacity {
            core.begin_cache(bytes)?;
        }
        fill(&core)?;
        unnamed.publish(core.region()).map_err(no_directory)?;
        core.name.begin();
        self.table(Lazy::mapped(core, path))
    }

    /// Opens a table that is there.
    ///
    /// # Errors
    /// [`Error::NotFound`]; else as [`Options::open`].
    pub fn open_existing(&self, name: impl AsRef<OsStr>) -> Result<Table> {
        let at = self.location(name.as_ref())?;
        let file = region::open(&at, true)?.in_core_dumps(self.core_dumps);
        self.table(Lazy::unmapped(file, at.path().into(), self.naming))
    }

    /// Opens a table for reading only, through a mapping that cannot be written to.
    ///
    /// Such a handle reads beside any writer and holds nobody up. It cannot note which pages it
    /// reads: when a value of more than some 16 KB is replaced while it is copied, the read begins
    /// again, without a limit. It can go on as long as the value is replaced without a pause, in
    /// less time than a copy takes. Readers of such values use a handle that may write.
    ///
    /// # Errors
    /// [`Error::NotFound`]; else as [`Options::open`].
    pub fn open_read_only(&self, name: impl AsRef<OsStr>) -> Result<Table> {
        let at = self.location(name.as_ref())?;
        let file = region::open(&at, false)?.in_core_dumps(self.core_dumps);
        self.table(Lazy::unmapped(file, at.path().into(), self.naming))
    }

    /// Makes a table in this process's own memory: no file, no other process, gone when dropped.
    /// For tests, of users and of Tavola itself; all of `max_size` is taken at once.
    ///
    /// # Errors
    /// [`Error::BadOption`].
    pub fn private(&self) -> Result<Table> {
        let (geometry, _) = self.geometry(None)?;
        let region = Region::heap(geometry, 0x7A70_1A00);
        let path = PathBuf::from("private table");
        let core = Core::new(region, path.clone(), self.naming);
        if let Some(bytes) = self.capacity {
            core.begin_cache(bytes)?;
        }
        self.table(Lazy::mapped(core, path))
    }

    /// Unlinks a table, as [`names::remove`] does; whoever owns it, with [`Options::any_owner`].
    ///
    /// # Errors
    /// Those of [`names::remove`].
    pub fn remove(&self, name: impl AsRef<OsStr>) -> Result<()> {
        region::remove_of(name.as_ref(), self.any_owner)
    }

    /// Renames a table, as [`names::rename`] does; whoever owns it, with [`Options::any_owner`].
    ///
    /// # Errors
    /// Those of [`names::rename`].
    pub fn rename(&self, from: impl AsRef<OsStr>, to: impl AsRef<OsStr>) -> Result<()> {
        region::rename_of(from.as_ref(), to.as_ref(), self.any_owner)
    }

    fn location(&self, name: &OsStr) -> Result<Location> {
        Location::of(name, self.any_owner)
    }

    pub(super) fn table(&self, lazy: Lazy) -> Result<Table> {
        let background = match self.background && lazy.is_writable() {
            true => Some(Background::start(Arc::clone(lazy.get()?))?),
            false => None,
        };
        Ok(Table {
            _background: background,
            lazy,
            options: self.clone(),
        })
    }
}

/// 16 shards up to 64 MiB, 32 up to 64 GiB, 256 above; fewer where there would be few pages each.
/// Each shard has pages of its own for every size class it holds: more shards make small tables
/// dear.
fn default_shards(max_size: u64) -> u32 {
    let by_size = match max_size {
        0..=0x400_0000 => 16,
        0x400_0001..=0x10_0000_0000 => 32,
        _ => 256,
    };
    let by_pages = (max_size / PAGE / 128).max(1);
    by_size.min(1 << by_pages.ilog2())
}

/// One for each 16 MiB, up to 256: blocks that are free in one are of no use to another.
fn cache_shards(bytes: u64) -> u32 {
    1 << (bytes >> 24).clamp(1, 256).ilog2()
}

/// Of a table that is being made, only its directory can be missing.
fn no_directory(error: Error) -> Error {
    match error {
        Error::NotFound { path } => Error::Io {
            op: "making the table",
            path,
            source: std::io::Error::new(
                std::io::ErrorKind::NotFound,
                "its directory does not exist; create the directory first",
            ),
        },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_follow_the_size() {
        assert_eq!(default_shards(1 << 20), 1);
        assert_eq!(default_shards(64 << 20), 16);
        assert_eq!(default_shards(DEFAULT_SIZE), 32);
        assert_eq!(default_shards(1 << 40), 256);
    }

    #[test]
    fn options_out_of_bounds_are_refused() {
        for options in [
            Options::new().max_size(MIN_SIZE - 1),
            Options::new().max_size(MAX_SIZE + 1),
            Options::new().shards(3),
            Options::new().shards(2048),
            Options::new().max_size(MIN_SIZE).shards(1024),
        ] {
            assert!(matches!(
                options.geometry(None),
                Err(Error::BadOption { .. })
            ));
        }
    }
}
