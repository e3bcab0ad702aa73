//! Hashes of keys, as libhashkit has them.
//!
//! Some read bytes as signed numbers, because their C code reads `char`, which is signed on x86. On
//! ARM that library gives other hashes for bytes from 0x80 on; here they are those of x86 on every
//! system, so that all clients of a fleet agree.

use md5::{Digest, Md5};

/// A hash of a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hash {
    /// One at a time, by Bob Jenkins: the default of libmemcached.
    #[default]
    OneAtATime,
    /// The first four bytes of MD5.
    Md5,
    /// Fifteen bits of CRC-32.
    Crc,
    /// FNV-1 of 64 bits, cut to 32.
    Fnv1Of64,
    /// FNV-1a with the numbers for 64 bits, calculated in 32.
    Fnv1aOf64,
    /// FNV-1 of 32 bits.
    Fnv1Of32,
    /// FNV-1a of 32 bits.
    Fnv1aOf32,
    /// MurmurHash2, seeded by the length.
    Murmur,
    /// MurmurHash3 of 32 bits, seeded by the length.
    Murmur3,
    /// Lookup3, by Bob Jenkins.
    Jenkins,
}

const FNV_32: u32 = 2_166_136_261;
const FNV_32_PRIME: u32 = 16_777_619;
const FNV_64: u64 = 0xCBF2_9CE4_8422_2325;
const FNV_64_PRIME: u64 = 0x100_0000_01B3;
/// The seed of Murmur is a multiple of it, and Lookup3 begins with it.
const DEAD_BEEF: u32 = 0xDEAD_BEEF;
/// The number that libhashkit adds for Lookup3.
const JENKINS_SEED: u32 = 13;

impl Hash {
    /// Returns the hash of a key.
    pub fn of(self, key: &[u8]) -> u32 {
        match self {
            Self::OneAtATime => one_at_a_time(key),
            Self::Md5 => md5_part(&md5_of(key), 0),
            Self::Crc => crc_15(key),
            Self::Fnv1Of64 => key.iter().fold(FNV_64, |hash, byte| {
                hash.wrapping_mul(FNV_64_PRIME) ^ i64::from(*byte as i8) as u64
            }) as u32,
            Self::Fnv1aOf64 => fnv1a(key, FNV_64 as u32, FNV_64_PRIME as u32),
            Self::Fnv1Of32 => key.iter().fold(FNV_32, |hash, byte| {
                hash.wrapping_mul(FNV_32_PRIME) ^ signed(*byte)
            }),
            Self::Fnv1aOf32 => fnv1a(key, FNV_32, FNV_32_PRIME),
            Self::Murmur => murmur2(key, seed_of(key)),
            Self::Murmur3 => murmur3(key, seed_of(key)),
            Self::Jenkins => lookup3(key, JENKINS_SEED),
        }
    }
}

/// Returns the MD5 of some bytes.
pub(super) fn md5_of(bytes: &[u8]) -> [u8; 16] {
    Md5::digest(bytes).into()
}

/// Returns four bytes of an MD5, of the first, second, third or last four.
pub(super) fn md5_part(md5: &[u8; 16], part: usize) -> u32 {
    word(&md5[4 * part..])
}

/// Returns fifteen bits of the CRC-32, as several clients use it.
pub(super) fn crc_15(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes) >> 16 & 0x7FFF
}

fn signed(byte: u8) -> u32 {
    i32::from(byte as i8) as u32
}

/// Returns the first four bytes as a number; missing ones are 0.
fn word(bytes: &[u8]) -> u32 {
    let mut word = [0; 4];
    let len = bytes.len().min(4);
    word[..len].copy_from_slice(&bytes[..len]);
    u32::from_le_bytes(word)
}

fn seed_of(key: &[u8]) -> u32 {
    DEAD_BEEF.wrapping_mul(key.len() as u32)
}

fn one_at_a_time(key: &[u8]) -> u32 {
    let mut hash = 0_u32;
    for byte in key {
        hash = hash.wrapping_add(signed(*byte));
        hash = hash.wrapping_add(hash << 10);
        hash ^= hash >> 6;
    }
    hash = hash.wrapping_add(hash << 3);
    hash ^= hash >> 11;
    hash.wrapping_add(hash << 15)
}

fn fnv1a(key: &[u8], begin: u32, prime: u32) -> u32 {
    key.iter().fold(begin, |hash, byte| {
        (hash ^ signed(*byte)).wrapping_mul(prime)
    })
}

