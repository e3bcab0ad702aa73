//! Writing a frozen file.

use std::path::{Path, PathBuf};

use rapidhash::v3::RapidSecrets;

use super::head::{Head, MAGIC, UNIFORM, VARIED, VERSION};
use super::parts::{MOST_KEY, MOST_VALUE, PARTS, Packed, Parts, unpack};
use super::sums::Summed;
use super::{GROUP_KEYS, LEAST_GROUPS, group_of, hash, put_varint, secrets, tag_of};
use crate::error::{Error, Result};
use crate::output::{Making, Output, Temporary, directory_of};

/// The memory for records, unless it is set.
const MEMORY_BYTES: usize = 512 << 20;

/// Which value a key has that was put several times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// The last one.
    #[default]
    Last,
    /// The first one.
    First,
}

/// How a frozen file is written; made by [`FrozenWriter::options`].
#[derive(Clone, Debug)]
pub struct FrozenOptions {
    making: Making,
    keep: Keep,
    memory_bytes: usize,
    seed: u64,
}

impl FrozenOptions {
    /// Sets which value a key has that is put several times; the last one unless this is called.
    pub fn keep(mut self, keep: Keep) -> FrozenOptions {
        self.keep = keep;
        self
    }

    /// Sets the mode of the file, whatever the mask of the process is; 0666 less the mask unless
    /// this is called.
    pub fn mode(mut self, mode: u32) -> FrozenOptions {
        self.making.mode = Some(mode);
        self
    }

    /// Sets the name that the file has until it is whole. It must be on the file system of the
    /// file. What has the name is removed.
    pub fn temporary(mut self, path: impl Into<PathBuf>) -> FrozenOptions {
        self.making.temporary = Temporary::Named(path.into());
        self
    }

    /// Sets whether [`FrozenWriter::finish`] waits until the file is on the disk; it does unless
    /// this is called.
    pub fn sync(mut self, sync: bool) -> FrozenOptions {
        self.making.is_unsynced = !sync;
        self
    }

    /// Sets how many bytes of records are kept in memory; 512 MiB unless this is called. What is
    /// more goes to a file without a name in the directory. To finish the file takes memory for a
    /// 256th of the records beside.
    pub fn memory_bytes(mut self, bytes: usize) -> FrozenOptions {
        self.memory_bytes = bytes;
        self
    }

    /// Sets the seed of the hash of keys; 0 unless this is called. The same records and seed make
    /// the same bytes. Somebody who does
    /// not know the seed cannot choose keys that are slow to find.
    pub fn seed(mut self, seed: u64) -> FrozenOptions {
        self.seed = seed;
        self
    }

    /// Begins the file.
    ///
    /// # Errors
    /// [`Error::System`] if the temporary file cannot be made.
    pub fn create(&self, path: impl AsRef<Path>) -> Result<FrozenWriter> {
        let output = Output::create(path.as_ref(), &self.making)?;
        let parts = Parts::new(directory_of(output.path()), self.memory_bytes);
        Ok(FrozenWriter {
            output,
            parts,
            secrets: secrets(self.seed),
            seed: self.seed,
            keep: self.keep,
            count: 0,
            payload_bytes: 0,
            lengths: None,
            is_uniform: true,
            has_failed: false,
        })
    }
}

/// Writes a frozen file. Nothing has its name before [`FrozenWriter::finish`]; without it, the old
/// file stays.
///
/// # Crash
/// A process that is killed leaves the old file, or the new one: never a part of one. It may leave
/// the temporary file.
pub struct FrozenWriter {
    output: Output,
    parts: Parts,
    secrets: RapidSecrets,
    seed: u64,
    keep: Keep,
    count: u64,
    payload_bytes: u64,
    /// The lengths of the first key and value.
    lengths: Option<(usize, usize)>,
    is_uniform: bool,
    has_failed: bool,
}

impl FrozenWriter {
    /// Begins a file.
    ///
    /// # Errors
    /// [`Error::System`] if the temporary file cannot be made.
    pub fn create(path: impl AsRef<Path>) -> Result<FrozenWriter> {
        FrozenWriter::options().create(path)
    }

    /// Returns options for a file.
    pub fn options() -> FrozenOptions {
        FrozenOptions {
            making: Making::default(),
            keep: Keep::default(),
            memory_bytes: MEMORY_BYTES,
            seed: 0,
        }
    }

