//! The journal of a durable table, in an extent: a ring of records that are on their way to disk,
//! and how far they have come.
//!
//! ```text
//! 0          head     1408 B: sizes, positions, locks, the directory of the table
//! 4096       ring     a power of two: the byte of position p is at p mod its length
//! ```
//!
//! A position counts the bytes of all records since the table was created; it never repeats. The
//! numbers of the head keep this order: `synced <= written <= tail <= allocated`, and
//! `tail - written` is at most the length of the ring.

use super::assert_layout;
use super::fold::fold;
use crate::sync::{Ordering, W32, W64};

/// The offset of the ring in the extent.
pub(crate) const RING: u64 = 4096;
/// The smallest ring takes two of the longest records of one key; half of the largest takes a
/// transaction of as many changes as one may have, with names of 64 bytes.
const LEAST_RING: u64 = 256 << 10;
pub(crate) const MOST_RING: u64 = 16 << 20;
/// The most bytes of the directory's path, in words.
const HOME_WORDS: usize = 132;
/// `TavolaJR`.
const MAGIC: u64 = u64::from_le_bytes(*b"TavolaJR");

/// The beginning of a journal. Each line is guarded by one lock.
#[repr(C, align(64))]
pub(crate) struct JournalHead {
    /// `TavolaJR`.
    magic: W64,
    /// Bytes of the ring.
    pub(crate) ring: W64,
    /// Bytes of records in one file.
    pub(crate) segment: W64,
    /// Identifies the journal in the checks of its records.
    pub(crate) id: W64,
    /// Of the words before it.
    checksum: W64,
    unused: [W64; 3],
    /// The lock word (`lock`) of this line.
    pub(crate) lock: W32,
    unused_lock: W32,
    /// The end of the last record.
    pub(crate) tail: W64,
    /// The change that the last record describes: the offset of a word of the table, its new
    /// content, and the position of the record. 0 as position: the change was made.
    pub(crate) place: W64,
    pub(crate) word: W64,
    pub(crate) at: W64,
    /// Where the last snapshot that was begun begins: earlier pieces are not read any more.
    pub(crate) keep: W64,
    unused_tail: [W64; 2],
    /// The lock word of `written`: its holder writes to the files.
    pub(crate) write_lock: W32,
    /// The lock word of `allocated`: its holder makes files.
    pub(crate) extend_lock: W32,
    /// Records before it are in the files.
    pub(crate) written: W64,
    /// Records before it have room in the files.
    pub(crate) allocated: W64,
    unused_written: [W64; 5],
    /// The lock word of `synced`: its holder syncs the files.
    pub(crate) sync_lock: W32,
    /// Rises after each sync; those who wait for one sleep on it.
    pub(crate) syncs: W32,
    /// Records before it survive a power failure.
    pub(crate) synced: W64,
    /// How long all syncs took, in nanoseconds.
    pub(crate) sync_ns: W64,
    /// The time of the table's clock that was last recorded.
    pub(crate) clock_ms: W64,
    /// How many threads may be sleeping on `syncs`.
    pub(crate) sleepers: W32,
    /// How many threads have begun to wait since the last sync began.
    pub(crate) arrivals: W32,
    /// How many the last sync has woken, or left waiting: they may be back soon.
    pub(crate) expected: W32,
    /// For how many the holder of the lock is waiting, 0 if it is not.
    pub(crate) gathering: W32,
    /// How many syncs begin without waiting for others, from now and from the last time that
    /// others did not come.
    pub(crate) skip: W32,
    pub(crate) skipped: W32,
    unused_synced: W64,
    /// The lock word of the rest: its holder makes a snapshot.
    pub(crate) snapshot_lock: W32,
    unused_state: W32,
    /// 0, or the error of the system for which the journal accepts no records.
    pub(crate) state: W64,
    /// Where the last complete snapshot begins, and its bytes; 0: there is none.
    pub(crate) snapshot: W64,
    pub(crate) snapshot_bytes: W64,
    /// When it was made, in milliseconds since 1970.
    pub(crate) snapshot_ms: W64,
    unused_snapshot: [W64; 3],
    /// The policy of the table and its time in ms, as in the file `table`.
    policy: W64,
    policy_ms: W64,
    /// The path of the directory, for those who find the memory first: its bytes, a checksum.
    home_len: W64,
    home_sum: W64,
    home: [W64; HOME_WORDS],
}
assert_layout!(JournalHead, size 1408, {
    magic: 0, ring: 8, segment: 16, id: 24, checksum: 32, unused: 40,
    lock: 64, unused_lock: 68, tail: 72, place: 80, word: 88, at: 96, keep: 104, unused_tail: 112,
    write_lock: 128, extend_lock: 132, written: 136, allocated: 144, unused_written: 152,
    sync_lock: 192, syncs: 196, synced: 200, sync_ns: 208, clock_ms: 216, sleepers: 224,
    arrivals: 228, expected: 232, gathering: 236, skip: 240, skipped: 244, unused_synced: 248,
    snapshot_lock: 256, unused_state: 260, state: 264, snapshot: 272, snapshot_bytes: 280,
    snapshot_ms: 288, unused_snapshot: 296,
    policy: 320, policy_ms: 328, home_len: 336, home_sum: 344, home: 352,
});

