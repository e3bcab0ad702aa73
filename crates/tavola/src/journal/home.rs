//! The directory of a durable table, its *home*: what is in its file `table`.
//!
//! ```text
//! 0       magic `TavolaDH`, format, id of the journal, max_size, segment, shards, options,
//!         lengths, TTL, policy, policy's time in ms, mode, checksum: 8 B each
//! 2048    where the table is in shared memory, not synced, as it says nothing after a restart of
//!         the machine: boot, uuid (2 words), device and inode of the directory, checksum, bytes
//!         of the path: 8 B each; the path
//! ```

use super::record::word_at;
use crate::layout::fold;
use crate::sys::disk::{DiskFile, HomeDir};
use crate::values::Durability;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The name of the file.
pub(crate) const TABLE: &str = "table";
/// The name under which it is written first.
const NEW: &str = "table.new";
/// `TavolaDH`.
const MAGIC: u64 = u64::from_le_bytes(*b"TavolaDH");
const FORMAT: u64 = 1;
const NOTE: u64 = 2048;
const PATH: usize = 56;
const MOST_PATH: usize = 1024;

/// The options with which a durable table was created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Home {
    /// Identifies the journal.
    pub(crate) id: u64,
    pub(crate) max_size: u64,
    /// Bytes of records in one file of the journal.
    pub(crate) segment: u64,
    pub(crate) shards: u32,
    pub(crate) has_versions: bool,
    /// The lengths of keys and values, and whether keys have uids.
    pub(crate) fixed: Option<(u32, u32, bool)>,
    pub(crate) ttl_ms: u64,
    pub(crate) durability: Durability,
    pub(crate) mode: u32,
}

const VERSIONS: u64 = 1;
const FIXED: u64 = 2;
const UIDS: u64 = 4;

impl Home {
    const WORDS: usize = 12;

    fn words(&self) -> [u64; Self::WORDS] {
        let (key, value, uids) = self.fixed.unwrap_or((0, 0, false));
        let mut options = if self.has_versions { VERSIONS } else { 0 };
        options |= if self.fixed.is_some() { FIXED } else { 0 };
        options |= if uids { UIDS } else { 0 };
        let [policy, ms] = encode_policy(self.durability);
        [
            MAGIC,
            FORMAT,
            self.id,
            self.max_size,
            self.segment,
            u64::from(self.shards),
            options,
            u64::from(key) | u64::from(value) << 32,
            self.ttl_ms,
            policy,
            ms,
            u64::from(self.mode),
        ]
    }

    /// Decodes the content of the file. The error says what is wrong.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, String> {
        let mut words = [0; Self::WORDS];
        for (i, word) in words.iter_mut().enumerate() {
            *word = word_at(bytes, 8 * i).ok_or("it is too short")?;
        }
        if words[0] != MAGIC {
            return Err("it does not begin as the file of a durable table".to_string());
        }
        if words[1] != FORMAT {
            let found = words[1];
            return Err(format!(
                "it has format {found}, this library reads {FORMAT}"
            ));
        }
        if word_at(bytes, 8 * Self::WORDS) != Some(fold(&words)) {
            return Err("its checksum is wrong".to_string());
        }
        let options = words[6];
        Ok(Self {
            id: words[2],
            max_size: words[3],
            segment: words[4].max(1),
            shards: words[5] as u32,
            has_versions: options & VERSIONS != 0,
            fixed: (options & FIXED != 0).then_some((
                words[7] as u32,
                (words[7] >> 32) as u32,
                options & UIDS != 0,
            )),
            ttl_ms: words[8],
            durability: decode_policy([words[9], words[10]]),
            mode: words[11] as u32,
        })
    }

    /// Writes the file, and returns when it survives a power failure.
    pub(crate) fn write(&self, dir: &dyn HomeDir) -> io::Result<()> {
        self.write_with(dir, &[])
    }

    /// Raises `max_size` in the file, as [`Home::write`]. The file still says where the memory is.
    pub(crate) fn raise_max_size(dir: &dyn HomeDir, max_size: u64) -> io::Result<()> {
        let mut bytes = [0; 4096];
        dir.open(TABLE)?.read_at(&mut bytes, 0)?;
        let home = Self::decode(&bytes).map_err(io::Error::other)?;
        if home.max_size >= max_size {
            return Ok(());
        }
        let raised = Self { max_size, ..home };
        raised.write_with(dir, &bytes[NOTE as usize..])
    }

    fn write_with(&self, dir: &dyn HomeDir, note: &[u8]) -> io::Result<()> {
        let mut bytes: Vec<u8> = self
            .words()
            .into_iter()
            .flat_map(u64::to_le_bytes)
            .collect();
        bytes.extend(fold(&self.words()).to_le_bytes());
        bytes.resize(NOTE as usize, 0);
        bytes.extend_from_slice(note);
        bytes.resize(4096, 0);
        match dir.remove(NEW) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let file = dir.create(NEW)?;
        file.write_all_at(&bytes, 0)?;
        file.sync_data()?;
        dir.rename(NEW, TABLE)?;
        dir.sync()
    }
}

