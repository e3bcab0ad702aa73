//! Reading one key of a table that is not mapped, by `pread`. It is the protocol of `read`, with
//! system calls in the place of loads.
//!
//! Mapping a file, faulting its pages in and unmapping it costs several times as much as one read.
//! So the first reads after an open use `pread`. All that is unusual (an item with other fields
//! than client flags, a large one, a change meanwhile) is left to the mapping.

use super::hash::Hash;
use crate::layout::{
    Bucket, DIR_INLINE, FLAG_CLIENT, Geometry, Header, LayoutWord, PAGE, SLOTS, ShardHead, UNIT,
    is_key, is_word, slot_ref, slot_tag,
};
use crate::region::Unmapped;
use crate::sync::{Ordering, fence};
use rapidhash::v3::RapidSecrets;

/// Bytes of a bucket.
const LINE: usize = size_of::<Bucket>();
/// Bytes of a shard's head that are read: up to the count of changes in place.
const HEAD: usize = core::mem::offset_of!(ShardHead, in_place) + 8;
/// Bytes of an item that are read at once.
const GLANCE: usize = 256;

/// What a bucket leads to.
#[derive(PartialEq)]
enum BucketMatch {
    Missing,
    /// Found, with these client flags.
    Found(u32),
    /// Found, without client flags, and the value is one that may be changed in place.
    FoundWord,
}

impl BucketMatch {
    fn client_flags(&self) -> Option<u32> {
        match self {
            Self::Missing => None,
            Self::Found(flags) => Some(*flags),
            Self::FoundWord => Some(0),
        }
    }
}

/// Reads the value of a key into `out`. Returns its client flags, or `Some(None)` if the key is
/// missing, or `None` if it takes the mapping to find out. A key that is found has no expiry, no
/// version and no marks.
pub(crate) fn read_unmapped(file: &Unmapped, key: &[u8], out: &mut Vec<u8>) -> Option<Option<u32>> {
    let geometry = file.geometry();
    let hash = Hash::with(&RapidSecrets::seed(file.seed()), geometry, key);
    let head_offset = geometry.shards_off + u64::from(hash.shard()) * size_of::<ShardHead>() as u64;
    let head = bytes(file, head_offset)?;
    let Some(segment) = segment(file, geometry, hash, &head)? else {
        return Some(None);
    };
    let home_offset = segment + u64::from(hash.home()) * LINE as u64;
    let home = bytes(file, home_offset)?;
    // One call copies version, hint and slots in an unspecified order, and so layout word and
    // directory. Hence the whole bucket is compared, and the segment looked up again.
    let confirm = |matched: BucketMatch, offset: u64, bucket: &[u8; LINE]| {
        let now: [u8; LINE] = bytes(file, offset)?;
        let head_now = bytes(file, head_offset)?;
        let is_counted =
            matched != BucketMatch::FoundWord || head_now[HEAD - 8..] == head[HEAD - 8..];
        let is_unchanged = now == *bucket && head_now[..8] == head[..8] && is_counted;
        let is_there = self::segment(file, geometry, hash, &head_now)? == Some(segment);
        (is_unchanged && is_there).then(|| matched.client_flags())
    };
    let matched = find(file, &home, key, hash.tag(), out)?;
    if matched == BucketMatch::Missing && u32_at(&home, 4) >> 28 != 0 {
        let offset = segment + u64::from(hash.away()) * LINE as u64;
        let away = bytes(file, offset)?;
        let matched = find(file, &away, key, hash.tag(), out)?;
        if let Some(flags) = confirm(matched, offset, &away)? {
            return Some(Some(flags));
        }
        return confirm(BucketMatch::Missing, home_offset, &home);
    }
    confirm(matched, home_offset, &home)
}

/// Reads bytes at an offset, after all that was read before.
fn bytes<const N: usize>(file: &Unmapped, offset: u64) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    fence(Ordering::Acquire);
    file.read(&mut bytes, offset).then_some(bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

/// Returns the offset of the tag's segment, or `Some(None)` if there is none.
fn segment(
    file: &Unmapped,
    geometry: &Geometry,
    hash: Hash,
    head: &[u8; HEAD],
) -> Option<Option<u64>> {
    const INLINE: usize = core::mem::offset_of!(ShardHead, dir_inline);
    let depth = LayoutWord(u64_at(head, 0)).depth().min(geometry.dir_log2);
    let mut index = hash.tag() & ((1 << depth) - 1);
    loop {
        let page = if index < DIR_INLINE {
            u32_at(head, INLINE + 4 * index as usize)
        } else {
            let dir = (u64::from(hash.shard()) << geometry.dir_log2) + u64::from(index);
            u32::from_le_bytes(bytes(file, geometry.dirs_off + dir * 4)?)
        };
        if page != 0 {
            return (page < geometry.max_pages).then_some(Some(u64::from(page) * PAGE));
        }
        if index == 0 {
            return Some(None);
        }
        index &= !(1 << index.ilog2());
    }
}

/// Looks for the key among the items that a bucket leads to.
fn find(
    file: &Unmapped,
    bucket: &[u8; LINE],
    key: &[u8],
    tag: u32,
    out: &mut Vec<u8>,
) -> Option<BucketMatch> {
    const FIRST: usize = core::mem::offset_of!(Bucket, slots);
    for slot in 0..SLOTS {
        let word = u64_at(bucket, FIRST + 8 * slot);
        if !is_key(word) || slot_tag(word) != tag {
            continue;
        }
        let offset = slot_ref(word) * UNIT;
        let room = (PAGE - offset % PAGE) as usize;
        let mut glance = [0; GLANCE];
        fence(Ordering::Acquire);
        let glance = &mut glance[..GLANCE.min(room)];
        if !file.read(glance, offset) {
            return None;
        }
        let header = Header::decode(u64_at(glance, 0));
        let (at, key_len, value_len) = match file.geometry().fixed {
            Some(fixed) => (0, fixed.key_len as usize, fixed.value_len as usize),
            None if header.flags & !FLAG_CLIENT != 0 => return None,
            None => (
                header.before_key() as usize,
                header.key_len as usize,
                header.value_len as usize,
            ),
        };
        let value_at = at + key_len;
        if value_at + value_len > room || value_at > glance.len() {
            return None;
        }
        if glance[at..value_at] != *key {
            continue;
        }
        let value_offset = offset + value_at as u64;
        out.clear();
        match glance.get(value_at..value_at + value_len) {
            Some(value) => out.extend_from_slice(value),
            None => {
                out.resize(value_len, 0);
                if !file.read(out, value_offset) {
                    return None;
                }
            }
        }
        if at > 8 {
            // The marks beside the flags are changed in place, and may have been copied in parts.
            let client = u64_at(glance, 8);
            return (client >> 32 == 0).then_some(BucketMatch::Found(client as u32));
        }
        if !is_word(key_len as u64, value_len as u64) {
            return Some(BucketMatch::Found(0));
        }
        // A call may copy a word in parts while it is being changed, and no version rises then. Two
        // such copies may even be equal, each with one part of the old word and one of the new: but
        // then a change ended between them, and was counted.
        return (bytes::<8>(file, value_offset)? == out[..]).then_some(BucketMatch::FoundWord);
    }
    Some(BucketMatch::Missing)
}
