//! Reading a cdb file.

use std::path::Path;

use super::head::{Head, pair_at};
use super::{Format, slot_of, table_of};
use crate::error::{Error, Result};
use crate::follow::Reopen;
use crate::map::{Identity, Map, Span};

/// An open cdb file.
///
/// # Concurrency
/// Any number of threads and processes read a file at the same time. A file that is replaced stays
/// readable here: [`Cdb::refresh`] changes to the new one.
#[derive(Debug)]
pub struct Cdb {
    map: Map,
    format: Format,
    head: Head,
}

/// A key and its value.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// The key.
    pub key: Span<'a>,
    /// The value.
    pub value: Span<'a>,
}

impl Cdb {
    /// Opens a file, whose format is found out.
    ///
    /// # Errors
    /// [`Error::NotConstant`] if it is not a cdb file, or only the beginning of one.
    pub fn open(path: impl AsRef<Path>) -> Result<Cdb> {
        let map = Map::open(path.as_ref())?;
        let format = Head::recognise(&map)?;
        Cdb::of(map, format)
    }

    /// Opens a file of a known format. It may have been written in another way than usual, with
    /// gaps between its tables.
    ///
    /// # Errors
    /// [`Error::NotConstant`] if the tables of the file are not inside it.
    pub fn open_as(path: impl AsRef<Path>, format: Format) -> Result<Cdb> {
        Cdb::of(Map::open(path.as_ref())?, format)
    }

    pub(crate) fn of(map: Map, format: Format) -> Result<Cdb> {
        let head = Head::read(&map, format)?;
        Ok(Cdb { map, format, head })
    }

    /// Returns the format of the file.
    pub fn format(&self) -> Format {
        self.format
    }

    pub(crate) fn identity(&self) -> Identity {
        self.map.identity()
    }

    /// Returns the path by which the file was opened.
    pub fn path(&self) -> &Path {
        self.map.path()
    }

    /// Returns the length of the file in bytes.
    pub fn size_bytes(&self) -> u64 {
        self.map.len()
    }

    /// Returns half the number of slots, which is the number of records that can be found.
    pub fn len(&self) -> u64 {
        let slots = self.head.tables.iter().map(|table| table.slots);
        slots.fold(0, u64::saturating_add) / 2
    }

    /// Returns whether the file has no records that can be found.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns a copy of the first value of a key, or `None` if there is none.
    ///
    /// # Errors
    /// [`Error::Damaged`] or [`Error::Lost`] if the file is not as it was written.
    pub fn get(&self, key: impl AsRef<[u8]>) -> Result<Option<Vec<u8>>> {
        match self.find(key.as_ref()).next() {
            Some(record) => record?.value.to_vec().map(Some),
            None => Ok(None),
        }
    }

    /// Finds the records of a key, in the order in which they were written.
    pub fn find<'a, 'k>(&'a self, key: &'k [u8]) -> Find<'a, 'k> {
        let mut find = Find {
            cdb: self,
            key,
            search: Search::default(),
            other: self.format.other_hash(key),
        };
        find.search = self.begin(self.format.hash(key));
        find
    }

    fn begin(&self, hash: u64) -> Search {
        let table = self.head.tables[table_of(hash)];
        Search {
            hash,
            start: table.start,
            slots: table.slots,
            slot: slot_of(hash, table.slots.max(1)),
            left: table.slots,
        }
    }

