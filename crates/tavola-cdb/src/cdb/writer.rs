//! Writing a cdb file.

use std::path::{Path, PathBuf};

use super::live::{Entry, Gap, Live};
use super::{Format, TABLES, slot_of};
use crate::error::{Error, Result};
use crate::output::{Making, Output, Temporary};

/// Gaps are closed on the way if they have more bytes than this, and more than the records.
const MOST_GAP_BYTES: u64 = 64 << 20;
const COPY_BYTES: usize = 256 << 10;

/// How a put treats a key that exists already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Put {
    /// Adds the record without looking for the key. By far the fastest.
    #[default]
    Add,
    /// Adds the record, and reports that the key was there.
    Warn,
    /// Adds nothing.
    Insert,
    /// Removes the older records of the key, then adds this one.
    Replace,
    /// Overwrites the older records of the key with zeros, then adds this one. Their room stays,
    /// unless they are at the end of the file.
    ReplaceZero,
}

/// How a file is written; made by [`Writer::options`].
#[derive(Clone, Debug)]
pub struct WriterOptions {
    format: Format,
    making: Making,
}

impl WriterOptions {
    /// Sets the format; [`Format::Cdb`] unless this is called.
    pub fn format(mut self, format: Format) -> WriterOptions {
        self.format = format;
        self
    }

    /// Sets the mode of the file, whatever the mask of the process is; 0666 less the mask unless
    /// this is called.
    pub fn mode(mut self, mode: u32) -> WriterOptions {
        self.making.mode = Some(mode);
        self
    }

    /// Sets the name that the file has until it is whole. It must be on the file system of the
    /// file. What has the name is removed. Unless this is called, the name is a hidden one beside
    /// the file, which no other writer uses.
    pub fn temporary(mut self, path: impl Into<PathBuf>) -> WriterOptions {
        self.making.temporary = Temporary::Named(path.into());
        self
    }

    /// Writes the file in its place: the old one is removed at the beginning, and others see the
    /// new one before it is whole. For callers that rename it themselves.
    pub fn in_place(mut self) -> WriterOptions {
        self.making.temporary = Temporary::InPlace;
        self
    }

    /// Sets whether [`Writer::finish`] waits until the file is on the disk; it does unless this is
    /// called.
    pub fn sync(mut self, sync: bool) -> WriterOptions {
        self.making.is_unsynced = !sync;
        self
    }

    /// Begins the file.
    ///
    /// # Errors
    /// [`Error::System`] if the temporary file cannot be made.
    pub fn create(&self, path: impl AsRef<Path>) -> Result<Writer> {
        let mut output = Output::create(path.as_ref(), &self.making)?;
        output.append(&vec![0; self.format.head_bytes() as usize])?;
        Ok(Writer {
            output,
            format: self.format,
            live: Live::new(),
            has_failed: false,
            key: Vec::new(),
        })
    }
}

/// Writes a cdb file. Nothing has its name before [`Writer::finish`]; without it, the old file
/// stays.
///
/// The bytes are those that `cdb -c` of TinyCDB writes, with one exception: where a put with
/// [`Put::Replace`] or [`Put::ReplaceZero`] made the file shorter, TinyCDB leaves the old bytes
/// behind its end, and this file ends with its tables.
///
/// # Crash
/// A process that is killed leaves the old file, or the new one: never a part of one. It may leave
/// the temporary file.
#[derive(Debug)]
pub struct Writer {
    output: Output,
    format: Format,
    live: Live,
    has_failed: bool,
    /// Room for a key that is compared.
    key: Vec<u8>,
}

impl Writer {
    /// Begins a file in the format of D. J. Bernstein.
    ///
    /// # Errors
    /// [`Error::System`] if the temporary file cannot be made.
    pub fn create(path: impl AsRef<Path>) -> Result<Writer> {
        Writer::options().create(path)
    }

    /// Returns options for a file.
    pub fn options() -> WriterOptions {
        WriterOptions {
            format: Format::Cdb,
            making: Making::default(),
        }
    }

    /// Returns the number of records that can be found so far.
    pub fn len(&self) -> u64 {
        self.live.count()
    }

    /// Returns whether there is no record so far.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Puts a record. Returns whether the key was there; [`Put::Add`] does not look, and returns
    /// false.
    ///
    /// # Errors
    /// [`Error::Full`] if the file would become larger than its format allows: it is as before,
    /// and can be finished. After any other error it cannot.
    pub fn put(
        &mut self,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
        put: Put,
    ) -> Result<bool> {
        let (key, value) = (key.as_ref(), value.as_ref());
        if self.has_failed {
            return Err(self.failed());
        }
        let done = self.put_checked(key, value, put);
        self.has_failed = done
            .as_ref()
            .is_err_and(|error| !matches!(error, Error::Full { .. }));
        done
    }

