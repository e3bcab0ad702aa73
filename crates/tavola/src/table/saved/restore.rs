//! Reading a saved file twice: first all of it is checked, then keys are set.

use super::{Place, Progress, is_same};
use crate::engine::{Core, MOST_VERSION, RestorePlan, no_room, restore as set_keys};
use crate::error::{Error, Result};
use crate::journal::{
    ChangeRecord, Content, Kind, NOTE_AGAIN, NOTE_STATE, Op, Record, SavedReader, decode_tag,
};
use crate::sys::disk::HomeDir;
use crate::table::Table;
use crate::values::{MARKS, Restored, SavedFile};
use std::collections::{HashMap, HashSet};
use std::io;
use std::time::{Duration, UNIX_EPOCH};

pub(super) const OP: &str = "reading the saved file";
/// States of slots, from the one that eviction removes last on (`layout/bucket.rs`).
const BY_WORTH: [usize; 8] = [7, 5, 6, 4, 3, 1, 0, 2];

/// Why reading ended.
enum Failure {
    Io(io::Error),
    Tavola(Error),
    /// A record that makes no sense, at this byte.
    Nonsense(u64),
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

impl Place<'_> {
    fn explained(&self, failure: Failure) -> Error {
        match failure {
            Failure::Io(source) => self.failed(OP)(source),
            Failure::Tavola(error) => error,
            Failure::Nonsense(at) => self.nonsense(at),
        }
    }

    fn nonsense(&self, at: u64) -> Error {
        self.refused(format!("it is damaged at byte {at}"))
    }

    fn open(&self, home: &dyn HomeDir) -> Result<SavedReader> {
        let opened = SavedReader::open(home, self.name).map_err(self.failed(OP))?;
        opened.map_err(|unusable| self.unusable(unusable))
    }
}

/// The findings of the first reading.
#[derive(Default)]
struct Census {
    changes: u64,
    /// Changes of keys that were there before.
    again: u64,
    /// The names of tags, and the bytes of values in pieces by the position of the first one.
    tags: HashSet<Vec<u8>>,
    pieces: HashMap<u64, u64>,
    /// The last places of keys that are there several times.
    last: HashMap<Vec<u8>, u64>,
    /// Bytes that the keys of each state take in a table.
    bytes: [u64; 8],
    versions: u64,
    /// The lengths of a key and a value that are not the given ones.
    other_lengths: bool,
    /// Whether a key has something beside its value.
    has_attributes: bool,
}

impl Census {
    /// Reads a record. Returns false if it makes no sense.
    fn add(&mut self, record: &Record<'_>, fixed: Option<(u32, u32)>) -> bool {
        match record.kind {
            Kind::Commit => {
                let mut all_right = true;
                let all = record.each_change(|change, _| all_right &= self.change(&change, fixed));
                all.is_some() && all_right
            }
            Kind::Tag => match decode_tag(record) {
                Some((_, name)) => {
                    self.tags.insert(name.to_vec());
                    true
                }
                None => false,
            },
            Kind::Piece => self.piece(record).is_some(),
            Kind::About | Kind::Foot => true,
            Kind::Clock => false,
        }
    }

    fn piece(&mut self, record: &Record<'_>) -> Option<()> {
        let first = match record.word(0)? {
            0 => record.position,
            first => first,
        };
        *self.pieces.entry(first).or_default() += record.body.len() as u64 - 8;
        Some(())
    }

    fn change(&mut self, change: &ChangeRecord<'_>, fixed: Option<(u32, u32)>) -> bool {
        self.changes += 1;
        if change.note & NOTE_AGAIN != 0 {
            self.last.insert(change.key.to_vec(), self.changes);
            self.again += 1;
        }
        self.bytes[usize::from(change.note & NOTE_STATE)] += RestorePlan::cost(change);
        self.versions = self.versions.max(change.version);
        let len = match change.content {
            Content::Here(value) => value.len(),
            Content::Pieces { len, .. } => len as usize,
        };
        let is_whole = match change.content {
            Content::Here(_) => true,
            Content::Pieces { first, .. } => {
                let has = self.pieces.remove(&first);
                has.is_some_and(|has| has >= len as u64)
            }
        };
        let has_tags = change.tags.iter().all(|name| self.tags.contains(*name));
        if let Some((key, value)) = fixed {
            self.other_lengths |= (change.key.len(), len) != (key as usize, value as usize);
        }
        let words = (change.client, change.marks, change.expiry_ms);
        self.has_attributes |= words != (0, 0, 0) || !change.tags.is_empty();
        let is_right = is_whole && has_tags && change.op == Op::Set;
        is_right && change.marks <= MARKS && change.version < MOST_VERSION
    }

