//! Memory: pages from the pool, blocks from slabs, chains of pages for large items. All of it is
//! derived from the index, so recovery after a death rebuilds it instead of undoing writes.
//!
//! Recovery (`recover`) reads the index and writes these structures again. Only this must hold at
//! every instruction:
//!
//! **ALLOC-1** A page is in one state, by one word ([`PageWord`](crate::layout::PageWord)).
//! **ALLOC-2** A block or page that a slot led to is not used again before the version of the
//! slot's bucket has risen, and a release fence precedes every change of its bytes
//! ([`write::write_small`]). **ALLOC-3** Nothing is written to a page that is not backed by memory
//! ([`pool::provision`]).
//!
//! Functions that run under a lock make no system calls. If they lack something they return
//! [`Stop::Need`]; the caller unlocks, fetches it, and starts the step again.

#[allow(unsafe_code)]
mod bytes;
#[forbid(unsafe_code)]
mod capacity;
#[forbid(unsafe_code)]
mod chain;
#[forbid(unsafe_code)]
mod decimal;
#[forbid(unsafe_code)]
mod extent;
#[forbid(unsafe_code)]
mod fields;
#[forbid(unsafe_code)]
mod item;
#[forbid(unsafe_code)]
mod large;
#[forbid(unsafe_code)]
mod max_size;
#[forbid(unsafe_code)]
mod orphans;
#[forbid(unsafe_code)]
mod pending;
#[forbid(unsafe_code)]
mod pieces;
#[forbid(unsafe_code)]
mod pool;
#[forbid(unsafe_code)]
mod slab;
#[forbid(unsafe_code)]
mod strays;
#[forbid(unsafe_code)]
mod tags;
#[forbid(unsafe_code)]
mod uid;
#[forbid(unsafe_code)]
mod unraised;
#[forbid(unsafe_code)]
mod write;

use crate::error::Error;
pub(crate) use capacity::{
    available, capacity, free as free_pages, in_hand, is_full, is_over, may_hold, reckon,
    set as set_capacity, within_reach,
};
pub(crate) use chain::{Chain, reclaim_pages};
pub(crate) use decimal::{DIGITS, decimal, decimal_u64};
pub(crate) use extent::{Extents, build_extent, extent_names, find_extent};
pub(crate) use item::Item;
pub(crate) use max_size::{damaged_max_size, raise_max_size};
pub(crate) use orphans::{find_orphans, free_orphans, keep_pinned, orphan_pages};
pub(crate) use pending::PendingChange;
pub(crate) use pool::{
    GRACE_PERIOD_S, give, give_back, give_up_free, give_up_some, is_worth_giving_back,
    lock as lock_pool, provision, raise_high_water, rebuild as rebuild_pool, recompute_overhead,
    take,
};
pub(crate) use slab::{
    choose_source, forget_blocks, free_block as discard_block, home_of, is_used, lose_empty_page,
    next_used, note_block, reclaim_page, spare_source, take_block, take_block_there,
};
pub(crate) use strays::{adopt_strays, release_claims};
pub use tags::Tags;
pub(crate) use uid::{
    announce, chunk_page, count_change, entry_of, forget_chunks, free_uid, give_empty_chunk,
    has_empty_chunk, leads_to, link_chunk, make_unbacked, mark_use, next_unbacked, resolve_uid,
    store as store_entry, take_uid, unused_for,
};
pub(crate) use write::{
    Shown, Stamp, can_count, copy_with_field, discard, expect_expiry, write_counter, write_large,
    write_small, write_tag,
};

/// Why a step under a lock ended early.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The caller fetches this without the lock, then starts the step again.
    Need(Need),
    /// The operation fails.
    Fail(Error),
}

/// What a step under a lock lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// Pages in the pool.
    Pages(u32),
    /// A directory that is backed for this many entries.
    Directory { shard: u32, entries: u32 },
    /// A shard's uid directory that is backed further.
    UidDirectory { shard: u32 },
    /// Room for so many bytes in the journal.
    Journal { bytes: u64 },
    /// The pieces of a value in the journal once more.
    Pieces,
}

/// The result of a step under a lock.
pub(crate) type Step<T> = Result<T, Stop>;

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Fail(error)
    }
}

/// Returns the error of a step that has found contradictory bytes.
#[cold]
pub(crate) fn corrupt<T>(what: &'static str) -> Step<T> {
    Err(Stop::Fail(Error::Corrupt { what }))
}
