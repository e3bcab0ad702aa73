//! The process that holds a lock.

use std::fmt;

/// A lock of a table.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lock {
    /// The lock of the shard with this number.
    Shard(u32),
    /// The lock of the page pool.
    #[default]
    Pool,
    /// One of the two locks of a queue.
    Queue,
    /// The turn of transactions that must not conflict.
    Turn,
    /// The lock of the records of a journal that are in memory.
    Journal,
    /// A lock of the files of a journal.
    JournalFiles,
    /// A named lock or semaphore of programs.
    Named,
}

impl fmt::Display for Lock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shard(number) => write!(f, "shard {number}"),
            Self::Pool => write!(f, "the page pool"),
            Self::Queue => write!(f, "a queue"),
            Self::Turn => write!(f, "the turn of transactions"),
            Self::Journal => write!(f, "the journal"),
            Self::JournalFiles => write!(f, "the files of the journal"),
            Self::Named => write!(f, "a named lock"),
        }
    }
}

/// A process that holds a lock.
///
/// Its `Display` names the process: `pid 4711, which is stopped`, or
/// `pid 1 in another pid namespace`.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Holder {
    /// The lock.
    pub lock: Lock,
    /// The process id in its own pid namespace, or 0 if it is not known.
    pub pid: u32,
    /// Whether `pid` belongs to the pid namespace of this process. If not, the number may name
    /// another process here.
    pub is_local: bool,
    /// Whether a signal or a debugger has stopped it, as far as this process can see.
    pub is_stopped: bool,
    /// Whether it is alive. The next process that needs the lock of a dead process takes it over.
    pub is_alive: bool,
}

impl Holder {
    pub(crate) fn new(lock: Lock, pid: u32) -> Self {
        Self {
            lock,
            pid,
            is_local: true,
            is_stopped: false,
            is_alive: true,
        }
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pid {
            0 => write!(f, "an unknown process")?,
            pid => write!(f, "pid {pid}")?,
        }
        if !self.is_local {
            write!(f, " in another pid namespace")?;
        }
        if !self.is_alive {
            write!(f, ", which is dead")?;
        } else if self.is_stopped {
            write!(f, ", which is stopped")?;
        }
        Ok(())
    }
}
