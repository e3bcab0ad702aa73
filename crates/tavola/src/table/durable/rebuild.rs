//! Rebuilding a durable table from its files, in memory that no other process has yet.
//!
//! The memory may be gone without a restart of the machine. Then the system may return bytes of a
//! file whose sync had failed before, and which are not on disk. So what is not sure to be on disk
//! is written again before the table goes on behind it.

use crate::alloc::build_extent;
use crate::engine::{Core, Replay};
use crate::error::{Error, Result};
use crate::journal::{
    End, FileHead, Home, JournalFiles, JournalReader, SnapshotReader, create_file, head, name_of,
    number_of, path_in, snapshot_name, snapshot_position,
};
use crate::layout::{ExtentKind, JournalGeometry};
use crate::sync::Ordering;
use crate::sys::disk::HomeDir;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// What is done about damage.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum OnDamage {
    /// It is an error, and nothing changes.
    Refuse,
    /// What follows the damage is lost.
    Cut,
}

/// What a rebuilt table was made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rebuilt {
    /// Where the snapshot begins; 0: there was none.
    pub(super) snapshot: u64,
    /// The end of the last record.
    pub(super) end: u64,
    pub(super) changes: u64,
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

impl Failure {
    fn explained(self, failed: &impl Fn(io::Error) -> Error) -> Error {
        match self {
            Self::Io(source) => failed(source),
            Self::Tavola(error) => error,
        }
    }
}

/// A durable table's directory while its table is made.
pub(super) struct Files<'a> {
    pub(super) home: &'a Arc<dyn HomeDir>,
    pub(super) path: &'a Path,
    pub(super) table: &'a Home,
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

    /// Makes the first file of the journal, and then the file that makes it a durable table.
    pub(super) fn create(&self) -> Result<()> {
        let segment = self.table.segment;
        let first = FileHead {
            id: self.table.id,
            number: 1,
            from: segment,
        };
        create_file(&**self.home, &first, segment)
            .and_then(|()| self.table.write(&**self.home))
            .map_err(self.failed("creating the durable table"))
    }

    /// Fills an empty table from snapshot and journal, and lets it record its changes from there
    /// on.
    pub(super) fn rebuild(&self, core: &mut Core, damage: OnDamage) -> Result<Rebuilt> {
        let failed = self.failed("reading the journal");
        let mut replay = Replay::new(core);
        let (snapshot, least) = self.newest_snapshot()?;
        let mut from = self.table.segment;
        if let Some(snapshot) = &snapshot {
            let name = snapshot_name(snapshot.position);
            snapshot
                .read(|record| {
                    self.apply(&mut replay, record, &name)
                        .map_err(Failure::Tavola)
                })
                .map_err(|failure| failure.explained(&failed))?
                .map_err(|at| self.damaged(&name, at, "it changed while it was read"))?;
            replay.clock_ms = replay.clock_ms.max(snapshot.clock_ms);
            from = snapshot.position;
        }
        let mut reader =
            JournalReader::new(&**self.home, self.table.id, self.table.segment).map_err(&failed)?;
        let name = |at: u64| name_of(at / self.table.segment);
        let end = reader
            .read(from, |record| {
                let applied = self.apply(&mut replay, record, &name(record.position));
                applied.map_err(Failure::Tavola)
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
        let changes = replay.changes;
        replay.finish();
        // From the last position that is sure; everything before the snapshot is not read again.
        let sure = reader.synced.max(from).max(least).min(end);
        reader.write_again(sure, end).map_err(&failed)?;
        self.begin(core, end)?;
        let rebuilt = Rebuilt {
            snapshot: snapshot.map_or(0, |snapshot| snapshot.position),
            end,
            changes,
        };
        let words = head(core.region());
        words.snapshot.store(rebuilt.snapshot, Ordering::Relaxed);
        Ok(rebuilt)
    }

    fn apply(
        &self,
        replay: &mut Replay<'_>,
        record: &crate::journal::Record<'_>,
        name: &str,
    ) -> Result<()> {
        match replay.apply(record)? {
            true => Ok(()),
            false => Err(self.damaged(name, record.position, "a record that makes no sense")),
        }
    }

    fn damaged(&self, name: &str, at: u64, why: &str) -> Error {
        Error::DamagedJournal {
            path: path_in(self.path, name),
            why: format!("at position {at}: {why}"),
        }
    }

    /// Returns the newest snapshot that is whole, and the end of the records that are needed.
    fn newest_snapshot(&self) -> Result<(Option<SnapshotReader>, u64)> {
        let failed = self.failed("reading the snapshots");
        let names = self.home.names().map_err(&failed)?;
        let mut positions: Vec<u64> = names.iter().filter_map(|n| snapshot_position(n)).collect();
        positions.sort_unstable();
        let first = names.iter().filter_map(|name| number_of(name)).min();
        let mut damaged = None;
        let mut newest = 0;
        for position in positions.into_iter().rev() {
            let name = snapshot_name(position);
            let snapshot = SnapshotReader::open(&**self.home, self.table.id, position);
            let whole = match snapshot.map_err(&failed)? {
                Some(snapshot) => {
                    let read: Result<_, io::Error> = snapshot.read(|_| Ok(()));
                    read.map_err(&failed)?.map(|foot| (snapshot, foot))
                }
                None => Err(0),
            };
            match whole {
                // An older one will do if the journal goes on to the newer one.
                Ok((snapshot, foot)) => return Ok((Some(snapshot), foot.end.max(newest))),
                Err(at) => {
                    newest = newest.max(position);
                    damaged.get_or_insert_with(|| self.damaged(&name, at, "its check is wrong"));
                }
            }
        }
        // Without any snapshot, the journal must be there from its beginning.
        match damaged {
            Some(error) if first != Some(1) => Err(error),
            None if first != Some(1) => {
                Err(self.damaged(&name_of(1), self.table.segment, "it is missing"))
            }
            _ => Ok((None, newest)),
        }
    }

    /// Removes snapshots that are damaged: they are newer than the one that is used, and the journal
    /// may begin before them again.
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
            create_file(&**self.home, &file, segment)
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
        building.publish();
        core.region().begin_journal(offset);
        core.journal = Some(Arc::new(JournalFiles::new(
            Arc::clone(self.home),
            self.path,
        )));
        Ok(())
    }
}
