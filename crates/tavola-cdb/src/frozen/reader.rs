//! Reading a frozen file.

use std::path::Path;

use rapidhash::v3::RapidSecrets;

use super::group::{Group, Source};
use super::head::{Head, UNIFORM};
use super::sums::Checked;
use super::{group_of, hash, secrets};
use crate::cdb::reader::Record;
use crate::error::{Error, Result};
use crate::follow::Reopen;
use crate::map::{Identity, Map};

/// Bytes of a group that are fetched at once.
const FETCHED_BYTES: u64 = 256;

/// An open file of the frozen format.
///
/// The checksum of each block is compared when the block is read for the first time, so a value is
/// never one that was damaged on the disk before it was first read here. [`Frozen::check`] compares
/// all.
///
/// # Concurrency
/// Any number of threads and processes read a file at the same time. A file that is replaced stays
/// readable here: [`Frozen::refresh`] changes to the new one.
#[derive(Debug)]
pub struct Frozen {
    map: Map,
    head: Head,
    secrets: RapidSecrets,
    checked: Checked,
}

impl Frozen {
    /// Opens a file.
    ///
    /// # Errors
    /// [`Error::NotConstant`] if it is not a frozen file or only the beginning of one;
    /// [`Error::Damaged`] if a checksum is wrong.
    pub fn open(path: impl AsRef<Path>) -> Result<Frozen> {
        Frozen::of(Map::open(path.as_ref())?)
    }

    pub(crate) fn of(map: Map) -> Result<Frozen> {
        let head = Head::read(&map)?;
        let checked = Checked::new(&head);
        checked.check_sums(&map, &head)?;
        Ok(Frozen {
            secrets: secrets(head.seed),
            map,
            head,
            checked,
        })
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
        self.head.file_bytes
    }

    /// Returns the number of bytes of all keys and values.
    pub fn payload_bytes(&self) -> u64 {
        self.head.payload_bytes
    }

    /// Returns the number of keys.
    pub fn len(&self) -> u64 {
        self.head.keys
    }

    /// Returns whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.head.keys == 0
    }

    /// Returns a copy of the value of a key, or `None` if there is none.
    ///
    /// # Errors
    /// [`Error::Damaged`] or [`Error::Lost`] if the file is not as it was written.
    pub fn get(&self, key: impl AsRef<[u8]>) -> Result<Option<Vec<u8>>> {
        match self.find(key.as_ref())? {
            Some(record) => record.value.to_vec().map(Some),
            None => Ok(None),
        }
    }

    /// Finds a key. Returns its record, without a copy.
    ///
    /// # Errors
    /// As [`Frozen::get`].
    #[inline]
    pub fn find(&self, key: &[u8]) -> Result<Option<Record<'_>>> {
        let hash = hash(key, &self.secrets);
        let (start, end) = self.place(group_of(hash, self.head.groups))?;
        self.map.prefetch(start, (end - start).min(FETCHED_BYTES));
        let found = Group::new(self.source(), start, end)?.find(key, hash)?;
        self.map.check()?;
        Ok(found)
    }

    #[inline]
    fn source(&self) -> Source<'_> {
        Source {
            map: &self.map,
            head: &self.head,
            checked: &self.checked,
        }
    }

    /// Returns where a group begins and ends.
    #[inline]
    fn place(&self, number: u64) -> Result<(u64, u64)> {
        let bytes = u64::from(self.head.offset_bytes);
        // It does not overflow: the index is inside the file.
        let at = self.head.index_start + number * bytes;
        self.checked.require(&self.map, at, 2 * bytes)?;
        let pair = match bytes {
            4 => self
                .map
                .u64_at(at)
                .map(|both| (both & u64::from(u32::MAX), both >> 32)),
            _ => self.map.u64_at(at).zip(self.map.u64_at(at + 8)),
        };
        let limit = self.head.index_start - Head::BYTES as u64;
        let (start, end) = pair
            .filter(|(start, end)| start <= end && *end <= limit)
            .ok_or_else(|| {
                self.map
                    .damaged("a group does not begin where the one before it ends", at)
            })?;
        Ok((start + Head::BYTES as u64, end + Head::BYTES as u64))
    }

    /// Returns all records, in an order of their hashes.
    pub fn records(&self) -> FrozenRecords<'_> {
        FrozenRecords::new(self)
    }

    /// Checks the whole file: all checksums, and that each key is in its group, once. Returns the
    /// number of keys.
    ///
    /// # Errors
    /// [`Error::Damaged`] at the first place that is not as it should be.
    pub fn check(&self) -> Result<u64> {
        let summed = self.head.sums_start - Head::BYTES as u64;
        if summed > 0 {
            self.checked
                .require(&self.map, Head::BYTES as u64, summed)?;
        }
        let (mut keys, mut payload_bytes) = (0, 0);
        let mut key = Vec::new();
        for record in self.records() {
            let record = record?;
            key.clear();
            record.key.append_to(&mut key)?;
            let found = self.find(&key)?.map(|found| found.key.position());
            if found != Some(record.key.position()) {
                let at = record.key.position();
                return Err(self
                    .map
                    .damaged("a key is not in its group, or there twice", at));
            }
            keys += 1;
            payload_bytes += (record.key.len() + record.value.len()) as u64;
        }
        match (keys, payload_bytes) == (self.head.keys, self.head.payload_bytes) {
            true => Ok(keys),
            false => Err(self
                .map
                .damaged("the head counts other keys than there are", 0)),
        }
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

impl Reopen for Frozen {
    fn reopened(&self) -> Result<Option<Frozen>> {
        let path = self.map.path();
        let now = Identity::at(path).map_err(Error::of("cannot examine", path))?;
        match now == self.map.identity() {
            true => Ok(None),
            false => Frozen::open(path).map(Some),
        }
    }
}

/// All records of a file, made by [`Frozen::records`]. Ends after an error.
#[derive(Clone, Debug)]
pub struct FrozenRecords<'a> {
    frozen: &'a Frozen,
    next_group: u64,
    /// The group that records come from, if their lengths differ.
    group: Option<Group<'a>>,
    /// If all have the same lengths: where the next record is, and how many follow.
    at: u64,
    left: u64,
}

