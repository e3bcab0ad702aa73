//! Snapshots: files with all keys of a table, from which a journal continues.
//!
//! ```text
//! HOME/snapshot-POSITION   64 B head: magic `TavolaSN`, id, position, clock in ms, checksum; then
//!                          records whose positions are offsets in the file; FOOT is the last
//! ```
//!
//! A snapshot is made while the table changes: a key has what it had at some moment between
//! `position` and the end of the journal that FOOT names. All records from `position` on are made
//! again, which ends with what each key has. **JRN-6** So a snapshot counts only if its FOOT is
//! there, and if the journal was on disk up to the end that FOOT names before it got its name.

use super::draft::Draft;
use super::files::FILE_HEAD;
use super::record::{HEAD, Kind, Record, RecordHead, word_at};
use super::window::Window;
use crate::layout::fold;
use crate::sys::disk::{DiskFile, HomeDir};
use std::io;
use std::sync::Arc;

const MAGIC: u64 = u64::from_le_bytes(*b"TavolaSN");
const NEW: &str = "snapshot.new";
const BEGIN: u64 = 64;
const CHUNK: usize = FILE_HEAD as usize * 64;

/// Removes the unfinished snapshot that a killed process has left. For the owner of the snapshot
/// lock, or one who has the directory alone: nobody else makes this file, and nobody reads it.
pub(crate) fn remove_unfinished(home: &dyn HomeDir) -> io::Result<()> {
    match home.remove(NEW) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Returns the name of a snapshot.
pub(crate) fn snapshot_name(position: u64) -> String {
    format!("snapshot-{position:016x}")
}

/// Returns the position in the name of a snapshot.
pub(crate) fn snapshot_position(name: &str) -> Option<u64> {
    let digits = name.strip_prefix("snapshot-")?;
    let position = u64::from_str_radix(digits, 16).ok()?;
    (snapshot_name(position) == name).then_some(position)
}

/// The content of a file's head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SnapshotHead {
    /// The records of the file are made with it, so that those of another file do not count.
    pub(crate) id: u64,
    /// The position of the journal from which records are needed; 0 in a file without a journal
    /// (`saved`).
    pub(crate) position: u64,
    pub(crate) clock_ms: u64,
}

impl SnapshotHead {
    fn encode(&self) -> Vec<u8> {
        let words = [MAGIC, self.id, self.position, self.clock_ms];
        let all = words.into_iter().chain([fold(&words)]);
        let mut head: Vec<u8> = all.flat_map(u64::to_le_bytes).collect();
        head.resize(BEGIN as usize, 0);
        head
    }

    /// Decodes the head of a file. Returns `None` if it is not right.
    fn decode(bytes: &[u8]) -> Option<Self> {
        let word = |i: usize| word_at(bytes, 8 * i);
        let words = [word(0)?, word(1)?, word(2)?, word(3)?];
        let is_right = words[0] == MAGIC && word(4)? == fold(&words);
        is_right.then_some(Self {
            id: words[1],
            position: words[2],
            clock_ms: words[3],
        })
    }

    /// Returns whether bytes begin as those of such a file do, right or damaged.
    pub(super) fn is_begun(bytes: &[u8]) -> bool {
        word_at(bytes, 0) == Some(MAGIC)
    }
}

/// A snapshot that is being written. If it is not finished, its file is removed, as it takes room
/// on a disk that may have none.
pub(crate) struct SnapshotWriter<'a> {
    home: &'a dyn HomeDir,
    file: Arc<dyn DiskFile>,
    /// The names of the file while it is written, and afterwards.
    names: [String; 2],
    id: u64,
    draft: Draft,
    buffer: Vec<u8>,
    /// Bytes that are in the file.
    written: u64,
    /// Whether the file has its second name.
    is_named: bool,
}

impl<'a> SnapshotWriter<'a> {
    /// Begins a snapshot of a durable table, after [`remove_unfinished`].
    pub(crate) fn create(
        home: &'a dyn HomeDir,
        id: u64,
        position: u64,
        clock_ms: u64,
    ) -> io::Result<Self> {
        let file = home.create(NEW)?;
        let names = [NEW.to_string(), snapshot_name(position)];
        let head = SnapshotHead {
            id,
            position,
            clock_ms,
        };
        Ok(Self::begin(home, file, names, &head))
    }

