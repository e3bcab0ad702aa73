//! Reading all files of a durable table, to see whether it can be rebuilt. Nothing is changed.

use super::directory::{boot, open_directory, read_home};
use crate::engine::Files;
use crate::error::{Error, Result};
use crate::journal::{
    End, Home, JournalReader, Kind, Place, SnapshotReader, TABLE, name_of, number_of,
    snapshot_name, snapshot_position,
};
use crate::region::explained;
use crate::sys::disk::{DirLock, HomeDir, RealHome};
use crate::values::{HomeFile, HomeFileKind, HomeReport, JournalEnd};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// How often files that others remove meanwhile are read again.
const TRIES: u32 = 5;

/// Reads all files of a durable table, and returns what is in them. It changes nothing, and needs
/// no more than the right to read.
///
/// # Errors
/// [`Error::NotATable`] if the directory has no durable table; [`Error::DamagedJournal`] if its
/// file `table` is damaged; [`Error::Io`] if a file cannot be read. Other damage is in the report.
///
/// # Concurrency
/// Processes may use the table meanwhile. Then the end of the journal is what was written when that
/// was read.
pub fn verify(home: impl AsRef<Path>) -> Result<HomeReport> {
    let path = home.as_ref();
    let mut tries = 0;
    loop {
        tries += 1;
        let report = Reading::begin(path).and_then(|reading| reading.report());
        let is_final = match &report {
            // A snapshot was made meanwhile, and files were removed that it replaces.
            Ok(report) => !report.is_in_use || !report.is_damaged(),
            Err(Error::NotATable { .. } | Error::DamagedJournal { .. }) => true,
            Err(_) => false,
        };
        if is_final || tries == TRIES {
            return report;
        }
    }
}

struct Reading<'a> {
    path: &'a Path,
    lock: DirLock,
    home: Arc<dyn HomeDir>,
    table: Home,
    place: Option<Place>,
}

impl<'a> Reading<'a> {
    fn begin(path: &'a Path) -> Result<Self> {
        let failed = |source| explained("reading the durable table", path, source);
        let lock = DirLock::of(open_directory(path, true)?, path).map_err(failed)?;
        let home: Arc<dyn HomeDir> =
            Arc::new(RealHome::read_only(open_directory(path, true)?, path).map_err(failed)?);
        let (table, place) = read_home(&*home, path)?;
        Ok(Self {
            path,
            lock,
            home,
            table,
            place,
        })
    }

    fn report(&self) -> Result<HomeReport> {
        let failed = |source| explained("reading the durable table", self.path, source);
        let is_in_use = self.is_in_use().map_err(failed)?;
        let mut files = self.files().map_err(failed)?;
        let start = match self.of_rebuild().start() {
            Ok(start) => start,
            Err(Error::DamagedJournal { path, why }) => {
                let ending = damaged(&path, why, false, 0);
                return Ok(self.report_of(is_in_use, files, ending));
            }
            Err(error) => return Err(error),
        };
        let (snapshot, least) = (start.snapshot, start.least);
        let from = snapshot.as_ref().map_or(self.table.segment, |s| s.position);
        let mut counted = Counted::default();
        let (end, mut ending) = self
            .read_journal(from, least, &mut counted)
            .map_err(failed)?;
        if let (Some(Error::DamagedJournal { path, why }), Some(snapshot)) =
            (start.damage, &snapshot)
        {
            let lost = self.salvaged(snapshot, &mut files).map_err(failed)?;
            // The other damage is found when this is repaired.
            ending = damaged(&path, why, true, lost);
        }
        for (number, records) in counted.by_file {
            if let Some(file) = files.get_mut(&name_of(number)) {
                file.entries = records;
            }
        }
        if let JournalEnd::Damaged { file, why, .. } = &ending
            && let Some(file) = files.get_mut(file)
        {
            file.problem = Some(why.clone());
        }
        let keys = snapshot.as_ref().and_then(|snapshot| {
            let file = files.get(&snapshot_name(snapshot.position))?;
            Some((snapshot.position, file.entries))
        });
        Ok(HomeReport {
            snapshot: keys,
            records: counted.records,
            changes: counted.changes,
            end,
            ..self.report_of(is_in_use, files, ending)
        })
    }

    /// Counts the keys of a damaged snapshot that can be read. Returns how many cannot; 0 if that
    /// is not known.
    fn salvaged(
        &self,
        snapshot: &SnapshotReader,
        files: &mut BTreeMap<String, HomeFile>,
    ) -> io::Result<u64> {
        let mut found = 0;
        let foot = snapshot.salvage(|record| {
            found += u64::from(record.changes);
            Ok::<_, io::Error>(())
        })?;
        if let Some(file) = files.get_mut(&snapshot_name(snapshot.position)) {
            file.entries = found;
        }
        Ok(foot.map_or(0, |foot| foot.keys.saturating_sub(found)))
    }

