//! Records in memory: a change and its record are one.
//!
//! Under the lock of its shard, and then under the journal's, a change is made in this order:
//!
//! | step | readers have | if we die here, the next one who locks the journal |
//! |---|---|---|
//! | `place` and `word` of the change, `at` = `tail` | the old value | forgets them, by `at` |
//! | the record is copied behind `tail` | the old value | the same; the bytes are overwritten |
//! | **`tail` rises** | the old value | **makes the change**: `at` is before `tail` |
//! | the word is stored | the new value | stores the same word |
//! | `at` = 0 | the new value | does nothing |
//!
//! **JRN-1** A record is before `tail` if and only if its change was made, or is made before anyone
//! else locks the journal or the shard. The place stays what it is until then: the shard is locked,
//! and the process that takes it from the dead owner locks the journal first (`finish_record`),
//! before anything of the shard moves.
//!
//! **JRN-2** `tail` rises before a reader can see the change. So a process that acts on what
//! it saw has a later record; and if a record survives a power failure, so does every one whose
//! change its writer may have seen.
//!
//! **JRN-3** Before a change is made, the ring and the files have room for its record; else nothing
//! happens, the step ends with `Need::Journal`, and begins again when there is room. So a full disk
//! is an error before any change, and no record waits for a disk under a shard's lock.

use super::draft::Draft;
use super::record::Kind;
use crate::alloc::{Need, Step, Stop};
use crate::error::Result;
use crate::layout::{JournalHead, RING};
use crate::lock::{JournalLock, Me, ShardLock, Taken};
use crate::region::Region;
#[cfg(feature = "shuttle")]
use crate::sync::model;
use crate::sync::{Ordering, W64};
#[cfg(not(feature = "shuttle"))]
use std::cell::{Cell, RefCell};

#[cfg(not(feature = "shuttle"))]
thread_local! {
    /// The memory of the record that this thread is writing.
    static DRAFT: RefCell<Draft> = RefCell::new(Draft::default());
    /// The end of the last record of a change of this thread for which it has not waited, and the
    /// address of the journal that has it: a thread may use several tables. 0: none.
    static LAST: Cell<(usize, u64)> = const { Cell::new((0, 0)) };
}
#[cfg(feature = "shuttle")]
static LAST: model::NumberPerThread = model::NumberPerThread;

/// Calls a function with the memory of the record that this thread is writing.
fn with_draft<T>(write: impl FnOnce(&mut Draft) -> T) -> T {
    #[cfg(not(feature = "shuttle"))]
    return DRAFT.with_borrow_mut(write);
    // All of the checker's threads are one of the system.
    #[cfg(feature = "shuttle")]
    write(&mut Draft::default())
}

/// Returns the head of the journal.
pub(crate) fn head(region: &Region) -> &JournalHead {
    region.journal_head(region.journal())
}

/// Returns the end of the last change that this thread has recorded in this journal and has not
/// taken yet, or 0.
#[cfg(not(feature = "shuttle"))]
pub(crate) fn take_last(region: &Region) -> u64 {
    let (journal, end) = LAST.take();
    if journal == address_of(head(region)) {
        end
    } else {
        0
    }
}

/// In models, a thread has one table.
#[cfg(feature = "shuttle")]
pub(crate) fn take_last(_: &Region) -> u64 {
    LAST.take()
}

#[cfg(not(feature = "shuttle"))]
fn note_last(head: &JournalHead, end: u64) {
    LAST.set((address_of(head), end));
}

#[cfg(feature = "shuttle")]
fn note_last(_: &JournalHead, end: u64) {
    LAST.set(end);
}

#[cfg(not(feature = "shuttle"))]
fn address_of(head: &JournalHead) -> usize {
    core::ptr::from_ref(head) as usize
}

/// Returns whether the ring and the files have room for so many bytes. Under the journal's lock.
fn fits(head: &JournalHead, bytes: u64) -> bool {
    let tail = head.tail.load(Ordering::Relaxed);
    // Both only rise. Pairs with the releases of those who write them.
    let written = head.written.load(Ordering::Acquire);
    let allocated = head.allocated.load(Ordering::Acquire);
    let limit = (written + head.ring.load(Ordering::Relaxed)).min(allocated);
    head.state.load(Ordering::Acquire) == 0 && tail + bytes <= limit
}

/// Makes what a dead owner of the journal's lock has left as if it had not died.
pub(crate) fn finish_record(region: &Region, me: Me) -> Result<()> {
    if region.is_journaled() {
        acquire(region, me)?;
    }
    Ok(())
}

/// Locks the records.
pub(super) fn acquire(region: &Region, me: Me) -> Result<JournalLock<'_>> {
    let (lock, taken) = JournalLock::acquire(region, me)?;
    if let Taken::FromDead { .. } = taken {
        finish_last(region);
    }
    Ok(lock)
}

/// Makes the change of the last record, if that is before the tail (JRN-1).
#[cold]
fn finish_last(region: &Region) {
    let head = head(region);
    let at = head.at.load(Ordering::Relaxed);
    if at != 0 && at < head.tail.load(Ordering::Relaxed) {
        let place = head.place.load(Ordering::Relaxed);
        if let Some(place) = region.word_if(place) {
            place.store(head.word.load(Ordering::Relaxed), Ordering::Release);
        }
    }
    head.at.store(0, Ordering::Release);
}

