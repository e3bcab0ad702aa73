//! The bytes of the region: what is where, how wide it is, and what each state means.
//!
//! ```text
//! 0                 superblock       4 KiB: identity, geometry, heads of the page pool, extents
//! shards_off        shard heads      1.5 KiB each: index root, lock word, counters, class heads
//! participants_off  participants     128 B each
//! samples_off       samples          64 of 64 B: counters of a cache, second by second
//! timings_off       times            8 of 512 B: latency histograms
//! page_table_off    page table       8 B a page
//! dirs_off          directories      4 B an entry, the largest size of each reserved, sparse
//! uids_off          uid directories  4 B a chunk, the largest size of each reserved, sparse
//! leases_off        lease records    16 of 128 B a shard, sparse
//! watches_off       watch records    9 of 64 B a shard, sparse
//! first_page        pages            16 KiB each: segments, slabs, large items, extents
//! ```
//!
//! Every structure consists of [`W32`](crate::sync::W32) and [`W64`](crate::sync::W64) words: fixed
//! widths, no pointers, no padding, little-endian, the same for every target. [`assert_layout!`]
//! checks sizes and offsets at compile time; [`tables`] prints them for `docs/internals/format.md`.

mod area;
mod bucket;
mod class;
mod clock;
mod describe;
mod extent;
mod fold;
mod geometry;
mod item;
mod journal;
mod lease;
mod locks;
mod log;
mod name;
mod owner;
mod page_word;
mod participant;
mod pending;
mod pin;
mod queue;
mod sample;
mod shard;
mod slab;
mod superblock;
mod timing;
mod uid;
mod watch;

pub(crate) use area::{AREA_DATA, AreaHead, area_len};
pub(crate) use bucket::{
    ACCESSED, AGAIN, BUCKETS, Bucket, HINT_MAX, PROTECTED, REF_MASK, SLOTS, Segment, ghost_age,
    ghost_word, is_key, pending_ref, pending_word, slot_ref, slot_tag, slot_word,
};
pub(crate) use class::{CLASSES, Class, LARGEST_BLOCK, class_of};
pub(crate) use clock::ClockWord;
pub use describe::tables;
pub(crate) use extent::{EXTENTS, Extent, ExtentKind, ExtentName, ExtentState, PageRun};
pub(crate) use fold::fold;
pub(crate) use geometry::{Geometry, MAX_SIZE, MIN_SIZE, WORDS_STEP};
pub(crate) use item::{
    FLAG_CLIENT, FLAG_COUNTER, FLAG_EXPIRY, FLAG_LARGE, FLAG_TAG, FLAG_TAGGED, FLAG_UID,
    FLAG_VERSION, Fixed, Header, LargeLink, MAX_DATA, MOST_HEAD, MOST_SMALL, MOST_TAGS, is_word,
    large_split,
};
pub(crate) use journal::{JournalGeometry, JournalHead, MOST_RING, RING};
pub(crate) use lease::{LEASES, LEASES_BACKED, LONGEST_LEASE_MS, LeaseRecord, LeaseView};
pub(crate) use locks::{
    LOCK_EXTENTS, LockName, LockRecord, LocksHead, MOST_SHARING, locks_len, record_off, records_of,
};
pub(crate) use log::{
    BLOCK, DROP_NEWEST, DROP_OLDEST, Drained, FEWEST_SHEETS, LEVELS, LINE_HEAD, LineHead,
    LogGeometry, LogHead, MOST_SHEETS, MOST_TEXT, SHEET, SHEET_WORDS, SheetHead, SheetState,
};
pub(crate) use name::Name;
pub(crate) use owner::Owner;
pub(crate) use page_word::{FIRST_MASK, PageWord};
pub(crate) use participant::{PARTICIPANTS, Participant};
pub(crate) use pending::{
    CHANGE_BYTES, CHANGE_COMMIT, CHANGE_NEW, CHANGE_OLD, COMMITS, CommitWord,
};
pub(crate) use pin::{PINS, PinWord};
pub(crate) use queue::{
    MOST_ELEMENTS, MOST_QUEUES, QueueGeometry, QueueHead, QueueJournal, QueueName, QueuePoolHead,
};
pub(crate) use sample::{CacheSample, SAMPLES, Sampled, SampledWord};
pub(crate) use shard::{
    ClassHead, DIR_INLINE, HandWord, LEASE_ENDS, LayoutWord, ShardHead, SweepWord, UidLayout,
};
pub(crate) use slab::SlabPage;
pub(crate) use superblock::{
    COPIED_IN_USE, FORMAT, FORMAT_1, MAGIC, MOST_MS, PagesWord, Pool, Superblock, fingerprint,
};
pub(crate) use timing::{BINS, TIMINGS, Timing, bin_end_ns, count_time};
pub use uid::Hint;
pub(crate) use uid::{UID_ENTRIES, UID_FIRST, UID_UNBACKED, UidEntry, UidPage, UidPlace};
pub(crate) use watch::{WATCHES, WATCHES_BACKED, WatchRecord};

/// Bytes of a page: one segment, one slab, or a piece of a large item.
pub(crate) const PAGE: u64 = 16 * 1024;
/// `log2(PAGE)`.
pub(crate) const PAGE_SHIFT: u32 = 14;
/// Refs count in units of this many bytes.
pub(crate) const UNIT: u64 = 8;

/// Asserts the size of a shared structure and the offsets of its fields. As the offsets are those
/// of adjoining fields of these widths, the structure has no padding.
macro_rules! assert_layout {
    ($type:ty, size $size:expr, { $($field:ident: $offset:expr),* $(,)? }) => {
        const _: () = {
            assert!(core::mem::size_of::<$type>() == $size);
            $(assert!(core::mem::offset_of!($type, $field) == $offset);)*
        };
        impl $crate::layout::Described for $type {
            const SIZE: usize = $size;
            const FIELDS: &'static [(&'static str, usize)] =
                &[$((stringify!($field), $offset)),*];
        }
    };
}
pub(crate) use assert_layout;

/// A structure that [`tables`] prints.
pub(crate) trait Described {
    /// Bytes of the structure.
    const SIZE: usize;
    /// Its fields with their offsets, in order.
    const FIELDS: &'static [(&'static str, usize)];
}
