//! Rebuilding a durable table from its files, in memory that no other process has yet.
//!
//! The memory may be gone without a restart of the machine. Then the system may return bytes of a
//! file whose sync had failed before, and which are not on disk. So what is not sure to be on disk
//! is written again before the table continues behind it.

use super::core::Core;
use super::progress::Progress;
use super::replay::{Replay, replay};
use crate::alloc::build_extent;
use crate::error::{Error, Result};
use crate::journal::{
    End, FileHead, Home, JournalFiles, JournalReader, Record, Room, SnapshotReader, TABLE,
    create_file, encode_policy, head, name_of, number_of, path_in, remove_unfinished,
    snapshot_name, snapshot_position,
};
use crate::layout::{ExtentKind, JournalGeometry, JournalHead, MAX_SIZE};
use crate::sync::Ordering;
use crate::sys::disk::HomeDir;
use std::cell::Cell;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

/// How often the size of a table that is rebuilt is doubled: the keys of a snapshot and those that
/// replaced them take twice the room, and blocks of other sizes may be free in other places.
const DOUBLED: u32 = 2;

/// How damage is dealt with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OnDamage {
    /// It is an error, and nothing changes.
    Refuse,
    /// Everything behind the damage is lost.
    Cut,
}

/// The files from which a table was rebuilt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rebuilt {
    /// Where the snapshot begins; 0: there was none.
    pub(crate) snapshot: u64,
    /// The end of the last record.
    pub(crate) end: u64,
    pub(crate) changes: u64,
}

/// Where a rebuild begins.
pub(crate) struct Start {
    /// The snapshot that is read first. Without one, it is the journal from its beginning.
    pub(crate) snapshot: Option<SnapshotReader>,
    /// The end of the records that the snapshot needs.
    pub(crate) least: u64,
    /// The error to return if the snapshot is damaged, and all others as well.
    pub(crate) damage: Option<Error>,
}

/// Why reading ended.
enum Failure {
    Io(io::Error),
    Tavola(Error),
}

impl From<io::Error> for Failure {
    fn from(source: io::Error) -> Self {
        Self::Io(source)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Tavola(error)
    }
}

impl Failure {
    fn explained(self, failed: &impl Fn(io::Error) -> Error) -> Error {
        match self {
            Self::Io(source) => failed(source),
            Self::Tavola(error) => error,
        }
    }
}

/// A durable table's directory while its table is made.
pub(crate) struct Files<'a> {
    pub(crate) home: &'a Arc<dyn HomeDir>,
    pub(crate) path: &'a Path,
    pub(crate) table: &'a Home,
    /// Whether this creation has put the name of the file `table` on disk.
    is_named: Cell<bool>,
}

impl<'a> Files<'a> {
    pub(crate) fn new(home: &'a Arc<dyn HomeDir>, path: &'a Path, table: &'a Home) -> Self {
        Self {
            home,
            path,
            table,
            is_named: Cell::new(false),
        }
    }
}

