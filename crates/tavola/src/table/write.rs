//! Writing one key.
//!
//! | step, under the shard's lock | a reader finds | a survivor finds, if we die after it |
//! |---|---|---|
//! | the new item is written to a new block | the old item | a block no slot leads to: freed |
//! | the slot is stored | the new item; an old copy may still count | the new item |
//! | the bucket is bumped | the new item; old copies no longer count | the new item |
//! | the old block is freed | the new item | the new item; the old block is free |

use super::Table;
use super::core::Core;
use crate::alloc::{Chain, Step, corrupt, discard, write_large, write_small};
use crate::error::Result;
use crate::index::{Hash, Spot, find, insert, remove, replace, warm_both};
use crate::lock::ShardLock;
use crate::sync::{Ordering, W64};

/// When a value is stored.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum When<'a> {
    Always,
    /// The key is missing.
    Absent,
    /// The key is there.
    Present,
    /// The key is there and has this value.
    Equals(&'a [u8]),
}

impl When<'_> {
    #[inline(always)]
    fn holds(self, lock: &ShardLock<'_>, spot: &Spot<'_>) -> Step<bool> {
        Ok(match (self, spot) {
            (When::Always, _) | (When::Absent, Spot::Free(_)) | (When::Present, Spot::Taken(_)) => {
                true
            }
            (When::Equals(value), Spot::Taken(found)) => found.item(lock)?.value_equals(value),
            _ => false,
        })
    }
}

impl Core {
    #[inline(always)]
    pub(super) fn store(&self, key: &[u8], value: &[u8], when: When<'_>) -> Result<bool> {
        let me = self.writer()?;
        self.store_hashed(me, key, Hash::of(self.region(), key), value, when)
    }

    #[inline(always)]
    pub(super) fn set_hashed(&self, me: u32, key: &[u8], hash: Hash, value: &[u8]) -> Result<()> {
        self.store_hashed(me, key, hash, value, When::Always)
            .map(|_| ())
    }

    #[inline(always)]
    fn store_hashed(
        &self,
        me: u32,
        key: &[u8],
        hash: Hash,
        value: &[u8],
        when: When<'_>,
    ) -> Result<bool> {
        if Chain::is_needed(key, value)? {
            return self.store_large(me, key, hash, value, when);
        }
        // On its way while the lock is taken.
        warm_both(self.region(), hash);
        self.locked(hash.shard, me, |lock| {
            let spot = find(lock, hash, key)?;
            if !when.holds(lock, &spot)? {
                return Ok(false);
            }
            if let Spot::Taken(found) = &spot
                && let Ok(word) = <[u8; 8]>::try_from(value)
                && let Some(place) = found.word(lock, key)
            {
                change_in_place(lock, place, u64::from_ne_bytes(word));
                return Ok(true);
            }
            let Some(item_ref) = write_small(lock, key, value)? else {
                return corrupt("the size of an item");
            };
            publish(lock, hash, spot, item_ref, key.len() + value.len())?;
            Ok(true)
        })
    }

    /// The pages of a large item are written before the shard is locked.
    #[cold]
    fn store_large(
        &self,
        me: u32,
        key: &[u8],
        hash: Hash,
        value: &[u8],
        when: When<'_>,
    ) -> Result<bool> {
        let mut chain = Some(self.chain(me, key, value)?);
        self.locked(hash.shard, me, |lock| {
            let spot = find(lock, hash, key)?;
            if !when.holds(lock, &spot)? {
                return Ok(false);
            }
            let Some(built) = &chain else {
                return corrupt("a chain that was used before");
            };
            let item_ref = write_large(lock, built, key, value)?;
            let old = link(lock, hash, spot, item_ref, key.len() + value.len())?;
            if let Some(built) = chain.take() {
                built.settle(lock);
            }
            old.map_or(Ok(()), |old| discard(lock, old))?;
            Ok(true)
        })
    }

