//! A log, in an extent: sheets on which threads write lines; one thread at a time writes on a
//! sheet.
//!
//! Every sheet has a few words of its own, and `state` is the one that matters: it counts the valid
//! lines, so one store of it makes a line exist.
//!
//! ```text
//! 0          head                192 B: numbers, the drain, where to search for the next sheet
//! heads      sheet heads          64 B each
//! sheets     sheets            16 KiB each: lines one after the other, from the first word on
//! ```
//!
//! A line is three words and its text, padded to whole words:
//!
//! | word | bits | what |
//! |---|---|---|
//! | 0 | 0-15 | bytes of the text |
//! | 0 | 16-23 | level: 1 error, 2 warning, 3 information, 4 debug, 5 trace |
//! | 0 | 24 | there was no drain when it was written, so the writer was to show it itself |
//! | 0 | 32-63 | bytes of the text that did not fit |
//! | 1 | 0-63 | nanoseconds since 1970 |
//! | 2 | 0-31, 32-63 | process, thread |
//!
//! `owner` says which participant owns a sheet. `state` says how far it is written:
//!
//! | bits of `state` | what | changed by |
//! |---|---|---|
//! | 0-11 | words that are written | the owner |
//! | 12-23 | lines in these words | the owner |
//! | 24 | a line is being written | the owner |
//! | 32-63 | sequence: how often the sheet was restarted | the owner |
//!
//! `drained` says how much of a sheet is written out or counted as dropped: words in bits 0-15,
//! lines in 16-31, the sequence they belong to in 32-63. It is changed by compare and exchange, by
//! the drain and by a thread that restarts the sheet.

use super::{MAX_SIZE, PAGE, assert_layout};
use crate::sync::{Ordering, W32, W64};

/// Bytes of a sheet.
pub(crate) const SHEET: u64 = PAGE;
/// Words of a sheet.
pub(crate) const SHEET_WORDS: u32 = (SHEET / 8) as u32;
/// Words of a line before its text.
pub(crate) const LINE_HEAD: u32 = 3;
/// Bytes of the longest text.
pub(crate) const MOST_TEXT: usize = ((SHEET_WORDS - LINE_HEAD) * 8) as usize;
/// Valid levels of lines.
pub(crate) const LEVELS: core::ops::RangeInclusive<u8> = 1..=5;
/// The fewest and the most sheets of a log.
pub(crate) const FEWEST_SHEETS: u32 = 4;
pub(crate) const MOST_SHEETS: u32 = 1 << 20;

/// What happens to a line when every sheet is full of lines that no drain has written out: the
/// oldest lines are dropped, or this line is, or its writer waits for the drain.
pub(crate) const DROP_OLDEST: u32 = 0;
pub(crate) const DROP_NEWEST: u32 = 1;
pub(crate) const BLOCK: u32 = 2;

/// `TavolaLG`.
const MAGIC: u64 = u64::from_le_bytes(*b"TavolaLG");

/// The beginning of a log.
#[repr(C, align(64))]
pub(crate) struct LogHead {
    /// `TavolaLG`.
    magic: W64,
    /// Sheets.
    sheets: W32,
    /// [`DROP_OLDEST`], [`DROP_NEWEST`] or [`BLOCK`].
    policy: W32,
    /// Of the words before it.
    checksum: W64,
    unused: [W64; 5],
    /// The participant that is the drain; 0: none.
    pub(crate) drain: W32,
    /// 1: the drain may be sleeping on `calls`.
    pub(crate) is_idle: W32,
    /// Rises before the drain is woken.
    pub(crate) calls: W32,
    /// Rises when a drain has dealt with lines, and when a sheet was released.
    pub(crate) passes: W32,
    /// The value of `dropped` when the drain last reported it.
    pub(crate) reported_dropped: W64,
    unused_drain: [W64; 5],
    /// Counts the sheets tried: it determines which sheet a search tries next.
    pub(crate) next: W64,
    /// Lines that were overwritten before a drain wrote them out, or that did not fit.
    pub(crate) dropped: W64,
    unused_next: [W64; 6],
}
assert_layout!(LogHead, size 192, {
    magic: 0, sheets: 8, policy: 12, checksum: 16, unused: 24,
    drain: 64, is_idle: 68, calls: 72, passes: 76, reported_dropped: 80,
    unused_drain: 88, next: 128, dropped: 136, unused_next: 144,
});

