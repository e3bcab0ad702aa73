//! Saved files: all keys of a table in one file, for a cache that starts warm. They have the bytes
//! of a snapshot, and stand alone.
//!
//! ```text
//! head     as of a snapshot, with position 0
//! ABOUT    format, id of the table (2 words), wall clock in ms: 8 B each
//! TAG, SET, PIECE in any order: a tag before the first key that has it, pieces before their key
//! FOOT     0, keys, highest version
//! ```
//!
//! Nothing follows FOOT. The note of a change has in bits 0-2 what a cache knew of the key, the
//! state of its slot; bit 7 says that the file may have the key before: it was written meanwhile,
//! and the last one counts.
//!
//! A tag is written with the handle that it had. It is never given out again (TAG-1), so the same
//! table knows later which keys have lost their tags. The next tag of that name gets another
//! record, behind all keys that have the earlier one.
//!
//! The file is written under the name `FILE.new`, synced, and then gets its name. So a process that
//! dies, or a power failure, leaves the file before or the whole new one. The writer has a lock on
//! `FILE.new`, which ends with it: the next one overwrites what it finds there.

use super::draft::Draft;
use super::record::{Kind, Record};
use super::snapshot::{Foot, SnapshotHead, SnapshotReader, SnapshotWriter};
use crate::layout::fold;
use crate::sys::disk::HomeDir;
use std::collections::HashSet;
use std::io;

/// The format of a saved file.
pub(crate) const SAVED_FORMAT: u64 = 1;
/// The bits of a change's note.
pub(crate) const NOTE_STATE: u8 = 7;
pub(crate) const NOTE_AGAIN: u8 = 0x80;

/// The facts that a saved file has about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct About {
    /// Identifies the table.
    pub(crate) uuid: [u64; 2],
    /// The wall clock, and the clock by which keys expire, when it was begun.
    pub(crate) unix_ms: u64,
    pub(crate) clock_ms: u64,
}

/// Returns the name of a file while it is written.
fn new_name(name: &str) -> String {
    format!("{name}.new")
}

/// A saved file that is being written.
pub(crate) struct SavedWriter<'a> {
    pub(crate) records: SnapshotWriter<'a>,
    /// The tags whose record is written, by the bits of their handles.
    tags: HashSet<u64>,
}

impl<'a> SavedWriter<'a> {
    /// Begins a file. Returns `None` if another process is writing it.
    pub(crate) fn create(
        home: &'a dyn HomeDir,
        name: &str,
        about: &About,
    ) -> io::Result<Option<Self>> {
        Self::create_of_format(home, name, about, SAVED_FORMAT)
    }

    /// Begins a file of some format; for tests, of another one.
    pub(crate) fn create_of_format(
        home: &'a dyn HomeDir,
        name: &str,
        about: &About,
        format: u64,
    ) -> io::Result<Option<Self>> {
        let names = [new_name(name), name.to_string()];
        let Some(file) = home.claim(&names[0])? else {
            return Ok(None);
        };
        let [one, other] = about.uuid;
        let head = SnapshotHead {
            id: fold(&[one, other, about.unix_ms, about.clock_ms]),
            position: 0,
            clock_ms: about.clock_ms,
        };
        let mut records = SnapshotWriter::begin(home, file, names, &head);
        let mut draft = Draft::default();
        draft.begin(Kind::About);
        for word in [format, one, other, about.unix_ms] {
            draft.push_word(word);
        }
        records.record(&mut draft)?;
        Ok(Some(Self {
            records,
            tags: HashSet::new(),
        }))
    }

    /// Writes the record of a tag, unless it is there.
    pub(crate) fn tag(&mut self, handle: u64, name: &[u8]) -> io::Result<()> {
        if !self.tags.insert(handle) {
            return Ok(());
        }
        let mut draft = Draft::default();
        draft.begin(Kind::Tag);
        draft.push_word(handle);
        draft.push_word(name.len() as u64);
        draft.push_bytes(name);
        self.records.record(&mut draft)
    }
}

/// Why a file cannot be restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unusable {
    /// It was not written by this library.
    Foreign,
    /// It is the snapshot of a durable table.
    Snapshot,
    /// It has this format.
    Newer(u64),
    /// At this byte.
    Damaged(u64),
}

/// A saved file that is being read.
pub(crate) struct SavedReader {
    records: SnapshotReader,
    pub(crate) about: About,
}

/// Ends the reading behind the first record.
enum Seen {
    About(Option<[u64; 4]>, u64),
    Io(io::Error),
}

impl From<io::Error> for Seen {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl SavedReader {
    pub(crate) fn open(home: &dyn HomeDir, name: &str) -> io::Result<Result<Self, Unusable>> {
        let (opened, begin) = SnapshotReader::of_file(home.open(name)?)?;
        let Some(records) = opened else {
            return Ok(Err(match SnapshotHead::is_begun(&begin) {
                true => Unusable::Damaged(0),
                false => Unusable::Foreign,
            }));
        };
        if records.position != 0 {
            return Ok(Err(Unusable::Snapshot));
        }
        let read = records.read(|record| {
            let words = [0, 1, 2, 3].map(|number| record.word(number));
            let about = match (record.kind, words) {
                (Kind::About, [Some(a), Some(b), Some(c), Some(d)]) => Some([a, b, c, d]),
                _ => None,
            };
            Err(Seen::About(about, record.position))
        });
        Ok(match read {
            Err(Seen::Io(error)) => return Err(error),
            Err(Seen::About(Some([SAVED_FORMAT, one, other, unix_ms]), _)) => Ok(Self {
                about: About {
                    uuid: [one, other],
                    unix_ms,
                    clock_ms: records.clock_ms,
                },
                records,
            }),
            Err(Seen::About(Some([format, ..]), _)) => Err(Unusable::Newer(format)),
            Err(Seen::About(None, at)) | Ok(Err(at)) => Err(Unusable::Damaged(at)),
            Ok(Ok(_)) => Err(Unusable::Damaged(0)),
        })
    }

    /// Returns the bytes of the file.
    pub(crate) fn len(&self) -> io::Result<u64> {
        self.records.len()
    }

    /// Calls `each` with all records, as [`SnapshotReader::read`]; the file must end with the foot.
    pub(crate) fn read<E: From<io::Error>>(
        &self,
        mut each: impl FnMut(&Record<'_>) -> Result<(), E>,
    ) -> Result<Result<Foot, u64>, E> {
        let mut end = 0;
        let foot = self.records.read(|record| {
            end = record.position + record.len();
            each(record)
        })?;
        let is_whole = self.records.len()? == end;
        Ok(foot.and_then(|foot| if is_whole { Ok(foot) } else { Err(end) }))
    }
}

/// Returns the handle and the name of a tag's record.
pub(crate) fn decode_tag<'r>(record: &Record<'r>) -> Option<(u64, &'r [u8])> {
    let (handle, len) = (record.word(0)?, record.word(1)?);
    let name = record.body.get(16..)?.get(..usize::try_from(len).ok()?)?;
    Some((handle, name))
}
