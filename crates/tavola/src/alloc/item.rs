//! Items, decoded for reading. Without the shard's lock every byte may be stale or torn, so
//! decoding trusts nothing.
//!
//! Lengths are checked against the page that the item is in, so that no read leaves it. What was
//! copied counts only after the bucket has been rechecked (`index::read`).

use super::bytes;
use super::decimal::{DIGITS, decimal};
use crate::layout::{
    FLAG_CLIENT, FLAG_COUNTER, FLAG_EXPIRY, FLAG_LARGE, FLAG_TAG, FLAG_TAGGED, FLAG_UID,
    FLAG_VERSION, Fixed, Header, LargeLink, MOST_TAGS, UNIT, is_word, large_split,
};
use crate::region::{Block, Region};
use crate::sync::{Ordering, SHORT, W64, fence};

/// An item whose header is decoded and whose lengths are possible.
#[derive(Clone, Copy)]
pub(crate) struct Item<'a> {
    pub(super) region: &'a Region,
    pub(super) block: Block<'a>,
    pub(crate) item_ref: u64,
    /// The offset in the block at which the key begins, or the stream of a large item.
    pub(super) data: u64,
    pub(super) key_len: u64,
    pub(super) value_len: u64,
    /// The first page of the chain of a large item.
    pub(crate) first_page: u32,
    pub(super) flags: u8,
    /// How many tags it has.
    pub(super) tags: u8,
    /// Whether its chain is pinned, and its block a copy.
    pub(super) is_pinned: bool,
}

impl<'a> Item<'a> {
    /// Decodes the item that a ref points to. Returns `None` if there cannot be one.
    pub(crate) fn at(region: &'a Region, item_ref: u64) -> Option<Self> {
        let block = region.block(item_ref)?;
        if let Some(fixed) = region.fixed() {
            return Self::fixed(region, block, item_ref, fixed);
        }
        let header = Header::decode(block.first_word().load(Ordering::Relaxed));
        match header.flags {
            0 | FLAG_UID => Self::plain(region, block, item_ref, header),
            _ => Self::special(region, block, item_ref, header),
        }
    }

    /// Decodes an item without any flag except that of a uid, as nearly all are. It is separate
    /// from [`Self::special`] all the way through a read: so the compiler keeps the item in
    /// registers and knows its flags.
    #[inline(always)]
    pub(crate) fn plain(
        region: &'a Region,
        block: Block<'a>,
        item_ref: u64,
        header: Header,
    ) -> Option<Self> {
        let data = if header.flags == 0 { 8 } else { 16 };
        let (key_len, value_len) = (u64::from(header.key_len), u64::from(header.value_len));
        let item = Self {
            region,
            block,
            item_ref,
            data,
            key_len,
            value_len,
            first_page: 0,
            flags: header.flags,
            tags: 0,
            is_pinned: false,
        };
        (data + key_len + value_len <= block.room()).then_some(item)
    }

    /// Decodes an item as [`Self::plain`] does, if its header was found to have this key length,
    /// and a uid or no field at all.
    #[inline(always)]
    pub(crate) fn with_key(
        region: &'a Region,
        block: Block<'a>,
        item_ref: u64,
        header: u64,
        key_len: u64,
        has_uid: bool,
    ) -> Option<Self> {
        let flags = if has_uid { FLAG_UID } else { 0 };
        Self::with_flags(region, block, item_ref, header, key_len, flags)
    }

    #[inline(always)]
    fn with_flags(
        region: &'a Region,
        block: Block<'a>,
        item_ref: u64,
        header: u64,
        key_len: u64,
        flags: u8,
    ) -> Option<Self> {
        let data = 8 + 8 * u64::from(flags.count_ones());
        let value_len = header & u64::from(u32::MAX);
        let item = Self {
            region,
            block,
            item_ref,
            data,
            key_len,
            value_len,
            first_page: 0,
            flags,
            tags: 0,
            is_pinned: false,
        };
        let value = data + key_len;
        (value <= block.room() && value_len <= block.room() - value).then_some(item)
    }