    /// Begins a file that is open and empty. It has the first name, and is to get the second one.
    pub(crate) fn begin(
        home: &'a dyn HomeDir,
        file: Arc<dyn DiskFile>,
        names: [String; 2],
        head: &SnapshotHead,
    ) -> Self {
        let mut draft = Draft::default();
        draft.begin(Kind::Commit);
        Self {
            home,
            file,
            names,
            id: head.id,
            draft,
            buffer: head.encode(),
            written: 0,
            is_named: false,
        }
    }

    fn offset(&self) -> u64 {
        self.written + self.buffer.len() as u64
    }

    /// Writes a record of its own.
    pub(super) fn record(&mut self, record: &mut Draft) -> io::Result<()> {
        self.end_changes()?;
        self.end_record(record)
    }

    /// Ends the record that is being written.
    fn end_record(&mut self, draft: &mut Draft) -> io::Result<()> {
        draft.seal();
        let at = self.offset();
        self.buffer.extend_from_slice(draft.at(self.id, at, 0));
        if self.buffer.len() >= CHUNK {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.write_all_at(&self.buffer, self.written)?;
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// Returns the record to which changes are added.
    pub(crate) fn draft(&mut self) -> &mut Draft {
        &mut self.draft
    }

    /// Must be called after a change was added: ends a record that is long enough.
    pub(crate) fn after_change(&mut self) -> io::Result<()> {
        match self.draft.len() as usize >= CHUNK / 4 {
            true => self.end_changes(),
            false => Ok(()),
        }
    }

    fn end_changes(&mut self) -> io::Result<()> {
        if self.draft.changes() > 0 {
            let mut draft = std::mem::take(&mut self.draft);
            self.end_record(&mut draft)?;
            self.draft = draft;
            self.draft.begin(Kind::Commit);
        }
        Ok(())
    }

    /// Writes a value in pieces. Returns the position of the first one.
    pub(crate) fn pieces(&mut self, value: &[u8], most: usize) -> io::Result<u64> {
        self.end_changes()?;
        let first = self.offset();
        let mut draft = Draft::default();
        for (i, piece) in value.chunks(most).enumerate() {
            draft.begin(Kind::Piece);
            draft.push_word(if i == 0 { 0 } else { first });
            draft.push_bytes(piece);
            self.end_record(&mut draft)?;
        }
        Ok(first)
    }

    /// Ends the snapshot, and returns its bytes when it survives a power failure, under its name.
    /// The journal is on disk up to `end`.
    pub(crate) fn finish(mut self, end: u64, keys: u64, versions: u64) -> io::Result<u64> {
        self.end_changes()?;
        let mut foot = Draft::default();
        foot.begin(Kind::Foot);
        for word in [end, keys, versions] {
            foot.push_word(word);
        }
        self.end_record(&mut foot)?;
        self.flush()?;
        self.file.sync_data()?;
        self.home.rename(&self.names[0], &self.names[1])?;
        self.is_named = true;
        self.home.sync()?;
        Ok(self.written)
    }
}

impl Drop for SnapshotWriter<'_> {
    fn drop(&mut self) {
        // Not by its second name, if the sync of the directory failed: there may have been a
        // snapshot with the same position, which this one has replaced.
        if !self.is_named {
            let _ = self.home.remove(&self.names[0]);
        }
    }
}

/// The foot of a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Foot {
    /// The end of the records that the snapshot needs.
    pub(crate) end: u64,
    pub(crate) keys: u64,
    /// The highest version of a key.
    pub(crate) versions: u64,
}

impl Foot {
    fn of(record: &Record<'_>) -> Option<Self> {
        let words = [0, 1, 2].map(|number| record.word(number));
        let [Some(end), Some(keys), Some(versions)] = words else {
            return None;
        };
        Some(Self {
            end,
            keys,
            versions,
        })
    }
}

