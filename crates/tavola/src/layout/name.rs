//! Short names in shared memory.

use crate::sync::{Ordering, W32, W64};

/// A name of at most 8 bytes a word, little-endian, padded with zeroes.
#[repr(C)]
pub(crate) struct Name<const WORDS: usize> {
    len: W32,
    reserved: W32,
    words: [W64; WORDS],
}

impl<const WORDS: usize> Name<WORDS> {
    /// Bytes of the longest.
    pub(crate) const MOST: usize = WORDS * 8;

    /// # Panics
    /// When the name is too long.
    pub(crate) fn set(&self, name: &[u8]) {
        assert!(name.len() <= Self::MOST, "a name too long for its place");
        self.len.store(name.len() as u32, Ordering::Relaxed);
        for (at, word) in self.words.iter().enumerate() {
            let mut bytes = [0; 8];
            for (to, from) in bytes.iter_mut().zip(name.iter().skip(at * 8)) {
                *to = *from;
            }
            word.store(u64::from_le_bytes(bytes), Ordering::Relaxed);
        }
    }

    pub(crate) fn is(&self, name: &[u8]) -> bool {
        let bytes = |word: &W64| word.load(Ordering::Relaxed).to_le_bytes();
        self.len.load(Ordering::Relaxed) as usize == name.len()
            && name.len() <= Self::MOST
            && self
                .words
                .iter()
                .flat_map(bytes)
                .zip(name)
                .all(|(a, b)| a == *b)
    }

    pub(crate) fn get(&self) -> Vec<u8> {
        let words = self.words.iter().map(|word| word.load(Ordering::Relaxed));
        let mut bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
        bytes.truncate(self.len.load(Ordering::Relaxed) as usize);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_every_length_comes_back() {
        let name = Name::<3> {
            len: W32::new(0),
            reserved: W32::new(0),
            words: [const { W64::new(u64::MAX) }; 3],
        };
        let letters: Vec<u8> = (b'a'..b'y').collect();
        for len in 0..=Name::<3>::MOST {
            name.set(&letters[..len]);
            assert_eq!(name.get(), &letters[..len]);
            assert!(name.is(&letters[..len]));
            assert!(!name.is(&letters[1..]) && !name.is(&[&letters[..len], b"z"].concat()));
        }
    }
}
