//! Items: a key and its value, in one block.
//!
//! The header says which fields follow it, so a field that a key does not need costs no byte.
//! Readers check every length against the block before they use it.
//!
//! ```text
//! header u64     value_len 32 | key_len 24 | flags 8
//! link u64       LARGE: first page 32 | high bits of key_len 8 | check 24
//! counter u64    COUNTER: the number; reads return it as decimal text
//! uid u64        UID: uid 32 | generation 32
//! expiry u64     EXPIRY: when the key expires, in milliseconds of the table's clock; 0: never
//! client u64     CLIENT: the user's flags 32 | TAGGED: number of tags 8 | marks 24
//! version u64    VERSION: another number each time that the key is set
//! key, value
//! tags u64 each  TAGGED: their uids 32 | generation 32, from the next multiple of 8 on
//! ```
//!
//! A field after the header exists only if its flag is set; the order is as above. A value of 8
//! bytes behind a key whose length is a multiple of 8 is one aligned word, with or without a uid,
//! and is changed in place.
//!
//! An item that does not fit in a block is LARGE: its key and value are one stream of bytes. The
//! first part of the stream is in the block, the rest fills whole pages, chained through the page
//! table. Its tags are behind the part in the block.
//!
//! A tag is an item itself: TAG, with a uid, its name as the key, no value. A tag's name never
//! equals a key, because the index keeps the two apart. All items with the tag are missing as soon
//! as its uid no longer leads to the tag's item.
//!
//! In a table of [`Fixed`] lengths an item is its key and its value, with nothing before them.

use super::{LARGEST_BLOCK, PAGE};

/// The rest of the item is in chained pages.
pub(crate) const FLAG_LARGE: u8 = 1;
/// The value is a counter, which is changed in place.
pub(crate) const FLAG_COUNTER: u8 = 2;
/// The key may expire.
pub(crate) const FLAG_EXPIRY: u8 = 4;
/// The key has flags of the user's.
pub(crate) const FLAG_CLIENT: u8 = 8;
/// The key has a version.
pub(crate) const FLAG_VERSION: u8 = 16;
/// The key has a uid.
pub(crate) const FLAG_UID: u8 = 32;
/// The key has tags; always with CLIENT.
pub(crate) const FLAG_TAGGED: u8 = 64;
/// The item is a tag; always with UID, and nothing else.
pub(crate) const FLAG_TAG: u8 = 128;
const FIELDS: u8 = FLAG_LARGE | FLAG_COUNTER | FLAG_EXPIRY | FLAG_CLIENT | FLAG_VERSION | FLAG_UID;

/// The most bytes of key and value together.
pub(crate) const MAX_DATA: u64 = u32::MAX as u64;
/// The most bytes an item has before its key: the header, a link or counter, and every other field.
pub(crate) const MOST_HEAD: u64 = 48;
/// The most tags of a key.
pub(crate) const MOST_TAGS: usize = 16;
/// The most bytes behind the value: padding, and tags.
const MOST_TAIL: u64 = 7 + 8 * MOST_TAGS as u64;
/// The most bytes of key and value of an item that is not large. Whether an item is large depends
/// on these two lengths alone, so space for everything else that may be in an item is always
/// reserved.
pub(crate) const MOST_SMALL: u64 = LARGEST_BLOCK as u64 - MOST_HEAD - MOST_TAIL;

/// The lengths in a table in which all keys have the same length, and all values too. An item there
/// has no header: key, value, and at the next multiple of 8 its uid, if items have one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fixed {
    pub(crate) key_len: u32,
    pub(crate) value_len: u32,
    /// Whether items have room for a uid.
    pub(crate) uids: bool,
}

impl Fixed {
    /// Returns the lengths, or `None` if no such table can be created.
    pub(crate) fn new(key_len: u32, value_len: u32, uids: bool) -> Option<Self> {
        let data = u64::from(key_len) + u64::from(value_len);
        (key_len > 0 && data <= MOST_SMALL).then_some(Self {
            key_len,
            value_len,
            uids,
        })
    }

