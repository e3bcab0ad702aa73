//! The keys that a client asks for, and their values, both made from a number.

/// Which keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Those that are read.
    Read,
    /// Those that are set again and again.
    Set,
}

/// Bytes of a key.
pub(super) const KEY_BYTES: usize = 16;

/// A key: letters and digits, in no order.
pub(super) fn key(kind: Kind, index: u64) -> [u8; KEY_BYTES] {
    let mut key = *b"key:000000000000";
    if kind == Kind::Set {
        key[..3].copy_from_slice(b"set");
    }
    // Odd, so that no two are alike below 2^48.
    digits(&mut key[4..], index.wrapping_mul(0xd1b5_4a32_d193));
    key
}

/// Writes `word` as hexadecimal digits, as many as there is room for.
fn digits(room: &mut [u8], mut word: u64) {
    for digit in room.iter_mut().rev() {
        *digit = b"0123456789abcdef"[(word & 15) as usize];
        word >>= 4;
    }
}

/// The value that a key has after it was set for the `generation`-th time.
pub(super) fn value(index: u64, generation: u64, bytes: usize, out: &mut Vec<u8>) {
    let start = out.len();
    let mut word = (index ^ generation << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    out.resize(start + bytes, b'.');
    for part in out[start..].chunks_mut(16) {
        digits(part, word);
        word = (word ^ word >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn keys_differ_and_so_do_values_and_their_generations() {
        let mut seen = HashSet::new();
        for index in 0..10_000 {
            assert!(seen.insert(key(Kind::Read, index).to_vec()));
            assert!(seen.insert(key(Kind::Set, index).to_vec()));
            for generation in 0..3 {
                let mut one = Vec::new();
                value(index, generation, 33, &mut one);
                assert!(one.len() == 33 && seen.insert(one));
            }
        }
    }
}
