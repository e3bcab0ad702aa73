//! The drain: the one reader for which lines are kept until it has written them out.
//!
//! The word `drain` names the participant that is the drain. Each sheet's word `drained` says which
//! of its lines have been dealt with, and only a compare and exchange moves it: so the drain and a
//! writer that drops lines never both count the same ones for good (LOG-4).

use super::LogRing;
use super::read::{LineReader, SheetRead};
use crate::layout::{self, BLOCK};
use crate::lock::{Me, is_alive, sleep, wake};
use crate::sync::Ordering;
use std::time::Duration;

/// The longest that an idle drain or a waiting writer sleeps before it checks by itself.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Makes the participant the drain. Returns `Err` with the present drain if that one lives.
pub(crate) fn begin_drain(ring: &LogRing<'_>, me: Me) -> Result<(), u32> {
    let word = &ring.head.drain;
    loop {
        let drain = word.load(Ordering::Relaxed);
        if drain == me.id() || drain != 0 && is_alive(ring.region, drain, me) {
            return Err(drain);
        }
        if word.cas(drain, me.id(), Ordering::Relaxed).is_ok() {
            // The last drain may have died before it called the writers.
            call_writers(ring);
            return Ok(());
        }
    }
}

/// Removes this drain, and wakes the writers that wait for one.
pub(crate) fn end_drain(ring: &LogRing<'_>, drain: u32) {
    if ring.head.drain.cas(drain, 0, Ordering::Relaxed).is_ok() {
        call_writers(ring);
    }
}

/// Makes writers search for a sheet again, both those that wait and those that last found none.
/// Pairs with the acquire in `put_on_next`.
fn call_writers(ring: &LogRing<'_>) {
    ring.head.passes.fetch_add(1, Ordering::Release);
    if ring.geometry.policy == BLOCK {
        wake(&ring.head.passes, u32::MAX);
    }
}

/// Returns whether there is a living drain; a dead one is removed.
pub(crate) fn is_drained(ring: &LogRing<'_>, me: Me) -> bool {
    let drain = ring.head.drain.load(Ordering::Relaxed);
    if drain != 0 && !is_alive(ring.region, drain, me) {
        end_drain(ring, drain);
        return false;
    }
    drain != 0
}

/// What a drain keeps from pass to pass.
#[derive(Default)]
pub(crate) struct DrainState {
    pub(crate) reader: LineReader,
    /// The word `drained` of each sheet, as it was when the sheet was read.
    words: Vec<u64>,
}

impl DrainState {
    /// Finds the lines with times up to `until`. If that is `None`, up to the time before which no
    /// further line can appear.
    pub(crate) fn collect(&mut self, ring: &LogRing<'_>, now: u64, until: Option<u64>) {
        let until = until.unwrap_or_else(|| self.reader.stable_until(ring, now));
        self.words.clear();
        self.words.resize(ring.geometry.sheets as usize, 0);
        let words = &mut self.words;
        self.reader.collect(ring, now, until, |sheet, state| {
            let word = ring.sheet(sheet).drained.load(Ordering::Relaxed);
            words[sheet as usize] = word;
            layout::Drained::decode(word, state).words
        });
    }

    /// Marks the lines that were found as written out (LOG-4), and wakes the writers that wait for
    /// that.
    pub(crate) fn finish(&mut self, ring: &LogRing<'_>) {
        for read in &self.reader.read {
            self.deal_with(ring, read);
        }
        if self.reader.read.is_empty() {
            return;
        }
        call_writers(ring);
    }

    /// Moves `drained` of one sheet behind the lines that were read, and counts the damaged ones.
    fn deal_with(&self, ring: &LogRing<'_>, read: &SheetRead) {
        let word = self.words[read.sheet as usize];
        let before = layout::Drained::decode(word, read.state);
        let behind = layout::Drained {
            sequence: read.state.sequence,
            words: read.words,
            lines: match read.words == read.state.used {
                true => read.state.lines,
                false => (before.lines + read.lines).min(read.state.lines),
            },
        };
        // Lines between the last good one and the end of the sheet are damaged and lost.
        let lost = (behind.lines - before.lines).saturating_sub(read.lines);
        ring.head.dropped.fetch_add(lost.into(), Ordering::Relaxed);
        let drained = &ring.sheet(read.sheet).drained;
        // Pairs with the exchange in `drop_awaiting`: only one of the two deals with these lines.
        let is_ours = drained.cas(word, behind.encode(), Ordering::AcqRel).is_ok();
        if !is_ours {
            // A writer was faster, and has counted all of them as dropped.
            ring.take_back(u64::from(behind.lines - before.lines));
        }
    }
}

impl LogRing<'_> {
    /// Returns how many dropped lines have not been reported yet, and the number to pass to
    /// [`Self::note_reported`] when they have been. Some of them may be taken back (LOG-4); then
    /// fewer are reported later.
    pub(crate) fn newly_dropped(&self) -> (u64, u64) {
        let dropped = self.head.dropped.load(Ordering::Relaxed);
        let reported = self.head.reported_dropped.load(Ordering::Relaxed);
        (dropped.saturating_sub(reported), dropped.max(reported))
    }

    pub(crate) fn note_reported(&self, dropped: u64) {
        self.head.reported_dropped.store(dropped, Ordering::Relaxed);
    }

    /// Sleeps until a sheet is taken, for at most `limit` and `POLL_INTERVAL`.
    pub(crate) fn idle(&self, limit: Duration) {
        let calls = self.head.calls.load(Ordering::Relaxed);
        self.head.is_idle.store(1, Ordering::Relaxed);
        sleep(&self.head.calls, calls, limit.min(POLL_INTERVAL));
        self.head.is_idle.store(0, Ordering::Relaxed);
    }

    /// Sleeps until the drain has dealt with something since `passes` was read, for at most
    /// `POLL_INTERVAL`.
    pub(crate) fn wait_for_drain(&self, passes: u32) {
        sleep(&self.head.passes, passes, POLL_INTERVAL);
    }
}
