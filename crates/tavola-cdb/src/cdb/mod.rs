//! The formats of cdb files.
//!
//! ```text
//! head      256 times where a table begins and how many slots it has
//! records   key length, value length, key, value; one behind the other, in the order of the puts
//! tables    slots: hash, where the record begins (0: the slot is empty)
//! ```
//!
//! All numbers have 4 bytes, or 8 in the 64-bit formats, least byte first. A key is in the table
//! that the lowest 8 bits of its hash name. The search begins at the slot that the other bits name,
//! modulo the number of slots, and ends at an empty slot or after one round. A table has twice as
//! many slots as keys. Several records may have the same key; a search finds them in the order in
//! which they were written.

pub(crate) mod head;
pub(crate) mod live;
pub(crate) mod reader;
pub(crate) mod stream;
pub(crate) mod writer;

/// How many tables a file has.
pub(crate) const TABLES: usize = 256;

/// The hash of a key in [`Format::Cdb`]: `hash * 33 ^ byte` for each byte, from 5381 on.
pub fn hash(key: &[u8]) -> u32 {
    key.iter().fold(5381, |hash: u32, byte| {
        hash.wrapping_mul(33) ^ u32::from(*byte)
    })
}

/// The same in 64 bits.
fn long_hash(key: &[u8]) -> u64 {
    key.iter().fold(5381, |hash: u64, byte| {
        hash.wrapping_mul(33) ^ u64::from(*byte)
    })
}

/// A format of cdb files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// D. J. Bernstein's format. Lengths and places have 32 bits, so a file has at most 4 GiB.
    Cdb,
    /// Lengths, places and hashes take 64 bits; the hash is the same. As `cdblib` of Python writes
    /// it (`Writer64`).
    Cdb64,
    /// As [`Format::Cdb64`], with a hash of 64 bits. As the package `cdb64` of Go writes it. A
    /// reader need not distinguish the two: it finds the keys of both.
    Cdb64Long,
}

impl Format {
    /// Returns how many bytes a number takes.
    pub(crate) fn number_bytes(self) -> u64 {
        match self {
            Format::Cdb => 4,
            Format::Cdb64 | Format::Cdb64Long => 8,
        }
    }

    /// Returns how many bytes the numbers before a record, or of a slot, or of a table take.
    pub(crate) fn pair_bytes(self) -> u64 {
        2 * self.number_bytes()
    }

    pub(crate) fn head_bytes(self) -> u64 {
        self.pair_bytes() * TABLES as u64
    }

    /// Returns the largest length that a file can have.
    pub(crate) fn most_bytes(self) -> u64 {
        match self {
            Format::Cdb => u32::MAX as u64,
            Format::Cdb64 | Format::Cdb64Long => i64::MAX as u64,
        }
    }

    pub(crate) fn hash(self, key: &[u8]) -> u64 {
        match self {
            Format::Cdb | Format::Cdb64 => hash(key).into(),
            Format::Cdb64Long => long_hash(key),
        }
    }

    /// Returns another hash by which a file that is read in this format may have the key.
    pub(crate) fn other_hash(self, key: &[u8]) -> Option<u64> {
        let other = match self {
            Format::Cdb => return None,
            Format::Cdb64 => long_hash(key),
            Format::Cdb64Long => hash(key).into(),
        };
        (other != self.hash(key)).then_some(other)
    }

    /// Appends two numbers as they are in a file. They must be within the format's limits.
    pub(crate) fn put_pair(self, buffer: &mut Vec<u8>, first: u64, second: u64) {
        for number in [first, second] {
            let bytes = number.to_le_bytes();
            buffer.extend_from_slice(&bytes[..self.number_bytes() as usize]);
        }
    }

    /// As [`Format::put_pair`], at the beginning of a buffer. Returns the bytes.
    #[inline]
    pub(crate) fn pair_to(self, buffer: &mut [u8; 16], first: u64, second: u64) -> &[u8] {
        match self {
            Format::Cdb => {
                let both = first | second << 32;
                buffer[..8].copy_from_slice(&both.to_le_bytes());
            }
            Format::Cdb64 | Format::Cdb64Long => {
                buffer[..8].copy_from_slice(&first.to_le_bytes());
                buffer[8..].copy_from_slice(&second.to_le_bytes());
            }
        }
        &buffer[..self.pair_bytes() as usize]
    }

    /// Reads two numbers from their bytes.
    pub(crate) fn pair(self, bytes: &[u8]) -> (u64, u64) {
        let (first, second) = bytes.split_at(self.number_bytes() as usize);
        (number(first), number(second))
    }
}

/// Returns the table of a hash.
pub(crate) fn table_of(hash: u64) -> usize {
    hash as usize % TABLES
}

/// Returns the slot at which a search begins.
pub(crate) fn slot_of(hash: u64, slots: u64) -> u64 {
    (hash >> 8) % slots
}

fn number(bytes: &[u8]) -> u64 {
    let mut number = [0; 8];
    number[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_as_published() {
        assert_eq!(hash(b""), 5381);
        assert_eq!(hash(b"a"), 177_604);
        assert_eq!(hash(b"foo"), 193_410_979);
        // From here on the two differ.
        assert_eq!(hash(b"hello world"), 4_173_747_013);
        assert_eq!(long_hash(b"hello world") as u32, hash(b"hello world"));
        assert_ne!(long_hash(b"hello world"), u64::from(hash(b"hello world")));
    }

    #[test]
    fn pairs_come_back() {
        for format in [Format::Cdb, Format::Cdb64, Format::Cdb64Long] {
            let mut bytes = Vec::new();
            format.put_pair(&mut bytes, 0x0102_0304, 5);
            assert_eq!(bytes.len() as u64, format.pair_bytes());
            assert_eq!((bytes[0], bytes[3]), (4, 1));
            assert_eq!(format.pair(&bytes), (0x0102_0304, 5));
        }
    }
}
