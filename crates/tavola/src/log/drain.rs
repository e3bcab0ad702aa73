//! The drain: who lines are kept for.

use super::Ring;
use super::read::{Read, Reader};
use crate::layout::{self, BLOCK};
use crate::lock::{Me, is_alive, sleep, wake};
use crate::sync::Ordering;
use std::time::Duration;

/// How long an idle drain sleeps at most before it looks itself.
const NAP: Duration = Duration::from_millis(10);

/// Makes the participant the drain, if there is none that lives; `Err`: who is.
pub(crate) fn begin_drain(ring: &Ring<'_>, me: Me) -> Result<(), u32> {
    let word = &ring.head.drain;
    loop {
        let drain = word.load(Ordering::Relaxed);
        if drain == me.id() || drain != 0 && is_alive(ring.region, drain, me) {
            return Err(drain);
        }
        if word.cas(drain, me.id(), Ordering::Relaxed).is_ok() {
            // The last may have died before it said what it had dealt with.
            call_writers(ring);
            return Ok(());
        }
    }
}

/// There is no drain any more; writers that wait for one learn of it.
pub(crate) fn end_drain(ring: &Ring<'_>, drain: u32) {
    if ring.head.drain.cas(drain, 0, Ordering::Relaxed).is_ok() {
        call_writers(ring);
    }
}

/// Who found no sheet, and those that wait, look again. Pairs with the acquire in `put_on_next`.
fn call_writers(ring: &Ring<'_>) {
    ring.head.passes.fetch_add(1, Ordering::Release);
    if ring.geometry.policy == BLOCK {
        wake(&ring.head.passes, u32::MAX);
    }
}

/// Whether there is a drain; one that has died is none from now on.
pub(crate) fn is_drained(ring: &Ring<'_>, me: Me) -> bool {
    let drain = ring.head.drain.load(Ordering::Relaxed);
    if drain != 0 && !is_alive(ring.region, drain, me) {
        end_drain(ring, drain);
        return false;
    }
    drain != 0
}

/// What a drain keeps from pass to pass.
#[derive(Default)]
pub(crate) struct Drained {
    pub(crate) reader: Reader,
    /// `drained` of the sheets that were read, as it was.
    words: Vec<u64>,
}

impl Drained {
    /// Finds the lines with times up to `until`, or, if that is not told, those before which none
    /// is to come.
    pub(crate) fn collect(&mut self, ring: &Ring<'_>, now: u64, until: Option<u64>) {
        let until = until.unwrap_or_else(|| self.reader.stable_until(ring, now));
        self.words.clear();
        self.words.resize(ring.geometry.sheets as usize, 0);
        let words = &mut self.words;
        self.reader.collect(ring, (now, until), |sheet, state| {
            let word = ring.sheet(sheet).drained.load(Ordering::Relaxed);
            words[sheet as usize] = word;
            layout::Drained::decode(word, state).words
        });
    }

    /// LOG-4: what was found is written out. Writers that wait for it go on.
    pub(crate) fn finish(&mut self, ring: &Ring<'_>) {
        for read in &self.reader.read {
            self.deal_with(ring, read);
        }
        if self.reader.read.is_empty() {
            return;
        }
        call_writers(ring);
    }

    fn deal_with(&self, ring: &Ring<'_>, read: &Read) {
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
        // Those that are damaged are lost.
        let lost = (behind.lines - before.lines).saturating_sub(read.lines);
        ring.head.dropped.fetch_add(lost.into(), Ordering::Relaxed);
        let drained = &ring.sheet(read.sheet).drained;
        // Pairs with that of `restart`: one of us deals with these lines.
        let is_ours = drained.cas(word, behind.encode(), Ordering::AcqRel).is_ok();
        if !is_ours {
            // The other has counted all of them.
            ring.take_back(u64::from(behind.lines - before.lines));
        }
    }
}

impl Ring<'_> {
    /// Lines that were dropped and not told of, and what is to be noted when they are
    /// ([`Self::note_reported`]). Some of them may be taken back (LOG-4): fewer are told later.
    pub(crate) fn newly_dropped(&self) -> (u64, u64) {
        let dropped = self.head.dropped.load(Ordering::Relaxed);
        let told = self.head.told.load(Ordering::Relaxed);
        (dropped.saturating_sub(told), dropped.max(told))
    }

    pub(crate) fn note_reported(&self, told: u64) {
        self.head.told.store(told, Ordering::Relaxed);
    }

    /// Sleeps until a sheet was taken, or for a nap.
    pub(crate) fn idle(&self, limit: Duration) {
        let calls = self.head.calls.load(Ordering::Relaxed);
        self.head.is_idle.store(1, Ordering::Relaxed);
        sleep(&self.head.calls, calls, limit.min(NAP));
        self.head.is_idle.store(0, Ordering::Relaxed);
    }

    /// Sleeps until a drain has dealt with something since `passes`, or for a nap.
    pub(crate) fn wait_for_drain(&self, passes: u32) {
        sleep(&self.head.passes, passes, NAP);
    }
}