impl<'a> FrozenRecords<'a> {
    fn new(frozen: &'a Frozen) -> FrozenRecords<'a> {
        FrozenRecords {
            frozen,
            next_group: 0,
            group: None,
            at: 0,
            left: 0,
        }
    }

    /// Returns the next record of the same lengths as the others. It is inside the group.
    #[inline]
    fn next_uniform(&mut self) -> Option<Record<'a>> {
        let head = &self.frozen.head;
        let bytes = head.key_bytes + head.value_bytes;
        let (key, value) = self
            .frozen
            .map
            .span(self.at, bytes)?
            .split_at(head.key_bytes);
        self.at += bytes;
        self.left -= 1;
        Some(Record { key, value })
    }

    /// Returns the next record of the group or of the next one that is not empty.
    fn next_or_damage(&mut self) -> Result<Option<Record<'a>>> {
        let frozen = self.frozen;
        loop {
            if let Some(group) = &mut self.group
                && let Some(record) = group.next_record()?
            {
                return Ok(Some(record));
            }
            if self.next_group >= frozen.head.groups {
                frozen.map.check()?;
                return Ok(None);
            }
            let (start, end) = frozen.place(self.next_group)?;
            self.next_group += 1;
            if start == end {
                continue;
            }
            frozen.checked.require(&frozen.map, start, end - start)?;
            let group = Group::new(frozen.source(), start, end)?;
            if frozen.head.kind != UNIFORM {
                self.group = Some(group);
                continue;
            }
            (self.at, self.left) = group.records();
            if self.left > 0 {
                return Ok(self.next_uniform());
            }
        }
    }
}

impl<'a> Iterator for FrozenRecords<'a> {
    type Item = Result<Record<'a>>;

    #[inline]
    fn next(&mut self) -> Option<Result<Record<'a>>> {
        if self.left > 0 {
            return self.next_uniform().map(Ok);
        }
        let found = self.next_or_damage();
        if found.is_err() {
            (self.group, self.next_group) = (None, u64::MAX);
        }
        found.transpose()
    }
}