    /// Returns whether a key and a value have these lengths.
    #[inline(always)]
    pub(crate) fn fits(self, key: &[u8], value: &[u8]) -> bool {
        (key.len(), value.len()) == (self.key_len as usize, self.value_len as usize)
    }

    /// Returns the offset of the uid in an item, or where it would be.
    #[inline(always)]
    pub(crate) fn uid_at(self) -> u64 {
        (u64::from(self.key_len) + u64::from(self.value_len)).next_multiple_of(8)
    }

    /// Returns the bytes of an item.
    #[inline(always)]
    pub(crate) fn bytes(self) -> u64 {
        self.uid_at() + if self.uids { 8 } else { 0 }
    }

    /// Returns the flags an item would have if it had a header.
    #[inline(always)]
    pub(crate) fn flags(self) -> u8 {
        if self.uids { FLAG_UID } else { 0 }
    }
}

/// The first word of an item, decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) value_len: u32,
    /// The low 24 bits of the length; a large item has the rest in its link.
    pub(crate) key_len: u32,
    pub(crate) flags: u8,
}

impl Header {
    #[inline(always)]
    pub(crate) fn encode(self) -> u64 {
        u64::from(self.value_len)
            | u64::from(self.key_len & 0xFF_FFFF) << 32
            | u64::from(self.flags) << 56
    }

    #[inline(always)]
    pub(crate) fn decode(word: u64) -> Self {
        Self {
            value_len: word as u32,
            key_len: (word >> 32) as u32 & 0xFF_FFFF,
            flags: (word >> 56) as u8,
        }
    }

    /// Returns the offset of a field in an item with these flags, or where the field would be.
    #[inline(always)]
    pub(crate) fn field_at(flags: u8, field: u8) -> u64 {
        let before = match field {
            FLAG_UID => FLAG_LARGE | FLAG_COUNTER,
            FLAG_EXPIRY => FLAG_LARGE | FLAG_COUNTER | FLAG_UID,
            FLAG_CLIENT => FLAG_LARGE | FLAG_COUNTER | FLAG_UID | FLAG_EXPIRY,
            _ => FLAG_LARGE | FLAG_COUNTER | FLAG_UID | FLAG_EXPIRY | FLAG_CLIENT,
        };
        8 + 8 * u64::from((flags & before).count_ones())
    }

    /// Returns the offset of the key in the item.
    #[inline(always)]
    pub(crate) fn before_key(self) -> u64 {
        8 + 8 * u64::from((self.flags & FIELDS).count_ones())
    }

    /// Returns whether an item may have these flags.
    pub(crate) fn is_known(self) -> bool {
        const EITHER: u8 = FLAG_LARGE | FLAG_COUNTER;
        const COUNTED: u8 = FLAG_TAGGED | FLAG_CLIENT;
        match self.flags & !FIELDS {
            0 => self.flags & EITHER != EITHER,
            FLAG_TAGGED => self.flags & EITHER != EITHER && self.flags & COUNTED == COUNTED,
            _ => self.flags == FLAG_TAG | FLAG_UID,
        }
    }
}

/// The second word of a large item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LargeLink {
    pub(crate) first_page: u32,
    pub(crate) key_len_high: u32,
}

impl LargeLink {
    pub(crate) fn encode(self) -> u64 {
        let link = u64::from(self.first_page) | u64::from(self.key_len_high) << 32;
        link | check_of(link) << CHECK_SHIFT
    }

    /// Returns the link, or `None` if the word is damaged. Damage must be noticed: a chain of
    /// another item, of the same length, would be read by uid, and freed.
    pub(crate) fn decode(word: u64) -> Option<Self> {
        let link = word & ((1 << CHECK_SHIFT) - 1);
        (word >> CHECK_SHIFT == check_of(link)).then_some(Self {
            first_page: link as u32,
            key_len_high: (link >> 32) as u32,
        })
    }
}

const CHECK_SHIFT: u32 = 40;

/// Returns the check of the other bits of a link; it differs if one bit differs.
fn check_of(link: u64) -> u64 {
    link.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> CHECK_SHIFT
}

/// Returns whether the value of an item, which has no field except a uid, is one aligned word: such
/// a value is changed in place.
#[inline(always)]
pub(crate) fn is_word(key_len: u64, value_len: u64) -> bool {
    value_len == 8 && key_len.is_multiple_of(8)
}

