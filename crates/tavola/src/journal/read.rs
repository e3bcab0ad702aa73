//! Reading a journal, or a snapshot, from its files: record after record, up to where it ends.
//!
//! A journal ends at the first record that is not right. It is *torn* there if power failed while
//! it was written: nothing before the end was promised to be on disk. It is *damaged* if any record
//! behind says that this place was on disk; then synced data is lost, and that is an error.

use super::files::{FILE_HEAD, FileHead, name_of, number_of};
use super::record::{HEAD, Record, RecordHead};
use super::window::Window;
use crate::layout::MOST_RING;
use crate::sys::disk::{DiskFile, HomeDir};
use std::io;
use std::sync::Arc;

/// Bytes read by one call.
const CHUNK: usize = 1 << 20;
/// No record is longer: it has been in a ring.
const LONGEST: usize = MOST_RING as usize;

/// How a journal ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Behind the last record, at this position; nothing that was synced is missing.
    At(u64),
    /// At this position, before records that were synced: up to the other position.
    Damaged { at: u64, synced: u64 },
}

/// The files of a journal, in order.
pub(crate) struct JournalReader<'a> {
    home: &'a dyn HomeDir,
    id: u64,
    segment: u64,
    /// Numbers of the files.
    numbers: Vec<u64>,
    open: Option<(u64, Arc<dyn DiskFile>, FileHead)>,
    /// Bytes that were read, and the position of the first one.
    window: Window,
    begin: u64,
    /// Records before this position were on disk, as later ones say.
    pub(crate) synced: u64,
    /// The end of the last record. A file behind it that has none may not be on disk itself: it is
    /// made again.
    pub(crate) last: u64,
}

impl<'a> JournalReader<'a> {
    pub(crate) fn new(home: &'a dyn HomeDir, id: u64, segment: u64) -> io::Result<Self> {
        let names = home.names()?;
        let mut numbers: Vec<u64> = names.iter().filter_map(|name| number_of(name)).collect();
        numbers.sort_unstable();
        Ok(Self {
            home,
            id,
            segment,
            numbers,
            open: None,
            window: Window::default(),
            begin: 0,
            synced: 0,
            last: 0,
        })
    }

    /// Returns at most how many bytes of records there are from a position on.
    pub(crate) fn len_from(&self, from: u64) -> u64 {
        let last = self.numbers.last().map_or(0, |last| last + 1);
        (last * self.segment).saturating_sub(from)
    }

    /// Returns the head of a file, if it is there and whole.
    fn head(&mut self, number: u64) -> io::Result<Option<FileHead>> {
        if self.open.as_ref().is_none_or(|open| open.0 != number) {
            if self.numbers.binary_search(&number).is_err() {
                return Ok(None);
            }
            let file = self.home.open(&name_of(number))?;
            let mut bytes = [0; 64];
            file.read_at(&mut bytes, 0)?;
            let head = FileHead::decode(&bytes);
            let Some(head) = head.filter(|head| head.number == number && head.id == self.id) else {
                return Ok(None);
            };
            self.open = Some((number, file, head));
        }
        Ok(self.open.as_ref().map(|open| open.2))
    }