fn murmur2(key: &[u8], seed: u32) -> u32 {
    const M: u32 = 0x5BD1_E995;
    let mut hash = seed ^ key.len() as u32;
    let mut words = key.chunks_exact(4);
    for bytes in &mut words {
        let mut k = word(bytes).wrapping_mul(M);
        k ^= k >> 24;
        hash = hash.wrapping_mul(M) ^ k.wrapping_mul(M);
    }
    let rest = words.remainder();
    if !rest.is_empty() {
        hash = (hash ^ word(rest)).wrapping_mul(M);
    }
    hash ^= hash >> 13;
    hash = hash.wrapping_mul(M);
    hash ^ hash >> 15
}

/// Returns the MurmurHash3 of 32 bits.
pub(super) fn murmur3(key: &[u8], seed: u32) -> u32 {
    let scrambled = |k: u32| {
        let k = k.wrapping_mul(0xCC9E_2D51).rotate_left(15);
        k.wrapping_mul(0x1B87_3593)
    };
    let mut hash = seed;
    let mut words = key.chunks_exact(4);
    for bytes in &mut words {
        hash = (hash ^ scrambled(word(bytes))).rotate_left(13);
        hash = hash.wrapping_mul(5).wrapping_add(0xE654_6B64);
    }
    hash ^= scrambled(word(words.remainder()));
    hash ^= key.len() as u32;
    hash = (hash ^ hash >> 16).wrapping_mul(0x85EB_CA6B);
    hash = (hash ^ hash >> 13).wrapping_mul(0xC2B2_AE35);
    hash ^ hash >> 16
}

fn lookup3(key: &[u8], seed: u32) -> u32 {
    let begin = DEAD_BEEF.wrapping_add(key.len() as u32).wrapping_add(seed);
    let [mut a, mut b, mut c] = [begin; 3];
    let mut rest = key;
    while rest.len() > 12 {
        a = a.wrapping_add(word(rest));
        b = b.wrapping_add(word(&rest[4..]));
        c = c.wrapping_add(word(&rest[8..]));
        for turns in [4, 6, 8, 16, 19, 4] {
            a = a.wrapping_sub(c) ^ c.rotate_left(turns);
            c = c.wrapping_add(b);
            [a, b, c] = [b, c, a];
        }
        rest = &rest[12..];
    }
    if rest.is_empty() {
        return c;
    }
    a = a.wrapping_add(word(rest));
    b = b.wrapping_add(word(rest.get(4..).unwrap_or_default()));
    c = c.wrapping_add(word(rest.get(8..).unwrap_or_default()));
    for turns in [14, 11, 25, 16, 4, 14, 24] {
        c = (c ^ b).wrapping_sub(b.rotate_left(turns));
        [a, b, c] = [b, c, a];
    }
    b
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASHES: [Hash; 10] = [
        Hash::OneAtATime,
        Hash::Md5,
        Hash::Crc,
        Hash::Fnv1Of64,
        Hash::Fnv1aOf64,
        Hash::Fnv1Of32,
        Hash::Fnv1aOf32,
        Hash::Murmur,
        Hash::Murmur3,
        Hash::Jenkins,
    ];

    /// The hashes of libhashkit 1.1.4 on x86, in the order above.
    #[test]
    fn hashes_are_those_of_libhashkit() {
        let known: [(&[u8], [u32; 10]); 6] = [
            (
                b"",
                [
                    0, 3649838548, 0, 2216829733, 2216829733, 2166136261, 2166136261, 0, 0,
                    3735928572,
                ],
            ),
            (
                b"a",
                [
                    3392050242, 3111502092, 26807, 2248259518, 2248273036, 84696446, 3826002220,
                    1262581116, 2289228744, 3768813200,
                ],
            ),
            (
                b"key:1",
                [
                    2729841284, 1018217594, 2927, 4257821445, 2519685833, 2305095589, 1477709737,
                    3691594071, 551173480, 2193389018,
                ],
            ),
            (
                b"abcdefghijklmnopqrstuvwxyz",
                [
                    3119901962, 3620994243, 19495, 174274776, 3452142242, 2174595032, 2965113986,
                    127046282, 3251041886, 718112419,
                ],
            ),
            (
                b"\xC3\xBCml\xFFut\x80",
                [
                    3407837354, 3733780746, 13474, 3614646787, 1737804471, 1931375491, 2746504503,
                    1250517059, 849609433, 1912616438,
                ],
            ),
            (
                b"12345678901",
                [
                    1249410307, 3810449599, 21402, 399527719, 2666184751, 3648140263, 906358831,
                    145884269, 4220315131, 1266001499,
                ],
            ),
        ];
        for (key, hashes) in known {
            assert_eq!(HASHES.map(|hash| hash.of(key)), hashes, "{key:?}");
        }
    }
}