/// Splits the stream of a large item: returns the bytes in the block, and the pages for the rest.
pub(crate) fn large_split(data: u64) -> (u64, u32) {
    let rest = data % PAGE;
    let inline = if rest > MOST_SMALL { 0 } else { rest };
    (inline, (data - inline).div_ceil(PAGE) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive() {
        let header = Header {
            value_len: u32::MAX,
            key_len: 0xFF_FFFF,
            flags: 0x3F,
        };
        assert_eq!(Header::decode(header.encode()), header);
        let link = LargeLink {
            first_page: u32::MAX >> 3,
            key_len_high: 0xFF,
        };
        assert_eq!(LargeLink::decode(link.encode()), Some(link));
    }

    #[test]
    fn every_flipped_bit_of_a_link_is_noticed() {
        // The product differs by this much or its negative, which must show above the low bits,
        // whatever is carried.
        for bit in 0..CHECK_SHIFT {
            let differs = check_of(1 << bit);
            assert!(
                (1..(1 << 24) - 1).contains(&differs),
                "bit {bit}: {differs}"
            );
        }
        let link = LargeLink {
            first_page: 85,
            key_len_high: 0,
        };
        for bit in 0..64 {
            assert_eq!(LargeLink::decode(link.encode() ^ 1 << bit), None);
        }
    }

    #[test]
    fn fields_are_counted() {
        let of = |flags| {
            Header {
                value_len: 0,
                key_len: 0,
                flags,
            }
            .before_key()
        };
        assert_eq!(of(0), 8);
        assert_eq!(of(FLAG_COUNTER), 16);
        assert_eq!(of(FLAG_CLIENT | FLAG_EXPIRY), 24);
        assert_eq!(of(FIELDS & !FLAG_LARGE), MOST_HEAD);
        assert_eq!(of(FIELDS & !FLAG_COUNTER), MOST_HEAD);
        let at = |field| Header::field_at(FIELDS & !FLAG_COUNTER, field);
        let fields = [FLAG_UID, FLAG_EXPIRY, FLAG_CLIENT, FLAG_VERSION];
        assert_eq!(fields.map(at), [16, 24, 32, 40]);
    }

    #[test]
    fn tags_and_the_tagged_are_known_by_their_flags() {
        let is_known = |flags| {
            let (value_len, key_len) = (0, 0);
            let header = Header {
                value_len,
                key_len,
                flags,
            };
            header.is_known()
        };
        assert!(is_known(FLAG_TAG | FLAG_UID) && is_known(FLAG_TAGGED | FLAG_CLIENT));
        assert!(is_known(
            FLAG_TAGGED | FLAG_CLIENT | FLAG_LARGE | FLAG_UID | FLAG_EXPIRY | FLAG_VERSION
        ));
        assert!(is_known(FLAG_VERSION) && is_known(FLAG_VERSION | FLAG_COUNTER));
        for flags in [
            FLAG_TAG,
            FLAG_TAGGED,
            FLAG_TAG | FLAG_UID | FLAG_CLIENT,
            FLAG_TAG | FLAG_TAGGED | FLAG_CLIENT | FLAG_UID,
            FLAG_TAGGED | FLAG_CLIENT | FLAG_LARGE | FLAG_COUNTER,
            FLAG_LARGE | FLAG_COUNTER,
            FLAG_TAG | FLAG_UID | FLAG_VERSION,
        ] {
            assert!(!is_known(flags), "{flags}");
        }
    }

    #[test]
    fn streams_are_split_without_loss() {
        for data in [
            MOST_SMALL + 1,
            16_313,
            16_384,
            16_385,
            32_767,
            32_768,
            100_000,
            MAX_DATA,
        ] {
            let (inline, pages) = large_split(data);
            assert!(MOST_HEAD + inline + MOST_TAIL <= u64::from(LARGEST_BLOCK));
            assert!(pages > 0 && u64::from(pages) * PAGE >= data - inline);
            assert!((u64::from(pages) - 1) * PAGE < data - inline);
        }
    }
}