/// The change for which a record is appended.
pub(crate) struct Appended<'a> {
    pub(crate) place: &'a W64,
    pub(crate) word: u64,
}

/// Writes a record of one change, and makes the change. `write` adds the change to the record.
/// `decide`, under the journal's lock, may find that it is another one after all, and writes that;
/// then it returns true.
pub(crate) fn record(
    lock: &ShardLock<'_>,
    change: &Appended<'_>,
    write: impl FnOnce(&mut Draft) -> Step<()>,
    decide: impl FnOnce(&mut Draft) -> Step<bool>,
) -> Step<()> {
    with_draft(|draft| {
        draft.begin(Kind::Commit);
        write(draft)?;
        draft.seal();
        let journal = acquire(lock.region, lock.me)?;
        if decide(draft)? {
            draft.seal();
        }
        append(lock.region, &journal, draft, Some(change)).map(drop)
    })
}

/// Writes a record of several changes, and makes them by one store. `decide` as in [`record`].
pub(crate) fn record_all(
    region: &Region,
    me: Me,
    change: &Appended<'_>,
    draft: &mut Draft,
    decide: impl FnOnce(&mut Draft) -> Step<bool>,
) -> Step<()> {
    draft.seal();
    let journal = acquire(region, me)?;
    if decide(draft)? {
        draft.seal();
    }
    append(region, &journal, draft, Some(change)).map(drop)
}

/// Writes a record that changes no key. Returns its position.
pub(crate) fn record_note(region: &Region, me: Me, draft: &mut Draft) -> Step<u64> {
    draft.seal();
    let journal = acquire(region, me)?;
    append(region, &journal, draft, None)
}

/// Writes a piece of a value. Returns its position.
pub(crate) fn record_piece(region: &Region, me: Me, first: u64, bytes: &[u8]) -> Step<u64> {
    with_draft(|draft| {
        draft.begin(Kind::Piece);
        draft.push_word(first);
        draft.push_bytes(bytes);
        record_note(region, me, draft)
    })
}

/// Returns whether pieces from this position on are still read after a power failure. Under the
/// journal's lock, or a hint.
pub(crate) fn is_kept(region: &Region, first: u64) -> bool {
    first >= head(region).keep.load(Ordering::Acquire)
}

/// Returns the tail, and notes that earlier pieces are not read any more: a snapshot begins here.
pub(crate) fn begin_snapshot(region: &Region, me: Me) -> Result<u64> {
    let _journal = acquire(region, me)?;
    let head = head(region);
    let tail = head.tail.load(Ordering::Relaxed);
    head.keep.store(tail, Ordering::Release);
    Ok(tail)
}

fn append(
    region: &Region,
    _: &JournalLock<'_>,
    draft: &mut Draft,
    change: Option<&Appended<'_>>,
) -> Step<u64> {
    let head = head(region);
    let bytes = draft.len();
    if !fits(head, bytes) {
        return Err(Stop::Need(Need::Journal { bytes }));
    }
    let position = head.tail.load(Ordering::Relaxed);
    let synced = head.synced.load(Ordering::Relaxed);
    let id = head.id.load(Ordering::Relaxed);
    let bytes = draft.at(id, position, synced);
    if let Some(change) = change {
        head.place
            .store(region.offset_of(change.place), Ordering::Relaxed);
        head.word.store(change.word, Ordering::Relaxed);
        head.at.store(position, Ordering::Release);
    }
    copy_in(region, position, bytes);
    let end = position + bytes.len() as u64;
    // The release: who sees the tail sees the record, and the note (JRN-1).
    head.tail.store(end, Ordering::Release);
    if let Some(change) = change {
        note_last(head, end);
        // Pairs with the acquire loads of the word: a reader sees what it leads to.
        change.place.store(change.word, Ordering::Release);
        head.at.store(0, Ordering::Release);
    }
    Ok(position)
}

fn copy_in(region: &Region, position: u64, bytes: &[u8]) {
    let ring = ring_len(region);
    let at = position & (ring - 1);
    let (first, second) = bytes.split_at(bytes.len().min((ring - at) as usize));
    let start = region.journal() + RING;
    region.copy_in(start + at, first);
    region.copy_in(start, second);
}

/// Copies records out of the ring. They are behind `written`, so that nobody overwrites them.
pub(crate) fn copy_out(region: &Region, position: u64, out: &mut [u8]) {
    let ring = ring_len(region);
    let at = position & (ring - 1);
    let len = out.len().min((ring - at) as usize);
    let (first, second) = out.split_at_mut(len);
    let start = region.journal() + RING;
    region.copy_out(start + at, first);
    region.copy_out(start, second);
}

fn ring_len(region: &Region) -> u64 {
    head(region).ring.load(Ordering::Relaxed)
}

/// Returns the end of the last record.
pub(crate) fn tail(region: &Region) -> u64 {
    head(region).tail.load(Ordering::Acquire)
}

/// Returns how many bytes the record of a transaction should have at most: longer values are sent
/// before it, in pieces.
pub(crate) fn most_inline(region: &Region) -> u64 {
    ring_len(region) / 2
}

/// Returns how many bytes a record can have at most.
pub(crate) fn most_bytes(region: &Region) -> u64 {
    ring_len(region)
}