    /// Returns all records, in the order in which they were written. Records that were replaced
    /// with [`Put::ReplaceZero`](crate::Put::ReplaceZero) come as an empty key with a value of
    /// zeros.
    pub fn records(&self) -> Records<'_> {
        Records {
            cdb: self,
            at: self.format.head_bytes(),
        }
    }

    /// Checks the whole file: that the records follow each other without a gap, that each slot
    /// leads to a record of its hash, and that each record that is not a replaced one is found.
    /// Returns the number of records.
    ///
    /// # Errors
    /// [`Error::Damaged`] at the first place that is not as it should be.
    pub fn check(&self) -> Result<u64> {
        let mut records = 0;
        let mut key = Vec::new();
        for record in self.records() {
            let record = record?;
            key.clear();
            record.key.append_to(&mut key)?;
            let place = record.key.position();
            let mut found = self.find(&key);
            let is_there = loop {
                match found.next() {
                    Some(one) if one.as_ref().is_ok_and(|one| one.key.position() != place) => {}
                    Some(one) => break one.map(|_| true)?,
                    None => break false,
                }
            };
            if !is_there && !key.is_empty() {
                return Err(self.map.damaged("no slot leads to this record", place));
            }
            records += u64::from(is_there);
        }
        let used = self.check_slots()?;
        if used != records {
            let at = self.head.records_end;
            return Err(self.map.damaged("there are more slots than records", at));
        }
        Ok(records)
    }

    /// Checks that each slot leads to a record of its hash. Returns how many are in use.
    fn check_slots(&self) -> Result<u64> {
        let mut used = 0;
        let mut key = Vec::new();
        for (index, table) in self.head.tables.iter().enumerate() {
            for slot in 0..table.slots {
                let at = table.start + slot * self.format.pair_bytes();
                let outside = || self.map.damaged("a slot is outside of the file", at);
                let (hash, place) = pair_at(&self.map, self.format, at).ok_or_else(outside)?;
                if place == 0 {
                    continue;
                }
                key.clear();
                self.record_at(place, self.map.len())?
                    .key
                    .append_to(&mut key)?;
                let hashes = [Some(self.format.hash(&key)), self.format.other_hash(&key)];
                if !hashes.contains(&Some(hash)) || table_of(hash) != index {
                    return Err(self.map.damaged("a slot has the hash of another key", at));
                }
                used += 1;
            }
        }
        Ok(used)
    }

    /// Returns the record at a place. It ends at `end` at the latest.
    #[inline]
    fn record_at(&self, at: u64, end: u64) -> Result<Record<'_>> {
        let pair = pair_at(&self.map, self.format, at);
        self.record_of(at, pair, end)
            .ok_or_else(|| self.map.damaged("a record is not inside the file", at))
    }

    #[inline]
    fn record_of(&self, at: u64, lengths: Option<(u64, u64)>, end: u64) -> Option<Record<'_>> {
        let (key_bytes, value_bytes) = lengths?;
        let key_at = at.checked_add(self.format.pair_bytes())?;
        let value_at = key_at.checked_add(key_bytes)?;
        if value_at.checked_add(value_bytes)? > end {
            return None;
        }
        Some(Record {
            key: self.map.span(key_at, key_bytes)?,
            value: self.map.span(value_at, value_bytes)?,
        })
    }

    /// Opens the file that has the name now, if it is another one, or was written to. Returns
    /// whether it is.
    ///
    /// # Errors
    /// If the new file cannot be opened; the old one stays open then.
    pub fn refresh(&mut self) -> Result<bool> {
        let newer = self.reopened()?;
        let is_newer = newer.is_some();
        if let Some(newer) = newer {
            *self = newer;
        }
        Ok(is_newer)
    }
}

impl Reopen for Cdb {
    fn reopened(&self) -> Result<Option<Cdb>> {
        let path = self.map.path();
        let now = Identity::at(path).map_err(Error::of("cannot examine", path))?;
        if now == self.map.identity() {
            return Ok(None);
        }
        let map = Map::open(path)?;
        let format = Head::recognise(&map).unwrap_or(self.format);
        Cdb::of(map, format).map(Some)
    }
}

/// Where a search is in a table.
#[derive(Clone, Copy, Debug, Default)]
struct Search {
    hash: u64,
    start: u64,
    slots: u64,
    slot: u64,
    /// Slots that were not visited yet.
    left: u64,
}

/// The records of a key, made by [`Cdb::find`]. Ends after an error.
#[derive(Clone, Debug)]
pub struct Find<'a, 'k> {
    cdb: &'a Cdb,
    key: &'k [u8],
    search: Search,
    /// A second hash by which the file may have the key.
    other: Option<u64>,
}

impl<'a> Find<'a, '_> {
    fn next_or_damage(&mut self) -> Result<Option<Record<'a>>> {
        let (cdb, format) = (self.cdb, self.cdb.format);
        loop {
            let search = &mut self.search;
            if search.left == 0 {
                match self.other.take() {
                    Some(hash) => self.search = cdb.begin(hash),
                    None => return cdb.map.check().map(|()| None),
                }
                continue;
            }
            // It does not overflow: the table is inside the file.
            let at = search.start + search.slot * format.pair_bytes();
            let Some((hash, place)) = pair_at(&cdb.map, format, at) else {
                return Err(cdb.map.damaged("a slot is outside of the file", at));
            };
            if place == 0 {
                search.left = 0;
                continue;
            }
            search.left -= 1;
            search.slot = match search.slot + 1 {
                slot if slot == search.slots => 0,
                slot => slot,
            };
            if hash != search.hash {
                continue;
            }
            let record = cdb.record_at(place, cdb.map.len())?;
            if record.key.equals(self.key) {
                cdb.map.check()?;
                return Ok(Some(record));
            }
        }
    }
}

impl<'a> Iterator for Find<'a, '_> {
    type Item = Result<Record<'a>>;

    fn next(&mut self) -> Option<Result<Record<'a>>> {
        let found = self.next_or_damage();
        if found.is_err() {
            (self.search.left, self.other) = (0, None);
        }
        found.transpose()
    }
}

/// All records of a file, made by [`Cdb::records`]. Ends after an error.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    cdb: &'a Cdb,
    at: u64,
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<Record<'a>>;

    #[inline]
    fn next(&mut self) -> Option<Result<Record<'a>>> {
        let (cdb, end) = (self.cdb, self.cdb.head.records_end);
        if self.at >= end {
            // A record ends where the next begins, so it does not end behind the last one.
            return None;
        }
        let record = cdb.record_at(self.at, end);
        self.at = match &record {
            Ok(record) => record.value.position() + record.value.len() as u64,
            Err(_) => end,
        };
        if self.at == end && record.is_ok() {
            return Some(cdb.map.check().and(record));
        }
        Some(record)
    }
}