/// One sheet.
#[repr(C, align(64))]
pub(crate) struct SheetHead {
    /// The participant of which a thread writes on the sheet; 0: none.
    pub(crate) owner: W32,
    reserved: W32,
    /// [`SheetState`].
    pub(crate) state: W64,
    /// [`Drained`].
    pub(crate) drained: W64,
    /// The time of its last line, or when the sheet was started. The next line's time is no
    /// earlier, unless the clock is set back.
    pub(crate) time: W64,
    unused: [W64; 4],
}
assert_layout!(SheetHead, size 64, {
    owner: 0, reserved: 4, state: 8, drained: 16, time: 24, unused: 32,
});

/// How far a sheet is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SheetState {
    pub(crate) sequence: u32,
    /// Words that are written.
    pub(crate) used: u32,
    /// Lines in these words.
    pub(crate) lines: u32,
    pub(crate) is_writing: bool,
}

impl SheetState {
    pub(crate) fn encode(self) -> u64 {
        u64::from(self.used)
            | u64::from(self.lines) << 12
            | u64::from(self.is_writing) << 24
            | u64::from(self.sequence) << 32
    }

    /// Decodes a word. Both numbers are bounded by the size of a sheet, even if the word is
    /// damaged.
    pub(crate) fn decode(word: u64) -> Self {
        let used = (word as u32 & 0xfff).min(SHEET_WORDS);
        Self {
            used,
            lines: ((word >> 12) as u32 & 0xfff).min(used / LINE_HEAD),
            is_writing: word >> 24 & 1 == 1,
            sequence: (word >> 32) as u32,
        }
    }
}

/// How much of a sheet was written out by a drain, or counted as dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Drained {
    pub(crate) sequence: u32,
    pub(crate) words: u32,
    /// Lines in these words.
    pub(crate) lines: u32,
}

impl Drained {
    pub(crate) fn encode(self) -> u64 {
        u64::from(self.words) | u64::from(self.lines) << 16 | u64::from(self.sequence) << 32
    }

    /// Decodes a word for a sheet in that state: if the word is of an earlier sequence, nothing is
    /// drained.
    pub(crate) fn decode(word: u64, state: SheetState) -> Self {
        let is_current = (word >> 32) as u32 == state.sequence;
        let word = if is_current { word as u32 } else { 0 };
        Self {
            sequence: state.sequence,
            words: (word & 0xffff).min(state.used),
            lines: (word >> 16).min(state.lines),
        }
    }
}

/// The first words of a line, decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LineHead {
    /// Bytes of the text.
    pub(crate) len: u32,
    pub(crate) level: u8,
    pub(crate) is_shown: bool,
    /// Bytes that did not fit.
    pub(crate) cut: u32,
    pub(crate) time: u64,
    pub(crate) pid: u32,
    pub(crate) tid: u32,
}

impl LineHead {
    pub(crate) fn encode(self) -> [u64; LINE_HEAD as usize] {
        let first = u64::from(self.len)
            | u64::from(self.level) << 16
            | u64::from(self.is_shown) << 24
            | u64::from(self.cut) << 32;
        let ids = u64::from(self.pid) | u64::from(self.tid) << 32;
        [first, self.time, ids]
    }

    pub(crate) fn decode(words: [u64; LINE_HEAD as usize]) -> Self {
        let [first, time, ids] = words;
        Self {
            len: first as u32 & 0xffff,
            level: (first >> 16) as u8,
            is_shown: first >> 24 & 1 == 1,
            cut: (first >> 32) as u32,
            time,
            pid: ids as u32,
            tid: (ids >> 32) as u32,
        }
    }

    /// Returns the words of the whole line.
    pub(crate) fn words(self) -> u32 {
        LINE_HEAD + self.len.div_ceil(8)
    }
}

/// Offsets in a log, all computed from one number. Part of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogGeometry {
    pub(crate) sheets: u32,
    pub(crate) policy: u32,
    pub(crate) sheets_off: u64,
    /// The length of the log in bytes.
    pub(crate) len: u64,
}

impl LogGeometry {
    /// A placeholder, not the geometry of any log.
    pub(crate) const NONE: Self = Self {
        sheets: 0,
        policy: 0,
        sheets_off: 0,
        len: 0,
    };

