//! A small file in which the processes of a trial note how far they have come.
//!
//! A killed process leaves what it had noted. Every slot has 64 bytes, numbers of 8 bytes in the
//! machine's order; slot 0 is the leader's.
//!
//! ```text
//! slot 0   stop: 1 when all shall end
//! slot n   ready │ operations │ last put that returned │ wrong │ vanished
//! ```

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::{Error, Result};

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

impl Notes {
    fn words(&self) -> [u64; WORDS] {
        let Self {
            ready,
            ops,
            acked,
            wrong,
            vanished,
        } = *self;
        [ready, ops, acked, wrong, vanished]
    }
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

    pub(super) fn tell_to_stop(&self) -> Result<()> {
        let told = self.file.write_all_at(&1u64.to_ne_bytes(), 0);
        told.map_err(Error::io("telling processes to stop"))
    }

    pub(super) fn is_to_stop(&self) -> Result<bool> {
        let mut word = [0; 8];
        let read = self.file.read_exact_at(&mut word, 0);
        read.map_err(Error::io("reading a board"))?;
        Ok(u64::from_ne_bytes(word) != 0)
    }

    pub(super) fn note(&self, slot: u64, notes: &Notes) -> Result<()> {
        let mut bytes = [0; WORDS * 8];
        for (part, word) in bytes.chunks_exact_mut(8).zip(notes.words()) {
            part.copy_from_slice(&word.to_ne_bytes());
        }
        let noted = self.file.write_all_at(&bytes, slot * SLOT_BYTES);
        noted.map_err(Error::io("writing to a board"))
    }

    pub(super) fn notes(&self, slot: u64) -> Result<Notes> {
        let mut bytes = [0; WORDS * 8];
        let read = self.file.read_exact_at(&mut bytes, slot * SLOT_BYTES);
        read.map_err(Error::io("reading a board"))?;
        let word = |at: usize| {
            let part = bytes[at * 8..][..8].try_into();
            u64::from_ne_bytes(part.expect("8 bytes"))
        };
        Ok(Notes {
            ready: word(0),
            ops: word(1),
            acked: word(2),
            wrong: word(3),
            vanished: word(4),
        })
    }
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
        leader.tell_to_stop().unwrap();
        assert!(member.is_to_stop().unwrap());
    }
}