    /// Returns whether a key is there.
    ///
    /// # Errors
    /// As [`Writer::put`].
    pub fn contains(&mut self, key: impl AsRef<[u8]>) -> Result<bool> {
        let key = key.as_ref();
        let found = self.matching(key, self.format.hash(key))?;
        Ok(!found.is_empty())
    }

    fn failed(&self) -> Error {
        let path = self.output.path().to_path_buf();
        Error::Failed { path }
    }

    fn put_checked(&mut self, key: &[u8], value: &[u8], put: Put) -> Result<bool> {
        let hash = self.format.hash(key);
        let bytes = self.format.pair_bytes() + key.len() as u64 + value.len() as u64;
        let mut was_there = false;
        if put != Put::Add {
            let found = self.matching(key, hash)?;
            was_there = !found.is_empty();
            if was_there && put == Put::Insert {
                return Ok(true);
            }
            if matches!(put, Put::Replace | Put::ReplaceZero) {
                // First, so that a record that does not fit replaces nothing.
                let freed = match put {
                    Put::Replace => found.iter().map(|found| found.bytes).sum(),
                    _ => 0,
                };
                self.require_room(bytes, freed, found.len() as u64)?;
                for record in found {
                    self.remove(record, put)?;
                }
            }
        }
        self.require_room(bytes, 0, 0)?;
        let at = self.output.end();
        let mut lengths = [0; 16];
        let lengths = self
            .format
            .pair_to(&mut lengths, key.len() as u64, value.len() as u64);
        self.output.append(lengths)?;
        self.output.append(key)?;
        self.output.append(value)?;
        self.live.push(Entry { hash, at });
        Ok(was_there)
    }

    /// Returns an error if a record of so many bytes does not fit, with the tables that belong to
    /// it, when so many bytes and records are freed before.
    fn require_room(&self, bytes: u64, freed: u64, removed: u64) -> Result<()> {
        let records = self.output.end() - self.live.gap_bytes() - freed;
        // Two slots for each record.
        let slots = 2 * (self.live.count() - removed + 1);
        let tables = slots * self.format.pair_bytes();
        let end = records
            .checked_add(bytes)
            .and_then(|end| end.checked_add(tables));
        match end.is_some_and(|end| end <= self.format.most_bytes()) {
            true => Ok(()),
            false => Err(Error::Full {
                path: self.output.path().to_path_buf(),
            }),
        }
    }

    /// Returns the records of a key, the newest first.
    fn matching(&mut self, key: &[u8], hash: u64) -> Result<Vec<Written>> {
        let mut matching = Vec::new();
        for (index, entry) in self.live.of_hash(hash) {
            let mut lengths = [0; 16];
            let lengths = &mut lengths[..self.format.pair_bytes() as usize];
            self.output.read(lengths, entry.at)?;
            let (key_bytes, value_bytes) = self.format.pair(lengths);
            if key_bytes != key.len() as u64 {
                continue;
            }
            self.key.resize(key.len(), 0);
            self.output
                .read(&mut self.key, entry.at + self.format.pair_bytes())?;
            if self.key == key {
                let bytes = self.format.pair_bytes() + key_bytes + value_bytes;
                matching.push(Written {
                    index,
                    entry,
                    bytes,
                });
            }
        }
        Ok(matching)
    }

    fn remove(&mut self, record: Written, put: Put) -> Result<()> {
        let Written {
            index,
            entry,
            bytes,
        } = record;
        self.live.remove(entry.hash, index);
        if entry.at + bytes == self.output.end() {
            self.output.cut(entry.at);
            return Ok(());
        }
        if put == Put::ReplaceZero {
            return self.overwrite(entry.at, bytes);
        }
        self.live.leave_gap(Gap {
            start: entry.at,
            bytes,
        });
        let gaps = self.live.gap_bytes();
        match gaps > MOST_GAP_BYTES && gaps > self.output.end() / 2 {
            true => self.close_gaps(),
            false => Ok(()),
        }
    }

    /// Makes a record one with an empty key, and a value of zeros.
    fn overwrite(&mut self, at: u64, bytes: u64) -> Result<()> {
        let lengths = self.format.pair_bytes();
        let mut head = [0; 16];
        let head = self.format.pair_to(&mut head, 0, bytes - lengths);
        self.output.change(head, at)?;
        let zeros = vec![0; COPY_BYTES.min((bytes - lengths) as usize)];
        let (mut at, mut left) = (at + lengths, bytes - lengths);
        while left > 0 {
            let now = left.min(COPY_BYTES as u64);
            self.output.change(&zeros[..now as usize], at)?;
            (at, left) = (at + now, left - now);
        }
        Ok(())
    }

