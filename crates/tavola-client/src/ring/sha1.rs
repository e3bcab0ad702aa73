//! SHA-1, whose first bytes are the points of Dalli's ring. It protects nothing here.

const BLOCK: usize = 64;

/// Returns the first 32 bits of the SHA-1 of a text.
pub(super) fn sha1_head(text: &[u8]) -> u32 {
    let mut state = [
        0x6745_2301_u32,
        0xEFCD_AB89,
        0x98BA_DCFE,
        0x1032_5476,
        0xC3D2_E1F0,
    ];
    let mut padded = text.to_vec();
    padded.push(0x80);
    while padded.len() % BLOCK != BLOCK - 8 {
        padded.push(0);
    }
    padded.extend_from_slice(&(text.len() as u64 * 8).to_be_bytes());
    for block in padded.chunks_exact(BLOCK) {
        digest(&mut state, block);
    }
    state[0]
}

fn digest(state: &mut [u32; 5], block: &[u8]) {
    let mut words = [0_u32; 80];
    for (word, bytes) in words.iter_mut().zip(block.chunks_exact(4)) {
        *word = bytes
            .iter()
            .fold(0, |word, byte| word << 8 | u32::from(*byte));
    }
    for i in 16..80 {
        let mixed = words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16];
        words[i] = mixed.rotate_left(1);
    }
    let [mut a, mut b, mut c, mut d, mut e] = *state;
    for (i, word) in words.iter().enumerate() {
        let (mixed, constant) = match i / 20 {
            0 => ((b & c) | (!b & d), 0x5A82_7999),
            1 => (b ^ c ^ d, 0x6ED9_EBA1),
            2 => ((b & c) | (b & d) | (c & d), 0x8F1B_BCDC),
            _ => (b ^ c ^ d, 0xCA62_C1D6_u32),
        };
        let next = a
            .rotate_left(5)
            .wrapping_add(mixed)
            .wrapping_add(e)
            .wrapping_add(constant)
            .wrapping_add(*word);
        (a, b, c, d, e) = (next, a, b.rotate_left(30), c, d);
    }
    for (sum, add) in state.iter_mut().zip([a, b, c, d, e]) {
        *sum = sum.wrapping_add(add);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of FIPS 180, and of lengths around the end of a block.
    #[test]
    fn known_digests() {
        assert_eq!(sha1_head(b"abc"), 0xA999_3E36);
        assert_eq!(sha1_head(b""), 0xDA39_A3EE);
        let long = b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
        assert_eq!(sha1_head(long), 0x8498_3E44);
        assert_eq!(sha1_head(&[b'a'; 55]), 0xC1C8_BBDC);
        assert_eq!(sha1_head(&[b'a'; 64]), 0x0098_BA82);
    }
}