/// Returns a policy as two words: which one, and its time in ms.
pub(crate) fn encode_policy(policy: Durability) -> [u64; 2] {
    match policy {
        Durability::Commit => [0, 0],
        Durability::Within(time) => [1, time.as_millis() as u64],
        Durability::Os => [2, 0],
    }
}

/// Returns the policy of two words.
pub(crate) fn decode_policy(words: [u64; 2]) -> Durability {
    match words {
        [1, ms] => Durability::Within(Duration::from_millis(ms)),
        [2, _] => Durability::Os,
        _ => Durability::Commit,
    }
}

/// Where a durable table is in shared memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Identifies the start of the machine.
    pub(crate) boot: u64,
    /// Identifies the table's file.
    pub(crate) uuid: [u64; 2],
    /// Device and inode of the directory: a copy of it has others.
    pub(crate) dir: [u64; 2],
    pub(crate) path: PathBuf,
}

impl Place {
    /// Reads it, if the file has it.
    pub(crate) fn read(file: &dyn DiskFile) -> io::Result<Option<Self>> {
        let mut bytes = [0; PATH + MOST_PATH];
        let len = file.read_at(&mut bytes, NOTE)?;
        Ok(Self::decode(&bytes[..len]))
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let word = |i: usize| word_at(bytes, 8 * i);
        let len = word(6)? as usize;
        let path = bytes.get(PATH..PATH + len.min(MOST_PATH))?;
        let place = Self {
            boot: word(0)?,
            uuid: [word(1)?, word(2)?],
            dir: [word(3)?, word(4)?],
            path: PathBuf::from(OsStr::from_bytes(path)),
        };
        (word(5)? == place.sum()).then_some(place)
    }

    fn sum(&self) -> u64 {
        let path = self.path.as_os_str().as_bytes();
        let [uuid, dir] = [self.uuid, self.dir];
        let mut words = vec![self.boot, uuid[0], uuid[1], dir[0], dir[1]];
        words.extend(path.iter().map(|byte| u64::from(*byte)));
        fold(&words)
    }

    /// Writes it.
    pub(crate) fn write(&self, file: &Arc<dyn DiskFile>) -> io::Result<()> {
        let path = self.path.as_os_str().as_bytes();
        if path.len() > MOST_PATH {
            return Err(io::Error::other("the path of the table is too long"));
        }
        let words = [
            self.boot,
            self.uuid[0],
            self.uuid[1],
            self.dir[0],
            self.dir[1],
            self.sum(),
            path.len() as u64,
        ];
        let mut bytes: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).collect();
        bytes.extend_from_slice(path);
        file.write_all_at(&bytes, NOTE)
    }
}

/// Returns the path of a file of the directory, for messages.
pub(crate) fn path_in(home: &Path, name: &str) -> PathBuf {
    home.join(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_table_was_created_with_survives() {
        let home = Home {
            id: 7,
            max_size: 1 << 30,
            segment: 16 << 20,
            shards: 32,
            has_versions: true,
            fixed: Some((8, 100, true)),
            ttl_ms: 1000,
            durability: Durability::Within(Duration::from_millis(50)),
            mode: 0o660,
        };
        let mut bytes: Vec<u8> = home
            .words()
            .into_iter()
            .flat_map(u64::to_le_bytes)
            .collect();
        bytes.extend(fold(&home.words()).to_le_bytes());
        assert_eq!(Home::decode(&bytes), Ok(home));
        for bit in 0..8 * bytes.len() {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(Home::decode(&flipped).is_err(), "bit {bit}");
        }
        assert!(Home::decode(&bytes[..50]).is_err());
    }
}