    /// Divides the room of a cache among the states, the most valuable first.
    fn budgets(&self, core: &Core) -> Result<[u64; 8]> {
        let stats = core.stats()?;
        let Some(capacity) = stats.capacity else {
            return Ok([u64::MAX; 8]);
        };
        // Free pages are backed, too.
        let used = stats.resident_bytes.saturating_sub(stats.free_bytes);
        let mut room = capacity.saturating_sub(used) / 32 * 31;
        let mut budgets = [0; 8];
        for state in BY_WORTH {
            budgets[state] = self.bytes[state].min(room);
            room -= budgets[state];
        }
        Ok(budgets)
    }
}

/// Reads all of a file, and returns what it has.
fn read_all(
    place: &Place<'_>,
    file: &SavedReader,
    fixed: Option<(u32, u32)>,
    mut each: impl FnMut(u64),
) -> Result<(Census, u64)> {
    let mut census = Census::default();
    let read = file.read(|record| {
        each(record.position + record.len());
        match census.add(record, fixed) {
            true => Ok(()),
            false => Err(Failure::Nonsense(record.position)),
        }
    });
    let foot = read
        .map_err(|failure| place.explained(failure))?
        .map_err(|at| place.nonsense(at))?;
    if foot.keys != census.changes || foot.versions >= MOST_VERSION {
        return Err(place.refused("its foot does not match its keys".to_string()));
    }
    census.versions = census.versions.max(foot.versions);
    let keys = foot.keys - census.again;
    Ok((census, keys))
}

/// Checks a file, and returns the id of its table with what is in it.
pub(super) fn check(home: &dyn HomeDir, place: &Place<'_>) -> Result<(SavedFile, [u64; 2])> {
    let file = place.open(home)?;
    let (_, keys) = read_all(place, &file, None, |_| {})?;
    let saved = SavedFile {
        keys,
        bytes: file.len().map_err(place.failed(OP))?,
        saved_at: UNIX_EPOCH + Duration::from_millis(file.about.unix_ms),
        is_of_table: false,
    };
    Ok((saved, file.about.uuid))
}

/// Sets the keys of a file that a table lacks.
pub(super) fn restore(
    table: &Table,
    home: &dyn HomeDir,
    place: &Place<'_>,
    progress: &mut Progress<'_>,
) -> Result<Restored> {
    let core = table.core()?;
    core.check_has_keys()?;
    core.writer()?;
    let file = place.open(home)?;
    let bytes = file.len().map_err(place.failed(OP))?;
    let fixed = core
        .region()
        .fixed()
        .map(|fixed| (fixed.key_len, fixed.value_len));
    let (census, _) = read_all(place, &file, fixed, |done| progress(done, 2 * bytes))?;
    if let Some((key, value)) = fixed {
        if census.other_lengths {
            return Err(Error::Lengths { key, value });
        }
        if census.has_attributes {
            return Err(no_room());
        }
    }
    let plan = RestorePlan {
        about: file.about,
        is_same: is_same(core, file.about.uuid),
        versions: census.versions,
        budgets: census.budgets(core)?,
        last: census.last,
    };
    set_keys(core, plan, |restore| {
        let read = file.read(|record| {
            progress(bytes + record.position, 2 * bytes);
            match restore.apply(record)? {
                true => Ok(()),
                false => Err(Failure::Nonsense(record.position)),
            }
        })?;
        read.map(drop).map_err(Failure::Nonsense)
    })
    .map_err(|failure| place.explained(failure))
}
