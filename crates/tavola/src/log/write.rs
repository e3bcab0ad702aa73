//! Writing a line: the words first, then `state`, whose one store makes the line exist (LOG-2).

use super::LogRing;
use super::sheets::SheetTaken;
use crate::layout::{LINE_HEAD, LineHead, MOST_TEXT, SHEET_WORDS, SheetState};
use crate::lock::Me;
use crate::sync::Ordering;
use crate::sys::clock::unix_ns;

/// An upper bound for the steps of a clock.
const CLOCK_NS: u64 = 1_000_000;

/// The memory of a search that found no free sheet with room for so many words, and none whose
/// lines are written out. Another search is useless until `passes` rises or a shorter line comes.
#[derive(Clone, Copy, Debug)]
struct Full {
    passes: u32,
    words: u32,
    /// How many more lines are refused, or sheets overwritten, before the thread searches all the
    /// same: a process that dies releases its sheets without raising `passes`.
    more: u8,
}

impl Full {
    const BETWEEN_SEARCHES: u8 = 255;

    /// Returns what to remember after a search that found nothing, or instead of a search.
    fn again(before: Option<Self>, passes: u32, words: u32) -> Self {
        let fresh = Self {
            passes,
            words,
            more: Self::BETWEEN_SEARCHES,
        };
        match before {
            Some(full) if full.more > 0 => Self {
                more: full.more - 1,
                ..full
            },
            _ => fresh,
        }
    }
}

/// What a thread has of a log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hand {
    /// The sheet it writes on.
    pub(super) sheet: Option<u32>,
    /// What it remembers of the last search that found no sheet.
    full: Option<Full>,
    /// The time of its last line.
    time: u64,
}

impl Hand {
    /// The hand of a thread that has not written yet.
    pub(crate) const EMPTY: Self = Self {
        sheet: None,
        full: None,
        time: 0,
    };

    /// Returns the time of the next line: later than that of the last line even if the clock has
    /// not advanced, unless the clock was set back.
    fn now(&mut self) -> u64 {
        let now = unix_ns();
        let is_same = now <= self.time && self.time - now < CLOCK_NS;
        self.time = if is_same { self.time + 1 } else { now };
        self.time
    }
}

/// A line to be written.
pub(crate) struct NewLine<'a> {
    pub(crate) level: u8,
    /// There is no drain, so the writer shows the line itself.
    pub(crate) is_shown: bool,
    pub(crate) pid: u32,
    pub(crate) tid: u32,
    /// Text that does not fit on an empty sheet is cut.
    pub(crate) text: &'a [u8],
}

impl NewLine<'_> {
    fn head(&self) -> LineHead {
        let len = self.text.len().min(MOST_TEXT);
        LineHead {
            len: len as u32,
            level: self.level,
            is_shown: self.is_shown,
            cut: u32::try_from(self.text.len() - len).unwrap_or(u32::MAX),
            time: 0,
            pid: self.pid,
            tid: self.tid,
        }
    }
}

/// What happened to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Put {
    /// It was written, with this time.
    Written { time: u64 },
    /// All free sheets are full of lines that no drain has written out.
    NotDrained,
    /// Living threads own all sheets.
    NoSheet,
}

impl LogRing<'_> {
    /// Writes a line on the thread's sheet, or on the next one.
    #[inline]
    pub(crate) fn put(&self, me: Me, hand: &mut Hand, line: &NewLine<'_>) -> Put {
        if let Some(sheet) = hand.sheet
            && let Some(time) = self.write(sheet, hand, line)
        {
            return Put::Written { time };
        }
        self.put_on_next(me, hand, line)
    }

    /// Releases the thread's sheet, takes another, and writes the line there. If the last
    /// search found no sheet that is free of awaiting lines, and nothing has changed since
    /// ([`Full`]), does not search for one.
    #[cold]
    fn put_on_next(&self, me: Me, hand: &mut Hand, line: &NewLine<'_>) -> Put {
        let is_first = hand.sheet.is_none();
        if !is_first {
            self.give_up(me, hand);
        }
        // Pairs with the releases in `call_writers` and `let_go`: after these there may be a free
        // sheet.
        let passes = self.head.passes.load(Ordering::Acquire);
        let words = line.head().words();
        let full = hand
            .full
            .filter(|full| full.passes == passes && full.words <= words);
        match self.take(me, words, is_first, full.is_some_and(|full| full.more > 0)) {
            SheetTaken::Sheet { sheet, is_over } => {
                hand.full = is_over.then(|| Full::again(full, passes, words));
                hand.sheet = Some(sheet);
                self.call_drain();
                match self.write(sheet, hand, line) {
                    Some(time) => Put::Written { time },
                    None => Put::NoSheet,
                }
            }
            SheetTaken::NotDrained => {
                hand.full = Some(Full::again(full, passes, words));
                self.call_drain();
                Put::NotDrained
            }
            SheetTaken::AllInHand => Put::NoSheet,
        }
    }

    /// Releases the thread's sheet.
    pub(crate) fn give_up(&self, me: Me, hand: &mut Hand) {
        if let Some(sheet) = hand.sheet.take() {
            self.let_go(me, sheet);
        }
    }

    /// Writes a line on a sheet, storing the state last (LOG-2). Returns `None` if it does not fit.
    #[inline]
    fn write(&self, sheet: u32, hand: &mut Hand, line: &NewLine<'_>) -> Option<u64> {
        let head = self.sheet(sheet);
        let state = SheetState::decode(head.state.load(Ordering::Relaxed));
        let mut line_head = line.head();
        let words = line_head.words();
        if state.used + words > SHEET_WORDS {
            return None;
        }
        // The state comes before the time: a drain that later sees no line being written knows that
        // none with an earlier time will appear.
        let writing = SheetState {
            is_writing: true,
            ..state
        };
        // Release, as for each line: a reader that sees this state sees the lines that it counts.
        head.state.store(writing.encode(), Ordering::Release);
        let text = &line.text[..line_head.len as usize];
        let place = self.place(sheet, state.used);
        self.region.copy_in(place + u64::from(LINE_HEAD) * 8, text);
        line_head.time = hand.now();
        for (at, word) in (0..).zip(line_head.encode()) {
            self.region
                .word(place + at * 8)
                .store(word, Ordering::Relaxed);
        }
        head.time.store(line_head.time, Ordering::Relaxed);
        let used = state.used + words;
        let written = SheetState {
            used,
            lines: state.lines + 1,
            is_writing: false,
            sequence: state.sequence,
        };
        // Pairs with the acquire in `state`.
        head.state.store(written.encode(), Ordering::Release);
        Some(line_head.time)
    }
}
