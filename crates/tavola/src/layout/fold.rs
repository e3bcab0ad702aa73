//! A checksum of a few words.

/// Returns FNV-1a over words: if a single bit of the input changes, the result changes.
pub(crate) const fn fold(words: &[u64]) -> u64 {
    let mut sum = 0xCBF2_9CE4_8422_2325;
    let mut i = 0;
    while i < words.len() {
        sum = (sum ^ words[i]).wrapping_mul(0x0000_0100_0000_01B3);
        sum ^= sum >> 29;
        i += 1;
    }
    sum
}
