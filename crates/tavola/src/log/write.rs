//! Writing a line.

use super::Ring;
use super::sheets::Taken;
use crate::layout::{LINE_HEAD, LineHead, MOST_TEXT, SHEET_WORDS, SheetState};
use crate::lock::Me;
use crate::sync::Ordering;
use crate::sys::clock::unix_ns;

/// A clock's steps are shorter.
const CLOCK_NS: u64 = 1_000_000;

/// A thread found no free sheet with room for so many words, and none whose lines are written out.
/// Another look is not worth it before `passes` rises or a shorter line comes.
#[derive(Clone, Copy, Debug)]
struct Full {
    passes: u32,
    words: u32,
    /// Lines that are refused, or sheets that are taken over older lines, before it looks again
    /// all the same: a process that dies gives its sheets up without raising `passes`.
    more: u8,
}

impl Full {
    const BETWEEN_LOOKS: u8 = 255;

    /// After a look that found nothing, or instead of one.
    fn again(before: Option<Self>, passes: u32, words: u32) -> Self {
        let fresh = Self {
            passes,
            words,
            more: Self::BETWEEN_LOOKS,
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
    /// When it last found no sheet with room.
    full: Option<Full>,
    /// When it wrote last.
    time: u64,
}

impl Hand {
    /// Of who has not written yet.
    pub(crate) const EMPTY: Self = Self {
        sheet: None,
        full: None,
        time: 0,
    };

    /// The time of the next line: later than that of the last, which the clock may not have left
    /// yet, unless it was set back.
    fn now(&mut self) -> u64 {
        let now = unix_ns();
        let is_same = now <= self.time && self.time - now < CLOCK_NS;
        self.time = if is_same { self.time + 1 } else { now };
        self.time
    }
}

/// A line to be written.
pub(crate) struct Line<'a> {
    pub(crate) level: u8,
    /// There is no drain, so its writer is to show it.
    pub(crate) is_shown: bool,
    pub(crate) pid: u32,
    pub(crate) tid: u32,
    /// What has no room on a sheet of its own is cut.
    pub(crate) text: &'a [u8],
}

impl Line<'_> {
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

/// What became of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Put {
    /// It is there, with this time.
    Written { time: u64 },
    /// All free sheets are full of lines that no drain has written out.
    NotDrained,
    /// Every sheet is in the hand of a living thread.
    NoSheet,
}

impl Ring<'_> {
    /// Writes a line on the thread's sheet, or on the next.
    #[inline]
    pub(crate) fn put(&self, me: Me, hand: &mut Hand, line: &Line<'_>) -> Put {
        if let Some(sheet) = hand.sheet
            && let Some(time) = self.write(sheet, hand, line)
        {
            return Put::Written { time };
        }
        self.put_on_next(me, hand, line)
    }

    #[cold]
    fn put_on_next(&self, me: Me, hand: &mut Hand, line: &Line<'_>) -> Put {
        let is_first = hand.sheet.is_none();
        if !is_first {
            self.give_up(me, hand);
        }
        // Pairs with the releases in `call_writers` and `let_go`: there may be a sheet after them.
        let passes = self.head.passes.load(Ordering::Acquire);
        let words = line.head().words();
        let full = hand
            .full
            .filter(|full| full.passes == passes && full.words <= words);
        match self.take(me, words, is_first, full.is_some_and(|full| full.more > 0)) {
            Taken::Sheet { sheet, is_over } => {
                hand.full = is_over.then(|| Full::again(full, passes, words));
                hand.sheet = Some(sheet);
                self.call_drain();
                match self.write(sheet, hand, line) {
                    Some(time) => Put::Written { time },
                    None => Put::NoSheet,
                }
            }
            Taken::NotDrained => {
                hand.full = Some(Full::again(full, passes, words));
                self.call_drain();
                Put::NotDrained
            }
            Taken::AllInHand => Put::NoSheet,
        }
    }

    /// Lets others have the sheet.
    pub(crate) fn give_up(&self, me: Me, hand: &mut Hand) {
        if let Some(sheet) = hand.sheet.take() {
            self.let_go(me, sheet);
        }
    }

    /// LOG-2: the state last. `None`: there is no room.
    #[inline]
    fn write(&self, sheet: u32, hand: &mut Hand, line: &Line<'_>) -> Option<u64> {
        let head = self.sheet(sheet);
        let state = SheetState::decode(head.state.load(Ordering::Relaxed));
        let mut told = line.head();
        let words = told.words();
        if state.used + words > SHEET_WORDS {
            return None;
        }
        // Before the time: a drain that does not see this, later, knows of no earlier line to come.
        let writing = SheetState {
            is_writing: true,
            ..state
        };
        // Release, as of each line: who sees this state sees the lines it counts.
        head.state.store(writing.encode(), Ordering::Release);
        let text = &line.text[..told.len as usize];
        let place = self.place(sheet, state.used);
        self.region.copy_in(place + u64::from(LINE_HEAD) * 8, text);
        told.time = hand.now();
        for (at, word) in (0..).zip(told.encode()) {
            self.region
                .word(place + at * 8)
                .store(word, Ordering::Relaxed);
        }
        head.time.store(told.time, Ordering::Relaxed);
        let used = state.used + words;
        let written = SheetState {
            used,
            lines: state.lines + 1,
            is_writing: false,
            sequence: state.sequence,
        };
        // Pairs with the acquire in `state`.
        head.state.store(written.encode(), Ordering::Release);
        Some(told.time)
    }
}