    /// Returns the geometry, or `None` if no such log can be created.
    pub(crate) fn new(sheets: u32, policy: u32) -> Option<Self> {
        if !(FEWEST_SHEETS..=MOST_SHEETS).contains(&sheets) || policy > BLOCK {
            return None;
        }
        let heads = size_of::<LogHead>() as u64 + u64::from(sheets) * 64;
        let sheets_off = heads.next_multiple_of(SHEET);
        let len = sheets_off + u64::from(sheets) * SHEET;
        (len < MAX_SIZE).then_some(Self {
            sheets,
            policy,
            sheets_off,
            len,
        })
    }

    /// Returns the offset of a sheet's head.
    pub(crate) fn head_off(&self, sheet: u32) -> u64 {
        size_of::<LogHead>() as u64 + u64::from(sheet) * size_of::<SheetHead>() as u64
    }

    /// Returns the offset of a sheet.
    pub(crate) fn sheet_off(&self, sheet: u32) -> u64 {
        self.sheets_off + u64::from(sheet) * SHEET
    }
}

impl LogHead {
    /// Writes everything but the sheets; the checksum last.
    pub(crate) fn init(&self, geometry: &LogGeometry) {
        let order = Ordering::Relaxed;
        for word in [&self.drain, &self.is_idle, &self.calls, &self.passes] {
            word.store(0, order);
        }
        for word in [&self.reported_dropped, &self.next, &self.dropped] {
            word.store(0, order);
        }
        self.sheets.store(geometry.sheets, order);
        self.policy.store(geometry.policy, order);
        self.magic.store(MAGIC, order);
        self.checksum.store(self.sum(), order);
    }

    /// Returns the geometry that the head describes, or `None` if the head is damaged.
    pub(crate) fn verify(&self) -> Option<LogGeometry> {
        let order = Ordering::Relaxed;
        let is_whole = self.magic.load(order) == MAGIC && self.checksum.load(order) == self.sum();
        let (sheets, policy) = (self.sheets.load(order), self.policy.load(order));
        LogGeometry::new(sheets, policy).filter(|_| is_whole)
    }

    fn sum(&self) -> u64 {
        let numbers = [&self.sheets, &self.policy].map(|word| word.load(Ordering::Relaxed));
        let [sheets, policy] = numbers.map(u64::from);
        super::fold::fold(&[MAGIC, sheets, policy])
    }
}

impl SheetHead {
    pub(crate) fn init(&self) {
        self.owner.store(0, Ordering::Relaxed);
        for word in [&self.state, &self.drained, &self.time] {
            word.store(0, Ordering::Relaxed);
        }
    }

    pub(crate) fn state(&self) -> SheetState {
        // Pairs with the releases of the line's writer: the lines that the state counts are
        // visible.
        SheetState::decode(self.state.load(Ordering::Acquire))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_and_damaged_ones_stay_within_the_sheet() {
        let state = SheetState {
            sequence: u32::MAX,
            used: SHEET_WORDS,
            lines: SHEET_WORDS / LINE_HEAD,
            is_writing: true,
        };
        assert_eq!(SheetState::decode(state.encode()), state);
        let damaged = SheetState::decode(u64::MAX);
        assert!(damaged.used <= SHEET_WORDS && damaged.lines <= damaged.used / LINE_HEAD);
        let drained = Drained {
            sequence: u32::MAX,
            words: SHEET_WORDS,
            lines: SHEET_WORDS / LINE_HEAD,
        };
        assert_eq!(Drained::decode(drained.encode(), state), drained);
        let earlier = Drained::decode(drained.encode(), SheetState::default());
        assert_eq!((earlier.words, earlier.lines), (0, 0));
        let line = LineHead {
            len: MOST_TEXT as u32,
            level: 5,
            is_shown: true,
            cut: u32::MAX,
            time: u64::MAX,
            pid: 1,
            tid: u32::MAX,
        };
        assert_eq!(LineHead::decode(line.encode()), line);
        assert_eq!(line.words(), SHEET_WORDS);
    }

    #[test]
    fn sheets_begin_behind_their_heads() {
        for sheets in [FEWEST_SHEETS, 256, MOST_SHEETS] {
            let g = LogGeometry::new(sheets, 0).unwrap();
            assert!(g.head_off(sheets) <= g.sheets_off && g.sheet_off(sheets) == g.len);
        }
        assert!(LogGeometry::new(FEWEST_SHEETS - 1, 0).is_none());
        assert!(LogGeometry::new(MOST_SHEETS + 1, 0).is_none());
        assert!(LogGeometry::new(FEWEST_SHEETS, BLOCK + 1).is_none());
    }
}