    /// Puts a record.
    ///
    /// # Errors
    /// [`Error::TooLong`] if the key has more than 16 MiB, or the value a TiB; it is left out.
    /// [`Error::System`] if there is no room for it; the file cannot be finished then.
    #[inline]
    pub fn put(&mut self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Result<()> {
        let (key, value) = (key.as_ref(), value.as_ref());
        let lengths = (key.len(), value.len());
        if lengths.0 as u64 > MOST_KEY || lengths.1 as u64 > MOST_VALUE {
            let path = self.output.path().to_path_buf();
            return Err(Error::TooLong { path });
        }
        self.is_uniform &= *self.lengths.get_or_insert(lengths) == lengths;
        self.count += 1;
        self.payload_bytes += (key.len() + value.len()) as u64;
        let put = self.parts.push(hash(key, &self.secrets), key, value);
        self.has_failed |= put.is_err();
        put
    }

    /// Writes the file, syncs it, gives it its name, and syncs the directory. Returns the number
    /// of keys.
    ///
    /// # Errors
    /// [`Error::System`] if a step fails. The old file is there then; after an error of the last
    /// sync, the new one is, but may be lost in a power failure.
    pub fn finish(mut self) -> Result<u64> {
        if self.has_failed {
            let path = self.output.path().to_path_buf();
            return Err(Error::Failed { path });
        }
        let mut head = self.begin_head();
        self.output.append(&[0; Head::BYTES])?;
        let mut out = Summed::new(self.output, head.block_bytes);
        let mut grouping = Grouping::new(&head, self.secrets, self.keep);
        let mut starts = Vec::with_capacity(head.groups as usize + 1);
        let mut records = Vec::new();
        for part in 0..PARTS {
            self.parts.take(part, &mut records)?;
            grouping.write(part, &records, &mut out, &mut starts)?;
        }
        head.keys = grouping.keys;
        head.payload_bytes = grouping.payload_bytes;
        head.index_start = out.end();
        starts.push(out.end() - Head::BYTES as u64);
        head.offset_bytes = match u32::try_from(head.index_start) {
            Ok(_) => 4,
            Err(_) => 8,
        };
        for start in starts {
            out.append(&start.to_le_bytes()[..head.offset_bytes as usize])?;
        }
        head.sums_start = out.end();
        let (mut output, whole_sum) = out.finish()?;
        head.whole_sum = whole_sum;
        head.file_bytes = output.end();
        output.change(&head.sealed().to_bytes(), 0)?;
        output.finish()?;
        Ok(head.keys)
    }

    fn begin_head(&self) -> Head {
        let groups = self
            .count
            .div_ceil(GROUP_KEYS)
            .max(1)
            .next_multiple_of(LEAST_GROUPS);
        let (key_bytes, value_bytes) = match (self.is_uniform, self.lengths) {
            (true, Some((key, value))) => (key as u64, value as u64),
            _ => (0, 0),
        };
        Head {
            magic: u64::from_le_bytes(MAGIC),
            version: VERSION,
            kind: match self.is_uniform && self.count > 0 {
                true => UNIFORM,
                false => VARIED,
            },
            groups,
            seed: self.seed,
            key_bytes,
            value_bytes,
            block_bytes: block_bytes(self.payload_bytes + 3 * self.count),
            ..Head::default()
        }
    }
}

/// Returns the length of a block with a sum of its own: a first read of a small file compares
/// little, and a large file has a thousandth of sums at most.
fn block_bytes(about: u64) -> u32 {
    match about {
        ..0x0100_0000 => 4 << 10,
        0x0100_0000..0x1000_0000 => 16 << 10,
        _ => 64 << 10,
    }
}

/// Puts the records of a part into their groups, and writes them.
struct Grouping {
    is_uniform: bool,
    groups: u64,
    secrets: RapidSecrets,
    keep: Keep,
    keys: u64,
    payload_bytes: u64,
    /// The hashes of the part's records in the order of the puts.
    hashes: Vec<u64>,
    /// Its records in the order of their groups.
    sorted: Vec<Placed>,
    /// For each group of the part, where its records begin among the sorted ones.
    begins: Vec<u32>,
    bytes: Vec<u8>,
}

/// A record of a part: its tag, and where it is.
#[derive(Clone, Copy, Default)]
struct Placed {
    tag: u8,
    at: usize,
}

impl Grouping {
    fn new(head: &Head, secrets: RapidSecrets, keep: Keep) -> Grouping {
        Grouping {
            is_uniform: head.kind == UNIFORM,
            groups: head.groups,
            secrets,
            keep,
            keys: 0,
            payload_bytes: 0,
            hashes: Vec::new(),
            sorted: Vec::new(),
            begins: Vec::new(),
            bytes: Vec::new(),
        }
    }

