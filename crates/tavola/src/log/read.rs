//! Reading lines, in the order of their times.

use super::Ring;
use crate::layout::{Drained, LEVELS, LINE_HEAD, LineHead, SheetState};
use crate::sync::{Ordering, fence};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// How much later than its time a line may become visible, when its writer was not held up: store
/// buffers are emptied within nanoseconds, and by every switch of threads.
const QUIET_NS: u64 = 1_000_000;
/// Writers that are held up in the middle of a line are waited for so long.
const HELD_UP: Duration = Duration::from_millis(100);
/// A line from so far in the future was written before the clock was set back.
const FUTURE_NS: u64 = 1_000_000_000;

/// A line that was found.
pub(crate) struct Found {
    pub(crate) head: LineHead,
    /// Its time; not before that of the line before it on its sheet, unless the clock was set back.
    order: u64,
    /// Where its text stands in the reader's bytes.
    at: usize,
}

/// How far a sheet was read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Read {
    pub(crate) sheet: u32,
    pub(crate) state: SheetState,
    /// Words up to the end of the last line found; all, if what follows is damaged.
    pub(crate) words: u32,
    /// Lines found.
    pub(crate) lines: u32,
}

/// What is on a sheet.
pub(crate) struct Use {
    pub(crate) words: u32,
    pub(crate) lines: u32,
    /// Of these, lines that no drain has written out.
    pub(crate) awaiting: u32,
    pub(crate) is_in_hand: bool,
}

/// State and time of a sheet.
type Pending = (SheetState, u64);

/// Copies of the lines of all sheets.
#[derive(Default)]
pub(crate) struct Reader {
    bytes: Vec<u8>,
    /// Of these, bytes that were copied.
    len: usize,
    pub(crate) found: Vec<Found>,
    pub(crate) read: Vec<Read>,
    /// Sheets on which a line is being written: state and time, and since when they are that.
    held_up: HashMap<u32, (Pending, Instant)>,
}

impl Reader {
    pub(crate) fn text(&self, found: &Found) -> &[u8] {
        &self.bytes[found.at..found.at + found.head.len as usize]
    }

    /// No line with an earlier time than this is still to come, unless its writer is held up for
    /// long.
    pub(crate) fn stable_until(&mut self, ring: &Ring<'_>, now: u64) -> u64 {
        let mut stable = now.saturating_sub(QUIET_NS);
        let mut still = HashMap::new();
        let looked = Instant::now();
        for sheet in 0..ring.geometry.sheets {
            let head = ring.sheet(sheet);
            let state = head.state();
            if !state.is_writing {
                continue;
            }
            let pending = (state, head.time.load(Ordering::Relaxed));
            let since = match self.held_up.get(&sheet) {
                Some((same, since)) if *same == pending => *since,
                _ => looked,
            };
            still.insert(sheet, (pending, since));
            if looked.duration_since(since) < HELD_UP {
                stable = stable.min(pending.1);
            }
        }
        self.held_up = still;
        stable
    }

    /// Finds the lines of all sheets with times up to `until`, from the word on that `from` tells;
    /// a line from the future counts, too.
    pub(crate) fn collect(
        &mut self,
        ring: &Ring<'_>,
        (now, until): (u64, u64),
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

    /// LOG-3. False: the sheet was begun anew meanwhile.
    fn copy(&mut self, ring: &Ring<'_>, sheet: u32, state: SheetState, first: u32) -> bool {
        let end = self.len + (state.used - first) as usize * 8;
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        let place = ring.place(sheet, first);
        ring.region.copy_out(place, &mut self.bytes[self.len..end]);
        // Pairs with the release fence in `restart`.
        fence(Ordering::Acquire);
        let is_same = ring.sheet(sheet).state().sequence == state.sequence;
        if is_same {
            self.len = end;
        }
        is_same
    }

    /// All words of a sheet; `None`: it was begun anew meanwhile.
    pub(super) fn copy_of(
        &mut self,
        ring: &Ring<'_>,
        sheet: u32,
        state: SheetState,
    ) -> Option<&[u8]> {
        self.len = 0;
        self.copy(ring, sheet, state, 0)
            .then_some(&self.bytes[..self.len])
    }

    /// Splits the words that were copied last into lines, as long as they are due.
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
            self.found.push(Found {
                head,
                order,
                at: place + LINE_HEAD as usize * 8,
            });
            at += head.words();
        }
        if at > first {
            self.read.push(Read {
                sheet,
                state,
                words: at,
                lines,
            });
        }
    }
}

impl Ring<'_> {
    /// How far each sheet is written.
    pub(crate) fn states(&self) -> impl Iterator<Item = SheetState> + '_ {
        (0..self.geometry.sheets).map(|sheet| self.sheet(sheet).state())
    }

    /// What is on each sheet.
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

/// The head of the line that these bytes begin with; `None`: they are none.
pub(super) fn line_at(bytes: &[u8]) -> Option<LineHead> {
    let (words, _) = bytes.as_chunks::<8>();
    let words: &[[u8; 8]; LINE_HEAD as usize] = words.first_chunk()?;
    let head = LineHead::decode(words.map(u64::from_le_bytes));
    let fits = head.words() as usize * 8 <= bytes.len();
    (fits && LEVELS.contains(&head.level)).then_some(head)
}
