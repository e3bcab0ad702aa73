//! The one error of the crate: causes a caller can act on, each told in a sentence that says how.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// What every call of the crate returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a call did not do what it was asked. A missing key is no error: it is `Ok(None)`.
#[non_exhaustive]
#[derive(Debug)]
pub enum Error {
    /// No table of that name.
    NotFound {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// `create` found a table of that name.
    AlreadyExists {
        /// Where it stands.
        path: PathBuf,
    },
    /// No room: `max_size` is reached, or the file system is full. The table is intact.
    Full {
        /// What ran out, and what helps.
        reason: &'static str,
    },
    /// Bytes of the region contradict each other; nothing was changed.
    Corrupt {
        /// Which structure was found damaged.
        what: &'static str,
    },
    /// The file is no table: foreign, empty, or cut short.
    NotATable {
        /// The file.
        path: PathBuf,
        /// What gave it away.
        why: String,
    },
    /// The table was made by another version of the format.
    Version {
        /// The table.
        path: PathBuf,
        /// Its format version.
        found: u32,
        /// The one this library reads and writes.
        expected: u32,
    },
    /// The table was made on a machine of the other byte order.
    Endianness {
        /// The table.
        path: PathBuf,
    },
    /// The system refused access.
    Permission {
        /// The file or directory.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// A write on a table that was opened read-only, or lies on a read-only file system.
    ReadOnly,
    /// A name that cannot stand for a table.
    BadName {
        /// The name, made printable.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// An option outside its bounds.
    BadOption {
        /// The option.
        option: &'static str,
        /// Its bounds.
        why: String,
    },
    /// Every participant slot is taken by a living process.
    TooManyParticipants {
        /// How many there are.
        limit: u32,
    },
    /// Key and value together exceed 2^32 - 1 bytes.
    TooLarge {
        /// Their size.
        bytes: u64,
    },
    /// The table has keys and values of other lengths only.
    Lengths {
        /// Bytes of its keys.
        key: u32,
        /// Bytes of its values.
        value: u32,
    },
    /// A table of fixed lengths that was made without uids.
    NoUids,
    /// Nothing of that name stands beside the table.
    NotThere {
        /// What was looked for.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// Something of that name stands beside the table already.
    AlreadyThere {
        /// What was to be made.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// An element was pushed by who does not hold it.
    NotHeld {
        /// Its number.
        element: u32,
    },
    /// The log has a drain already.
    AlreadyDrained,
    /// Lines of a log could not be written out; they are still the log's.
    Sink {
        /// What the sink says.
        source: io::Error,
    },
    /// The value of a key could not be computed a moment ago, and is not tried again yet.
    NotComputed {
        /// What was told of it.
        why: String,
        /// After that it is tried again.
        retry: Duration,
    },
    /// `incr` or `decr` on a value that is no decimal number below 2^64.
    NotACounter,
    /// A write began in a signal handler that had interrupted a write of the same thread.
    Reentrant,
    /// Any other failure of the operating system.
    Io {
        /// The operation that failed.
        op: &'static str,
        /// The file it was done to.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound { path } => write!(
                f,
                "there is no table at {}; create it, or check the name and TAVOLA_DIR",
                path.display()
            ),
            Self::AlreadyExists { path } => write!(
                f,
                "a table already exists at {}; open it, or drop it first",
                path.display()
            ),
            Self::Full { reason } => write!(f, "the table is full: {reason}"),
            Self::Corrupt { what } => write!(
                f,
                "the table is damaged ({what}); run a check with repair, or load it again"
            ),
            Self::NotATable { path, why } => write!(
                f,
                "{} is not a table ({why}); remove the file or choose another name",
                path.display()
            ),
            Self::Version {
                path,
                found,
                expected,
            } => write!(
                f,
                "{} has format version {found}, this library reads version {expected}; \
                 dump it with the version that wrote it and load it again",
                path.display()
            ),
            Self::Endianness { path } => write!(
                f,
                "{} was made on a machine of the other byte order; dump it there and load it here",
                path.display()
            ),
            Self::Permission { path, source } => write!(
                f,
                "access to {} was refused ({source}); check its owner and mode, \
                 or set TAVOLA_DIR to a directory of your own",
                path.display()
            ),
            Self::NotComputed { why, retry } => write!(
                f,
                "the value could not be computed a moment ago ({why}); \
                 ask for it again in {retry:?}"
            ),
            Self::Io { op, path, source } => {
                write!(f, "{op} failed for {}: {source}", path.display())
            }
            other => other.fmt_rest(f),
        }
    }
}

impl Error {
    /// The sentences of the other causes.
    fn fmt_rest(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ReadOnly => write!(
                f,
                "the table is open read-only, or its file system is read-only; \
                 open it for writing, or move it, to change it"
            ),
            Self::BadName { name, why } => {
                write!(
                    f,
                    "the name {name} cannot stand for a table: {why}; \
                     choose another, or a path with a / in it"
                )
            }
            Self::BadOption { option, why } => {
                write!(f, "the option {option} is out of bounds: {why}")
            }
            Self::TooManyParticipants { limit } => write!(
                f,
                "all {limit} participant slots are taken by living processes; \
                 end some of them, or let them open the table read-only"
            ),
            Self::TooLarge { bytes } => write!(
                f,
                "key and value together have {bytes} bytes; the most is 4294967295"
            ),
            Self::Lengths { key, value } => write!(
                f,
                "all keys of the table have {key} bytes and all values {value}; \
                 use such, or a table without fixed lengths"
            ),
            Self::NoUids => write!(
                f,
                "the table was made for fixed lengths without uids; \
                 make it with the option uids to have them"
            ),
            Self::NotThere { what, name } => write!(
                f,
                "there is no {what} named {name:?}; make it, or check the name"
            ),
            Self::AlreadyThere { what, name } => write!(
                f,
                "there is a {what} named {name:?} already; open it, or choose another name"
            ),
            Self::NotHeld { element } => write!(
                f,
                "element {element} is not held by this process; \
                 push what this process has popped, and once"
            ),
            Self::AlreadyDrained => write!(
                f,
                "the log is drained already; end that drain, or follow the log without draining it"
            ),
            Self::Sink { source } => {
                write!(f, "lines of the log could not be written out ({source})")
            }
            Self::NotACounter => write!(
                f,
                "the value is not a decimal number below 2^64; set it to one, or remove it first"
            ),
            Self::Reentrant => write!(
                f,
                "a signal handler wrote to a table while its thread was writing; \
                 only read in signal handlers"
            ),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Permission { source, .. } | Self::Io { source, .. } | Self::Sink { source } => {
                Some(source)
            }
            _ => None,
        }
    }
}

/// Shorthand for the one error that has no context but a name.
#[cold]
pub(crate) fn corrupt<T>(what: &'static str) -> Result<T> {
    Err(Error::Corrupt { what })
}
