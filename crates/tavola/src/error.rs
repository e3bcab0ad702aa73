//! The error type of the crate. Each cause has a sentence that says what to do.

mod holder;
mod sentences;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt::{self, Write};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use holder::{Holder, Lock};

/// The result type of the crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Any error type of the caller, for [`Table::get_or_compute`](crate::Table::get_or_compute).
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The reason why a call failed. A missing key is not an error: it is `Ok(None)`.
#[non_exhaustive]
#[derive(Debug)]
pub enum Error {
    /// There is no table of that name.
    NotFound {
        /// The path that was tried.
        path: PathBuf,
    },
    /// A table of that name exists already.
    AlreadyExists {
        /// The path of the table.
        path: PathBuf,
    },
    /// There is no space: `max_size` is reached, or the file system is full. The table is intact.
    Full {
        /// What ran out, and what to do.
        reason: &'static str,
    },
    /// The table is damaged. The call changed nothing.
    Corrupt {
        /// Which structure was found damaged.
        what: &'static str,
    },
    /// The file is not a table: it is foreign, empty, or truncated.
    NotATable {
        /// The file.
        path: PathBuf,
        /// How it was recognised.
        why: String,
    },
    /// The table has another format version.
    Version {
        /// The table.
        path: PathBuf,
        /// Its format version.
        found: u32,
        /// The format version of this library.
        expected: u32,
    },
    /// The table was created on a machine with another byte order.
    Endianness {
        /// The table.
        path: PathBuf,
    },
    /// The system denied access.
    Permission {
        /// The file or directory.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The table is open read-only, or is on a read-only file system.
    ReadOnly,
    /// A table, or something in its file, cannot have this name.
    BadName {
        /// The name, with unprintable characters escaped.
        name: String,
        /// The fault.
        why: &'static str,
    },
    /// An option has an invalid value.
    BadOption {
        /// The option.
        option: &'static str,
        /// The valid values.
        why: String,
    },
    /// All participant slots are in use by running processes.
    TooManyParticipants {
        /// The number of slots.
        limit: u32,
    },
    /// The key and the value together exceed 2^32 - 1 bytes.
    TooLarge {
        /// Their size.
        bytes: u64,
    },
    /// The key is longer than those of a durable table may be: 8192 bytes.
    KeyTooLong {
        /// Its bytes.
        bytes: u64,
    },
    /// The change was made, but may not survive a power failure, as the disk failed; or it was not
    /// made, as the disk had failed before. Reads go on.
    NotDurable {
        /// The directory of the table.
        path: PathBuf,
        /// The error of the disk.
        source: io::Error,
    },
    /// The files of a durable table are damaged.
    DamagedJournal {
        /// The file.
        path: PathBuf,
        /// The damage, and its place.
        why: String,
    },
    /// The file is damaged, or is not one that [`Table::save`](crate::Table::save) has written, or
    /// has a newer format. Nothing was restored.
    NotRestorable {
        /// The file.
        path: PathBuf,
        /// The fault.
        why: String,
    },
    /// The table is in the shared memory of processes that this one cannot reach: those of another
    /// container, or those that still use a removed file.
    InUseElsewhere {
        /// The directory of the table.
        path: PathBuf,
    },
    /// The table has fixed lengths of keys and values, and accepts no others.
    Lengths {
        /// The length of its keys in bytes.
        key: u32,
        /// The length of its values in bytes.
        value: u32,
    },
    /// The table has fixed lengths and was created without uids.
    NoUids,
    /// The table has no queue pool or log of that name.
    NotThere {
        /// The kind: a queue pool or a log, for example.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// The table has a queue pool or log of that name already.
    AlreadyThere {
        /// The kind: a queue pool or a log, for example.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// A process pushed an element that it does not hold.
    NotHeld {
        /// Its number.
        element: u32,
    },
    /// The log already has a drain.
    AlreadyDrained,
    /// Lines of a log could not be written out; they stay in the log.
    Sink {
        /// The error of the sink.
        source: io::Error,
    },
    /// The function that computes the value of a key returned an error.
    Compute {
        /// That error.
        source: BoxError,
    },
    /// A typed table could not encode a value or decode its bytes.
    Codec {
        /// The error of the codec.
        source: BoxError,
    },
    /// The last attempt to compute the value failed, and the back-off is not over.
    NotComputed {
        /// The reported reason.
        why: String,
        /// The time until the next attempt.
        retry: Duration,
    },
    /// A transaction that runs only once was in conflict: another process has changed a key that it
    /// had read. Nothing was changed.
    Conflict,
    /// The function of a transaction has aborted it. Nothing was changed.
    Aborted,
    /// A transaction changes too many keys. Nothing was changed.
    TransactionTooLarge {
        /// The most keys: 65,536, or in a durable table as many as fit into its journal's memory.
        limit: u32,
    },
    /// `incr` or `decr` found a value that is not a decimal number below 2^64.
    NotACounter,
    /// A transaction with the turn began inside another one of the same thread; or a write began in
    /// a signal handler that had interrupted a write of the same thread.
    Reentrant,
    /// A lock was not released within the time of
    /// [`Table::set_lock_timeout`](crate::Table::set_lock_timeout). Nothing of this step was done.
    Busy {
        /// The process that holds the lock.
        holder: Holder,
        /// How long the call waited.
        waited: Duration,
    },
    /// Another operation of the system failed.
    Io {
        /// The operation that failed.
        op: &'static str,
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

/// A path for a message: control characters, which a terminal would obey, as `\x0a`.
pub(crate) struct Shown<'a>(pub(crate) &'a Path);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for letter in self.0.to_string_lossy().chars() {
            match letter.is_control() {
                true => write!(f, "\\x{:02x}", u32::from(letter))?,
                false => f.write_char(letter)?,
            }
        }
        Ok(())
    }
}

impl Error {
    /// Returns the `errno` of the system, if there was one.
    pub fn os_error(&self) -> Option<i32> {
        match self {
            Self::Permission { source, .. }
            | Self::Io { source, .. }
            | Self::NotDurable { source, .. }
            | Self::Sink { source } => {
                let advised = source.get_ref().and_then(|inner| inner.downcast_ref());
                source
                    .raw_os_error()
                    .or(advised.map(|one: &Advised| one.number))
            }
            _ => None,
        }
    }
}

/// An error of the system, with what it means for a table and what to do.
#[derive(Debug)]
pub(crate) struct Advised {
    pub(crate) number: i32,
    pub(crate) advice: Cow<'static, str>,
}

impl fmt::Display for Advised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.advice)
    }
}

impl std::error::Error for Advised {}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Permission { source, .. }
            | Self::Io { source, .. }
            | Self::NotDurable { source, .. }
            | Self::Sink { source } => Some(source),
            Self::Compute { source } | Self::Codec { source } => Some(source.as_ref()),
            _ => None,
        }
    }
}

/// Shorthand for the one error that has no context but a name.
#[cold]
pub(crate) fn corrupt<T>(what: &'static str) -> Result<T> {
    Err(Error::Corrupt { what })
}
