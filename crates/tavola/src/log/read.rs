//! Reading lines, in the order of their times.
//!
//! A reader copies the words of all sheets, splits the copies into lines and sorts these by time. A
//! line is complete when `state` counts it (LOG-2), and a copy is valid if the sheet's sequence has
//! not changed (LOG-3). What is left is to know up to which time no line is missing: see
//! `stable_until`.

use super::LogRing;
use crate::layout::{Drained, LEVELS, LINE_HEAD, LineHead, SheetState};
use crate::sync::{Ordering, fence};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// How much later than its time a line may become visible if its writer was not held up. Store
/// buffers drain within nanoseconds, and at every context switch.
const QUIET_NS: u64 = 1_000_000;
/// How long to wait for a writer that is held up in the middle of a line.
const HELD_UP: Duration = Duration::from_millis(100);
/// A line that is further ahead of the clock than this was written before the clock was set back.
const FUTURE_NS: u64 = 1_000_000_000;

/// A line that was found.
pub(crate) struct FoundLine {
    pub(crate) head: LineHead,
    /// Its time. Not earlier than that of the line before it on the sheet, unless the clock was set
    /// back.
    order: u64,
    /// Where its text begins in the reader's bytes.
    at: usize,
}

/// How far a sheet was read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SheetRead {
    pub(crate) sheet: u32,
    pub(crate) state: SheetState,
    /// Words up to the end of the last line found; all words, if what follows is damaged.
    pub(crate) words: u32,
    /// How many lines were found.
    pub(crate) lines: u32,
}

/// What is on a sheet.
pub(crate) struct Use {
    pub(crate) words: u32,
    pub(crate) lines: u32,
    /// How many of the lines no drain has written out.
    pub(crate) awaiting: u32,
    pub(crate) is_in_hand: bool,
}

/// State and time of a sheet on which a line is being written.
type WritingState = (SheetState, u64);

/// Copies of the lines of all sheets.
#[derive(Default)]
pub(crate) struct LineReader {
    bytes: Vec<u8>,
    /// How many of the bytes are copies; the rest is spare.
    len: usize,
    pub(crate) found: Vec<FoundLine>,
    pub(crate) read: Vec<SheetRead>,
    /// Sheets on which a line is being written: state and time, and since when they have not
    /// changed.
    held_up: HashMap<u32, (WritingState, Instant)>,
}

impl LineReader {
    pub(crate) fn text(&self, found: &FoundLine) -> &[u8] {
        &self.bytes[found.at..found.at + found.head.len as usize]
    }

    /// Returns a time before which no further line can appear, unless its writer is held up for
    /// long.
    pub(crate) fn stable_until(&mut self, ring: &LogRing<'_>, now: u64) -> u64 {
        let mut stable = now.saturating_sub(QUIET_NS);
        let mut still = HashMap::new();
        let started = Instant::now();
        for sheet in 0..ring.geometry.sheets {
            let head = ring.sheet(sheet);
            let state = head.state();
            if !state.is_writing {
                continue;
            }
            let pending = (state, head.time.load(Ordering::Relaxed));
            let since = match self.held_up.get(&sheet) {
                Some((same, since)) if *same == pending => *since,
                _ => started,
            };
            still.insert(sheet, (pending, since));
            if started.duration_since(since) < HELD_UP {
                stable = stable.min(pending.1);
            }
        }
        self.held_up = still;
        stable
    }

    /// Finds the lines of all sheets with times up to `until`. `from` returns the word at which to
    /// begin on a sheet. A line whose time is far in the future is included.
    pub(crate) fn collect(
        &mut self,
        ring: &LogRing<'_>,
        now: u64,
        until: u64,
        mut from: impl FnMut(u32, SheetState) -> u32,
    ) {
        self.len = 0;
        self.found.clear();
        self.read.clear();
        for sheet in 0..ring.geometry.sheets {
            let state = ring.sheet(sheet).state();
            let first = from(sheet, state);
            if first < state.used && self.copy(ring, sheet, state, first) {
                self.split(sheet, state, first, |time| {
                    time <= until || time > now.saturating_add(FUTURE_NS)
                });
            }
        }
        self.found.sort_by_key(|found| found.order);
    }

    /// Copies the words of a sheet from `first` on. Returns false if the sheet was restarted
    /// meanwhile (LOG-3).
    fn copy(&mut self, ring: &LogRing<'_>, sheet: u32, state: SheetState, first: u32) -> bool {
        let end = self.len + (state.used - first) as usize * 8;
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        let place = ring.place(sheet, first);
        ring.region.copy_out(place, &mut self.bytes[self.len..end]);
        // Pairs with the release fence in `renew`.
        fence(Ordering::Acquire);
        let is_same = ring.sheet(sheet).state().sequence == state.sequence;
        if is_same {
            self.len = end;
        }
        is_same
    }

    /// Returns all words of a sheet, or `None` if it was restarted meanwhile.
    pub(super) fn copy_of(
        &mut self,
        ring: &LogRing<'_>,
        sheet: u32,
        state: SheetState,
    ) -> Option<&[u8]> {
        self.len = 0;
        self.copy(ring, sheet, state, 0)
            .then_some(&self.bytes[..self.len])
    }

    /// Splits the words that were copied last into lines, and stops at the first that is not due.
    fn split(&mut self, sheet: u32, state: SheetState, first: u32, is_due: impl Fn(u64) -> bool) {
        let start = self.len - (state.used - first) as usize * 8;
        let (mut at, mut order, mut lines) = (first, 0, 0);
        while at < state.used {
            let place = start + (at - first) as usize * 8;
            let Some(head) = line_at(&self.bytes[place..self.len]) else {
                at = state.used;
                break;
            };
            order = match head.time.saturating_add(FUTURE_NS) < order {
                // The clock was set back.
                true => head.time,
                false => order.max(head.time),
            };
            if !is_due(order) {
                break;
            }
            lines += 1;
            self.found.push(FoundLine {
                head,
                order,
                at: place + LINE_HEAD as usize * 8,
            });
            at += head.words();
        }
        if at > first {
            self.read.push(SheetRead {
                sheet,
                state,
                words: at,
                lines,
            });
        }
    }
}

impl LogRing<'_> {
    /// Returns how far each sheet is written.
    pub(crate) fn states(&self) -> impl Iterator<Item = SheetState> + '_ {
        (0..self.geometry.sheets).map(|sheet| self.sheet(sheet).state())
    }

    /// Returns what is on each sheet.
    pub(crate) fn uses(&self) -> impl Iterator<Item = Use> + '_ {
        (0..self.geometry.sheets).map(|sheet| {
            let head = self.sheet(sheet);
            let state = head.state();
            let drained = Drained::decode(head.drained.load(Ordering::Relaxed), state);
            Use {
                words: state.used,
                lines: state.lines,
                awaiting: state.lines - drained.lines,
                is_in_hand: head.owner.load(Ordering::Relaxed) != 0,
            }
        })
    }
}

/// Returns the head of the line at the beginning of these bytes, or `None` if there is no valid
/// line.
pub(super) fn line_at(bytes: &[u8]) -> Option<LineHead> {
    let (words, _) = bytes.as_chunks::<8>();
    let words: &[[u8; 8]; LINE_HEAD as usize] = words.first_chunk()?;
    let head = LineHead::decode(words.map(u64::from_le_bytes));
    let fits = head.words() as usize * 8 <= bytes.len();
    (fits && LEVELS.contains(&head.level)).then_some(head)
}
