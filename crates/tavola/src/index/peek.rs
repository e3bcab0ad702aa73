//! Reading one key of a table that is not mapped, by `pread`.
//!
//! Mapping a file, faulting its pages in and unmapping it costs several times as much as the read
//! for whose sake it is done, when it is the only one. So the first reads after an open go this
//! way; it is the protocol of `read`, with system calls for loads. Whatever is out of the ordinary
//! (an item with fields, a large one, a change meanwhile) is left to the mapping.

use super::hash::Hash;
use crate::layout::{
    Bucket, DIR_INLINE, Geometry, Header, LayoutWord, PAGE, SLOTS, ShardHead, UNIT, slot_ref,
    slot_tag,
};
use crate::region::Unmapped;
use crate::sync::{Ordering, fence};
use rapidhash::v3::RapidSecrets;

/// Bytes of a line of the region.
const LINE: usize = 64;
/// Bytes of an item that are read at once.
const GLANCE: usize = 256;

/// The value of a key into `out`: `Some(found)`, or `None` when only the mapping can tell.
pub(crate) fn peek(file: &Unmapped, key: &[u8], out: &mut Vec<u8>) -> Option<bool> {
    let geometry = file.geometry();
    let hash = Hash::with(&RapidSecrets::seed(file.seed()), geometry, key);
    let head_offset = geometry.shards_off + u64::from(hash.shard) * size_of::<ShardHead>() as u64;
    let head = line(file, head_offset)?;
    let Some(segment) = segment(file, geometry, hash, head_offset, &head)? else {
        return Some(false);
    };
    let home_offset = segment + u64::from(hash.home) * LINE as u64;
    let home = line(file, home_offset)?;
    // The whole line is compared: one call copies version, hint and slots in no promised order.
    let unchanged = |offset: u64, bucket: &[u8; LINE]| {
        fence(Ordering::Acquire);
        let (now, head_now) = (line(file, offset)?, line(file, head_offset)?);
        (now == *bucket && head_now[..8] == head[..8]).then_some(())
    };
    if find(file, &home, key, hash.tag, out)? {
        return unchanged(home_offset, &home).map(|()| true);
    }
    if u32_at(&home, 4) >> 28 != 0 {
        let offset = segment + u64::from(hash.away()) * LINE as u64;
        let away = line(file, offset)?;
        if find(file, &away, key, hash.tag, out)? {
            return unchanged(offset, &away).map(|()| true);
        }
        unchanged(offset, &away)?;
    }
    unchanged(home_offset, &home).map(|()| false)
}

fn line(file: &Unmapped, offset: u64) -> Option<[u8; LINE]> {
    let mut line = [0; LINE];
    file.read(&mut line, offset).then_some(line)
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

/// Offset of the tag's segment; `Some(None)`: the shard is empty.
fn segment(
    file: &Unmapped,
    geometry: &Geometry,
    hash: Hash,
    head_offset: u64,
    head: &[u8; LINE],
) -> Option<Option<u64>> {
    const INLINE: usize = core::mem::offset_of!(ShardHead, dir_inline);
    let depth = LayoutWord(u64_at(head, 0)).depth().min(geometry.dir_log2);
    let mut index = hash.tag & ((1 << depth) - 1);
    loop {
        let in_head = INLINE + 4 * index as usize;
        let page = if in_head + 4 <= LINE {
            u32_at(head, in_head)
        } else {
            let dir = (u64::from(hash.shard) << geometry.dir_log2) + u64::from(index);
            let offset = match index {
                0..DIR_INLINE => head_offset + in_head as u64,
                _ => geometry.dirs_off + dir * 4,
            };
            let mut entry = [0; 4];
            if !file.read(&mut entry, offset) {
                return None;
            }
            u32::from_le_bytes(entry)
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

/// Looks for the key among the items a bucket leads to.
fn find(
    file: &Unmapped,
    bucket: &[u8; LINE],
    key: &[u8],
    tag: u32,
    out: &mut Vec<u8>,
) -> Option<bool> {
    const FIRST: usize = core::mem::offset_of!(Bucket, slots);
    for slot in 0..SLOTS {
        let word = u64_at(bucket, FIRST + 8 * slot);
        if slot_ref(word) == 0 || slot_tag(word) != tag {
            continue;
        }
        let offset = slot_ref(word) * UNIT;
        let room = (PAGE - offset % PAGE) as usize;
        let mut glance = [0; GLANCE];
        let glance = &mut glance[..GLANCE.min(room)];
        if !file.read(glance, offset) {
            return None;
        }
        let header = Header::decode(u64_at(glance, 0));
        let (key_len, value_len) = (header.key_len as usize, header.value_len as usize);
        if header.flags != 0 || 8 + key_len + value_len > room || 8 + key_len > glance.len() {
            return None;
        }
        if glance[8..8 + key_len] != *key {
            continue;
        }
        out.clear();
        match glance.get(8 + key_len..8 + key_len + value_len) {
            Some(value) => out.extend_from_slice(value),
            None => {
                out.resize(value_len, 0);
                if !file.read(out, offset + 8 + key_len as u64) {
                    return None;
                }
            }
        }
        return Some(true);
    }
    Some(false)
}
