//! Values that verify themselves, and numbers that look random and come again.

/// Bytes in front of a value's filler: checksum, version.
pub(crate) const HEAD: usize = 16;

/// A generator of numbers (splitmix64); the same seed gives the same ones.
#[derive(Clone)]
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0)
    }

    /// A number below `bound`, which is not 0.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }
}

fn mix(mut z: u64) -> u64 {
    z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ z >> 31
}

/// A checksum of a value's key, version, length and every byte of its filler.
fn sum(key: &[u8], version: u64, filler: &[u8]) -> u64 {
    let mut sum = mix(version ^ (filler.len() as u64) << 40);
    for bytes in [key, filler] {
        let mut words = bytes.chunks_exact(8);
        for word in words.by_ref() {
            let word = u64::from_le_bytes(word.try_into().expect("eight bytes"));
            sum = (sum.rotate_left(23) ^ word).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        }
        for byte in words.remainder() {
            sum = (sum.rotate_left(23) ^ u64::from(*byte)).wrapping_mul(0x94D0_49BB_1331_11EB);
        }
        sum = mix(sum);
    }
    sum
}

/// The value of a key at a version, `HEAD + filler` bytes long.
pub(crate) fn sealed(key: &[u8], version: u64, filler: usize) -> Vec<u8> {
    let mut value = vec![0; HEAD + filler];
    let mut numbers = Numbers::new(version ^ 0x5EED);
    for bytes in value[HEAD..].chunks_mut(8) {
        let word = numbers.next().to_le_bytes();
        bytes.copy_from_slice(&word[..bytes.len()]);
    }
    let sum = sum(key, version, &value[HEAD..]);
    value[..8].copy_from_slice(&sum.to_le_bytes());
    value[8..HEAD].copy_from_slice(&version.to_le_bytes());
    value
}

/// A value of 8 bytes, which a table may change in place: `writer 8 | count 32 | checksum 24` of a
/// version that is made of both, `writer 16 | count 48`.
pub(crate) fn sealed_word(key: &[u8], version: u64) -> Vec<u8> {
    let (writer, count) = (version >> 48, version & 0xFFFF_FFFF);
    assert_eq!(
        writer << 48 | count,
        version,
        "a version of too many writes"
    );
    assert!(writer < 256, "a version of too many writers");
    let sum = sum(key, version, b"") >> 40;
    (writer << 56 | count << 24 | sum).to_le_bytes().to_vec()
}

/// The version of a value, if it is whole and this key's.
pub(crate) fn opened(key: &[u8], value: &[u8]) -> Option<u64> {
    if let Ok(word) = <[u8; 8]>::try_from(value) {
        let word = u64::from_le_bytes(word);
        let version = word >> 56 << 48 | word >> 24 & 0xFFFF_FFFF;
        return (sum(key, version, b"") >> 40 == word & 0xFF_FFFF).then_some(version);
    }
    let version = u64::from_le_bytes(value.get(8..HEAD)?.try_into().ok()?);
    let stored_sum = u64::from_le_bytes(value[..8].try_into().ok()?);
    (stored_sum == sum(key, version, &value[HEAD..])).then_some(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_value_of_the_right_key_opens() {
        let value = sealed(b"key", 42, 101);
        assert_eq!(opened(b"key", &value), Some(42));
        assert_eq!(opened(b"kez", &value), None);
        assert_eq!(opened(b"key", &value[..100]), None);
        assert_eq!(opened(b"key", b"short"), None);
        for at in 0..value.len() {
            let mut torn = value.clone();
            torn[at] ^= 1;
            assert_eq!(opened(b"key", &torn), None, "byte {at}");
        }
    }

    #[test]
    fn a_word_of_two_versions_does_not_open() {
        let version = |writer: u64, count| writer << 48 | count;
        let [one, other] = [version(3, 77), version(4, 1 << 31)];
        let [first, second] = [one, other].map(|version| sealed_word(b"key", version));
        assert_eq!(opened(b"key", &first), Some(one));
        assert_eq!(opened(b"kez", &first), None);
        for part in 1..8 {
            let torn = [&first[..part], &second[part..]].concat();
            assert_eq!(opened(b"key", &torn), None, "{part}");
        }
    }

    #[test]
    fn numbers_stay_below_their_bound() {
        let mut numbers = Numbers::new(1);
        let seen: std::collections::BTreeSet<u64> = (0..200).map(|_| numbers.below(7)).collect();
        assert_eq!(
            seen.into_iter().collect::<Vec<_>>(),
            (0..7).collect::<Vec<_>>()
        );
    }
}
