//! What all processes of a run share: counters, and the faults they found, in words.

use crate::system::shared_words;
use std::io;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// Bytes of faults that are kept, a byte a word.
const LOG_BYTES: usize = 256 * 1024;
/// Characters of a fault that are kept.
const LINE: usize = 800;
/// Lanes there is room for.
pub(crate) const LANES: usize = 128;
/// Points of a case whose kinds of state there is room for.
const KINDS: usize = 1 << 16;

/// A counter of the whole run.
#[derive(Clone, Copy)]
pub(crate) enum Count {
    Faults,
    LogEnd,
    /// The next point of the case at hand.
    Next,
    /// Points of the case at hand that were killed at.
    Fired,
    Killed,
    Survived,
    ReadsBeside,
    Checks,
    SlowestTakeoverNs,
}

const COUNTS: usize = 9;

/// A word of one lane.
#[derive(Clone, Copy)]
pub(crate) enum Of {
    /// Operations of the victim that had returned.
    Acknowledged,
    /// Stores the victim passed, when it lived.
    Passed,
    /// Reports to the reader beside it that keys will go now.
    Stop,
    /// The uid that the victim's last operation was given, 0: none.
    Hint,
}

const OF_LANE: usize = 8;

/// The board.
#[derive(Clone, Copy)]
pub(crate) struct Board {
    words: &'static [AtomicU64],
    log: &'static [AtomicU64],
    kinds: &'static [AtomicU64],
}

impl Board {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {
            words: shared_words(COUNTS + LANES * OF_LANE)?,
            log: shared_words(LOG_BYTES)?,
            kinds: shared_words(KINDS)?,
        })
    }

    pub(crate) fn count(&self, count: Count) -> &'static AtomicU64 {
        &self.words[count as usize]
    }

    pub(crate) fn get(&self, count: Count) -> u64 {
        self.count(count).load(Relaxed)
    }

    pub(crate) fn add(&self, count: Count, by: u64) {
        self.count(count).fetch_add(by, Relaxed);
    }

    pub(crate) fn lane(&self, lane: usize, word: Of) -> &'static AtomicU64 {
        &self.words[COUNTS + lane * OF_LANE + word as usize]
    }

    /// The kind of state that the victim of a point left, by the point's turn; 0: unknown.
    pub(crate) fn kind(&self, turn: u64) -> Option<&'static AtomicU64> {
        self.kinds.get(turn as usize)
    }

    /// Notes a fault.
    pub(crate) fn fault(&self, what: &str) {
        self.add(Count::Faults, 1);
        let line = what.chars().take(LINE).chain(['\n']).collect::<String>();
        let at = self
            .count(Count::LogEnd)
            .fetch_add(line.len() as u64, Relaxed) as usize;
        for (word, byte) in self.log.iter().skip(at).zip(line.bytes()) {
            word.store(u64::from(byte), Relaxed);
        }
    }

    pub(crate) fn faults(&self) -> u64 {
        self.get(Count::Faults)
    }

    /// The faults noted, those that had room.
    pub(crate) fn kept_faults(&self) -> Vec<String> {
        let end = self.log.len().min(self.get(Count::LogEnd) as usize);
        let bytes = self.log[..end].iter().map(|word| word.load(Relaxed) as u8);
        let text = bytes.collect::<Vec<_>>();
        let text = String::from_utf8_lossy(&text);
        text.lines().map(str::to_owned).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_counted_and_kept_while_there_is_room() {
        let board = Board::new().unwrap();
        board.fault("one");
        board.fault("two");
        assert_eq!(
            (board.faults(), board.kept_faults()),
            (2, vec!["one".into(), "two".into()])
        );
        for _ in 0..400 {
            board.fault(&"x".repeat(LOG_BYTES));
        }
        assert_eq!(board.faults(), 402);
        assert_eq!(board.kept_faults().len(), 2 + LOG_BYTES.div_ceil(LINE + 1));
    }
}
