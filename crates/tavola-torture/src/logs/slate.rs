//! Lines that verify themselves, and what became of each of them.

use crate::system::shared_words;
use crate::value::{opened, sealed};
use std::io;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use tavola::{LogLine, LogSink};

/// The writers of lines in a case.
pub(super) const MAKER: u64 = 0;
pub(super) const VICTIM: u64 = 1;
pub(super) const FINDER: u64 = 2;
pub(super) const SURVIVOR: u64 = 3;
const WRITERS: usize = 4;
/// Lines of one writer there is room for.
const MOST: usize = 256;

/// What is known of a line from who wrote it.
pub(super) const BEGUN: u64 = 1;
pub(super) const RETURNED: u64 = 2;

/// Which line it is: the writer, and its number among that writer's lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct LineId {
    pub(super) writer: u64,
    pub(super) number: u64,
}

/// A line: its writer and its number, sealed with its length.
pub(super) fn text(line: LineId, filler: usize) -> Vec<u8> {
    let key = line.writer.to_le_bytes();
    [&key[..], &sealed(&key, line.number, filler)].concat()
}

/// Which line it is, if it is whole.
pub(super) fn opened_line(line: &LogLine<'_>) -> Result<LineId, String> {
    let whole = line.text.split_first_chunk().and_then(|(key, rest)| {
        let number = opened(key, rest)?;
        let writer = u64::from_le_bytes(*key);
        Some(LineId { writer, number })
    });
    match whole {
        Some(whole) if line.cut == 0 => Ok(whole),
        _ => Err(format!("a line of {} bytes is not whole", line.text.len())),
    }
}

/// What processes of a case note: of each line how far it came, and how often it was written out.
#[derive(Clone, Copy)]
pub(super) struct Slate {
    words: &'static [AtomicU64],
}

/// A line, how far it came, and how often it was written out.
#[derive(Clone, Copy)]
pub(super) struct Noted {
    pub(super) line: LineId,
    pub(super) state: u64,
    pub(super) written: u64,
}

const LINES: usize = WRITERS * MOST;

impl LineId {
    /// The place of the line's words.
    fn place(self) -> usize {
        self.writer as usize * MOST + self.number as usize
    }
}

impl Slate {
    pub(super) fn new() -> io::Result<Self> {
        let words = shared_words(2 * LINES + 2)?;
        Ok(Self { words })
    }

    pub(super) fn copy(&self) -> Vec<u64> {
        self.words.iter().map(|word| word.load(Relaxed)).collect()
    }

    pub(super) fn restore(&self, from: &[u64]) {
        for (word, value) in self.words.iter().zip(from) {
            word.store(*value, Relaxed);
        }
    }

    pub(super) fn clear(&self) {
        self.words.iter().for_each(|word| word.store(0, Relaxed));
    }

    pub(super) fn note(&self, line: LineId, state: u64) {
        self.words[line.place()].store(state, Relaxed);
    }

    /// Returns the state of a line, or `None` if nobody writes such lines.
    pub(super) fn state(&self, line: LineId) -> Option<u64> {
        let known = line.writer < WRITERS as u64 && line.number < MOST as u64;
        known.then(|| self.words[line.place()].load(Relaxed))
    }

    fn wrote(&self, line: LineId) {
        self.words[LINES + line.place()].fetch_add(1, Relaxed);
    }

    /// Lines that were written out by passes that did not return.
    pub(super) fn unfinished(&self) -> &AtomicU64 {
        &self.words[2 * LINES]
    }

    /// Dropped lines that were reported to drains.
    pub(super) fn reported(&self) -> &AtomicU64 {
        &self.words[2 * LINES + 1]
    }

    pub(super) fn all(&self) -> impl Iterator<Item = Noted> {
        let words = self.words;
        (0..LINES).map(move |at| Noted {
            line: LineId {
                writer: (at / MOST) as u64,
                number: (at % MOST) as u64,
            },
            state: words[at].load(Relaxed),
            written: words[LINES + at].load(Relaxed),
        })
    }
}

/// Takes lines, and notes them as written out when it is asked to.
pub(super) struct Sink<'a> {
    slate: Slate,
    pub(super) lines: Vec<LineId>,
    noted: usize,
    last_ns: u64,
    /// Lines may come late: their writer is another process.
    may_be_late: bool,
    pub(super) faults: Vec<String>,
    /// Done in the middle of a pass.
    between: &'a mut dyn FnMut(),
}

impl<'a> Sink<'a> {
    pub(super) fn new(slate: Slate, may_be_late: bool, between: &'a mut dyn FnMut()) -> Self {
        Self {
            slate,
            lines: Vec::new(),
            noted: 0,
            last_ns: 0,
            may_be_late,
            faults: Vec::new(),
            between,
        }
    }
}

impl LogSink for Sink<'_> {
    fn line(&mut self, line: &LogLine<'_>) -> io::Result<()> {
        match opened_line(line) {
            Ok(whole) if self.slate.state(whole).is_some_and(|state| state >= BEGUN) => {
                self.lines.push(whole);
            }
            Ok(whole) => self.faults.push(format!("line {whole:?} was never begun")),
            Err(why) => self.faults.push(why),
        }
        if line.unix_ns < self.last_ns && !self.may_be_late {
            let late = self.last_ns - line.unix_ns;
            self.faults
                .push(format!("a line comes {late} ns after a later one"));
        }
        self.last_ns = self.last_ns.max(line.unix_ns);
        Ok(())
    }

    fn dropped(&mut self, lines: u64) -> io::Result<()> {
        self.slate.reported().fetch_add(lines, Relaxed);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        let new = &self.lines[self.noted..];
        self.slate.unfinished().fetch_add(new.len() as u64, Relaxed);
        new.iter().for_each(|line| self.slate.wrote(*line));
        self.noted = self.lines.len();
        (self.between)();
        Ok(())
    }
}
