//! The hash of a key, and its parts: shard, home bucket and tag. They use different bits, so that
//! keys of one shard or bucket still differ in their tags.
//!
//! ```text
//! 63        52 51     44 43        24 23              0
//! shard (top)  | bucket  | -          | tag
//! ```
//!
//! rapidhash v3 with the table's seed: it is stable, published, and the same on every target. An
//! attacker who does not know the seed cannot choose keys that collide.

use crate::alloc::Item;
use crate::layout::Geometry;
use crate::region::Region;
use rapidhash::v3::RapidSecrets;

const TAG_BITS: u32 = 24;
const BUCKET_SHIFT: u32 = 44;

const fn low_bits(count: u32) -> u64 {
    (1 << count) - 1
}

/// Set in the hash of a tag's name, which belongs elsewhere than a key of the same bytes.
const OF_TAG: u64 = 1 << 63;
const ELSEWHERE: u64 = 0x3C69_A5C3;

/// Where a key belongs: tag, home bucket (from bit 24) and shard (from bit 32). It is one word
/// because three would be passed through memory, and waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hash(u64);

impl Hash {
    /// The hash of no key.
    pub(crate) const NONE: Self = Self(0);

    #[inline(always)]
    pub(crate) fn of(region: &Region, key: &[u8]) -> Self {
        Self::with(region.secrets(), region.geometry(), key)
    }

    /// Hashes a key as [`Self::of`] does, for a table that is not mapped.
    #[inline(always)]
    pub(crate) fn with(secrets: &RapidSecrets, geometry: &Geometry, key: &[u8]) -> Self {
        let h = rapidhash::v3::rapidhash_v3_inline::<true, false, false>(key, secrets);
        // In two steps: with one shard the whole shift would be 64.
        let shard = h >> 32 >> (32 - geometry.shards_log2);
        let home = h >> BUCKET_SHIFT & 0xFF;
        Self(h & low_bits(TAG_BITS) | home << TAG_BITS | shard << 32)
    }

    /// Hashes the name of a tag, which is not a key.
    pub(crate) fn of_tag(region: &Region, name: &[u8]) -> Self {
        Self(Self::of(region, name).0 ^ ELSEWHERE | OF_TAG)
    }

    /// Hashes the key of an item, which may be a tag.
    pub(crate) fn of_item(item: &Item<'_>, key: &[u8]) -> Self {
        match item.is_tag() {
            true => Self::of_tag(item.region(), key),
            false => Self::of(item.region(), key),
        }
    }

    /// Returns whether this is the hash of a tag's name.
    #[inline(always)]
    pub(crate) fn is_of_tag(self) -> bool {
        self.0 & OF_TAG != 0
    }

    /// Returns flags and key length of a header, `flags 8 | key_len 24`. If this is the hash of a
    /// tag, the result is larger than that, so no key has it.
    #[inline(always)]
    pub(crate) fn kind(self, header: u64) -> u64 {
        header >> 32 | self.0 & OF_TAG
    }

    /// Builds the hash of a key that is in this shard.
    pub(crate) fn in_shard(shard: u32, home: u32, tag: u32) -> Self {
        let home = u64::from(home & 0xFF) << TAG_BITS;
        Self(u64::from(tag) & low_bits(TAG_BITS) | home | u64::from(shard) << 32)
    }

    #[inline(always)]
    pub(crate) fn shard(self) -> u32 {
        u32::from((self.0 >> 32) as u16)
    }

    /// Returns the home bucket.
    #[inline(always)]
    pub(crate) fn home(self) -> u32 {
        u32::from((self.0 >> TAG_BITS) as u8)
    }

    #[inline(always)]
    pub(crate) fn tag(self) -> u32 {
        (self.0 & low_bits(TAG_BITS)) as u32
    }

    /// Returns the part by which a watch record names a key.
    pub(crate) fn in_watch(self) -> u64 {
        self.0 & low_bits(32)
    }

    /// Returns the key's second bucket.
    #[inline(always)]
    pub(crate) fn away(self) -> u32 {
        other_bucket(self.home(), self.tag())
    }
}

/// Returns the other one of the two buckets in which a key with this tag may be.
#[inline(always)]
pub(crate) fn other_bucket(bucket: u32, tag: u32) -> u32 {
    let step = tag.wrapping_mul(0x9E37_79B1) >> 24;
    bucket ^ if step == 0 { 1 } else { step }
}

/// Returns a hash of a value, for its cas token.
pub(crate) fn of_value(region: &Region, value: &[u8]) -> u64 {
    rapidhash::v3::rapidhash_v3_inline::<true, false, false>(value, region.secrets())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_values_stay() {
        // Seed, key, hash; the table of docs/internals/format.md.
        let golden: [(u64, &[u8], u64); 8] = [
            (0, b"", 0x880C_2674_D4E1_03B9),
            (0, b"a", 0x5075_7F77_4C30_8D7F),
            (0, b"alice", 0x16C1_F536_6ED7_1BAE),
            (42, b"", 0x1D21_990A_C0F5_440F),
            (42, b"alice", 0x77BC_5BFA_6463_657A),
            (42, b"12345678", 0x372A_3BA3_C7FF_6A48),
            (42, b"0123456789abcdef", 0xBDC4_3126_177F_BEAE),
            (0x0123_4567_89AB_CDEF, b"U+1F41A", 0xCD22_8BB1_B9C2_CD2F),
        ];
        let geometry = Geometry::new(1 << 30, 5).unwrap();
        for (seed, key, h) in golden {
            let hash = Hash::with(&RapidSecrets::seed(seed), &geometry, key);
            assert_eq!(u64::from(hash.shard()), h >> 59);
            assert_eq!(u64::from(hash.home()), h >> 44 & 0xFF);
            assert_eq!(u64::from(hash.tag()), h & 0xFF_FFFF);
        }
        let alice = Hash::with(&RapidSecrets::seed(42), &geometry, b"alice");
        assert_eq!(
            (alice.shard(), alice.home(), alice.away(), alice.tag()),
            (14, 197, 157, 0x63_657A)
        );
    }

    #[test]
    fn the_two_buckets_of_a_key_lead_to_each_other() {
        for tag in [0, 1, 0xFF_FFFF, 0x12_3456] {
            for bucket in [0, 17, 255] {
                let other = other_bucket(bucket, tag);
                assert!(other != bucket && other < 256);
                assert_eq!(other_bucket(other, tag), bucket);
            }
        }
    }
}