    /// Decodes an item of a table of fixed lengths.
    #[inline(always)]
    pub(crate) fn fixed(
        region: &'a Region,
        block: Block<'a>,
        item_ref: u64,
        fixed: Fixed,
    ) -> Option<Self> {
        let item = Self {
            region,
            block,
            item_ref,
            data: 0,
            key_len: u64::from(fixed.key_len),
            value_len: u64::from(fixed.value_len),
            first_page: 0,
            flags: fixed.flags(),
            tags: 0,
            is_pinned: false,
        };
        (fixed.bytes() <= block.room()).then_some(item)
    }

    /// Returns the same item with the length of a key that was found equal: so the address of its
    /// value is known before its header has arrived from memory.
    #[inline(always)]
    pub(crate) fn with_key_len(self, key_len: usize) -> Self {
        Self {
            key_len: key_len as u64,
            ..self
        }
    }

    /// Decodes an item as [`Self::with_key`] does, if it may also have expiry, flags and a version.
    /// Returns `None` if it is large or a counter.
    #[inline(always)]
    pub(crate) fn with_fields(
        region: &'a Region,
        block: Block<'a>,
        item_ref: u64,
        header: u64,
        key_len: u64,
    ) -> Option<Self> {
        const USUAL: u8 = FLAG_UID | FLAG_EXPIRY | FLAG_CLIENT | FLAG_VERSION;
        let flags = (header >> 56) as u8;
        let has_version = flags & FLAG_VERSION != 0;
        if flags & !USUAL != 0 || has_version && !region.geometry().has_versions {
            return None;
        }
        Self::with_flags(region, block, item_ref, header, key_len, flags)
    }

    /// Decodes an item with other fields after its header.
    #[inline(never)]
    pub(crate) fn special(
        region: &'a Region,
        block: Block<'a>,
        item_ref: u64,
        header: Header,
    ) -> Option<Self> {
        let mut item = Self {
            region,
            block,
            item_ref,
            data: header.before_key(),
            key_len: u64::from(header.key_len),
            value_len: u64::from(header.value_len),
            first_page: 0,
            flags: header.flags,
            tags: 0,
            is_pinned: false,
        };
        let has_version = header.flags & FLAG_VERSION != 0;
        if has_version && !region.geometry().has_versions {
            return None;
        }
        if !header.is_known() || item.data > block.room() {
            return None;
        }
        if header.flags & FLAG_TAGGED != 0 {
            let word = item.word(Header::field_at(header.flags, FLAG_CLIENT));
            item.tags = (word >> 32) as u8;
            if item.tags == 0 || usize::from(item.tags) > MOST_TAGS {
                return None;
            }
        }
        if item.is_large() {
            let link = LargeLink::decode(item.second_word().load(Ordering::Relaxed))?;
            item.key_len |= u64::from(link.key_len_high) << 24;
            item.first_page = link.first_page;
            if large_split(item.payload()).1 > region.used_end() {
                return None;
            }
        }
        (item.block_bytes() <= block.room()).then_some(item)
    }