/// A snapshot that is being read.
pub(crate) struct SnapshotReader {
    file: Arc<dyn DiskFile>,
    id: u64,
    pub(crate) position: u64,
    pub(crate) clock_ms: u64,
}

impl SnapshotReader {
    /// Opens a snapshot. Returns `None` if its head is not right.
    pub(crate) fn open(home: &dyn HomeDir, id: u64, position: u64) -> io::Result<Option<Self>> {
        let (opened, _) = Self::of_file(home.open(&snapshot_name(position))?)?;
        Ok(opened.filter(|snapshot| snapshot.id == id && snapshot.position == position))
    }

    /// Reads the head of a file. Returns no snapshot if it is not right, and the bytes in any case.
    pub(super) fn of_file(file: Arc<dyn DiskFile>) -> io::Result<(Option<Self>, Vec<u8>)> {
        let mut bytes = vec![0; BEGIN as usize];
        let len = file.read_at(&mut bytes, 0)?;
        bytes.truncate(len);
        let head = SnapshotHead::decode(&bytes);
        let opened = head.map(|head| Self {
            file,
            id: head.id,
            position: head.position,
            clock_ms: head.clock_ms,
        });
        Ok((opened, bytes))
    }

    /// Returns the bytes of the file.
    pub(crate) fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    /// Calls `each` with all records. Returns the foot, or the offset of the first record that is
    /// not right.
    pub(crate) fn read<E: From<io::Error>>(
        &self,
        mut each: impl FnMut(&Record<'_>) -> Result<(), E>,
    ) -> Result<Result<Foot, u64>, E> {
        let (mut window, mut at) = (Window::default(), BEGIN);
        let file_len = self.len()?;
        loop {
            let head = self.fill_record(&mut window, at, file_len)?;
            let record = head.and_then(|head| head.verify(self.id, window.bytes()));
            let Some(record) = record else {
                return Ok(Err(at));
            };
            each(&record)?;
            if record.kind == Kind::Foot {
                return Ok(Foot::of(&record).ok_or(at));
            }
            let len = record.len();
            window.consume(len as usize);
            at += len;
        }
    }

    /// Calls `each` with all records that are right, also those behind damage. Returns the foot if
    /// it is right.
    ///
    /// A record counts only at the place that it names, so bytes of values do not look like one.
    pub(crate) fn salvage<E: From<io::Error>>(
        &self,
        mut each: impl FnMut(&Record<'_>) -> Result<(), E>,
    ) -> Result<Option<Foot>, E> {
        let (mut window, mut at) = (Window::default(), BEGIN);
        let file_len = self.len()?;
        while at + HEAD as u64 <= file_len {
            let head = self.fill_record(&mut window, at, file_len)?;
            let record = head.and_then(|head| head.verify(self.id, window.bytes()));
            let len = match record {
                Some(record) => {
                    each(&record)?;
                    if record.kind == Kind::Foot {
                        return Ok(Foot::of(&record));
                    }
                    record.len()
                }
                // Records begin at multiples of 8.
                None => 8,
            };
            window.consume(len as usize);
            at += len;
        }
        Ok(None)
    }

    /// Fills the window, which begins at an offset, with the record there. Returns the head of the
    /// record, or `None` if no record begins there that the file has whole.
    fn fill_record(
        &self,
        window: &mut Window,
        at: u64,
        file_len: u64,
    ) -> io::Result<Option<RecordHead>> {
        self.fill(window, at, HEAD)?;
        let head = RecordHead::decode(window.bytes(), at);
        let Some(head) = head.filter(|head| at + head.len() as u64 <= file_len) else {
            return Ok(None);
        };
        self.fill(window, at, head.len())?;
        Ok(Some(head))
    }

    fn fill(&self, window: &mut Window, at: u64, len: usize) -> io::Result<()> {
        while window.bytes().len() < len {
            let from = at + window.bytes().len() as u64;
            if window.extend(CHUNK, |out| self.file.read_at(out, from))? == 0 {
                break;
            }
        }
        Ok(())
    }
}
