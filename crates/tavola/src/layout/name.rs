//! Short names in shared memory.

use crate::sync::{Ordering, W64};

/// A name of at most 8 bytes a word, little-endian, padded with zeroes, of which it has none.
#[repr(C)]
pub(crate) struct Name<const WORDS: usize> {
    reserved: W64,
    words: [W64; WORDS],
}

impl<const WORDS: usize> Name<WORDS> {
    /// Bytes of the longest.
    pub(crate) const MOST: usize = WORDS * 8;

    /// Whether it can stand here.
    pub(crate) fn fits(name: &[u8]) -> bool {
        name.len() <= Self::MOST && !name.contains(&0)
    }

    /// # Panics
    /// When the name does not fit.
    pub(crate) fn set(&self, name: &[u8]) {
        assert!(Self::fits(name), "a name that does not fit its place");
        for (at, word) in self.words.iter().enumerate() {
            word.store(Self::word(name, at), Ordering::Relaxed);
        }
    }

    fn word(name: &[u8], at: usize) -> u64 {
        let mut bytes = [0; 8];
        for (to, from) in bytes.iter_mut().zip(name.iter().skip(at * 8)) {
            *to = *from;
        }
        u64::from_le_bytes(bytes)
    }

    pub(crate) fn is(&self, name: &[u8]) -> bool {
        let mut all = self.words.iter().enumerate();
        Self::fits(name)
            && all.all(|(at, word)| word.load(Ordering::Relaxed) == Self::word(name, at))
    }

    pub(crate) fn get(&self) -> Vec<u8> {
        let words = self.words.iter().map(|word| word.load(Ordering::Relaxed));
        let bytes = words.flat_map(u64::to_le_bytes);
        bytes.take_while(|byte| *byte != 0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_every_length_comes_back() {
        let name = Name::<3> {
            reserved: W64::new(0),
            words: [const { W64::new(u64::MAX) }; 3],
        };
        let letters: Vec<u8> = (b'a'..b'y').collect();
        for len in 0..=Name::<3>::MOST {
            name.set(&letters[..len]);
            assert_eq!(name.get(), &letters[..len]);
            assert!(name.is(&letters[..len]));
            assert!(!name.is(&letters[1..]) && !name.is(&[&letters[..len], b"z"].concat()));
            assert!(!Name::<3>::fits(b"a\0b") && !name.is(&[&letters[..len], b"\0"].concat()));
        }
    }
}
