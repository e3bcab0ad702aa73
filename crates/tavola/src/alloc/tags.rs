//! Tags: names that many keys have in common, and by which they can be invalidated together. An
//! invalidation is one removal, however many keys have the tag.
//!
//! A tag is an item with a uid. A key with the tag keeps that uid and its generation behind its
//! value. Invalidating a tag removes its item: once the uid does not lead there any more, its keys
//! are missing for every reader. Their memory is reclaimed in the same way as that of expired keys.
//! The next use of the tag makes another item, with another uid.

use super::Item;
use crate::layout::{Hint, MOST_TAGS};

/// Handles of tags at one moment; from [`Table::fetch_tags`](crate::Table::fetch_tags).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Tags {
    hints: [u64; MOST_TAGS],
    len: u8,
}

impl Tags {
    /// No tags.
    pub const NONE: Self = Self {
        hints: [0; MOST_TAGS],
        len: 0,
    };

    /// Returns the number of tags.
    #[inline(always)]
    pub fn len(&self) -> usize {
        usize::from(self.len).min(MOST_TAGS)
    }

    /// Returns whether there are no tags.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds a tag from [`Tags::hints`], unless it is there already. Returns false if the maximum is
    /// reached.
    pub fn push(&mut self, hint: Hint) -> bool {
        if self.words().contains(&hint.to_bits()) {
            return true;
        }
        let Some(place) = self.hints.get_mut(usize::from(self.len)) else {
            return false;
        };
        *place = hint.to_bits();
        self.len += 1;
        true
    }

    /// Returns the tags as an item stores them.
    #[inline(always)]
    pub(crate) fn words(&self) -> &[u64] {
        &self.hints[..self.len()]
    }

    /// Returns the hints by which the table identifies the tags.
    pub fn hints(&self) -> impl Iterator<Item = Hint> + '_ {
        self.words().iter().map(|word| Hint::from_bits(*word))
    }
}

impl Default for Tags {
    fn default() -> Self {
        Self::NONE
    }
}

impl std::fmt::Debug for Tags {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.hints()).finish()
    }
}

impl Item<'_> {
    /// Returns the tags that its key has.
    pub(crate) fn tags(&self) -> Tags {
        let mut tags = Tags::NONE;
        for word in self.tag_words() {
            tags.push(Hint::from_bits(word));
        }
        tags
    }

    /// Returns the same as the words in the item.
    #[inline(always)]
    pub(crate) fn tag_words(&self) -> impl Iterator<Item = u64> {
        (0..self.tags).map(|number| self.tag_word(number))
    }
}
