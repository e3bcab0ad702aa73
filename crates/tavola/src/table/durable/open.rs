//! Opening a durable table: attaching to its memory, or rebuilding that.
//!
//! The directory is locked: for many by all who use the table, for one who creates or rebuilds it.
//! The file `table` says where the memory is. If it is not there (after a restart of the machine,
//! or because somebody removed it), and nobody uses the table, it is rebuilt in a file without a
//! name, which then gets one, and is noted. A process that dies before that has changed nothing.

use super::directory::{MEMORY, boot, is_home, open_directory, read_home};
use super::keeper::start_keeper;
use super::remove::finish_removal;
use crate::alloc::find_extent;
use crate::engine::{Core, Files, OnDamage, note_home};
use crate::error::{Error, Result};
use crate::journal::{Home, JournalFiles, Place, Room, TABLE, name_of};
use crate::layout::ExtentKind;
use crate::region::{self, Location, Region, Unmapped, explained, names};
use crate::sync::Ordering;
use crate::sys::disk::{DirLock, HomeDir, RealHome};
use crate::sys::file::create_directory;
use crate::table::lazy::Lazy;
use crate::table::{Options, Table};
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The pause between two looks at a table that another process is rebuilding.
const PAUSE: Duration = Duration::from_millis(10);
/// For how long processes may use memory that cannot be reached before that is an error: they may
/// be about to open the table as well.
const UNREACHED: Duration = Duration::from_secs(3);
/// For how long another process may rebuild it.
const REBUILDING: Duration = Duration::from_secs(3600);

/// A directory that is about to be used.
pub(super) struct Opening<'a> {
    options: &'a Options,
    path: &'a Path,
    lock: DirLock,
    home: Arc<dyn HomeDir>,
}

impl Options {
    /// Opens a durable table that exists.
    pub(in crate::table) fn open_home(&self, path: &Path, writable: bool) -> Result<Table> {
        let reads = |file| self.table(Lazy::unmapped(file, path.into(), self.uid_policy));
        if !writable && let Some(file) = Opening::to_read(self, path)?.find_memory()? {
            return reads(file);
        }
        let opening = Opening::new(self, path)?;
        let (core, table) = opening.open()?;
        if !writable && !self.cut {
            let at = Location::of(core.path().as_os_str(), true)?;
            return reads(region::open(&at, false)?);
        }
        let table = self.durable_table(core, &table, path)?;
        if self.cut {
            after_cut(&table)?;
        }
        match writable {
            true => Ok(table),
            false => {
                drop(table);
                self.clone().cut_damage(false).open_home(path, false)
            }
        }
    }

    /// Returns whether a durable table is in memory.
    pub(super) fn has_memory(&self, path: &Path) -> Result<bool> {
        Ok(Opening::to_read(self, path)?.find_memory()?.is_some())
    }

    /// Creates a durable table in a directory, which is made if it is missing.
    pub(in crate::table) fn create_home(&self, path: &Path) -> Result<Table> {
        // Invalid options leave no directory.
        let table = self.home()?;
        match create_directory(path, self.rights()) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                return Err(explained("creating the durable table", path, error));
            }
            _ => {}
        }
        let opening = Opening::new(self, path)?;
        let core = opening.create(&table)?;
        self.durable_table(core, &table, path)
    }

    fn durable_table(&self, mut core: Core, table: &Home, path: &Path) -> Result<Table> {
        core.durability = self.stricter(table.durability);
        core.name.begin();
        let core = Arc::new(core);
        // Where stores are counted, nothing happens beside the calls.
        let keeper = match cfg!(feature = "torture") {
            true => None,
            false => Some(start_keeper(&core, table.durability)?),
        };
        let mut made = self.table(Lazy::shared(core, path.into()))?;
        made.keeper = keeper;
        Ok(made)
    }
}

/// Makes a snapshot of a table that was rebuilt from damaged files. Otherwise the next one who
/// rebuilds it would find the damage again: an older snapshot needs what was cut off.
pub(super) fn after_cut(table: &Table) -> Result<()> {
    table.snapshot().map(drop)
}

impl<'a> Opening<'a> {
    fn new(options: &'a Options, path: &'a Path) -> Result<Self> {
        Self::with(options, path, |dir| {
            RealHome::open(dir, path, TABLE, options.rights())
        })
    }

