//! The records of a file that is being written, in 256 parts by their hash.
//!
//! A part has the keys of neighbouring groups. So when the file is written, only one part at a time
//! has to be in memory. If all parts together become too large, they are moved to a file without a
//! name, and later read back part by part.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::LEAST_GROUPS;
use crate::error::{Error, Result};

/// How many parts there are.
pub(crate) const PARTS: usize = LEAST_GROUPS as usize;
/// The bytes before a record in a part: its two lengths in one number.
const LENGTHS: usize = 8;
/// The bits of the length of a value; the others have that of the key.
const VALUE_BITS: u32 = 40;
/// The longest key.
pub(crate) const MOST_KEY: u64 = u64::MAX >> VALUE_BITS;
/// The longest value.
pub(crate) const MOST_VALUE: u64 = (1 << VALUE_BITS) - 1;

/// Records by part.
pub(crate) struct Parts {
    parts: Vec<Part>,
    buffered: usize,
    most_buffered: usize,
    spilled: Option<File>,
    spilled_bytes: u64,
    directory: PathBuf,
}

/// A chunk holds whole records, and does not move when more come: so memory is written once.
const CHUNK_BYTES: usize = 32 << 10;

#[derive(Clone, Default)]
struct Part {
    /// The newest records, the last chunk with room.
    chunks: Vec<Vec<u8>>,
    /// Where its older records are in the file.
    extents: Vec<Extent>,
}

#[derive(Clone, Copy)]
struct Extent {
    start: u64,
    bytes: usize,
}

impl Parts {
    /// The directory is for a file without a name, of records that do not fit into the memory.
    pub(crate) fn new(directory: &Path, most_buffered: usize) -> Parts {
        Parts {
            parts: vec![Part::default(); PARTS],
            buffered: 0,
            most_buffered,
            spilled: None,
            spilled_bytes: 0,
            directory: directory.to_path_buf(),
        }
    }

    /// Adds a record. The caller has checked that it is not too long.
    #[inline]
    pub(crate) fn push(&mut self, hash: u64, key: &[u8], value: &[u8]) -> Result<()> {
        let part = &mut self.parts[(hash >> 56) as usize];
        let bytes = LENGTHS + key.len() + value.len();
        let chunk = part.chunk_for(bytes);
        let lengths = (key.len() as u64) << VALUE_BITS | value.len() as u64;
        chunk.extend_from_slice(&lengths.to_le_bytes());
        chunk.extend_from_slice(key);
        chunk.extend_from_slice(value);
        self.buffered += bytes;
        match self.buffered > self.most_buffered {
            true => self.spill(),
            false => Ok(()),
        }
    }

    #[cold]
    fn spill(&mut self) -> Result<()> {
        let file = match &self.spilled {
            Some(file) => file,
            None => {
                let file = OpenOptions::new()
                    .read(true)
                    .write(true)
                    .custom_flags(libc::O_TMPFILE)
                    .mode(0o600)
                    .open(&self.directory)
                    .map_err(Error::of(
                        "cannot create a file without a name in",
                        &self.directory,
                    ))?;
                self.spilled.insert(file)
            }
        };
        for part in &mut self.parts {
            let start = self.spilled_bytes;
            // The memory goes, too: the next records may be in other parts.
            for chunk in part.chunks.drain(..) {
                let written = file.write_all_at(&chunk, self.spilled_bytes);
                let failed = Error::of("cannot write a temporary file in", &self.directory);
                written.map_err(failed)?;
                self.spilled_bytes += chunk.len() as u64;
            }
            let bytes = (self.spilled_bytes - start) as usize;
            if bytes > 0 {
                part.extents.push(Extent { start, bytes });
            }
        }
        self.buffered = 0;
        Ok(())
    }

    /// Takes the records of a part out of the memory and the file, in the order of the puts.
    pub(crate) fn take(&mut self, number: usize, records: &mut Vec<u8>) -> Result<()> {
        records.clear();
        let part = std::mem::take(&mut self.parts[number]);
        if let Some(file) = &self.spilled {
            for extent in part.extents {
                let at = records.len();
                records.resize(at + extent.bytes, 0);
                let read = file.read_exact_at(&mut records[at..], extent.start);
                read.map_err(Error::of(
                    "cannot read a temporary file in",
                    &self.directory,
                ))?;
            }
        }
        for chunk in part.chunks {
            records.extend_from_slice(&chunk);
        }
        Ok(())
    }
}

impl Part {
    /// Returns a chunk with room for so many bytes.
    #[inline]
    fn chunk_for(&mut self, bytes: usize) -> &mut Vec<u8> {
        let has_room = |chunk: &Vec<u8>| chunk.capacity() - chunk.len() >= bytes;
        if !self.chunks.last().is_some_and(has_room) {
            self.chunks.push(Vec::with_capacity(bytes.max(CHUNK_BYTES)));
        }
        let last = self.chunks.len() - 1;
        &mut self.chunks[last]
    }
}

/// A record in the bytes of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Packed<'a> {
    pub(crate) key: &'a [u8],
    pub(crate) value: &'a [u8],
}

/// Returns the record at a place of a part, and moves the place behind it.
#[inline]
pub(crate) fn unpack<'a>(records: &'a [u8], at: &mut usize) -> Option<Packed<'a>> {
    let lengths = records.get(*at..*at + LENGTHS)?;
    let lengths = u64::from_le_bytes(lengths.try_into().ok()?);
    let (key, value) = (
        (lengths >> VALUE_BITS) as usize,
        (lengths & MOST_VALUE) as usize,
    );
    let start = *at + LENGTHS;
    *at = start + key + value;
    Some(Packed {
        key: records.get(start..start + key)?,
        value: records.get(start + key..start + key + value)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With and without a file, the records of a part come in the order of the puts.
    #[test]
    fn records_come_back_in_order() {
        let dir = tempfile::tempdir().unwrap();
        let mut records = Vec::new();
        for most in [usize::MAX, 10_000, 0] {
            let mut parts = Parts::new(dir.path(), most);
            let key = |n: u32| n.to_le_bytes().repeat(n as usize % 3);
            for n in 0..3000u32 {
                parts
                    .push(u64::from(n) << 54, &key(n), &n.to_le_bytes())
                    .unwrap();
            }
            for part in 0..PARTS as u32 {
                parts.take(part as usize, &mut records).unwrap();
                let mut at = 0;
                for n in (0..3000).filter(|n| n / 4 % 256 == part) {
                    let record = unpack(&records, &mut at).unwrap();
                    assert_eq!(
                        (record.key, record.value),
                        (&key(n)[..], &n.to_le_bytes()[..])
                    );
                }
                assert_eq!(unpack(&records, &mut at), None);
            }
            assert_eq!(parts.spilled.is_some(), most < usize::MAX);
        }
    }
}
