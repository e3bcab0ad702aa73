//! The one error of the crate: causes a caller can act on, each told in a sentence that says how.

mod holder;

use std::borrow::Cow;
use std::fmt::{self, Write};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use holder::{Holder, Lock};

/// What every call of the crate returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Any error of a caller's, as [`Table::get_or_compute`](crate::Table::get_or_compute) takes it.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

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
    /// The function that computes the value of a key returned an error.
    Compute {
        /// That error.
        source: BoxError,
    },
    /// A typed table could not encode a value, or not decode its bytes.
    Codec {
        /// What the codec says.
        source: BoxError,
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
    /// A lock was not to be had within the time that was set by
    /// [`Table::set_lock_timeout`](crate::Table::set_lock_timeout). Of this step nothing was done.
    Busy {
        /// Who holds it.
        holder: Holder,
        /// How long it was waited for.
        waited: Duration,
    },
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
                Shown(path)
            ),
            Self::AlreadyExists { path } => write!(
                f,
                "a table already exists at {}; open it, or choose another name",
                Shown(path)
            ),
            Self::Full { reason } => write!(f, "there is no room: {reason}"),
            Self::Corrupt { what } => write!(
                f,
                "the table is damaged ({what}); run a check with repair, or load it again"
            ),
            Self::NotATable { path, why } => write!(
                f,
                "{} is not a table ({why}); check the name, or choose another",
                Shown(path)
            ),
            Self::Version {
                path,
                found,
                expected,
            } => other_version(f, path, *found, *expected),
            Self::Endianness { path } => write!(
                f,
                "{} was made on a machine of the other byte order; dump it there and load it here",
                Shown(path)
            ),
            Self::Permission { path, source } => write_refused(f, path, source),
            Self::Compute { source } => write!(f, "the value could not be computed: {source}"),
            Self::Codec { source } => write!(
                f,
                "the bytes do not match the type of the typed table: {source}; \
                 read the key with the type it was set with"
            ),
            Self::NotComputed { why, retry } => write!(
                f,
                "the value could not be computed a moment ago ({why}); \
                 ask for it again in {retry:?}"
            ),
            Self::Busy { holder, waited } => write!(
                f,
                "{} is locked by {holder}, for more than {waited:.0?}; try again, let that process \
                 go on, or end it",
                holder.lock
            ),
            Self::Io { op, path, source } => {
                write!(f, "{op} failed for {}: {source}", Shown(path))
            }
            other => other.fmt_rest(f),
        }
    }
}

fn other_version(
    f: &mut fmt::Formatter<'_>,
    path: &Path,
    found: u32,
    expected: u32,
) -> fmt::Result {
    let path = Shown(path);
    write!(
        f,
        "{path} has format version {found}, this library reads version {expected}; "
    )?;
    match found == 1 && expected > 1 {
        true => write!(f, "to keep its keys run: tavola migrate {path}"),
        false => f.write_str("dump it with the version that wrote it and load it again"),
    }
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
    /// The sentences of the other causes.
    fn fmt_rest(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ReadOnly => write!(
                f,
                "the table is open read-only, or its file system is read-only; \
                 open it for writing, or move it, to change it"
            ),
            Self::BadName { name, why } => write!(
                f,
                "the name {name} cannot stand for a table: {why}; \
                 choose another, or a path with a / in it"
            ),
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
                "key and value together have {bytes} bytes, more than 4294967295; \
                 store them in parts"
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
            Self::Sink { source } => write!(
                f,
                "lines of the log could not be written out ({source}); \
                 they are still in the log, and the next drain writes them"
            ),
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

impl Error {
    /// The `errno` of the system's answer, if there was one.
    pub fn os_error(&self) -> Option<i32> {
        match self {
            Self::Permission { source, .. } | Self::Io { source, .. } | Self::Sink { source } => {
                let advised = source.get_ref().and_then(|inner| inner.downcast_ref());
                source
                    .raw_os_error()
                    .or(advised.map(|one: &Advised| one.number))
            }
            _ => None,
        }
    }
}

/// An answer of the system, told by what it means for a table and what to do.
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

/// The sentence for access that was refused. A cause that this library found has its own advice.
fn write_refused(f: &mut fmt::Formatter<'_>, path: &Path, source: &io::Error) -> fmt::Result {
    let path = Shown(path);
    match source.raw_os_error() {
        None if is_advised(source) => write!(f, "access to {path} was refused: {source}"),
        None => write!(f, "{path} is not used: {source}"),
        Some(_) => write!(
            f,
            "access to {path} was refused ({source}); ask its owner for access, \
             or use a table or a TAVOLA_DIR of your own"
        ),
    }
}

fn is_advised(source: &io::Error) -> bool {
    source.get_ref().is_some_and(|inner| inner.is::<Advised>())
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Permission { source, .. } | Self::Io { source, .. } | Self::Sink { source } => {
                Some(source)
            }
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