    /// For a process that may only read the files.
    pub(super) fn to_read(options: &'a Options, path: &'a Path) -> Result<Self> {
        Self::with(options, path, |dir| RealHome::read_only(dir, path))
    }

    fn with(
        options: &'a Options,
        path: &'a Path,
        open: impl FnOnce(OwnedFd) -> io::Result<RealHome>,
    ) -> Result<Self> {
        let failed = |source| explained("opening the durable table", path, source);
        let dir = open_directory(path, options.any_owner)?;
        let lock = DirLock::of(dir, path).map_err(failed)?;
        let home = open(open_directory(path, options.any_owner)?).map_err(failed)?;
        Ok(Self {
            options,
            path,
            lock,
            home: Arc::new(home),
        })
    }

    fn failed(&self, source: io::Error) -> Error {
        explained("opening the durable table", self.path, source)
    }

    fn files<'f>(&'f self, table: &'f Home) -> Files<'f> {
        Files::new(&self.home, self.path, table)
    }

    fn create(self, table: &Home) -> Result<Core> {
        let exists = || Error::AlreadyExists {
            path: self.path.to_path_buf(),
        };
        if !self.lock.try_alone().map_err(|e| self.failed(e))? || is_home(self.path) {
            return Err(exists());
        }
        finish_removal(&*self.home).map_err(|e| self.failed(e))?;
        let names = self.home.names().map_err(|e| self.failed(e))?;
        // A creation that died has left them.
        let is_ours = |name: &String| *name == name_of(1) || name == "table.new";
        if let Some(other) = names.iter().find(|name| !is_ours(name)) {
            return Err(Error::NotATable {
                path: self.path.to_path_buf(),
                why: format!("the directory is not empty: it has {other:?}"),
            });
        }
        let files = self.files(table);
        files.create()?;
        let core = self.rebuild(&files)?;
        self.share()?;
        Ok(self.keep_lock(core))
    }

