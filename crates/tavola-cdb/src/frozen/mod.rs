//! The frozen format: constant files of any size with checksums. A read touches one place of them.
//!
//! ```text
//! head      128 bytes, see `head`
//! groups    records that belong together by their hash, a group behind the other
//! index     where each group begins, and where the last one ends
//! sums      a checksum of each block of what is between the head and here
//! ```
//!
//! A key's hash names its group: about 8 records that are next to each other. A read loads one
//! number of the index, which is small, and then the group. Beside the records a group has one byte
//! of each key's hash, the *tag*, so that other keys are hardly ever compared.
//!
//! ```text
//! all keys have one length, and all values:     tag..., key value...
//! otherwise:            count, tag..., key length and value length..., key value...
//! ```
//!
//! Count and lengths are *varints*: 7 bits a byte, lowest first; the highest bit says that another
//! byte follows. In the first form the count follows from the length of the group.

pub(crate) mod group;
pub(crate) mod head;
pub(crate) mod parts;
pub(crate) mod reader;
pub(crate) mod sums;
pub(crate) mod writer;

use rapidhash::v3::{RapidSecrets, rapidhash_v3_inline};

/// How many records a group has on average.
pub(crate) const GROUP_KEYS: u64 = 8;
/// The number of groups is a multiple of it: as many as parts of the writer.
pub(crate) const LEAST_GROUPS: u64 = 256;
/// The most bytes of a varint.
pub(crate) const VARINT_BYTES: usize = 10;

/// The seed of checksums, "TavolaFZ".
pub(crate) const SUM_SEED: u64 = u64::from_le_bytes(head::MAGIC);

/// Secrets of a seed. The portable form: the same on each machine.
pub(crate) fn secrets(seed: u64) -> RapidSecrets {
    RapidSecrets::seed_cpp(seed)
}

/// Returns the hash of a key, or a checksum.
#[inline]
pub(crate) fn hash(bytes: &[u8], secrets: &RapidSecrets) -> u64 {
    rapidhash_v3_inline::<true, false, false>(bytes, secrets)
}

/// Returns the group of a hash. A larger hash has no smaller group.
#[inline]
pub(crate) fn group_of(hash: u64, groups: u64) -> u64 {
    ((u128::from(hash) * u128::from(groups)) >> 64) as u64
}

/// Returns the tag of a hash: bits that its group does not depend on.
#[inline]
pub(crate) fn tag_of(hash: u64) -> u8 {
    hash as u8
}

/// Appends a varint.
#[inline]
pub(crate) fn put_varint(buffer: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        buffer.push(number as u8 | 0x80);
        number >>= 7;
    }
    buffer.push(number as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values that are in files: they must not change.
    #[test]
    fn hashes_stay_as_they_are() {
        let secrets = secrets(0);
        let hashes = [&b""[..], b"a", b"12345678", &[7; 1000]].map(|key| hash(key, &secrets));
        let again = [&b""[..], b"a", b"12345678", &[7; 1000]]
            .map(|key| rapidhash::v3::rapidhash_v3_seeded(key, &RapidSecrets::seed_cpp(0)));
        assert_eq!(hashes, again);
        assert!(hashes.windows(2).all(|two| two[0] != two[1]));
    }

    #[test]
    fn groups_rise_with_hashes_and_are_all_used() {
        assert_eq!(group_of(0, 256), 0);
        assert_eq!(group_of(u64::MAX, 256), 255);
        assert_eq!(group_of(1 << 63, 512), 256);
    }
}