    /// Takes the key out if it is there and `when` holds.
    #[inline(always)]
    pub(super) fn delete(&self, key: &[u8], when: When<'_>) -> Result<bool> {
        let me = self.writer()?;
        let hash = Hash::of(self.region(), key);
        warm_both(self.region(), hash);
        self.locked(hash.shard, me, |lock| {
            let spot = find(lock, hash, key)?;
            if !when.holds(lock, &spot)? {
                return Ok(false);
            }
            let Some(found) = spot.found() else {
                return Ok(false);
            };
            remove(&found);
            lock.head.items.sub_owned(1);
            lock.head.payload.sub_owned(found.payload);
            discard(lock, found.item_ref)?;
            Ok(true)
        })
    }
}

/// One store for the value, and one that tells who reads by other means than loads (`index::peek`).
/// Both release: who sees the word sees all that came before, the bumps among it.
#[inline(always)]
fn change_in_place(lock: &ShardLock<'_>, place: &W64, word: u64) {
    place.store(word, Ordering::Release);
    let counted = &lock.head.in_place;
    let count = counted.load(Ordering::Relaxed).wrapping_add(1);
    counted.store(count, Ordering::Release);
}

/// Lets the key lead to a written item and frees the one it led to.
#[inline(always)]
pub(super) fn publish(
    lock: &ShardLock<'_>,
    hash: Hash,
    spot: Spot<'_>,
    item_ref: u64,
    payload: usize,
) -> Step<()> {
    match link(lock, hash, spot, item_ref, payload)? {
        Some(old) => discard(lock, old),
        None => Ok(()),
    }
}

/// Lets the key lead to a written item; the item it led to is the caller's to free.
#[inline(always)]
fn link(
    lock: &ShardLock<'_>,
    hash: Hash,
    spot: Spot<'_>,
    item_ref: u64,
    payload: usize,
) -> Step<Option<u64>> {
    let counted = &lock.head.payload;
    match spot {
        Spot::Taken(found) => {
            let old = found.payload;
            replace(&found, hash, item_ref);
            let sum = counted.load(Ordering::Relaxed).wrapping_add(payload as u64);
            counted.store(sum.wrapping_sub(old), Ordering::Relaxed);
            Ok(Some(found.item_ref))
        }
        Spot::Free(segment) => {
            if let Err(stop) = insert(lock, hash, segment, item_ref) {
                // Its chain, if it has one, is still its builder's.
                crate::alloc::discard_block(lock, item_ref)?;
                return Err(stop);
            }
            lock.head.items.add_owned(1);
            counted.add_owned(payload as u64);
            Ok(None)
        }
    }
}

impl Table {
    /// Sets a key, whether or not it is there.
    ///
    /// # Errors
    /// [`Error::Full`](crate::Error::Full), [`Error::TooLarge`](crate::Error::TooLarge),
    /// [`Error::ReadOnly`](crate::Error::ReadOnly), [`Error::Corrupt`](crate::Error::Corrupt); the
    /// old value stays then.
    ///
    /// # Concurrency
    /// Others see the old value or the new one, whole.
    ///
    /// # Crash
    /// Killed before it returned: the old value or the new one. After: the new one.
    #[inline]
    pub fn set(&self, key: &[u8], value: &[u8]) -> Result<()> {
        self.core()?.store(key, value, When::Always).map(|_| ())
    }

    /// Sets a key only if it is missing; false: it is there and stays as it is.
    ///
    /// # Errors
    /// As [`Table::set`].
    pub fn add(&self, key: &[u8], value: &[u8]) -> Result<bool> {
        self.core()?.store(key, value, When::Absent)
    }

    /// Sets a key only if it is there; false: it is missing and stays so.
    ///
    /// # Errors
    /// As [`Table::set`].
    pub fn replace(&self, key: &[u8], value: &[u8]) -> Result<bool> {
        self.core()?.store(key, value, When::Present)
    }

    /// Removes a key; false: it was missing.
    ///
    /// # Errors
    /// As [`Table::set`], but never `Full`.
    ///
    /// # Crash
    /// Killed before it returned: the key is there, whole, or it is not.
    pub fn remove(&self, key: &[u8]) -> Result<bool> {
        self.core()?.delete(key, When::Always)
    }
}
