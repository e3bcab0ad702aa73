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

use super::files::FILE_HEAD;
use super::record::{Draft, HEAD, Kind, Record, RecordHead, word_at};
use super::window::Window;
use crate::layout::fold;
use crate::sys::disk::{DiskFile, HomeDir};
use std::io;
use std::sync::Arc;

const MAGIC: u64 = u64::from_le_bytes(*b"TavolaSN");
const NEW: &str = "snapshot.new";
const BEGIN: u64 = 64;
const CHUNK: usize = FILE_HEAD as usize * 64;

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

/// A snapshot that is being written.
pub(crate) struct SnapshotWriter<'a> {
    home: &'a dyn HomeDir,
    file: Arc<dyn DiskFile>,
    id: u64,
    position: u64,
    draft: Draft,
    buffer: Vec<u8>,
    /// Bytes that are in the file.
    written: u64,
}

impl<'a> SnapshotWriter<'a> {
    pub(crate) fn create(
        home: &'a dyn HomeDir,
        id: u64,
        position: u64,
        clock_ms: u64,
    ) -> io::Result<Self> {
        match home.remove(NEW) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let file = home.create(NEW)?;
        let words = [MAGIC, id, position, clock_ms];
        let mut head: Vec<u8> = words
            .into_iter()
            .chain([fold(&words)])
            .flat_map(u64::to_le_bytes)
            .collect();
        head.resize(BEGIN as usize, 0);
        let mut draft = Draft::default();
        draft.begin(Kind::Commit);
        Ok(Self {
            home,
            file,
            id,
            position,
            draft,
            buffer: head,
            written: 0,
        })
    }

    fn offset(&self) -> u64 {
        self.written + self.buffer.len() as u64
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
        self.home.rename(NEW, &snapshot_name(self.position))?;
        self.home.sync()?;
        Ok(self.written)
    }
}

/// The foot of a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Foot {
    /// The end of the records that the snapshot needs.
    pub(crate) end: u64,
    pub(crate) keys: u64,
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
        let file = home.open(&snapshot_name(position))?;
        let mut head = [0; BEGIN as usize];
        file.read_at(&mut head, 0)?;
        let word = |i: usize| word_at(&head, 8 * i).unwrap_or(0);
        let words = [word(0), word(1), word(2), word(3)];
        let is_right =
            words[0] == MAGIC && words[1] == id && words[2] == position && word(4) == fold(&words);
        Ok(is_right.then_some(Self {
            file,
            id,
            position,
            clock_ms: words[3],
        }))
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
        let mut window = Window::default();
        let mut at = BEGIN;
        let fill = |window: &mut Window, at: u64, len: usize| -> io::Result<()> {
            while window.bytes().len() < len {
                let from = at + window.bytes().len() as u64;
                if window.extend(CHUNK, |out| self.file.read_at(out, from))? == 0 {
                    break;
                }
            }
            Ok(())
        };
        loop {
            fill(&mut window, at, HEAD)?;
            let Some(head) = RecordHead::decode(window.bytes(), at) else {
                return Ok(Err(at));
            };
            if head.len() > 8 << 20 {
                return Ok(Err(at));
            }
            fill(&mut window, at, head.len())?;
            let Some(record) = head.verify(self.id, window.bytes()) else {
                return Ok(Err(at));
            };
            each(&record)?;
            if record.kind == Kind::Foot {
                let (Some(end), Some(keys)) = (record.word(0), record.word(1)) else {
                    return Ok(Err(at));
                };
                return Ok(Ok(Foot { end, keys }));
            }
            let len = head.len();
            window.consume(len);
            at += len as u64;
        }
    }
}