    fn open(self) -> Result<(Core, Home)> {
        let since = Instant::now();
        let mut unreached: Option<Instant> = None;
        loop {
            if self.lock.try_shared().map_err(|e| self.failed(e))? {
                let (table, place) = self.read()?;
                if let Some(core) = self.attach(&table, place.as_ref())? {
                    return Ok((self.keep_lock(core), table));
                }
                self.lock.unlock().map_err(|e| self.failed(e))?;
                if self.lock.try_alone().map_err(|e| self.failed(e))? {
                    let (table, place) = self.read()?;
                    let core = match self.attach(&table, place.as_ref())? {
                        Some(core) => core,
                        None => self.rebuild(&self.files(&table))?,
                    };
                    self.share()?;
                    return Ok((self.keep_lock(core), table));
                }
                let first = *unreached.get_or_insert_with(Instant::now);
                if first.elapsed() > UNREACHED {
                    return Err(Error::InUseElsewhere {
                        path: self.path.to_path_buf(),
                    });
                }
            } else {
                // Somebody rebuilds it.
                unreached = None;
                if since.elapsed() > REBUILDING {
                    let source = io::Error::from(ErrorKind::TimedOut);
                    return Err(explained(
                        "waiting for the rebuilding of",
                        self.path,
                        source,
                    ));
                }
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Lets others use the table, too.
    fn share(&self) -> Result<()> {
        // Between the two locks another process may have it alone, and finds the table's memory.
        let since = Instant::now();
        while !self.lock.try_shared().map_err(|e| self.failed(e))? {
            if since.elapsed() > UNREACHED {
                return Err(self.failed(io::Error::from(ErrorKind::TimedOut)));
            }
            std::thread::sleep(PAUSE);
        }
        Ok(())
    }

    /// The handle keeps the lock.
    fn keep_lock(self, mut core: Core) -> Core {
        core.home_lock = Some(self.lock);
        core
    }

    fn read(&self) -> Result<(Home, Option<Place>)> {
        read_home(&*self.home, self.path)
    }

    /// Returns the memory, to be read, if it is there.
    fn find_memory(&self) -> Result<Option<Unmapped>> {
        let (_, place) = self.read()?;
        let found = self.locate(place.as_ref(), false)?;
        Ok(found.map(|(file, _)| file))
    }

    /// Returns whether the directory says that its memory is the table with this id.
    pub(super) fn names_memory(&self, uuid: [u64; 2]) -> Result<bool> {
        let (_, place) = self.read()?;
        let dir = self.lock.identity();
        let is_it = |place: Place| (place.boot, place.dir, place.uuid) == (boot(), dir, uuid);
        Ok(place.is_some_and(is_it))
    }

    /// Opens and maps the memory, if it is there.
    fn locate(&self, place: Option<&Place>, writable: bool) -> Result<Option<(Unmapped, Region)>> {
        let dir = self.lock.identity();
        let is_valid = |place: &&Place| place.boot == boot() && place.dir == dir;
        let Some(place) = place.filter(is_valid) else {
            return Ok(None);
        };
        let at = match Location::of(place.path.as_os_str(), true) {
            Err(Error::NotFound { .. }) => return Ok(None),
            at => at?,
        };
        let file = match region::open(&at, writable) {
            Err(Error::NotFound { .. }) => return Ok(None),
            file => file?,
        };
        let region = file.map(at.path())?;
        let words = &region.superblock().uuid;
        let is_it = [0, 1].map(|i| words[i].load(Ordering::Relaxed)) == place.uuid;
        Ok(is_it.then_some((file, region)))
    }

    /// Attaches to the memory, if it is there.
    fn attach(&self, table: &Home, place: Option<&Place>) -> Result<Option<Core>> {
        let (Some(place), Some((_, region))) = (place, self.locate(place, true)?) else {
            return Ok(None);
        };
        let Some((offset, _)) = find_extent(&region, ExtentKind::Journal, b"")? else {
            return Ok(None);
        };
        if region.journal_head(offset).verify().is_none() {
            return Err(Error::Corrupt {
                what: "the journal",
            });
        }
        // The directory may have been moved.
        note_home(region.journal_head(offset), self.path, table);
        region.begin_journal(offset);
        let mut core = Core::new(region, place.path.clone(), self.options.uid_policy);
        let room = Room::of(table.durability);
        let files = JournalFiles::new(Arc::clone(&self.home), self.path, room);
        core.journal = Some(Arc::new(files));
        Ok(Some(core))
    }

    /// Adds the group of the file `table`, who may use the memory, too.
    fn with_group(&self, options: Options) -> Options {
        match std::fs::metadata(self.path.join(TABLE)) {
            Ok(info) => options.group_if_can(Some(info.gid())),
            Err(_) => options,
        }
    }

    /// Rebuilds the memory, and notes where it is. This process has the directory alone.
    fn rebuild(&self, files: &Files<'_>) -> Result<Core> {
        let table = files.table;
        let dir = self.lock.identity();
        // Copies of a directory have the same id, and on another device perhaps the same inode.
        let name = format!("{MEMORY}{:016x}-{:x}-{:x}", table.id, dir[0], dir[1]);
        let path = names::path_of(&name)?;
        region::make_directory(&path)?;
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(self.failed(error)),
            _ => {}
        }
        let options = self.with_group(self.options.of_home(table));
        let make = |max_size| {
            let options = options.clone().max_size(max_size);
            let (geometry, max_size) = options.geometry(Some(&path))?;
            let at = Location::of(path.as_os_str(), true)?;
            let (region, unnamed) = region::create(at, geometry, max_size, options.rights())?;
            let core = Core::new(region, path.clone(), options.uid_policy);
            Ok((core, unnamed))
        };
        let damage = self.options.damage();
        let (core, unnamed) = files.rebuild_in(damage, make)?;
        unnamed.publish(core.region())?;
        let words = &core.region().superblock().uuid;
        let place = Place {
            boot: boot(),
            uuid: [0, 1].map(|i| words[i].load(Ordering::Relaxed)),
            dir,
            path,
        };
        let file = self.home.open(TABLE).map_err(|e| self.failed(e))?;
        place.write(&file).map_err(|e| self.failed(e))?;
        Ok(core)
    }
}

impl Options {
    fn damage(&self) -> OnDamage {
        match self.cut {
            true => OnDamage::Cut,
            false => OnDamage::Refuse,
        }
    }
}