/// The sizes of a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct JournalGeometry {
    /// Bytes of the ring, a power of two.
    pub(crate) ring: u64,
    /// Bytes of records in one file.
    pub(crate) segment: u64,
}

impl JournalGeometry {
    /// Returns the sizes for a table of this `max_size`.
    pub(crate) fn of(max_size: u64, segment: u64) -> Self {
        Self {
            ring: (max_size / 8)
                .next_power_of_two()
                .clamp(LEAST_RING, MOST_RING),
            segment,
        }
    }

    /// Returns the bytes of the extent.
    pub(crate) fn len(&self) -> u64 {
        RING + self.ring
    }
}

impl JournalHead {
    /// Writes the sizes, and the position at which records begin. No other process sees it yet.
    pub(crate) fn init(&self, geometry: &JournalGeometry, id: u64, position: u64) {
        let order = Ordering::Relaxed;
        self.magic.store(MAGIC, order);
        self.ring.store(geometry.ring, order);
        self.segment.store(geometry.segment, order);
        self.id.store(id, order);
        for word in [
            &self.tail,
            &self.keep,
            &self.written,
            &self.allocated,
            &self.synced,
        ] {
            word.store(position, order);
        }
        self.checksum.store(self.sum(), Ordering::Release);
    }

    /// Returns the sizes, or `None` if this is no journal, or a damaged one.
    pub(crate) fn verify(&self) -> Option<JournalGeometry> {
        let order = Ordering::Relaxed;
        let geometry = JournalGeometry {
            ring: self.ring.load(order),
            segment: self.segment.load(order),
        };
        let is_it = self.magic.load(order) == MAGIC
            && self.checksum.load(order) == self.sum()
            && geometry.ring.is_power_of_two()
            && (LEAST_RING..=MOST_RING).contains(&geometry.ring)
            && geometry.segment > 0;
        is_it.then_some(geometry)
    }

    /// Notes the directory of the table and its policy, which say nothing about the content. A path
    /// that is too long is not noted.
    pub(crate) fn note_home(&self, path: &[u8], policy: [u64; 2]) {
        let order = Ordering::Relaxed;
        self.policy.store(policy[0], order);
        self.policy_ms.store(policy[1], order);
        if path.len() > 8 * HOME_WORDS || self.home().is_some_and(|home| home == path) {
            return;
        }
        for (word, bytes) in self.home.iter().zip(path.chunks(8)) {
            let mut whole = [0; 8];
            whole[..bytes.len()].copy_from_slice(bytes);
            word.store(u64::from_le_bytes(whole), order);
        }
        self.home_len.store(path.len() as u64, order);
        self.home_sum.store(sum_of(path), order);
    }

    /// Returns the path of the directory, unless it was not noted or is just being changed.
    pub(crate) fn home(&self) -> Option<Vec<u8>> {
        let order = Ordering::Relaxed;
        let len = self.home_len.load(order) as usize;
        let words = self.home.iter().map(|word| word.load(order));
        let bytes = words.flat_map(u64::to_le_bytes).take(len);
        let path: Vec<u8> = bytes.collect();
        (len > 0 && path.len() == len && self.home_sum.load(order) == sum_of(&path)).then_some(path)
    }

    /// Returns the policy, as it was noted.
    pub(crate) fn policy(&self) -> [u64; 2] {
        [&self.policy, &self.policy_ms].map(|word| word.load(Ordering::Relaxed))
    }

    fn sum(&self) -> u64 {
        let words = [&self.magic, &self.ring, &self.segment, &self.id];
        fold(&words.map(|word| word.load(Ordering::Relaxed)))
    }
}

fn sum_of(path: &[u8]) -> u64 {
    let words: Vec<u64> = path.iter().map(|byte| u64::from(*byte)).collect();
    fold(&words)
}
