//! The words of a command.

use std::fmt;
use std::ops::{Index, Range};

/// The words of a command, the first of which is its name. There is at least one.
#[derive(Clone, Copy)]
pub struct Args<'a> {
    bytes: &'a [u8],
    ranges: &'a [Range<usize>],
    /// Whether the words are in the input, and not in a copy of it.
    is_in_input: bool,
}

impl<'a> Args<'a> {
    /// Returns words that are in the input.
    pub(super) fn in_input(bytes: &'a [u8], ranges: &'a [Range<usize>]) -> Self {
        Self {
            bytes,
            ranges,
            is_in_input: true,
        }
    }

    /// Returns words that are in a copy of a line.
    pub(super) fn in_line(bytes: &'a [u8], ranges: &'a [Range<usize>]) -> Self {
        Self {
            bytes,
            ranges,
            is_in_input: false,
        }
    }

    /// Returns where a word is in the bytes that the decoder got, or `None` if it is not there: a
    /// line of words may have quotes.
    pub fn place_in_input(&self, number: usize) -> Option<Range<usize>> {
        let range = self.ranges.get(number)?;
        self.is_in_input.then(|| range.clone())
    }

    /// Returns the number of words.
    #[expect(clippy::len_without_is_empty, reason = "it is never empty")]
    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Returns a word, or `None` if there are not as many.
    pub fn get(&self, number: usize) -> Option<&'a [u8]> {
        let range = self.ranges.get(number)?;
        Some(&self.bytes[range.clone()])
    }

    /// Returns the words in their order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &'a [u8]> + Clone + use<'a> {
        let bytes = self.bytes;
        self.ranges.iter().map(move |range| &bytes[range.clone()])
    }

    /// Returns the words after the first `count`.
    pub fn after(&self, count: usize) -> impl ExactSizeIterator<Item = &'a [u8]> + Clone + use<'a> {
        let bytes = self.bytes;
        let ranges = self.ranges.get(count..).unwrap_or_default();
        ranges.iter().map(move |range| &bytes[range.clone()])
    }
}

impl Index<usize> for Args<'_> {
    type Output = [u8];

    /// Returns a word.
    ///
    /// # Panics
    /// If there are not as many.
    fn index(&self, number: usize) -> &[u8] {
        &self.bytes[self.ranges[number].clone()]
    }
}

impl PartialEq for Args<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Args<'_> {}

impl fmt::Debug for Args<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.iter().map(|word| word.escape_ascii().to_string()))
            .finish()
    }
}
