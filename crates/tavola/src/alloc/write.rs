//! Writing items into blocks that no slot leads to yet.

use super::chain::{self, Chain};
use super::item::bytes;
use super::{Item, Step, corrupt, slab, take_block};
use crate::layout::{
    FLAG_COUNTER, FLAG_LARGE, FLAG_UID, Fixed, Header, Hint, LargeLink, MOST_SMALL, UNIT, class_of,
    large_split,
};
use crate::lock::ShardLock;
use crate::sync::{Ordering, fence};

/// Writes an item that is not large; `value` is not.
#[inline(always)]
pub(crate) fn write_small(lock: &ShardLock<'_>, key: &[u8], value: &[u8], hint: Hint) -> Step<u64> {
    if let Some(fixed) = lock.region.fixed() {
        return write_fixed(lock, fixed, key, value, hint);
    }
    let header = Header {
        value_len: value.len() as u32,
        key_len: key.len() as u32,
        flags: 0,
    };
    write(lock, header, None, hint, [key, value])
}

/// Whether a key is short enough for a counter in place.
pub(crate) fn can_count(key: &[u8]) -> bool {
    key.len() as u64 <= MOST_SMALL
}

/// Writes a counter.
pub(crate) fn write_counter(
    lock: &ShardLock<'_>,
    key: &[u8],
    number: u64,
    hint: Hint,
) -> Step<u64> {
    let header = Header {
        value_len: 8,
        key_len: key.len() as u32,
        flags: FLAG_COUNTER,
    };
    write(lock, header, Some(number), hint, [key, &[]])
}

/// Writes the block of a large item whose pages are written already.
pub(crate) fn write_large(
    lock: &ShardLock<'_>,
    chain: &Chain<'_>,
    key: &[u8],
    value: &[u8],
    hint: Hint,
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
    write(lock, header, Some(link.encode()), hint, parts)
}

/// Writes header, the link or number if there is one, the uid if there is one, and the parts.
#[inline(always)]
fn write(
    lock: &ShardLock<'_>,
    mut header: Header,
    second: Option<u64>,
    hint: Hint,
    parts: [&[u8]; 2],
) -> Step<u64> {
    if hint.is_some() {
        header.flags |= FLAG_UID;
    }
    let before_key = header.before_key();
    let len = before_key + parts[0].len() as u64 + parts[1].len() as u64;
    let Some(class) = class_of(len) else {
        return corrupt("the size of an item");
    };
    let item_ref = take_block(lock, class)?;
    // A2: whoever reads a byte written below and then fences sees every bump made before the block
    // was freed. Pairs with the acquire fences of `index::read::validate` and `index::by_uid`.
    fence(Ordering::Release);
    let word = |at: u64| lock.region.word(item_ref * UNIT + at);
    word(0).store(header.encode(), Ordering::Relaxed);
    if let Some(second) = second {
        word(8).store(second, Ordering::Relaxed);
    }
    if hint.is_some() {
        word(Header::uid_at(header.flags)).store(hint.to_bits(), Ordering::Relaxed);
    }
    let from = item_ref * UNIT + before_key;
    bytes::write(lock.region, from, parts[0]);
    bytes::write(lock.region, from + parts[0].len() as u64, parts[1]);
    Ok(item_ref)
}

/// Writes an item of a table of fixed lengths, which key and value have.
#[inline(always)]
fn write_fixed(
    lock: &ShardLock<'_>,
    fixed: Fixed,
    key: &[u8],
    value: &[u8],
    hint: Hint,
) -> Step<u64> {
    let Some(class) = class_of(fixed.bytes()).filter(|_| fixed.fits(key, value)) else {
        return corrupt("the size of an item");
    };
    let item_ref = take_block(lock, class)?;
    // A2: see `write`.
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

/// Copies an item that has no uid, or one that was taken off, into a new block, with one. A large
/// one's pages are then both's: of the old item only the block is to be freed.
pub(crate) fn copy_with_uid(lock: &ShardLock<'_>, item: &Item<'_>, hint: Hint) -> Step<u64> {
    if let Some(fixed) = lock.region.fixed() {
        let Some(class) = class_of(fixed.bytes()) else {
            return corrupt("the size of an item");
        };
        let item_ref = take_block(lock, class)?;
        item.move_to(item_ref);
        let word = lock.region.word(item_ref * UNIT + fixed.uid_at());
        word.store(hint.to_bits(), Ordering::Relaxed);
        return Ok(item_ref);
    }
    let old = item.header();
    let new = Header {
        flags: old.flags | FLAG_UID,
        ..old
    };
    // What follows the field moves, unless it stands there already.
    let shift = if old.flags & FLAG_UID == 0 { 8 } else { 0 };
    let Some(class) = class_of(item.block_bytes() + shift) else {
        return corrupt("the size of an item");
    };
    let item_ref = take_block(lock, class)?;
    // A2: see `write`.
    fence(Ordering::Release);
    let word = |at: u64| lock.region.word(item_ref * UNIT + at);
    let uid_at = Header::uid_at(old.flags);
    word(0).store(new.encode(), Ordering::Relaxed);
    for at in (8..uid_at).step_by(8) {
        word(at).store(item.word(at), Ordering::Relaxed);
    }
    word(uid_at).store(hint.to_bits(), Ordering::Relaxed);
    for at in (uid_at + 8 - shift..item.block_bytes()).step_by(8) {
        word(at + shift).store(item.word(at), Ordering::Relaxed);
    }
    Ok(item_ref)
}

/// Frees an item no slot leads to any more.
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
