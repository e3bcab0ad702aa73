//! Pending changes: blocks to which slots lead while a transaction commits (`layout::pending`).

use super::{Step, take_block};
use crate::layout::{CHANGE_BYTES, CHANGE_COMMIT, CHANGE_NEW, CHANGE_OLD, UNIT, class_of};
use crate::lock::ShardLock;
use crate::region::Region;
use crate::sync::{Ordering, fence};

/// What a transaction changes about one key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PendingChange {
    /// The number of the commit word that decides.
    pub(crate) commit: u32,
    /// The ref of the key's item before; 0: it was missing.
    pub(crate) old: u64,
    /// The ref of its item afterwards; 0: it is removed.
    pub(crate) new: u64,
}

impl PendingChange {
    /// Writes the change to a new block, and returns the block's ref.
    pub(crate) fn write(self, lock: &ShardLock<'_>) -> Step<u64> {
        let class = class_of(CHANGE_BYTES).expect("a small block");
        let change_ref = take_block(lock, class)?;
        // ALLOC-2: see `write` in `alloc::write`.
        fence(Ordering::Release);
        let word = |at: u64| lock.region.word(change_ref * UNIT + at);
        word(CHANGE_COMMIT).store(self.commit.into(), Ordering::Relaxed);
        word(CHANGE_OLD).store(self.old, Ordering::Relaxed);
        word(CHANGE_NEW).store(self.new, Ordering::Relaxed);
        Ok(change_ref)
    }

    /// Reads a change. Returns `None` if there is none at that ref. Without the shard's lock, the
    /// caller rechecks the bucket version afterwards.
    pub(crate) fn read(region: &Region, change_ref: u64) -> Option<Self> {
        let block = region.block(change_ref)?;
        if block.room() < CHANGE_BYTES {
            return None;
        }
        let word = |at: u64| block.word(at).load(Ordering::Relaxed);
        Some(Self {
            commit: u32::try_from(word(CHANGE_COMMIT)).ok()?,
            old: word(CHANGE_OLD),
            new: word(CHANGE_NEW),
        })
    }
}