    fn report_of(
        &self,
        is_in_use: bool,
        files: BTreeMap<String, HomeFile>,
        ending: JournalEnd,
    ) -> HomeReport {
        HomeReport {
            home: self.path.to_path_buf(),
            policy: self.table.durability,
            is_in_use,
            is_in_memory: self.is_in_memory(),
            snapshot: None,
            records: 0,
            changes: 0,
            end: 0,
            ending,
            files: files.into_values().collect(),
        }
    }

    fn of_rebuild(&self) -> Files<'_> {
        Files::new(&self.home, self.path, &self.table)
    }

    /// Nobody may keep the lock for long, as a process may be about to open the table.
    fn is_in_use(&self) -> io::Result<bool> {
        let is_free = self.lock.try_alone()?;
        if is_free {
            self.lock.unlock()?;
        }
        Ok(!is_free)
    }

    fn is_in_memory(&self) -> bool {
        let dir = self.lock.identity();
        let is_there =
            |place: &Place| place.boot == boot() && place.dir == dir && place.path.exists();
        self.place.as_ref().is_some_and(is_there)
    }

    /// Returns all files, and reads the snapshots.
    fn files(&self) -> io::Result<BTreeMap<String, HomeFile>> {
        let mut files = BTreeMap::new();
        for name in self.home.names()? {
            let mut file = HomeFile {
                kind: match () {
                    () if name == TABLE => HomeFileKind::Table,
                    () if number_of(&name).is_some() => HomeFileKind::Journal,
                    () if snapshot_position(&name).is_some() => HomeFileKind::Snapshot,
                    () => HomeFileKind::Other,
                },
                name: name.clone(),
                bytes: 0,
                entries: 0,
                problem: None,
            };
            if file.kind != HomeFileKind::Other {
                file.bytes = self.home.open(&name)?.len()?;
            }
            if let Some(position) = snapshot_position(&name) {
                match self.keys_of(position)? {
                    Ok(keys) => file.entries = keys,
                    Err(at) => file.problem = Some(format!("at byte {at}: its check is wrong")),
                }
            }
            files.insert(name, file);
        }
        Ok(files)
    }

    /// Returns how many keys a snapshot has, or where it is wrong.
    fn keys_of(&self, position: u64) -> io::Result<Result<u64, u64>> {
        match SnapshotReader::open(&*self.home, self.table.id, position)? {
            Some(snapshot) => {
                let read: io::Result<_> = snapshot.read(|_| Ok(()));
                Ok(read?.map(|foot| foot.keys))
            }
            None => Ok(Err(0)),
        }
    }

    fn read_journal(
        &self,
        from: u64,
        least: u64,
        counted: &mut Counted,
    ) -> io::Result<(u64, JournalEnd)> {
        let segment = self.table.segment;
        let mut reader = JournalReader::new(&*self.home, self.table.id, segment)?;
        let mut nonsense = None;
        let end = reader.read(from, |record| -> io::Result<()> {
            let has_sense = record.kind != Kind::Commit || record.each_change(|_, _| {}).is_some();
            if !has_sense {
                nonsense.get_or_insert(record.position);
            }
            counted.add(segment, record.position, record.changes);
            Ok(())
        })?;
        let (at, why) = match end {
            End::At(at) if at < least => (at, format!("the snapshot needs records up to {least}")),
            End::Damaged { at, synced } => (at, format!("records up to {synced} were on disk")),
            End::At(at) => match nonsense {
                Some(at) => (at, "a record that makes no sense".to_string()),
                None if reader.has_bytes(at)? => return Ok((at, JournalEnd::Torn)),
                None => return Ok((at, JournalEnd::Clean)),
            },
        };
        let mut lost_changes = 0;
        reader.behind(at, |record| lost_changes += u64::from(record.changes))?;
        let ending = JournalEnd::Damaged {
            file: name_of(at / segment),
            why: format!("at position {at}: {why}"),
            can_cut: nonsense.is_none(),
            lost_changes,
        };
        Ok((at, ending))
    }
}

fn damaged(path: &Path, why: String, can_cut: bool, lost_changes: u64) -> JournalEnd {
    let name = path.file_name().unwrap_or_default();
    JournalEnd::Damaged {
        file: name.to_string_lossy().into_owned(),
        why,
        can_cut,
        lost_changes,
    }
}

#[derive(Default)]
struct Counted {
    records: u64,
    changes: u64,
    /// Records by the number of their file.
    by_file: BTreeMap<u64, u64>,
}

impl Counted {
    fn add(&mut self, segment: u64, position: u64, changes: u32) {
        self.records += 1;
        self.changes += u64::from(changes);
        *self.by_file.entry(position / segment).or_default() += 1;
    }
}
