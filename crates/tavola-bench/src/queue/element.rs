//! The bytes of an element: every one of its words holds its number and how often it was touched.
//!
//! ```text
//! word      bits 63..32  number of the element      bits 31..0  touches
//! ```
//!
//! All words of an element are the same; what is left of them is told by [`is_touched`].

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Bytes of a word.
pub(super) const WORD: usize = 8;

/// One word of an element that was touched so often.
pub(super) fn word(element: u32, touches: u32) -> u64 {
    u64::from(element) << 32 | u64::from(touches)
}

/// The element of a word.
pub(super) fn number(word: u64) -> u32 {
    (word >> 32) as u32
}

/// How often the element of a word was touched.
pub(super) fn touches(word: u64) -> u32 {
    word as u32
}

/// The first word of an element's bytes.
pub(super) fn first(bytes: &[u8]) -> u64 {
    let first: [u8; WORD] = bytes[..WORD].try_into().expect("it is a word long");
    u64::from_le_bytes(first)
}

/// The bytes of an element that was never touched.
pub(super) fn fill(bytes: &mut [u8], element: u32) {
    let word = word(element, 0).to_le_bytes();
    for place in bytes.chunks_exact_mut(WORD) {
        place.copy_from_slice(&word);
    }
}

/// Touches it: every word is read, checked, and written back with one touch more. False: the bytes
/// are not those of this element.
#[must_use]
pub(super) fn is_touched(bytes: &mut [u8], element: u32) -> bool {
    let expected = first(bytes);
    let mut differences = 0;
    for place in bytes.chunks_exact_mut(WORD) {
        let found = first(place);
        differences |= found ^ expected;
        place.copy_from_slice(&found.wrapping_add(1).to_le_bytes());
    }
    differences == 0 && number(expected) == element
}

/// As [`is_touched`], in place.
#[must_use]
#[inline]
pub(super) fn are_touched(words: &[AtomicU64], element: u32) -> bool {
    let expected = words[0].load(Relaxed);
    let mut differences = 0;
    for word in words {
        let found = word.load(Relaxed);
        differences |= found ^ expected;
        word.store(found.wrapping_add(1), Relaxed);
    }
    differences == 0 && number(expected) == element
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_touch_is_counted_in_all_words() {
        let mut bytes = [0; 24];
        fill(&mut bytes, 70_000);
        assert!(is_touched(&mut bytes, 70_000) && is_touched(&mut bytes, 70_000));
        assert_eq!((number(first(&bytes)), touches(first(&bytes))), (70_000, 2));
        assert_eq!(bytes[16..], word(70_000, 2).to_le_bytes());
    }

    #[test]
    fn another_element_or_a_word_left_behind_is_noticed() {
        let mut bytes = [0; 24];
        fill(&mut bytes, 7);
        assert!(!is_touched(&mut bytes, 8));
        fill(&mut bytes, 7);
        bytes[16] += 1;
        assert!(!is_touched(&mut bytes, 7));
    }
}
