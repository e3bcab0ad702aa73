//! What a process of the tour has acknowledged, in memory that outlives it.
//!
//! One memory file a seat, made by the leader, inherited as standard input by the process that
//! sits there. A process writes down **each write to the table after the call has returned**, with
//! one system call that a kill cannot divide. So after a kill the table holds all that is written
//! here, and at most one write more.
//!
//! ```text
//!   0  command      u64  epoch << 8 | Command                       written by the leader
//!   8  progress     u64  operations | reads | writes | slowest round since the epoch began
//!  40  state        u64  1 attached, 2 ended in good order
//!  48  history      u64  entries of the history that are set
//!  56  trimmed      u64  entries of the history that are removed again
//!  64  counts       u64  increments of each category's counter
//! 576  revisions    u32  of each record; only those of this seat are used
//! ```

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::process::Stdio;

use rustix::fs::{MemfdFlags, memfd_create};

const COMMAND: u64 = 0;
const PROGRESS: u64 = 8;
const STATE: u64 = 40;
const HISTORY: u64 = 48;
const TRIMMED: u64 = 56;
const COUNTS: u64 = 64;
const MAX_CATEGORIES: u64 = 64;
const REVISIONS: u64 = COUNTS + 8 * MAX_CATEGORIES;

/// What the leader wants a process to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Read, edit, count.
    Work = 0,
    /// Edit and count only.
    WriteOnly = 1,
    Stop = 2,
}

/// How far a process has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    pub operations: u64,
    pub reads: u64,
    pub writes: u64,
    /// Since the leader last began a new epoch; time spent waiting for a CPU is taken off.
    pub slowest_round_ns: u64,
}

/// The state of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Starting = 0,
    Attached = 1,
    Ended = 2,
}

/// What was acknowledged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acknowledged {
    pub history: u64,
    pub trimmed: u64,
    pub counts: Vec<u64>,
    pub revisions: Vec<u32>,
}

pub struct Journal {
    file: File,
}

impl Journal {
    pub fn create() -> io::Result<Self> {
        let file = File::from(memfd_create("tavola-tour", MemfdFlags::CLOEXEC)?);
        Ok(Self { file })
    }

    /// The journal of the seat this process was started on.
    pub fn inherited() -> io::Result<Self> {
        Ok(Self {
            file: File::from(io::stdin().as_fd().try_clone_to_owned()?),
        })
    }

    pub fn as_stdin(&self) -> io::Result<Stdio> {
        Ok(self.file.try_clone()?.into())
    }

    pub fn order(&self, epoch: u64, command: Command) -> io::Result<()> {
        self.put(COMMAND, epoch << 8 | command as u64)
    }

    /// The epoch and what is to be done.
    pub fn command(&self) -> io::Result<(u64, Command)> {
        let word = self.get(COMMAND)?;
        let command = match word & 0xff {
            0 => Command::Work,
            1 => Command::WriteOnly,
            _ => Command::Stop,
        };
        Ok((word >> 8, command))
    }

    pub fn set_progress(&self, progress: Progress) -> io::Result<()> {
        let Progress {
            operations,
            reads,
            writes,
            slowest_round_ns,
        } = progress;
        let words = [operations, reads, writes, slowest_round_ns].map(u64::to_le_bytes);
        self.file.write_all_at(words.as_flattened(), PROGRESS)
    }

    pub fn progress(&self) -> io::Result<Progress> {
        let mut bytes = [0; 32];
        self.read_or_zero(&mut bytes, PROGRESS)?;
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| bytes[at * 8 + byte]));
        Ok(Progress {
            operations: word(0),
            reads: word(1),
            writes: word(2),
            slowest_round_ns: word(3),
        })
    }

    pub fn set_state(&self, state: State) -> io::Result<()> {
        self.put(STATE, state as u64)
    }

    pub fn state(&self) -> io::Result<State> {
        Ok(match self.get(STATE)? {
            0 => State::Starting,
            1 => State::Attached,
            _ => State::Ended,
        })
    }

    pub fn acknowledge_history(&self, entries: u64) -> io::Result<()> {
        self.put(HISTORY, entries)
    }

    pub fn acknowledge_trimmed(&self, entries: u64) -> io::Result<()> {
        self.put(TRIMMED, entries)
    }

    pub fn acknowledge_count(&self, category: usize, increments: u64) -> io::Result<()> {
        self.put(COUNTS + 8 * category as u64, increments)
    }

    pub fn acknowledge_revision(&self, record: usize, revision: u32) -> io::Result<()> {
        self.file
            .write_all_at(&revision.to_le_bytes(), REVISIONS + 4 * record as u64)
    }

    pub fn acknowledged(&self, categories: usize, records: usize) -> io::Result<Acknowledged> {
        assert!(categories as u64 <= MAX_CATEGORIES);
        let counts = (0..categories as u64).map(|category| self.get(COUNTS + 8 * category));
        let counts = counts.collect::<io::Result<_>>()?;
        let mut bytes = vec![0; 4 * records];
        self.read_or_zero(&mut bytes, REVISIONS)?;
        let (words, _) = bytes.as_chunks::<4>();
        let revisions = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
        let (history, trimmed) = (self.get(HISTORY)?, self.get(TRIMMED)?);
        Ok(Acknowledged {
            history,
            trimmed,
            counts,
            revisions,
        })
    }

    fn put(&self, at: u64, word: u64) -> io::Result<()> {
        self.file.write_all_at(&word.to_le_bytes(), at)
    }

    fn get(&self, at: u64) -> io::Result<u64> {
        let mut bytes = [0; 8];
        self.read_or_zero(&mut bytes, at)?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// What was never written reads as zero, beyond the end of the file, too.
    fn read_or_zero(&self, bytes: &mut [u8], at: u64) -> io::Result<()> {
        let mut len = 0;
        while len < bytes.len() {
            match self.file.read_at(&mut bytes[len..], at + len as u64) {
                Ok(0) => return Ok(()),
                Ok(more) => len += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_down_is_read_back_and_the_rest_is_zero() {
        let journal = Journal::create().unwrap();
        assert_eq!(journal.command().unwrap(), (0, Command::Work));
        assert_eq!(journal.progress().unwrap(), Progress::default());
        journal.order(7, Command::Stop).unwrap();
        journal.acknowledge_history(300).unwrap();
        journal.acknowledge_trimmed(5).unwrap();
        journal.acknowledge_count(2, 11).unwrap();
        journal.acknowledge_revision(3, 9).unwrap();
        let progress = Progress {
            operations: 1,
            reads: 2,
            writes: 3,
            slowest_round_ns: 4,
        };
        journal.set_progress(progress).unwrap();
        journal.set_state(State::Ended).unwrap();
        assert_eq!(journal.command().unwrap(), (7, Command::Stop));
        assert_eq!(journal.progress().unwrap(), progress);
        assert_eq!(journal.state().unwrap(), State::Ended);
        let expected = Acknowledged {
            history: 300,
            trimmed: 5,
            counts: vec![0, 0, 11],
            revisions: vec![0, 0, 0, 9, 0],
        };
        assert_eq!(journal.acknowledged(3, 5).unwrap(), expected);
    }
}
