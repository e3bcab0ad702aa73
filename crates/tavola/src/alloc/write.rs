//! Writing items into blocks that no slot leads to yet: an item is complete before a slot does
//! (ALLOC-4). No reader sees a half-written item, except one that read the block's former item and
//! will recheck.

use super::bytes;
use super::chain::{self, Chain};
use super::{Item, Step, Tags, corrupt, slab, take_block};
use crate::layout::{
    FLAG_CLIENT, FLAG_COUNTER, FLAG_EXPIRY, FLAG_LARGE, FLAG_TAG, FLAG_TAGGED, FLAG_UID,
    FLAG_VERSION, Fixed, Header, Hint, LargeLink, MOST_SMALL, SweepWord, UNIT, class_of,
    large_split,
};
use crate::lock::ShardLock;
use crate::sync::{Ordering, fence};

/// What a key has beside its value and its uid.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamp<'a> {
    /// When it expires, in milliseconds of the table's clock; 0 if never.
    pub(crate) expiry_ms: u64,
    /// The user's flags.
    pub(crate) client: u32,
    /// 24 bits of the user that are changed in place.
    pub(crate) marks: u32,
    /// The tags without which it is missing. A reference, as they are many bytes and rare.
    pub(crate) tags: &'a Tags,
    /// Its version, which changes each time that it is set; 0 if it has none.
    pub(crate) version: u64,
}

/// The part of a [`Stamp`] that is read with each value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) expiry_ms: u64,
    pub(crate) client: u32,
    pub(crate) marks: u32,
    pub(crate) version: u64,
}

impl Stamp<'_> {
    pub(crate) const NONE: Self = Self {
        expiry_ms: 0,
        client: 0,
        marks: 0,
        tags: &Tags::NONE,
        version: 0,
    };

    #[inline(always)]
    pub(crate) fn is_none(&self) -> bool {
        (self.expiry_ms, self.client, self.marks, self.version) == (0, 0, 0, 0)
            && self.tags.is_empty()
    }

    /// Returns the part that readers see.
    pub(crate) fn shown(&self) -> Shown {
        Shown {
            expiry_ms: self.expiry_ms,
            client: self.client,
            marks: self.marks,
            version: self.version,
        }
    }

    /// Returns the flags and words of its fields in an item, in their order.
    #[inline(always)]
    fn fields(&self) -> [(u8, u64); 3] {
        let [tags, marks] = [self.tags.len() as u64, u64::from(self.marks)];
        [
            (FLAG_EXPIRY, self.expiry_ms),
            (
                FLAG_CLIENT,
                u64::from(self.client) | tags << 32 | marks << 40,
            ),
            (FLAG_VERSION, self.version),
        ]
    }
}

/// Writes an item that is not large; its value is not a counter.
#[inline(always)]
pub(crate) fn write_small(
    lock: &ShardLock<'_>,
    key: &[u8],
    value: &[u8],
    hint: Hint,
    stamp: &Stamp<'_>,
) -> Step<u64> {
    if let Some(fixed) = lock.region.fixed() {
        return write_fixed(lock, fixed, key, value, hint);
    }
    let header = Header {
        value_len: value.len() as u32,
        key_len: key.len() as u32,
        flags: 0,
    };
    write(lock, header, None, hint, stamp, [key, value])
}

/// Returns whether a key is short enough for a counter in place.
pub(crate) fn can_count(key: &[u8]) -> bool {
    key.len() as u64 <= MOST_SMALL
}

/// Writes a counter.
pub(crate) fn write_counter(
    lock: &ShardLock<'_>,
    key: &[u8],
    number: u64,
    hint: Hint,
    stamp: &Stamp<'_>,
) -> Step<u64> {
    let header = Header {
        value_len: 8,
        key_len: key.len() as u32,
        flags: FLAG_COUNTER,
    };
    write(lock, header, Some(number), hint, stamp, [key, &[]])
}

/// Writes a tag.
pub(crate) fn write_tag(lock: &ShardLock<'_>, name: &[u8], hint: Hint) -> Step<u64> {
    let header = Header {
        value_len: 0,
        key_len: name.len() as u32,
        flags: FLAG_TAG,
    };
    write(lock, header, None, hint, &Stamp::NONE, [name, &[]])
}

/// Writes the block of a large item whose pages are already written.
pub(crate) fn write_large(
    lock: &ShardLock<'_>,
    chain: &Chain<'_>,
    key: &[u8],
    value: &[u8],
    hint: Hint,
    stamp: &Stamp<'_>,
) -> Step<u64> {
    let inline = large_split(key.len() as u64 + value.len() as u64).0 as usize;
    let header = Header {
        value_len: value.len() as u32,
        key_len: key.len() as u32 & 0xFF_FFFF,
        flags: FLAG_LARGE,
    };
    let link = LargeLink {
        first_page: chain.first(),
        key_len_high: (key.len() >> 24) as u32,
    };
    let from_key = key.len().min(inline);
    let parts = [&key[..from_key], &value[..inline - from_key]];
    write(lock, header, Some(link.encode()), hint, stamp, parts)
}