    /// Fills the buffer with at least `len` bytes from a position on, or as many as there are.
    fn fill(&mut self, position: u64, len: usize) -> io::Result<()> {
        let have = self.begin + self.window.bytes().len() as u64;
        if (self.begin..=have).contains(&position) {
            self.window.consume((position - self.begin) as usize);
        } else {
            self.window.clear();
        }
        self.begin = position;
        while self.window.bytes().len() < len {
            let at = self.begin + self.window.bytes().len() as u64;
            let number = at / self.segment;
            let Some(head) = self.head(number)? else {
                return Ok(());
            };
            // A file that begins elsewhere does not continue the one before.
            let continues = head.from == number * self.segment;
            if !continues && at == number * self.segment && at != position {
                return Ok(());
            }
            let in_file = at % self.segment;
            let want = CHUNK.min((self.segment - in_file) as usize);
            let (_, file, _) = self.open.as_ref().expect("the head was just read");
            let got = self
                .window
                .extend(want, |out| file.read_at(out, FILE_HEAD + in_file))?;
            if got < want {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Calls `each` with all records from a position on, which is the begin of a record, and
    /// returns how the journal ends.
    pub(crate) fn read<E: From<io::Error>>(
        &mut self,
        from: u64,
        mut each: impl FnMut(&Record<'_>) -> Result<(), E>,
    ) -> Result<End, E> {
        let mut at = from;
        self.last = from;
        loop {
            self.fill(at, HEAD)?;
            let len = RecordHead::decode(self.window.bytes(), at).map_or(0, |head| head.len());
            if (HEAD..=LONGEST).contains(&len) {
                self.fill(at, len)?;
                let head = RecordHead::decode(self.window.bytes(), at);
                if let Some(record) =
                    head.and_then(|head| head.verify(self.id, self.window.bytes()))
                {
                    each(&record)?;
                    self.synced = self.synced.max(record.synced);
                    at += len as u64;
                    self.last = at;
                    continue;
                }
            }
            // Here the records end, unless the next file says that they continue there.
            let next = at / self.segment + 1;
            match self.head(next)? {
                Some(head) if head.from == at => at = next * self.segment,
                _ => return Ok(self.end(at)?),
            }
        }
    }

    /// Writes the bytes between two positions again, as they were read, and returns when they
    /// survive a power failure. After a sync that failed, the system may return bytes that are not
    /// on disk, and never write them by itself.
    pub(crate) fn write_again(&mut self, from: u64, until: u64) -> io::Result<()> {
        let mut at = from;
        let mut buffer = Vec::new();
        while at < until {
            let number = at / self.segment;
            let in_file = at % self.segment;
            let len = (until - at).min(self.segment - in_file).min(CHUNK as u64);
            buffer.resize(len as usize, 0);
            let file = self.home.open(&name_of(number))?;
            let got = file.read_at(&mut buffer, FILE_HEAD + in_file)?;
            file.write_all_at(&buffer[..got], FILE_HEAD + in_file)?;
            at += len;
            if at.is_multiple_of(self.segment) || at == until {
                file.sync_data()?;
            }
        }
        Ok(())
    }

    /// Looks behind the end for records that say that this place was on disk.
    fn end(&mut self, at: u64) -> io::Result<End> {
        let mut synced = 0;
        self.behind(at, |record| synced = synced.max(record.synced))?;
        Ok(match synced > at {
            true => End::Damaged { at, synced },
            false => End::At(at),
        })
    }

    /// Calls `each` with every record behind a position that is not the begin of one.
    pub(crate) fn behind(&mut self, at: u64, mut each: impl FnMut(&Record<'_>)) -> io::Result<()> {
        let last = self.numbers.last().copied().unwrap_or(0);
        let mut position = at + 8;
        while position / self.segment <= last {
            self.fill(position, HEAD)?;
            if self.window.bytes().len() < HEAD {
                position = (position / self.segment + 1) * self.segment;
                continue;
            }
            if let Some(head) = RecordHead::decode(self.window.bytes(), position)
                && head.len() <= LONGEST
            {
                self.fill(position, head.len())?;
                if let Some(record) = head.verify(self.id, self.window.bytes()) {
                    each(&record);
                }
            }
            position += 8;
            // Most of what is there is zeroes.
            let bytes = self.window.bytes();
            if bytes.first_chunk::<8>() == Some(&[0; 8]) {
                let zeroes = bytes.iter().take_while(|byte| **byte == 0).count();
                position = (position - 8 + (zeroes as u64) / 8 * 8).max(position);
            }
        }
        Ok(())
    }

    /// Returns whether something was written at a position: a record that is not whole.
    pub(crate) fn has_bytes(&mut self, at: u64) -> io::Result<bool> {
        self.fill(at, HEAD)?;
        let head = self.window.bytes().iter().take(HEAD);
        Ok(head.into_iter().any(|byte| *byte != 0))
    }
}
