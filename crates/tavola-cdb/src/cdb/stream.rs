//! A cdb file read from its beginning to its end, as from a pipe.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::{Format, TABLES, slot_of};
use crate::error::{Error, Result};

/// Distances that are counted: 0 to 9, and more.
const DISTANCES: usize = 11;

/// A cdb file read in order: the records first, then the tables.
#[derive(Debug)]
pub struct Stream<R> {
    input: R,
    path: PathBuf,
    format: Format,
    head: Vec<u8>,
    at: u64,
    records_end: u64,
    key: Vec<u8>,
    value: Vec<u8>,
}

/// How the slots of a file are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slots {
    /// Tables that have slots.
    pub tables: u64,
    /// All slots.
    pub slots: u64,
    /// Slots of the smallest table that has any.
    pub least: u64,
    /// Slots of the largest table.
    pub most: u64,
    /// Records by the number of slots behind the one at which their search begins: 0 to 9, and all
    /// that are farther away.
    pub distances: [u64; DISTANCES],
}

impl<R: Read> Stream<R> {
    /// Reads the head of a file. The path is for messages.
    ///
    /// # Errors
    /// [`Error::NotConstant`] if there are fewer bytes than in a head.
    pub fn new(input: R, path: impl AsRef<Path>, format: Format) -> Result<Stream<R>> {
        let mut stream = Stream {
            input,
            path: path.as_ref().to_path_buf(),
            format,
            head: Vec::new(),
            at: format.head_bytes(),
            records_end: 0,
            key: Vec::new(),
            value: Vec::new(),
        };
        let mut head = Vec::new();
        let whole = stream.fill(&mut head, format.head_bytes())?;
        if !whole {
            return Err(Error::NotConstant {
                path: stream.path,
                why: format!(
                    "it has {} bytes, less than the head of such a file",
                    head.len()
                ),
            });
        }
        let (start, _) = format.pair(&head[..format.pair_bytes() as usize]);
        (stream.head, stream.records_end) = (head, start);
        Ok(stream)
    }

    /// Reads so many bytes into a buffer. Returns whether all are there.
    fn fill(&mut self, buffer: &mut Vec<u8>, bytes: u64) -> Result<bool> {
        buffer.clear();
        // Not reserved: the number may be from a damaged file.
        let read = self.input.by_ref().take(bytes).read_to_end(buffer);
        read.map_err(Error::of("cannot read", &self.path))?;
        Ok(buffer.len() as u64 == bytes)
    }

    fn damaged(&self, what: &'static str) -> Error {
        Error::Damaged {
            path: self.path.clone(),
            what,
            at: self.at,
        }
    }

    fn cut(&self) -> Error {
        let end = io::Error::from(io::ErrorKind::UnexpectedEof);
        Error::of("cannot read", &self.path)(end)
    }

    /// Reads the next record. Returns `None` behind the last one.
    ///
    /// # Errors
    /// [`Error::Damaged`] if records do not end where the tables begin; [`Error::System`] if the
    /// file ends before.
    pub fn next_record(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        if self.at >= self.records_end {
            return match self.at == self.records_end {
                true => Ok(None),
                false => Err(self.damaged("the records do not end where the tables begin")),
            };
        }
        let mut lengths = std::mem::take(&mut self.key);
        if !self.fill(&mut lengths, self.format.pair_bytes())? {
            return Err(self.cut());
        }
        let (key, value) = self.format.pair(&lengths);
        let left = (self.records_end - self.at).checked_sub(self.format.pair_bytes());
        if left
            .and_then(|left| left.checked_sub(key)?.checked_sub(value))
            .is_none()
        {
            return Err(self.damaged("a record does not end before the tables begin"));
        }
        let mut bytes = lengths;
        let has_key = self.fill(&mut bytes, key)?;
        self.key = bytes;
        let mut bytes = std::mem::take(&mut self.value);
        let has_value = has_key && self.fill(&mut bytes, value)?;
        self.value = bytes;
        if !has_value {
            return Err(self.cut());
        }
        self.at += self.format.pair_bytes() + key + value;
        Ok(Some((&self.key, &self.value)))
    }

    /// Reads the tables, which are behind the last record.
    ///
    /// # Errors
    /// [`Error::Damaged`] if a table does not begin where the one before it ends.
    pub fn read_slots(mut self) -> Result<Slots> {
        let mut all = Slots::default();
        let pair = self.format.pair_bytes() as usize;
        let mut slot = Vec::with_capacity(pair);
        for table in 0..TABLES {
            let (start, slots) = self.format.pair(&self.head[table * pair..][..pair]);
            if start != self.at {
                return Err(self.damaged("a table does not begin where the one before it ends"));
            }
            if slots == 0 {
                continue;
            }
            for index in 0..slots {
                if !self.fill(&mut slot, pair as u64)? {
                    return Err(self.cut());
                }
                self.at += pair as u64;
                let (hash, place) = self.format.pair(&slot);
                if place == 0 {
                    continue;
                }
                let first = slot_of(hash, slots);
                let distance = match index.checked_sub(first) {
                    Some(distance) => distance,
                    None => slots - first + index,
                };
                all.distances[(distance as usize).min(DISTANCES - 1)] += 1;
            }
            all.least = match all.least {
                0 => slots,
                least => least.min(slots),
            };
            all.most = all.most.max(slots);
            all.slots += slots;
            all.tables += 1;
        }
        Ok(all)
    }
}
