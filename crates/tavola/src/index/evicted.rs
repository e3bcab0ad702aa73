//! Which keys this process evicts, for a server in it that reports them to its clients.
//!
//! A key is noted under its shard's lock, before it is removed, as a record of a ring in process
//! memory.

use crate::alloc::Item;
use crate::lock::ShardLock;
use crate::region::Region;
use crate::sync::{RECORD_WORDS, Record};

/// Words of a record before the key's bytes.
const HEAD: usize = 4;
/// Bytes of a key that are noted.
pub(crate) const NOTED: usize = 8 * (RECORD_WORDS - HEAD);

/// A key that was evicted.
pub(crate) struct Evicted {
    /// The first bytes of the key.
    pub(crate) key: [u8; NOTED],
    pub(crate) key_len: u64,
    pub(crate) value_len: u64,
    pub(crate) expiry_ms: u64,
    /// The user's flags.
    pub(crate) client: u32,
    pub(crate) marks: u32,
}

/// Notes that the key of an item is about to be evicted.
#[cold]
#[inline(never)]
pub(super) fn note(lock: &ShardLock<'_>, item_ref: u64) {
    let mut key = [0; NOTED];
    // A broken item or chain is found when the key is dropped.
    let Some(item) = Item::at(lock.region, item_ref) else {
        return;
    };
    if item.is_tag() || !item.key_to(&mut key) {
        return;
    }
    let shown = item.shown();
    let mut record: Record = [0; RECORD_WORDS];
    record[..HEAD].copy_from_slice(&[
        item.key_len(),
        item.payload() - item.key_len(),
        shown.expiry_ms,
        u64::from(shown.client) | u64::from(shown.marks) << 32,
    ]);
    let (words, _) = key.as_chunks();
    for (to, from) in record[HEAD..].iter_mut().zip(words) {
        *to = u64::from_ne_bytes(*from);
    }
    lock.region.evictions().put(&record);
}

/// Returns the key that was noted first and is not taken yet.
pub(crate) fn take_evicted(region: &Region) -> Option<Evicted> {
    let record = region.evictions().take()?;
    let mut key = [0; NOTED];
    for (to, from) in key.chunks_exact_mut(8).zip(&record[HEAD..]) {
        to.copy_from_slice(&from.to_ne_bytes());
    }
    let [key_len, value_len, expiry_ms, client, ..] = record;
    Some(Evicted {
        key,
        key_len,
        value_len,
        expiry_ms,
        client: client as u32,
        marks: (client >> 32) as u32,
    })
}
