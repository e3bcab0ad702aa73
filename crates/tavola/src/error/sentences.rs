//! The sentences of the causes of failure.

use super::{Error, Shown};
use std::fmt;

impl Error {
    /// Writes the sentences about how a table is used.
    pub(super) fn fmt_use(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ReadOnly => write!(
                f,
                "the table is open read-only, or its file system is read-only; open the table \
                for writing, or move it to another file system"
            ),
            Self::BadName { name, why } => write!(
                f,
                "the table name {name} is invalid: {why}; choose another name, or a path that \
                contains a /"
            ),
            Self::BadOption { option, why } => {
                write!(f, "the option {option} is invalid: {why}")
            }
            Self::TooManyParticipants { limit } => write!(
                f,
                "all {limit} participant slots are in use by running processes; end some of \
                them, or open the table read-only"
            ),
            Self::TooLarge { bytes } => write!(
                f,
                "key and value together have {bytes} bytes, more than 4294967295; split the \
                value over several keys"
            ),
            Self::Lengths { key, value } => write!(
                f,
                "the table accepts only keys of {key} bytes and values of {value} bytes; use \
                these lengths, or a table without fixed lengths"
            ),
            Self::NoUids => write!(
                f,
                "the table has fixed lengths and no uids; create it with the option uids"
            ),
            other => other.fmt_durable(f),
        }
    }

    /// Writes the sentences about durable tables.
    fn fmt_durable(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KeyTooLong { bytes } => write!(
                f,
                "the key has {bytes} bytes; keys of a durable table have at most 8192: shorten it, \
                 for example to a hash"
            ),
            Self::NotDurable { path, source } => write!(
                f,
                "the disk of {} failed ({source}): writes are refused until a snapshot succeeds; \
                 free the disk or move the table, then run: tavola snapshot {0}",
                Shown(path)
            ),
            Self::DamagedJournal { path, why } => write!(
                f,
                "{} is damaged ({why}); restore it from a backup, or see with tavola journal \
                 --verify what is lost, and accept that with: tavola repair --cut",
                Shown(path)
            ),
            Self::NotRestorable { path, why } => write!(
                f,
                "{} cannot be restored ({why}), and nothing was changed; restore another file, or \
                 save the table again",
                Shown(path)
            ),
            Self::InUseElsewhere { path } => write!(
                f,
                "{} is in use by processes whose shared memory this process cannot reach; end \
                 them, or run all in the same /dev/shm (in containers: --ipc or a common mount)",
                Shown(path)
            ),
            other => other.fmt_transaction(f),
        }
    }

    /// Writes the sentences about transactions.
    fn fmt_transaction(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Conflict => write!(
                f,
                "another process has changed a key that the transaction has read; begin it again"
            ),
            Self::Aborted => write!(f, "the transaction was aborted; nothing was changed"),
            Self::TransactionTooLarge { limit } => write!(
                f,
                "the transaction changes more than {limit} keys, the most that it can; use several \
                 transactions, or set_many"
            ),
            other => other.fmt_object(f),
        }
    }

    /// Writes the sentences about pools, queues, logs and values.
    fn fmt_object(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotThere { what, name } => write!(
                f,
                "there is no {what} named {name:?}; check the name, or create it"
            ),
            Self::AlreadyThere { what, name } => write!(
                f,
                "a {what} named {name:?} exists already; open it, or choose another name"
            ),
            Self::NotHeld { element } => write!(
                f,
                "element {element} is not held by this process; push only elements that this \
                process has popped, each once"
            ),
            Self::AlreadyDrained => write!(
                f,
                "the log already has a drain; end that drain, or read the log without draining it"
            ),
            Self::Sink { source } => write!(
                f,
                "lines of the log could not be written out ({source}); they stay in the log for \
                the next drain"
            ),
            Self::NotACounter => write!(
                f,
                "the value is not a decimal number below 2^64; set it to such a number, or \
                remove the key"
            ),
            Self::Reentrant => write!(
                f,
                "this thread has the turn of the table or is in the middle of a write; begin no \
                 transaction with the turn inside another one, and only read in signal handlers"
            ),
            // The compiler asks for the sentence of a new variant here.
            Self::NotFound { .. }
            | Self::AlreadyExists { .. }
            | Self::Full { .. }
            | Self::Corrupt { .. }
            | Self::NotATable { .. }
            | Self::Version { .. }
            | Self::Endianness { .. }
            | Self::Permission { .. }
            | Self::Compute { .. }
            | Self::Codec { .. }
            | Self::NotComputed { .. }
            | Self::Busy { .. }
            | Self::Io { .. }
            | Self::ReadOnly
            | Self::BadName { .. }
            | Self::BadOption { .. }
            | Self::TooManyParticipants { .. }
            | Self::TooLarge { .. }
            | Self::KeyTooLong { .. }
            | Self::NotDurable { .. }
            | Self::Conflict
            | Self::Aborted
            | Self::TransactionTooLarge { .. }
            | Self::DamagedJournal { .. }
            | Self::NotRestorable { .. }
            | Self::InUseElsewhere { .. }
            | Self::Lengths { .. }
            | Self::NoUids => unreachable!("others write its sentence"),
        }
    }
}
