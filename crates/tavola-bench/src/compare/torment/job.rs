//! What a process of a trial gets, notes and answers, and the values it puts.
//!
//! Job and answer are one flat JSON object each, so that the programs in C, Ruby and PHP can read
//! them without a library; they make the same values and notes.
//!
//! The put number `s` of a writer goes to key `s % keys`. Its value is `KEY:s:` again and again,
//! `s` in 16 hexadecimal digits, cut to a length that follows from `s`: so a value that is cut
//! short, mixed of two, or of another key is known. From the number of the last put that returned
//! follows what each key must have.
//!
//! The *board* is a small file in which processes note how far they have come: a killed process
//! leaves what it had noted. Every slot has 64 bytes, numbers of 8 bytes in the machine's order;
//! slot 0 is the leader's.
//!
//! ```text
//! slot 0   stop: 1 when all shall end
//! slot n   ready │ operations │ last put that returned │ wrong │ vanished
//! ```

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// What a process does with the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Role {
    /// Puts values in order, from `from` on, until it is asked to stop; `ops` of them at most.
    Write,
    /// Gets keys of all `prefixes` at random and looks at the values, until it is asked to stop.
    Read,
    /// Checks that all acknowledged writes are there, and whether a put works.
    Verify,
    /// The same without a put: the disk may be full.
    VerifyFull,
    /// Removes the first half of the keys that were written, then puts a few.
    Remove,
    /// Puts and gets one value of `key_bytes` and `value_bytes`.
    Probe,
    /// Opens the store, reads, keeps what it has read from (a snapshot, where there are), and
    /// waits until it is asked to stop.
    Hold,
    /// Adds one to a counter, `ops` times.
    Count,
    /// Reports the value of the counter.
    Total,
}

/// What a process is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Job {
    /// The store, by its name in the report.
    pub(super) peer: String,
    /// What to do.
    pub(super) role: Role,
    /// A folder of the store's own.
    pub(super) store: PathBuf,
    /// Where a server listens; empty: there is none.
    pub(super) address: String,
    /// The file with the board.
    pub(super) board: PathBuf,
    /// Its place on it.
    pub(super) slot: u64,
    /// Each letter begins the keys of one writer; a writer has the first.
    pub(super) prefixes: String,
    /// Keys a prefix.
    pub(super) keys: u64,
    /// Smallest value.
    pub(super) value_bytes: u64,
    /// Of [`Role::Probe`].
    pub(super) key_bytes: u64,
    /// The first value's number; of [`Role::Verify`] the last that had returned.
    pub(super) from: u64,
    /// Operations at most; 0: any number.
    pub(super) ops: u64,
    /// After so long it ends by itself.
    pub(super) millis: u64,
    /// 1: one process at a time has the store open; then each increment opens it.
    pub(super) alone: u8,
    /// For what is chosen at random.
    pub(super) seed: u64,
    /// Where a process that was forked writes its answer; others write to their output.
    pub(super) out: PathBuf,
}

/// What a process says when it has done its job. Absent numbers are 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Answer {
    /// The store was opened.
    pub(super) opened: bool,
    /// Why the store refused, if it did; the job ended there.
    pub(super) error: Option<String>,
    /// Operations done.
    pub(super) done: u64,
    /// Of [`Role::Verify`]: keys that are as they must be.
    pub(super) good: u64,
    /// Keys that are missing, or have an older value than they must.
    pub(super) lost: u64,
    /// Keys whose value was never put, or is cut short.
    pub(super) torn: u64,
    /// Puts and gets work.
    pub(super) works: bool,
    /// Of [`Role::Total`]: the counter.
    pub(super) total: u64,
    /// Of [`Role::Count`] and [`Role::Hold`]: by what means. Of others: why a put was refused.
    pub(super) means: String,
    /// Of [`Role::Probe`]: `same`, `refused`, `missing` or `other`.
    pub(super) seen: String,
}

const SLOT_BYTES: u64 = 64;
const WORDS: usize = 5;
/// Slots of a board.
const SLOTS: u64 = 8;

/// What a process has noted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Notes {
    /// It has opened the store.
    pub(super) ready: u64,
    /// Operations that have returned.
    pub(super) ops: u64,
    /// Number of the last put that returned.
    pub(super) acked: u64,
    /// Values read that nobody had put.
    pub(super) wrong: u64,
    /// Keys that were there and are no more, or are older than they were.
    pub(super) vanished: u64,
}

/// The file.
pub(super) struct Board {
    file: File,
}

impl Board {
    /// A new one, all zero.
    pub(super) fn create(path: &Path) -> Result<Self> {
        let mut options = OpenOptions::new();
        let file = options
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(path);
        let file = file.map_err(Error::io("making a board"))?;
        file.set_len(SLOTS * SLOT_BYTES)
            .map_err(Error::io("making a board"))?;
        Ok(Self { file })
    }

