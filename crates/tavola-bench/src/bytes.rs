//! Keys and values made from an index, and checked, at next to no cost.
//!
//! ```text
//! key    head: bijection(index), so N indices give N keys in no order | filler | tail: !head
//! value  head: the key's head + generation                            | filler | tail: !head
//! ```
//!
//! **BYTES-1** The head is the first 8 bytes (fewer, when the whole is shorter), little-endian; the
//! tail fills what is left up to 8 bytes at the end. A value torn in the middle has a wrong tail.
//! **BYTES-2** Different indices below 2^(8 × key bytes) have different keys.

/// A key or value of a length fixed at start: an array for the usual 8 bytes, else a vector.
pub(crate) trait Bytes: AsRef<[u8]> + Clone + Send + Sync {
    /// `len` bytes of filler.
    fn blank(len: usize) -> Self;
    /// Lays `word` down as the head, and its complement as the tail.
    fn fill(&mut self, word: u64);
}

impl Bytes for [u8; 8] {
    fn blank(len: usize) -> Self {
        assert_eq!(len, 8);
        [0; 8]
    }

    #[inline(always)]
    fn fill(&mut self, word: u64) {
        *self = word.to_le_bytes();
    }
}

impl Bytes for Vec<u8> {
    fn blank(len: usize) -> Self {
        vec![b'.'; len]
    }

    #[inline]
    fn fill(&mut self, word: u64) {
        let head = self.len().min(8);
        let tail = (self.len() - head).min(8);
        self[..head].copy_from_slice(&word.to_le_bytes()[..head]);
        let at = self.len() - tail;
        self[at..].copy_from_slice(&(!word).to_le_bytes()[..tail]);
    }
}

/// The head of a key or value, as [`Bytes::fill`] laid it down.
#[inline(always)]
pub(crate) fn head(bytes: &[u8]) -> u64 {
    match bytes.first_chunk::<8>() {
        Some(word) => u64::from_le_bytes(*word),
        None => short_head(bytes),
    }
}

fn short_head(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// What values a reader may see: of the right length, of the key, of a generation in bounds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expect {
    pub(crate) value_bytes: usize,
    pub(crate) oldest: u64,
    pub(crate) newest: u64,
}

impl Expect {
    /// Whether `value` may be what `key` stands for.
    #[inline(always)]
    pub(crate) fn holds(&self, key: &[u8], value: &[u8]) -> bool {
        let word = head(value);
        let mask = low_bits(8 * value.len().min(8) as u32);
        let age = word.wrapping_sub(head(key)).wrapping_sub(self.oldest) & mask;
        value.len() == self.value_bytes
            && age <= self.newest - self.oldest
            && (value.len() <= 8 || tail_holds(value, word))
    }
}

fn tail_holds(value: &[u8], word: u64) -> bool {
    let tail = (value.len() - 8).min(8);
    value[value.len() - tail..] == (!word).to_le_bytes()[..tail]
}

/// Turns an index into the head of its key: a bijection over as many bits as the key has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyWords {
    bits: u32,
}

impl KeyWords {
    pub(crate) fn new(key_bytes: usize) -> Self {
        Self {
            bits: 8 * key_bytes.clamp(1, 8) as u32,
        }
    }

    /// How many different keys there are, less one.
    pub(crate) fn largest_index(self) -> u64 {
        low_bits(self.bits)
    }

    #[inline(always)]
    pub(crate) fn of(self, index: u64) -> u64 {
        if self.bits == 64 {
            mix64(index)
        } else {
            mix(index, self.bits)
        }
    }
}

/// A bijection of 64 bits in two steps: no order is left, and the cost is a third of a nanosecond.
#[inline(always)]
pub(crate) fn mix64(word: u64) -> u64 {
    let word = word.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    word ^ word >> 32
}

/// A bijection of the numbers below 2^bits: products with odd numbers and shifted xors, each of
/// which can be undone modulo 2^bits.
#[inline(always)]
pub(crate) fn mix(word: u64, bits: u32) -> u64 {
    let mask = low_bits(bits);
    let half = bits.div_ceil(2).max(1);
    let word = word.wrapping_mul(0x9e37_79b9_7f4a_7c15) & mask;
    let word = (word ^ word >> half).wrapping_mul(0xd1b5_4a32_d192_ed03) & mask;
    word ^ word >> half
}

#[inline(always)]
pub(crate) fn low_bits(bits: u32) -> u64 {
    if bits >= 64 {
        u64::MAX
    } else {
        (1 << bits) - 1
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn mixers_are_bijections() {
        for bits in 1..=16 {
            let seen: HashSet<u64> = (0..1 << bits).map(|word| mix(word, bits)).collect();
            assert_eq!(seen.len(), 1 << bits, "{bits} bits");
            assert!(
                seen.iter().all(|&word| word <= low_bits(bits)),
                "{bits} bits"
            );
        }
        let words: HashSet<u64> = (0..100_000).map(mix64).collect();
        assert_eq!(words.len(), 100_000);
    }

    #[test]
    fn different_indices_have_different_keys_of_any_length() {
        for len in [1, 2, 5, 8, 9, 20] {
            let words = KeyWords::new(len);
            let count = 200.min(words.largest_index());
            let mut key = Vec::blank(len);
            let keys: HashSet<Vec<u8>> = (0..count)
                .map(|index| {
                    key.fill(words.of(index));
                    key.clone()
                })
                .collect();
            assert_eq!(keys.len() as u64, count, "{len} bytes");
            assert!(keys.iter().all(|key| key.len() == len));
        }
    }

    #[test]
    fn the_array_and_the_vector_agree() {
        let mut array = <[u8; 8]>::blank(8);
        let mut vector = Vec::blank(8);
        array.fill(0x0123_4567_89ab_cdef);
        vector.fill(0x0123_4567_89ab_cdef);
        assert_eq!(array.as_slice(), vector);
        assert_eq!(head(&array), 0x0123_4567_89ab_cdef);
    }

    #[test]
    fn a_value_holds_only_for_its_key_length_generation_and_tail() {
        for len in [1, 3, 8, 11, 16, 300] {
            let expect = Expect {
                value_bytes: len,
                oldest: 3,
                newest: 5,
            };
            let key = 0xfeed_f00d_dead_beef_u64.to_le_bytes();
            let mut value = Vec::blank(len);
            for generation in 0..9 {
                value.fill(head(&key).wrapping_add(generation));
                let held = expect.holds(&key, &value);
                assert_eq!(
                    held,
                    (3..=5).contains(&generation),
                    "{len} bytes, {generation}"
                );
            }
            value.fill(head(&key).wrapping_add(4));
            assert!(!expect.holds(&0_u64.to_le_bytes(), &value));
            value[len - 1] ^= 0x40;
            assert!(
                !expect.holds(&key, &value),
                "the last of {len} bytes is wrong"
            );
            value.pop();
            assert!(!expect.holds(&key, &value), "a byte of {len} is missing");
        }
    }

    #[test]
    fn an_empty_value_is_known_by_its_length() {
        let expect = Expect {
            value_bytes: 0,
            oldest: 0,
            newest: 2,
        };
        assert!(expect.holds(b"12345678", b""));
        assert!(!expect.holds(b"12345678", b"1"));
    }
}