impl Files<'_> {
    fn failed(&self, op: &'static str) -> impl Fn(io::Error) -> Error {
        let path = self.path.to_path_buf();
        move |source| Error::Io {
            op,
            path: path.clone(),
            source,
        }
    }

    fn room(&self) -> Room {
        Room::of(self.table.durability)
    }

    /// Makes the first file of the journal, and then the file that makes it a durable table.
    pub(crate) fn create(&self) -> Result<()> {
        let segment = self.table.segment;
        let first = FileHead {
            id: self.table.id,
            number: 1,
            from: segment,
        };
        create_file(&**self.home, &first, segment, self.room())
            .and_then(|()| self.name())
            .inspect_err(|_| {
                // The next creation is not to find a table.
                let _ = self.home.remove(TABLE).and_then(|()| self.home.sync());
            })
            .map_err(self.failed("creating the durable table"))
    }

    /// Writes the file `table`, and returns when it and its name survive a power failure.
    fn name(&self) -> io::Result<()> {
        self.table.write(&**self.home)?;
        self.is_named.set(true);
        Ok(())
    }

    /// Writes the file `table` of a table without a record again, unless this is its creation. The
    /// creation may have died after a sync of the name had failed, and later syncs do not mend
    /// that: all that is written to the table would be lost with the name.
    fn name_again(&self) -> io::Result<()> {
        match self.is_named.get() {
            true => Ok(()),
            false => self.name(),
        }
    }

    /// Makes a table by `make`, with this `max_size`, and fills it as [`Self::rebuild`] does. If it
    /// is too small, a table with twice the size is made.
    ///
    /// A table that was nearly full may not fit: a snapshot has keys that were removed while it was
    /// made, and those that were set in their place. The journal removes the former, but only after
    /// all keys of the snapshot were set.
    pub(crate) fn rebuild_in<R>(
        &self,
        damage: OnDamage,
        make: impl Fn(u64) -> Result<(Core, R)>,
    ) -> Result<(Core, R)> {
        let mut max_size = self.table.max_size;
        loop {
            let (mut core, rest) = make(max_size)?;
            let rebuilt = self.rebuild(&mut core, damage);
            let is_too_small = matches!(rebuilt, Err(Error::Full { .. }));
            if is_too_small && max_size < self.table.max_size << DOUBLED && max_size < MAX_SIZE {
                max_size = (2 * max_size).min(MAX_SIZE);
                continue;
            }
            rebuilt?;
            return Ok((core, rest));
        }
    }

    /// Fills an empty table from snapshot and journal, and lets it record its changes from there
    /// on.
    fn rebuild(&self, core: &mut Core, damage: OnDamage) -> Result<Rebuilt> {
        let failed = self.failed("reading the journal");
        let start = self.start()?;
        let is_salvage = match (start.damage, damage) {
            (Some(error), OnDamage::Refuse) => return Err(error),
            (damage, _) => damage.is_some(),
        };
        let (snapshot, least) = (start.snapshot, start.least);
        let from = snapshot
            .as_ref()
            .map_or(self.table.segment, |snapshot| snapshot.position);
        let mut reader =
            JournalReader::new(&**self.home, self.table.id, self.table.segment).map_err(&failed)?;
        let name = |at: u64| name_of(at / self.table.segment);
        let snapshot_bytes = snapshot.as_ref().map_or(Ok(0), SnapshotReader::len);
        let snapshot_bytes = snapshot_bytes.map_err(&failed)?;
        let mut progress = Progress::begin(self.path, snapshot_bytes + reader.len_from(from));
        let (end, changes) = replay(core, |replay| {
            replay.is_salvage = is_salvage;
            if let Some(snapshot) = &snapshot {
                self.load(snapshot, replay, &mut progress)?;
            }
            replay.is_salvage = false;
            let end = reader.read(from, |record| {
                progress.advance(record.len());
                self.apply(replay, record, &name(record.position))
            })?;
            Ok::<_, Failure>((end, replay.changes))
        })
        .map_err(|failure| failure.explained(&failed))?;
        match end {
            End::At(at) if at >= least => {}
            End::At(at) if damage == OnDamage::Refuse => {
                let why = format!("the snapshot needs records up to {least}");
                return Err(self.damaged(&name(at), at, &why));
            }
            End::Damaged { at, synced } if damage == OnDamage::Refuse => {
                let why = format!("records up to {synced} were on disk");
                return Err(self.damaged(&name(at), at, &why));
            }
            End::At(_) | End::Damaged { .. } => {}
        }
        let end = reader.last;
        if damage == OnDamage::Cut {
            let used = snapshot.as_ref().map_or(0, |snapshot| snapshot.position);
            self.remove_snapshots_after(used).map_err(&failed)?;
        }
        // From the last position that is sure; everything before the snapshot is not read again.
        let sure = reader.synced.max(from).max(least).min(end);
        reader.write_again(sure, end).map_err(&failed)?;
        if snapshot.is_none() && end == self.table.segment {
            self.name_again().map_err(&failed)?;
        }
        self.begin(core, end)?;
        let rebuilt = Rebuilt {
            snapshot: snapshot.as_ref().map_or(0, |snapshot| snapshot.position),
            end,
            changes,
        };
        let words = head(core.region());
        words.snapshot.store(rebuilt.snapshot, Ordering::Relaxed);
        words
            .snapshot_bytes
            .store(snapshot_bytes, Ordering::Relaxed);
        let made_ms = snapshot.map_or(0, |snapshot| snapshot.clock_ms);
        words.snapshot_ms.store(made_ms, Ordering::Relaxed);
        Ok(rebuilt)
    }

    fn load(
        &self,
        snapshot: &SnapshotReader,
        replay: &mut Replay<'_>,
        progress: &mut Progress,
    ) -> Result<(), Failure> {
        let name = snapshot_name(snapshot.position);
        let is_salvage = replay.is_salvage;
        let each = |record: &Record<'_>| {
            progress.advance(record.len());
            self.apply(replay, record, &name)
        };
        if is_salvage {
            if snapshot.salvage(each)?.is_none() {
                replay.skip_versions();
            }
        } else {
            let read = snapshot.read(each)?;
            read.map_err(|at| self.damaged(&name, at, "it changed while it was read"))?;
        }
        replay.clock_ms = replay.clock_ms.max(snapshot.clock_ms);
        Ok(())
    }

    fn apply(
        &self,
        replay: &mut Replay<'_>,
        record: &Record<'_>,
        name: &str,
    ) -> Result<(), Failure> {
        match replay.apply(record)? {
            true => Ok(()),
            false => Err(self
                .damaged(name, record.position, "a record that makes no sense")
                .into()),
        }
    }

    fn damaged(&self, name: &str, at: u64, why: &str) -> Error {
        Error::DamagedJournal {
            path: path_in(self.path, name),
            why: format!("at position {at}: {why}"),
        }
    }

    /// Returns the newest snapshot that is whole. Without one, the journal is read from its
    /// beginning; if that is not there any more, a damaged snapshot is what is left.
    pub(crate) fn start(&self) -> Result<Start> {
        let failed = self.failed("reading the snapshots");
        let names = self.home.names().map_err(&failed)?;
        let mut positions: Vec<u64> = names.iter().filter_map(|n| snapshot_position(n)).collect();
        positions.sort_unstable();
        let first = names.iter().filter_map(|name| number_of(name)).min();
        let mut damaged: Option<Start> = None;
        let mut damage = None;
        let mut newest = 0;
        for position in positions.into_iter().rev() {
            let name = snapshot_name(position);
            let snapshot = SnapshotReader::open(&**self.home, self.table.id, position);
            let Some(snapshot) = snapshot.map_err(&failed)? else {
                newest = newest.max(position);
                damage.get_or_insert_with(|| self.damaged(&name, 0, "its head is damaged"));
                continue;
            };
            let read: Result<_, io::Error> = snapshot.read(|_| Ok(()));
            match read.map_err(&failed)? {
                // An older one will do if the journal continues to the newer one.
                Ok(foot) => {
                    return Ok(Start {
                        snapshot: Some(snapshot),
                        least: foot.end.max(newest),
                        damage: None,
                    });
                }
                Err(at) => {
                    newest = newest.max(position);
                    damaged.get_or_insert_with(|| Start {
                        snapshot: Some(snapshot),
                        least: newest,
                        damage: Some(self.damaged(&name, at, "its check is wrong")),
                    });
                }
            }
        }
        match (first, damaged, damage) {
            (Some(1), _, _) => Ok(Start {
                snapshot: None,
                least: newest,
                damage: None,
            }),
            (_, Some(start), _) => Ok(start),
            (_, None, Some(error)) => Err(error),
            (_, None, None) => Err(self.damaged(&name_of(1), self.table.segment, "it is missing")),
        }
    }

    /// Removes snapshots that are damaged: they are newer than the one that is used, and the
    /// journal may begin before them again.
    fn remove_snapshots_after(&self, used: u64) -> io::Result<()> {
        for name in self.home.names()? {
            if snapshot_position(&name).is_some_and(|other| other > used) {
                self.home.remove(&name)?;
            }
        }
        Ok(())
    }

    /// Lets the table record its changes behind `end`, in a new file: nothing is appended behind a
    /// torn record.
    fn begin(&self, core: &mut Core, end: u64) -> Result<()> {
        let segment = self.table.segment;
        let number = end / segment + 1;
        let prepare = || {
            remove_unfinished(&**self.home)?;
            for name in self.home.names()? {
                if number_of(&name).is_some_and(|other| other >= number) {
                    self.home.remove(&name)?;
                }
            }
            let file = FileHead {
                id: self.table.id,
                number,
                from: end,
            };
            create_file(&**self.home, &file, segment, self.room())
        };
        prepare().map_err(self.failed("making the journal"))?;
        let position = number * segment;
        let sizes = JournalGeometry::of(self.table.max_size, segment);
        let me = core.writer()?;
        let building = build_extent(core.region(), me, ExtentKind::Journal, b"", sizes.len())?;
        let (offset, _) = core.region().span_of(building.run);
        let words = core.region().journal_head(offset);
        words.init(&sizes, self.table.id, position);
        words.allocated.store(position + segment, Ordering::Relaxed);
        words.keep.store(position, Ordering::Relaxed);
        note_home(words, self.path, self.table);
        building.publish();
        core.region().begin_journal(offset);
        core.journal = Some(Arc::new(JournalFiles::new(
            Arc::clone(self.home),
            self.path,
            self.room(),
        )));
        Ok(())
    }
}

/// Notes in memory in which directory the files are, for those who find the memory first.
pub(crate) fn note_home(words: &JournalHead, path: &Path, table: &Home) {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    words.note_home(path.as_os_str().as_bytes(), encode_policy(table.durability));
}