    /// Writes the groups of a part, and notes where they start.
    fn write(
        &mut self,
        part: usize,
        records: &[u8],
        out: &mut Summed,
        starts: &mut Vec<u64>,
    ) -> Result<()> {
        let groups = self.groups / LEAST_GROUPS;
        self.sort(part as u64 * groups, groups as usize, records);
        let sorted = std::mem::take(&mut self.sorted);
        for group in 0..groups as usize {
            starts.push(out.end() - Head::BYTES as u64);
            let range = self.begins[group] as usize..self.begins[group + 1] as usize;
            self.bytes.clear();
            self.pack(&sorted[range], records);
            out.append(&self.bytes)?;
        }
        self.sorted = sorted;
        Ok(())
    }

    /// Sorts the records of a part by group; those of a group stay in the order of the puts.
    fn sort(&mut self, first: u64, groups: usize, records: &[u8]) {
        self.hashes.clear();
        self.begins.clear();
        self.begins.resize(groups + 2, 0);
        let mut at = 0;
        while let Some(record) = unpack(records, &mut at) {
            let hash = hash(record.key, &self.secrets);
            self.begins[(group_of(hash, self.groups) - first) as usize + 2] += 1;
            self.hashes.push(hash);
        }
        for group in 2..self.begins.len() {
            self.begins[group] += self.begins[group - 1];
        }
        self.sorted.clear();
        self.sorted.resize(self.hashes.len(), Placed::default());
        let mut next = 0;
        for hash in &self.hashes {
            let (at, tag) = (next, tag_of(*hash));
            unpack(records, &mut next);
            let place = &mut self.begins[(group_of(*hash, self.groups) - first) as usize + 1];
            self.sorted[*place as usize] = Placed { tag, at };
            *place += 1;
        }
    }

    /// Makes the bytes of a group.
    fn pack(&mut self, group: &[Placed], records: &[u8]) {
        if group.is_empty() {
            return;
        }
        let read = |record: &Placed| {
            let mut at = record.at;
            unpack(records, &mut at).unwrap_or(Packed {
                key: &[],
                value: &[],
            })
        };
        let kept = self.kept(group, read);
        let kept = kept.as_deref().unwrap_or(group);
        self.keys += kept.len() as u64;
        if !self.is_uniform {
            put_varint(&mut self.bytes, kept.len() as u64);
        }
        self.bytes.extend(kept.iter().map(|record| record.tag));
        if !self.is_uniform {
            for record in kept.iter().map(read) {
                put_varint(&mut self.bytes, record.key.len() as u64);
                put_varint(&mut self.bytes, record.value.len() as u64);
            }
        }
        for record in kept.iter().map(read) {
            self.bytes.extend_from_slice(record.key);
            self.bytes.extend_from_slice(record.value);
            self.payload_bytes += (record.key.len() + record.value.len()) as u64;
        }
    }

    /// Returns the records of a group that are kept, or `None` if no key is there twice.
    fn kept<'a>(
        &self,
        group: &[Placed],
        read: impl Fn(&Placed) -> Packed<'a>,
    ) -> Option<Vec<Placed>> {
        let mut seen = [0u64; 4];
        let may_repeat = group.iter().any(|record| {
            let word = &mut seen[usize::from(record.tag) / 64];
            let bit = 1 << (record.tag % 64);
            let was_there = *word & bit != 0;
            *word |= bit;
            was_there
        });
        if !may_repeat {
            return None;
        }
        let mut kept: Vec<Placed> = Vec::with_capacity(group.len());
        for record in group {
            let same = kept
                .iter_mut()
                .find(|one| one.tag == record.tag && read(one).key == read(record).key);
            match (same, self.keep) {
                (None, _) => kept.push(*record),
                (Some(same), Keep::Last) => *same = *record,
                (Some(_), Keep::First) => {}
            }
        }
        Some(kept)
    }
}