    /// Returns the link of a large item, or the number of a counter.
    fn second_word(&self) -> &'a W64 {
        self.block.word(8)
    }

    /// Returns the region that it is in.
    pub(crate) fn region(&self) -> &'a Region {
        self.region
    }

    /// Returns a word of its block.
    pub(super) fn word(&self, at: u64) -> u64 {
        self.block.word(at).load(Ordering::Relaxed)
    }

    pub(super) fn header(&self) -> Header {
        Header::decode(self.word(0))
    }

    /// Returns the flags of its fields between header and key.
    pub(crate) fn flags(&self) -> u8 {
        self.flags
    }

    /// Returns its value if that is one aligned word: under the shard's lock it may be changed in
    /// place.
    pub(crate) fn value_word(&self) -> Option<&'a W64> {
        let is_word = self.flags & !FLAG_UID == 0 && is_word(self.key_len, self.value_len);
        is_word.then(|| {
            self.region
                .word(self.item_ref * UNIT + self.data + self.key_len)
        })
    }

    pub(crate) fn key_len(&self) -> u64 {
        self.key_len
    }

    /// Returns the bytes of the value, if it is not a counter.
    pub(crate) fn value_len(&self) -> u64 {
        self.value_len
    }

    /// Returns the number of a counter.
    pub(crate) fn number(&self) -> Option<u64> {
        self.is_counter()
            .then(|| self.counter().load(Ordering::Relaxed))
    }

    /// Returns the bytes of key and value; a counter counts as eight.
    pub(crate) fn payload(&self) -> u64 {
        self.key_len + self.value_len
    }

    /// Returns the bytes of its block.
    pub(crate) fn block_bytes(&self) -> u64 {
        if let Some(fixed) = self.region.fixed() {
            return fixed.bytes();
        }
        match self.tags {
            0 => self.tail(),
            tags => self.tail().next_multiple_of(8) + 8 * u64::from(tags),
        }
    }

    /// Returns the offset in the block at which the part of key and value that is there ends.
    fn tail(&self) -> u64 {
        let data = match (self.is_large(), self.is_counter()) {
            (true, _) => large_split(self.payload()).0,
            (false, true) => self.key_len,
            (false, false) => self.payload(),
        };
        self.data + data
    }

    /// Returns the word of one of its tags.
    pub(super) fn tag_word(&self, number: u8) -> u64 {
        self.word(self.tail().next_multiple_of(8) + 8 * u64::from(number))
    }

    pub(crate) fn is_large(&self) -> bool {
        self.flags & FLAG_LARGE != 0
    }

    /// Returns whether it is a tag, and not a key.
    #[inline(always)]
    pub(crate) fn is_tag(&self) -> bool {
        self.flags & FLAG_TAG != 0
    }

    pub(crate) fn is_counter(&self) -> bool {
        self.flags & FLAG_COUNTER != 0
    }

    /// Returns the word of a counter, which is changed in place.
    pub(crate) fn counter(&self) -> &'a W64 {
        self.second_word()
    }

    /// Returns whether its key is this one, or `None` if the chain of a large item is broken or has
    /// just changed.
    #[inline(always)]
    pub(crate) fn key_equals(&self, key: &[u8]) -> Option<bool> {
        if self.key_len != key.len() as u64 {
            return Some(false);
        }
        if self.is_large() {
            return self.pieces().equals_from(0, key);
        }
        Some(bytes::equals(
            self.block.bytes(self.data, self.key_len),
            key,
        ))
    }

    /// Returns whether the value is this one. Under the shard's lock.
    #[inline(always)]
    pub(crate) fn value_equals(&self, value: &[u8]) -> bool {
        if self.is_counter() {
            let number = self.counter().load(Ordering::Relaxed);
            return decimal(number, &mut [0; DIGITS]) == value;
        }
        if self.value_len != value.len() as u64 {
            return false;
        }
        if self.is_large() {
            return self.pieces().equals_from(self.key_len, value) == Some(true);
        }
        bytes::equals(
            self.block.bytes(self.data + self.key_len, self.value_len),
            value,
        )
    }

    /// Returns a pointer to the value, if it is short and the item neither large nor a counter.
    #[inline(always)]
    fn short_bytes(&self) -> Option<*const u8> {
        let is_short =
            self.flags & (FLAG_LARGE | FLAG_COUNTER) == 0 && self.value_len <= SHORT as u64;
        is_short.then(|| self.block.bytes(self.data + self.key_len, self.value_len))
    }

    /// Copies such a value, and returns its length.
    #[inline(always)]
    pub(crate) fn short_value(&self, out: &mut [u8; SHORT]) -> Option<usize> {
        let from = self.short_bytes()?;
        bytes::read_short(from, self.value_len, out);
        Some(self.value_len as usize)
    }

    /// Makes such a value the content of `out`, if that has capacity for any short value. Returns
    /// whether it did.
    #[inline(always)]
    pub(crate) fn copy_short_value(&self, out: &mut Vec<u8>) -> bool {
        match self.short_bytes() {
            Some(from) if out.capacity() >= SHORT => {
                bytes::refill_short(from, self.value_len, out);
                true
            }
            _ => false,
        }
    }

    /// Appends the value. Returns false if the chain of a large item is broken or has just changed.
    #[inline(always)]
    pub(crate) fn copy_value(&self, out: &mut Vec<u8>) -> bool {
        if self.flags & (FLAG_LARGE | FLAG_COUNTER) != 0 {
            return self.copy_special(out);
        }
        bytes::append_from(
            self.block.bytes(self.data + self.key_len, self.value_len),
            self.value_len,
            out,
        );
        true
    }

    /// Copies the value to the front of `out` if it fits there, and returns its length. Returns
    /// `None` if the chain of a large item is broken or has just changed; a part may have been
    /// copied.
    #[inline(always)]
    pub(crate) fn value_to(&self, out: &mut [u8]) -> Option<usize> {
        if self.flags & (FLAG_LARGE | FLAG_COUNTER) != 0 {
            return self.special_to(out);
        }
        let from = self.block.bytes(self.data + self.key_len, self.value_len);
        let len = self.value_len as usize;
        // A case of its own, as it may be a word, whose address is known before its length.
        if let (8, Some(word)) = (len, out.get_mut(..8)) {
            bytes::read(from, word);
        } else if let Some(out) = out.get_mut(..len) {
            bytes::read(from, out);
        }
        Some(len)
    }

    #[cold]
    fn special_to(&self, out: &mut [u8]) -> Option<usize> {
        if self.is_counter() {
            let number = self.counter().load(Ordering::Relaxed);
            let mut digits = [0; DIGITS];
            let text = decimal(number, &mut digits);
            if let Some(out) = out.get_mut(..text.len()) {
                out.copy_from_slice(text);
            }
            return Some(text.len());
        }
        let len = self.value_len as usize;
        match out.get_mut(..len) {
            Some(out) => self.pieces().read(self.key_len, out).then_some(len),
            None => Some(len),
        }
    }

    #[cold]
    fn copy_special(&self, out: &mut Vec<u8>) -> bool {
        if self.is_counter() {
            let number = self.counter().load(Ordering::Relaxed);
            out.extend_from_slice(decimal(number, &mut [0; DIGITS]));
            return true;
        }
        self.pieces().append(self.key_len, self.value_len, out)
    }

    /// Appends the key. Returns false in the cases of [`Self::copy_value`].
    pub(crate) fn copy_key(&self, out: &mut Vec<u8>) -> bool {
        if self.is_large() {
            return self.pieces().append(0, self.key_len, out);
        }
        bytes::append_from(self.block.bytes(self.data, self.key_len), self.key_len, out);
        true
    }

    /// Copies as many first bytes of the key as `out` has room for. Returns false in the cases of
    /// [`Self::copy_value`].
    pub(crate) fn key_to(&self, out: &mut [u8]) -> bool {
        let len = out.len().min(self.key_len as usize);
        if self.is_large() {
            return self.pieces().read(0, &mut out[..len]);
        }
        bytes::read(self.block.bytes(self.data, len as u64), &mut out[..len]);
        true
    }

    /// Copies its block to another one. The chain of a large item stays. Under the shard's lock.
    pub(crate) fn move_to(&self, item_ref: u64) {
        // ALLOC-2: see `write::write`.
        fence(Ordering::Release);
        let words = self.block_bytes().div_ceil(8);
        for i in 0..words {
            let word = self
                .region
                .word(self.item_ref * UNIT + 8 * i)
                .load(Ordering::Relaxed);
            self.region
                .word(item_ref * UNIT + 8 * i)
                .store(word, Ordering::Relaxed);
        }
    }
}
