//! The bytes that items are read from: the rest of a page, or a copy of a block.

use super::Region;
use crate::sync::W64;
use std::marker::PhantomData;

/// The rest of a page from an item on: at least 8 bytes, aligned to 8.
#[derive(Clone, Copy)]
pub(crate) struct Block<'a> {
    start: *const u8,
    room: u64,
    _region: PhantomData<&'a Region>,
}

impl<'a> Block<'a> {
    /// # Safety
    /// At least 8 bytes, as many as given, exist as long as the region does, aligned to 8 (REG-2,
    /// REG-3).
    #[inline(always)]
    pub(super) unsafe fn new(start: *const u8, room: u64) -> Self {
        Self {
            start,
            room,
            _region: PhantomData,
        }
    }

    /// Makes a block of a copy.
    pub(crate) fn copied(words: &'a [W64]) -> Self {
        Self {
            start: words.as_ptr().cast(),
            room: 8 * words.len() as u64,
            _region: PhantomData,
        }
    }

    /// Returns the word at `at`, a multiple of 8.
    #[inline(always)]
    pub(crate) fn word(self, at: u64) -> &'a W64 {
        assert!(
            at & 7 == 0 && self.room >= 8 && at <= self.room - 8,
            "a word beyond the page of an item"
        );
        // SAFETY: 8 bytes are there, aligned; REG-1 and REG-3 as in `Region::at`.
        unsafe { &*self.start.add(at as usize).cast::<W64>() }
    }

    /// Returns the number of bytes to the end of the page.
    #[inline(always)]
    pub(crate) fn room(self) -> u64 {
        self.room
    }

    /// Returns the first word.
    #[inline(always)]
    pub(crate) fn first_word(self) -> &'a W64 {
        // SAFETY: refs count in units of 8 bytes, so 8 of them are there, aligned.
        unsafe { &*self.start.cast::<W64>() }
    }

    /// Returns the second word.
    #[inline(always)]
    pub(crate) fn second_word(self) -> &'a W64 {
        assert!(self.room >= 16, "a word beyond the page of an item");
        // SAFETY: 16 bytes are there, aligned to 8.
        unsafe { &*self.start.add(8).cast::<W64>() }
    }

    /// Returns a pointer to `len` bytes at `at`, for the copies of `sync`.
    #[inline(always)]
    pub(crate) fn bytes(self, at: u64, len: u64) -> *const u8 {
        assert!(
            at <= self.room && len <= self.room - at,
            "bytes beyond the page of an item"
        );
        // SAFETY: inside the page, as just checked.
        unsafe { self.start.add(at as usize) }
    }
}