    /// One that there is.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(path);
        Ok(Self {
            file: file.map_err(Error::io("opening a board"))?,
        })
    }

    pub(super) fn ask_to_stop(&self) -> Result<()> {
        let written = self.file.write_all_at(&1u64.to_ne_bytes(), 0);
        written.map_err(Error::io("asking processes to stop"))
    }

    pub(super) fn is_to_stop(&self) -> Result<bool> {
        let mut word = [0; 8];
        let read = self.file.read_exact_at(&mut word, 0);
        read.map_err(Error::io("reading a board"))?;
        Ok(u64::from_ne_bytes(word) != 0)
    }

    pub(super) fn note(&self, slot: u64, notes: &Notes) -> Result<()> {
        let words = [
            notes.ready,
            notes.ops,
            notes.acked,
            notes.wrong,
            notes.vanished,
        ];
        let bytes = words.map(u64::to_ne_bytes).concat();
        let noted = self.file.write_all_at(&bytes, slot * SLOT_BYTES);
        noted.map_err(Error::io("writing to a board"))
    }

    pub(super) fn notes(&self, slot: u64) -> Result<Notes> {
        let mut bytes = [0; WORDS * 8];
        let read = self.file.read_exact_at(&mut bytes, slot * SLOT_BYTES);
        read.map_err(Error::io("reading a board"))?;
        let (words, _) = bytes.as_chunks::<8>();
        let word = |at: usize| u64::from_ne_bytes(words[at]);
        Ok(Notes {
            ready: word(0),
            ops: word(1),
            acked: word(2),
            wrong: word(3),
            vanished: word(4),
        })
    }
}

const UNIT_TAIL: usize = 18;

/// The key of a number, of the writer whose keys begin with `prefix`.
pub(super) fn key_of(prefix: char, index: u64) -> Vec<u8> {
    format!("{prefix}{index:07}").into_bytes()
}

/// The value that put number `number` puts.
pub(super) fn value_of(key: &[u8], number: u64, value_bytes: u64) -> Vec<u8> {
    let mut unit = key.to_vec();
    unit.extend_from_slice(format!(":{number:016x}:").as_bytes());
    let length = length(number, value_bytes);
    unit.iter().copied().cycle().take(length).collect()
}

fn length(number: u64, value_bytes: u64) -> usize {
    (value_bytes + number.wrapping_mul(37) % 251) as usize
}

/// The number of the put that put this value; `None` if none did.
pub(super) fn number_of(key: &[u8], value: &[u8], value_bytes: u64) -> Option<u64> {
    let head = value.get(..key.len() + UNIT_TAIL)?;
    let digits = head.strip_prefix(key)?.get(1..17)?;
    let number = u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    (value == value_of(key, number, value_bytes)).then_some(number)
}

/// Returns the last put to key `index` of those up to `last`, or `None` if there was none.
pub(super) fn due(index: u64, keys: u64, last: u64) -> Option<u64> {
    let back = (last % keys + keys - index) % keys;
    last.checked_sub(back).filter(|number| *number > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_noted_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("board");
        let leader = Board::create(&path).unwrap();
        let member = Board::open(&path).unwrap();
        let notes = Notes {
            ready: 1,
            ops: 2,
            acked: 3,
            wrong: 4,
            vanished: 5,
        };
        member.note(2, &notes).unwrap();
        assert_eq!(leader.notes(2).unwrap(), notes);
        assert_eq!(leader.notes(1).unwrap(), Notes::default());
        assert!(!member.is_to_stop().unwrap());
        leader.ask_to_stop().unwrap();
        assert!(member.is_to_stop().unwrap());
    }

    #[test]
    fn a_value_shows_its_number_and_notices_damage() {
        let key = key_of('a', 7);
        let whole = value_of(&key, 519, 900);
        assert_eq!(number_of(&key, &whole, 900), Some(519));
        assert_eq!(number_of(&key, &whole[..whole.len() - 1], 900), None);
        assert_eq!(number_of(b"a0000008", &whole, 900), None);
        assert_eq!(number_of(&key, b"", 900), None);
        let mut mixed = whole.clone();
        mixed[500..].copy_from_slice(&value_of(&key, 519 + 251, 900)[500..]);
        assert_eq!(number_of(&key, &mixed, 900), None);
    }

    #[test]
    fn what_is_due_follows_from_the_last_put() {
        let naive = |index, keys, last| (1..=last).rev().find(|number| number % keys == index);
        for keys in 1..6 {
            for last in 0..20 {
                for index in 0..keys {
                    assert_eq!(due(index, keys, last), naive(index, keys, last));
                }
            }
        }
    }
}