/// Writes header, the link or number if there is one, the fields that are not 0, and the parts.
#[inline(always)]
fn write(
    lock: &ShardLock<'_>,
    mut header: Header,
    second: Option<u64>,
    hint: Hint,
    stamp: &Stamp<'_>,
    parts: [&[u8]; 2],
) -> Step<u64> {
    if hint.is_some() {
        header.flags |= FLAG_UID;
    }
    for (flag, word) in stamp.fields() {
        header.flags |= if word == 0 { 0 } else { flag };
    }
    let before_key = header.before_key();
    let tail = before_key + parts[0].len() as u64 + parts[1].len() as u64;
    let (tags_at, tags) = (tail.next_multiple_of(8), stamp.tags.words());
    let mut len = tail;
    if !tags.is_empty() {
        header.flags |= FLAG_TAGGED;
        len = tags_at + 8 * tags.len() as u64;
    }
    let class = class_of(len).expect("a large value is written as a chain");
    let item_ref = take_block(lock, class)?;
    // ALLOC-2: a reader that reads a byte written below, and then fences, sees every version that
    // was incremented before the block was freed. Pairs with the acquire fences of `recheck` in
    // `index::read` and `index::by_uid`.
    fence(Ordering::Release);
    let word = |at: u64| lock.region.word(item_ref * UNIT + at);
    word(0).store(header.encode(), Ordering::Relaxed);
    if let Some(second) = second {
        word(8).store(second, Ordering::Relaxed);
    }
    if hint.is_some() {
        word(Header::field_at(header.flags, FLAG_UID)).store(hint.to_bits(), Ordering::Relaxed);
    }
    for (flag, field) in stamp.fields() {
        if field != 0 {
            word(Header::field_at(header.flags, flag)).store(field, Ordering::Relaxed);
        }
    }
    if stamp.expiry_ms != 0 || !tags.is_empty() {
        expect_expiry(lock);
    }
    for (tag, at) in tags.iter().zip((tags_at..).step_by(8)) {
        word(at).store(*tag, Ordering::Relaxed);
    }
    let from = item_ref * UNIT + before_key;
    bytes::write(lock.region, from, parts[0]);
    bytes::write(lock.region, from + parts[0].len() as u64, parts[1]);
    Ok(item_ref)
}

/// Writes an item of a table of fixed lengths; key and value have them.
#[inline(always)]
fn write_fixed(
    lock: &ShardLock<'_>,
    fixed: Fixed,
    key: &[u8],
    value: &[u8],
    hint: Hint,
) -> Step<u64> {
    debug_assert!(
        fixed.fits(key, value),
        "the caller has refused other lengths"
    );
    let class = class_of_fixed(fixed);
    let item_ref = take_block(lock, class)?;
    // ALLOC-2: see `write`.
    fence(Ordering::Release);
    let from = item_ref * UNIT;
    bytes::write(lock.region, from, key);
    bytes::write(lock.region, from + key.len() as u64, value);
    if fixed.uids {
        let word = lock.region.word(from + fixed.uid_at());
        word.store(hint.to_bits(), Ordering::Relaxed);
    }
    Ok(item_ref)
}

/// Returns the size class of the items of a table of fixed lengths.
fn class_of_fixed(fixed: Fixed) -> u32 {
    class_of(fixed.bytes()).expect("a table with longer items is refused when it is opened")
}

/// Starts the search for expired keys in the shard, as there may be one some day.
pub(crate) fn expect_expiry(lock: &ShardLock<'_>) {
    let sweep = &lock.head.sweep;
    let word = SweepWord::activated(sweep.load(Ordering::Relaxed));
    sweep.store(word, Ordering::Relaxed);
}

/// Copies an item into a new block, with one more field, or with another word in a field. The copy
/// of a large item has the same pages, so only the block of the old item is to be freed. In a table
/// of fixed lengths, the only field is the uid.
pub(crate) fn copy_with_field(
    lock: &ShardLock<'_>,
    item: &Item<'_>,
    field: u8,
    content: u64,
) -> Step<u64> {
    if let Some(fixed) = lock.region.fixed() {
        let item_ref = take_block(lock, class_of_fixed(fixed))?;
        item.move_to(item_ref);
        let word = lock.region.word(item_ref * UNIT + fixed.uid_at());
        word.store(content, Ordering::Relaxed);
        return Ok(item_ref);
    }
    let old = item.header();
    let new = Header {
        flags: old.flags | field,
        ..old
    };
    // What follows the field moves by a word, unless the item already has the field.
    let shift = if old.flags & field == 0 { 8 } else { 0 };
    let Some(class) = class_of(item.block_bytes() + shift) else {
        return corrupt("the size of an item");
    };
    let item_ref = take_block(lock, class)?;
    // ALLOC-2: see `write`.
    fence(Ordering::Release);
    let word = |at: u64| lock.region.word(item_ref * UNIT + at);
    let field_at = Header::field_at(old.flags, field);
    word(0).store(new.encode(), Ordering::Relaxed);
    for at in (8..field_at).step_by(8) {
        word(at).store(item.word(at), Ordering::Relaxed);
    }
    word(field_at).store(content, Ordering::Relaxed);
    for at in (field_at + 8 - shift..item.block_bytes()).step_by(8) {
        word(at + shift).store(item.word(at), Ordering::Relaxed);
    }
    Ok(item_ref)
}

/// Frees an item that no slot leads to any more.
#[inline(always)]
pub(crate) fn discard(lock: &ShardLock<'_>, item_ref: u64) -> Step<()> {
    let word = lock.region.word(item_ref * UNIT).load(Ordering::Relaxed);
    if lock.region.fixed().is_none()
        && Header::decode(word).flags & FLAG_LARGE != 0
        && let Some(item) = Item::at(lock.region, item_ref)
    {
        chain::free(lock, &item);
    }
    slab::free_block(lock, item_ref)
}