    /// Moves all that is behind gaps to the front.
    fn close_gaps(&mut self) -> Result<()> {
        let gaps = self.live.sort_gaps().to_vec();
        let Some(first) = gaps.first() else {
            return Ok(());
        };
        let end = self.output.end();
        let mut to = first.start;
        let mut buffer = vec![0; COPY_BYTES];
        for (number, gap) in gaps.iter().enumerate() {
            let mut from = gap.start + gap.bytes;
            let until = gaps.get(number + 1).map_or(end, |next| next.start);
            while from < until {
                let now = (until - from).min(COPY_BYTES as u64);
                let piece = &mut buffer[..now as usize];
                self.output.read(piece, from)?;
                self.output.change(piece, to)?;
                (from, to) = (from + now, to + now);
            }
        }
        self.live.close_gaps();
        self.output.cut(to);
        Ok(())
    }

    /// Writes the tables, syncs the file, gives it its name, and syncs the directory.
    ///
    /// # Errors
    /// [`Error::System`] if a step fails. The old file is there then; after an error of the last
    /// sync, the new one is, but may be lost in a power failure.
    pub fn finish(mut self) -> Result<()> {
        if self.has_failed {
            return Err(self.failed());
        }
        self.close_gaps()?;
        let mut head = Vec::new();
        let mut slots = Vec::new();
        let mut bytes = Vec::new();
        for table in 0..TABLES {
            let entries = self.live.table(table);
            place(entries, &mut slots);
            self.format
                .put_pair(&mut head, self.output.end(), slots.len() as u64);
            bytes.clear();
            for slot in &slots {
                self.format.put_pair(&mut bytes, slot.hash, slot.at);
            }
            self.output.append(&bytes)?;
        }
        self.output.change(&head, 0)?;
        self.output.finish()
    }
}

/// A record that a put found.
#[derive(Clone, Copy, Debug)]
struct Written {
    index: usize,
    entry: Entry,
    bytes: u64,
}

/// Places records in the slots of their table, twice as many as records.
fn place(entries: impl Iterator<Item = Entry> + Clone, slots: &mut Vec<Entry>) {
    let empty = Entry { hash: 0, at: 0 };
    let count = 2 * entries.clone().count();
    slots.clear();
    slots.resize(count, empty);
    for entry in entries {
        let mut slot = slot_of(entry.hash, count as u64) as usize;
        while slots[slot].at != 0 {
            slot = match slot + 1 {
                next if next == count => 0,
                next => next,
            };
        }
        slots[slot] = entry;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With a hole of almost 4 GiB in the place of records.
    #[test]
    fn a_file_without_room_says_so_and_can_be_continued() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let mut writer = Writer::create(&path).unwrap();
        writer.put("first", [1; 100], Put::Add).unwrap();
        // A record with a key and a value of a byte each takes 10 bytes, and 16 in its table.
        writer
            .output
            .skip(u64::from(u32::MAX) - writer.output.end() - 16 - 26);
        let full = |done: Result<bool>| matches!(done, Err(Error::Full { .. }));
        assert!(full(writer.put("k", "12", Put::Add)));
        assert!(full(writer.put("k", "12", Put::ReplaceZero)));
        assert!(full(writer.put("first", [1; 127], Put::Replace)));
        assert!(writer.contains("first").unwrap());
        assert!(!writer.put("k", "1", Put::Add).unwrap());
        assert!(full(writer.put("k", "", Put::Add)));
        assert!(writer.put("k", "", Put::Replace).unwrap());
        assert_eq!(writer.len(), 2);
        let large = Writer::options()
            .format(Format::Cdb64)
            .create(dir.path().join("large"));
        let mut large = large.unwrap();
        large.output.skip(1 << 40);
        large.put("k", "v", Put::Add).unwrap();
        assert!(large.contains("k").unwrap());
    }

    /// Gaps that are large are closed before the end.
    #[test]
    fn gaps_do_not_make_the_file_grow_without_a_limit() {
        let dir = tempfile::tempdir_in("/dev/shm").unwrap();
        let path = dir.path().join("file");
        let mut writer = Writer::options().sync(false).create(&path).unwrap();
        let value = vec![7; 10 << 20];
        for round in 0..20u8 {
            writer.put("key", &value, Put::Replace).unwrap();
            writer.put([round], [round], Put::Add).unwrap();
            assert!(writer.output.end() < 150 << 20);
        }
        writer.finish().unwrap();
        let cdb = crate::Cdb::open(&path).unwrap();
        assert_eq!(cdb.check().unwrap(), 21);
        assert_eq!(cdb.get("key").unwrap().unwrap(), value);
        assert_eq!(cdb.get([13]).unwrap().unwrap(), [13]);
    }
}
