//! Short names in shared memory.

use crate::sync::{Ordering, W64};

/// A name of at most 8 bytes a word, little-endian, padded with zero bytes; a name contains no zero
/// byte.
#[repr(C)]
pub(crate) struct Name<const WORDS: usize> {
    reserved: W64,
    words: [W64; WORDS],
}

impl<const WORDS: usize> Name<WORDS> {
    /// The length of the longest name in bytes.
    pub(crate) const MOST: usize = WORDS * 8;

    /// Returns whether a name can be stored here.
    pub(crate) fn fits(name: &[u8]) -> bool {
        name.len() <= Self::MOST && !name.contains(&0)
    }

    /// Stores a name.
    ///
    /// # Panics
    /// If the name does not fit.
    pub(crate) fn set(&self, name: &[u8]) {
        let words = Self::words_of(name).expect("a name that fits its place");
        for (to, word) in self.words.iter().zip(words) {
            to.store(word, Ordering::Relaxed);
        }
    }

    /// Returns the words that store a name, for [`Name::has`], or `None` if it does not fit.
    pub(crate) fn words_of(name: &[u8]) -> Option<[u64; WORDS]> {
        let mut words = [0; WORDS];
        for (to, from) in words.iter_mut().zip(name.chunks(8)) {
            let mut bytes = [0; 8];
            bytes[..from.len()].copy_from_slice(from);
            *to = u64::from_le_bytes(bytes);
        }
        Self::fits(name).then_some(words)
    }

    pub(crate) fn has(&self, words: &[u64; WORDS]) -> bool {
        let mut all = self.words.iter().zip(words);
        all.all(|(word, wanted)| word.load(Ordering::Relaxed) == *wanted)
    }

    pub(crate) fn is(&self, name: &[u8]) -> bool {
        Self::words_of(name).is_some_and(|words| self.has(&words))
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
