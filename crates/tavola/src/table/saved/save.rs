//! Writing the keys of a table that is in use.

use super::{Place, Progress, uuid};
use crate::error::{Error, Result, corrupt};
use crate::index::locate::Hash;
use crate::journal::{
    About, ChangeRecord, Content, MOST_PIECE, NOTE_AGAIN, NOTE_STATE, Op, SavedWriter,
};
use crate::sys::clock;
use crate::sys::disk::HomeDir;
use crate::table::Table;
use crate::table::iter::WholeEntry;
use crate::values::Saved;
use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, ErrorKind};

pub(super) const OP: &str = "saving the table";
/// Values from this length on are written in pieces.
const LARGE: usize = 64 << 10;
/// The longest key of a record, whose length has 32 bits.
const MOST_KEY: usize = 1 << 31;
/// Keys between two reports of progress.
const REPORT: u64 = 4096;

/// Writes the keys to a file of this directory.
pub(super) fn save(
    table: &Table,
    home: &dyn HomeDir,
    place: &Place<'_>,
    progress: &mut Progress<'_>,
) -> Result<Saved> {
    let core = table.core()?;
    core.check_has_keys()?;
    let failed = place.failed(OP);
    let about = About {
        uuid: uuid(core),
        unix_ms: clock::unix_ms(),
        clock_ms: core.region().now_ms(),
    };
    let created = SavedWriter::create(home, place.name, &about).map_err(&failed)?;
    let Some(writer) = created else {
        let why = "another process is writing this file";
        return Err(failed(io::Error::new(ErrorKind::ResourceBusy, why)));
    };
    let mut saving = Saving {
        table,
        writer,
        repeats: Repeats::new(),
        failed: &failed,
        changes: 0,
        again: 0,
    };
    let written = saving.write(progress);
    let (changes, keys) = (saving.changes, saving.changes - saving.again);
    let writer = saving.writer;
    let finished = written.and_then(|()| {
        let versions = core.last_version();
        writer.records.finish(0, changes, versions).map_err(&failed)
    });
    finished.map(|bytes| Saved { keys, bytes })
}

/// A save that is being made.
struct Saving<'s, F> {
    table: &'s Table,
    writer: SavedWriter<'s>,
    repeats: Repeats,
    failed: &'s F,
    /// Changes in the file, and those of keys that were there before.
    changes: u64,
    again: u64,
}

impl<F: Fn(io::Error) -> Error> Saving<'_, F> {
    fn write(&mut self, progress: &mut Progress<'_>) -> Result<()> {
        let total = self.table.len()?;
        let mut entries = self.table.iter();
        while let Some(entry) = entries.next_whole()? {
            self.entry(&entry)?;
            if self.changes.is_multiple_of(REPORT) {
                progress(self.changes, total);
            }
        }
        Ok(())
    }

    fn entry(&mut self, entry: &WholeEntry<'_>) -> Result<()> {
        let names = self.table.tag_names(&entry.tags)?;
        if names.len() != entry.tags.len() {
            // A tag was invalidated meanwhile, and the key with it.
            return Ok(());
        }
        for (hint, name) in entry.tags.hints().zip(&names) {
            let written = self.writer.tag(hint.to_bits(), name);
            written.map_err(self.failed)?;
        }
        let mut change = ChangeRecord::of(Op::Set, entry.key);
        change.content = self.content(entry)?;
        (change.client, change.marks) = (entry.shown.client, entry.shown.marks);
        (change.expiry_ms, change.version) = (entry.shown.expiry_ms, entry.shown.version);
        change.tags = names.iter().map(Vec::as_slice).collect();
        change.note = entry.state & NOTE_STATE;
        let shard = Hash::of(self.table.core()?.region(), entry.key).shard();
        if self.repeats.is_again(shard, entry.key) {
            change.note |= NOTE_AGAIN;
            self.again += 1;
        }
        let records = &mut self.writer.records;
        records.draft().push_change(&change);
        records.after_change().map_err(self.failed)?;
        self.changes += 1;
        Ok(())
    }

    fn content<'e>(&mut self, entry: &WholeEntry<'e>) -> Result<Content<'e>> {
        if entry.key.len() > MOST_KEY {
            let bytes = (entry.key.len() + entry.value.len()) as u64;
            return Err(Error::TooLarge { bytes });
        }
        if entry.value.len() < LARGE {
            return Ok(Content::Here(entry.value));
        }
        let pieces = self.writer.records.pieces(entry.value, MOST_PIECE);
        let first = pieces.map_err(self.failed)?;
        match u32::try_from(entry.value.len()) {
            Ok(len) => Ok(Content::Pieces { first, len }),
            Err(_) => corrupt("an item"),
        }
    }
}

/// Finds keys that a scan returns several times, because they were written or moved meanwhile. It
/// returns all keys of a shard before those of the next.
struct Repeats {
    shard: u32,
    hasher: RandomState,
    seen: HashSet<u64>,
}

impl Repeats {
    fn new() -> Self {
        Self {
            shard: 0,
            hasher: RandomState::new(),
            seen: HashSet::new(),
        }
    }

    /// Returns whether a key of this shard was probably there before.
    fn is_again(&mut self, shard: u32, key: &[u8]) -> bool {
        if shard != self.shard {
            self.shard = shard;
            self.seen.clear();
        }
        !self.seen.insert(self.hasher.hash_one(key))
    }
}
