//! What functions return, and the message of the last error.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int};
use std::fmt;
use std::io::ErrorKind;
use tavola_core::Error;

/// The outcome of a call. 0 is success, a number above 0 is another answer, a number below 0 is an
/// error. A number is never used again for something else.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum tavola_status {
    /// The call did what it should.
    TAVOLA_OK = 0,
    /// There is no such key, uid or tag.
    TAVOLA_NOT_FOUND = 1,
    /// The key exists already, and stays as it is.
    TAVOLA_EXISTS = 2,
    /// The key has another value or token than the expected one, and stays as it is.
    TAVOLA_CHANGED = 3,
    /// The iteration has ended.
    TAVOLA_END = 4,
    /// The queue is empty.
    TAVOLA_EMPTY = 5,
    /// The time limit of the call has passed.
    TAVOLA_TIMEOUT = 6,
    /// Nothing was stored: another process has the lease now, or the key was set or removed.
    TAVOLA_LEASE_LOST = 7,
    /// Nothing was changed: another process has changed a key that the transaction had read.
    TAVOLA_CONFLICT = 8,
    /// Nothing was changed: the function of the transaction has aborted it.
    TAVOLA_ABORTED = 9,
    /// The lock or permit was taken, and the one that had it before died with it: what it guards
    /// may be half changed.
    TAVOLA_OWNER_DIED = 10,

    /// A pointer is NULL and must not be.
    TAVOLA_ERR_NULL = -1,
    /// This is a bug of the library; please report it.
    TAVOLA_ERR_PANIC = -2,
    /// The result does not fit in the buffer, whose `len` says how long the result is.
    TAVOLA_ERR_TOO_SMALL = -3,
    /// A callback gave no memory for the result, or refused it.
    TAVOLA_ERR_STOPPED = -4,
    /// An argument is invalid.
    TAVOLA_ERR_ARGUMENT = -5,
    /// An error that this library has no number for.
    TAVOLA_ERR_OTHER = -6,

    /// There is no file of that name: no table, pool, log or constant file.
    TAVOLA_ERR_NO_TABLE = -10,
    /// A file of that name exists already: a table, pool or log.
    TAVOLA_ERR_TABLE_EXISTS = -11,
    /// There is no room: `max_size` is reached, the file system is full, or a constant file would
    /// be larger than its format allows. The table is intact.
    TAVOLA_ERR_FULL = -12,
    /// Bytes of the table contradict each other. Nothing was changed.
    TAVOLA_ERR_CORRUPT = -13,
    /// The file is not a table.
    TAVOLA_ERR_NOT_A_TABLE = -14,
    /// The table has another version of the format.
    TAVOLA_ERR_VERSION = -15,
    /// The table was created on a machine with the other byte order.
    TAVOLA_ERR_ENDIANNESS = -16,
    /// The system refused access.
    TAVOLA_ERR_PERMISSION = -17,
    /// The table is open for reading only, or is on a read-only file system.
    TAVOLA_ERR_READ_ONLY = -18,
    /// The name is invalid.
    TAVOLA_ERR_BAD_NAME = -19,
    /// An option is invalid.
    TAVOLA_ERR_BAD_OPTION = -20,
    /// Living processes use all participant slots of the table.
    TAVOLA_ERR_TOO_MANY_PARTICIPANTS = -21,
    /// Key and value together have more than 2^32 - 1 bytes.
    TAVOLA_ERR_TOO_LARGE = -22,
    /// The table has a fixed length for keys and for values, and this one differs.
    TAVOLA_ERR_LENGTHS = -23,
    /// The table has fixed lengths and was created without uids.
    TAVOLA_ERR_NO_UIDS = -24,
    /// There is no pool, queue or log of that name in the file.
    TAVOLA_ERR_NO_OBJECT = -25,
    /// A pool, queue or log of that name exists in the file already.
    TAVOLA_ERR_OBJECT_EXISTS = -26,
    /// The caller does not hold the element or lock.
    TAVOLA_ERR_NOT_HELD = -27,
    /// The value is not a decimal number of the expected range.
    TAVOLA_ERR_NOT_A_COUNTER = -28,
    /// A signal handler tried to write, and had interrupted a write of the same thread.
    TAVOLA_ERR_REENTRANT = -29,
    /// The system reported another error; see `tavola_last_os_error`.
    TAVOLA_ERR_IO = -30,
    /// The log has a drain already.
    TAVOLA_ERR_ALREADY_DRAINED = -31,
    /// Lines of a log could not be written out; they stay in the log.
    TAVOLA_ERR_SINK = -32,
    /// The value of a key could not be computed, now or a moment ago.
    TAVOLA_ERR_COMPUTE = -33,
    /// A lock was not free within the time of `tavola_set_lock_timeout`. Nothing was done.
    TAVOLA_ERR_BUSY = -34,
    /// A transaction changes more than 65,536 keys.
    TAVOLA_ERR_TOO_MANY_CHANGES = -35,
    /// The disk of a durable table failed. The change was made, but may not survive a power
    /// failure; or it was refused, as the disk had failed before. Reads go on.
    TAVOLA_ERR_NOT_DURABLE = -36,
    /// The key has more than 8192 bytes, which keys of a durable table may not have.
    TAVOLA_ERR_KEY_TOO_LONG = -37,
    /// The files of a durable table are damaged.
    TAVOLA_ERR_DAMAGED_JOURNAL = -38,
    /// The table is in the shared memory of processes that this one cannot reach.
    TAVOLA_ERR_IN_USE_ELSEWHERE = -39,
    /// The file is damaged, or is not one that `tavola_save` has written, or has a newer format.
    TAVOLA_ERR_NOT_RESTORABLE = -40,
    /// The file is not a constant file, or only the beginning of one.
    TAVOLA_ERR_NOT_CONSTANT = -41,
    /// The constant file was shortened, or could not be read, while it was open.
    TAVOLA_ERR_FILE_LOST = -42,
    /// An earlier write to the new constant file failed, so it cannot be finished.
    TAVOLA_ERR_WRITE_FAILED = -43,
}

/// Why a function did not do what it was asked: a pointer to the cause, so that answers are handed
/// on in registers.
#[derive(Debug)]
pub(crate) struct Failure(Box<Cause>);

#[derive(Debug)]
enum Cause {
    /// An argument.
    Null(&'static str),
    /// Bytes that are needed.
    TooSmall(usize),
    Stopped,
    /// The stored error text of a value that could not be computed.
    NotComputed(String),
    /// What is wrong with which argument.
    Argument(&'static str),
    /// What is not held.
    NotHeld(&'static str),
    Core(Error),
    /// A constant file.
    Constant(tavola_constant::Error),
}

impl From<Error> for Failure {
    #[cold]
    fn from(error: Error) -> Self {
        Self(Box::new(Cause::Core(error)))
    }
}

impl From<tavola_constant::Error> for Failure {
    #[cold]
    fn from(error: tavola_constant::Error) -> Self {
        Self(Box::new(Cause::Constant(error)))
    }
}

impl Failure {
    /// The name of an argument.
    #[cold]
    pub(crate) fn null(argument: &'static str) -> Self {
        Self(Box::new(Cause::Null(argument)))
    }

    #[cold]
    pub(crate) fn too_small(needed: usize) -> Self {
        Self(Box::new(Cause::TooSmall(needed)))
    }

    #[cold]
    pub(crate) fn stopped() -> Self {
        Self(Box::new(Cause::Stopped))
    }

    #[cold]
    pub(crate) fn not_computed(why: String) -> Self {
        Self(Box::new(Cause::NotComputed(why)))
    }

    #[cold]
    pub(crate) fn argument(what: &'static str) -> Self {
        Self(Box::new(Cause::Argument(what)))
    }

    #[cold]
    pub(crate) fn not_held(what: &'static str) -> Self {
        Self(Box::new(Cause::NotHeld(what)))
    }

    pub(crate) fn status(&self) -> tavola_status {
        use tavola_status::*;
        match &*self.0 {
            Cause::Null(_) => TAVOLA_ERR_NULL,
            Cause::TooSmall(_) => TAVOLA_ERR_TOO_SMALL,
            Cause::Stopped => TAVOLA_ERR_STOPPED,
            Cause::NotComputed(_) => TAVOLA_ERR_COMPUTE,
            Cause::Argument(_) => TAVOLA_ERR_ARGUMENT,
            Cause::NotHeld(_) => TAVOLA_ERR_NOT_HELD,
            Cause::Constant(error) => status_of_constant(error),
            Cause::Core(error) => match error {
                Error::NotFound { .. } => TAVOLA_ERR_NO_TABLE,
                Error::AlreadyExists { .. } => TAVOLA_ERR_TABLE_EXISTS,
                Error::Full { .. } => TAVOLA_ERR_FULL,
                Error::Corrupt { .. } => TAVOLA_ERR_CORRUPT,
                Error::NotATable { .. } => TAVOLA_ERR_NOT_A_TABLE,
                Error::Version { .. } => TAVOLA_ERR_VERSION,
                Error::Endianness { .. } => TAVOLA_ERR_ENDIANNESS,
                Error::Permission { .. } => TAVOLA_ERR_PERMISSION,
                Error::ReadOnly => TAVOLA_ERR_READ_ONLY,
                Error::BadName { .. } => TAVOLA_ERR_BAD_NAME,
                Error::BadOption { .. } => TAVOLA_ERR_BAD_OPTION,
                Error::TooManyParticipants { .. } => TAVOLA_ERR_TOO_MANY_PARTICIPANTS,
                Error::TooLarge { .. } => TAVOLA_ERR_TOO_LARGE,
                Error::Lengths { .. } => TAVOLA_ERR_LENGTHS,
                Error::NoUids => TAVOLA_ERR_NO_UIDS,
                Error::NotThere { .. } => TAVOLA_ERR_NO_OBJECT,
                Error::AlreadyThere { .. } => TAVOLA_ERR_OBJECT_EXISTS,
                Error::NotHeld { .. } => TAVOLA_ERR_NOT_HELD,
                Error::NotACounter => TAVOLA_ERR_NOT_A_COUNTER,
                Error::Reentrant => TAVOLA_ERR_REENTRANT,
                Error::Io { .. } => TAVOLA_ERR_IO,
                Error::AlreadyDrained => TAVOLA_ERR_ALREADY_DRAINED,
                Error::Sink { .. } => TAVOLA_ERR_SINK,
                Error::Compute { .. } | Error::NotComputed { .. } => TAVOLA_ERR_COMPUTE,
                Error::Busy { .. } => TAVOLA_ERR_BUSY,
                Error::TransactionTooLarge { .. } => TAVOLA_ERR_TOO_MANY_CHANGES,
                Error::NotDurable { .. } => TAVOLA_ERR_NOT_DURABLE,
                Error::KeyTooLong { .. } => TAVOLA_ERR_KEY_TOO_LONG,
                Error::DamagedJournal { .. } => TAVOLA_ERR_DAMAGED_JOURNAL,
                Error::InUseElsewhere { .. } => TAVOLA_ERR_IN_USE_ELSEWHERE,
                Error::NotRestorable { .. } => TAVOLA_ERR_NOT_RESTORABLE,
                _ => TAVOLA_ERR_OTHER,
            },
        }
    }

    /// The system's `errno`, where it had one.
    pub(crate) fn os_error(&self) -> Option<i32> {
        match &*self.0 {
            Cause::Core(error) => error.os_error().or_else(|| match error {
                Error::Permission { source, .. } | Error::Io { source, .. } => {
                    number_of(source.kind())
                }
                _ => None,
            }),
            Cause::Constant(error) => error.os_error(),
            _ => None,
        }
    }
}

fn status_of_constant(error: &tavola_constant::Error) -> tavola_status {
    use tavola_constant::Error;
    use tavola_status::*;
    match error {
        Error::System { source, .. } => match source.kind() {
            ErrorKind::NotFound => TAVOLA_ERR_NO_TABLE,
            ErrorKind::PermissionDenied => TAVOLA_ERR_PERMISSION,
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => TAVOLA_ERR_FULL,
            _ => TAVOLA_ERR_IO,
        },
        Error::NotConstant { .. } => TAVOLA_ERR_NOT_CONSTANT,
        Error::Damaged { .. } => TAVOLA_ERR_CORRUPT,
        Error::Lost { .. } => TAVOLA_ERR_FILE_LOST,
        Error::Full { .. } => TAVOLA_ERR_FULL,
        Error::TooLong { .. } => TAVOLA_ERR_TOO_LARGE,
        Error::Failed { .. } => TAVOLA_ERR_WRITE_FAILED,
        _ => TAVOLA_ERR_OTHER,
    }
}

/// The `errno` that fits an error that this library found itself: ENOENT, EACCES.
fn number_of(kind: ErrorKind) -> Option<i32> {
    match kind {
        ErrorKind::NotFound => Some(2),
        ErrorKind::PermissionDenied => Some(13),
        _ => None,
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Cause::Null(argument) => write!(f, "{argument} is NULL; hand in a pointer"),
            Cause::TooSmall(needed) => write!(
                f,
                "the result has {needed} bytes; hand in a buffer of that size, or a callback"
            ),
            Cause::Stopped => {
                f.write_str("a callback gave no place for the result, or did not take it")
            }
            Cause::NotComputed(why) => write!(f, "the value could not be computed ({why})"),
            Cause::Argument(what) | Cause::NotHeld(what) => f.write_str(what),
            Cause::Core(error) => error.fmt(f),
            Cause::Constant(error) => error.fmt(f),
        }
    }
}

/// The last error of a thread.
struct LastError {
    message: CString,
    os_error: c_int,
}

thread_local! {
    static LAST: RefCell<Option<LastError>> = const { RefCell::new(None) };
}

/// Keeps what [`tavola_last_error`] returns. In a thread that is ending, nobody asks any more; nor
/// of an error in a signal handler that interrupted this.
pub(crate) fn set_last_error(message: String, os_error: Option<i32>) {
    let mut bytes = message.into_bytes();
    bytes.retain(|byte| *byte != 0);
    let message = CString::new(bytes).unwrap_or_default();
    let error = LastError {
        message,
        os_error: os_error.unwrap_or(0),
    };
    let _ = LAST.try_with(|last| last.try_borrow_mut().map(|mut last| *last = Some(error)));
}

/// Returns the message of the last error of this thread, a sentence that says what to do, or "" if
/// there was no error. Statuses above 0 are not errors and do not change it. The text stays valid
/// until the next error of this thread or until the thread ends.
#[unsafe(no_mangle)]
pub extern "C" fn tavola_last_error() -> *const c_char {
    let message = |error: &LastError| error.message.as_ptr();
    LAST.try_with(|last| last.borrow().as_ref().map_or(c"".as_ptr(), message))
        .unwrap_or(c"".as_ptr())
}

/// Returns the `errno` that caused the last error of this thread, or 0 if there was none.
#[unsafe(no_mangle)]
pub extern "C" fn tavola_last_os_error() -> c_int {
    LAST.try_with(|last| last.borrow().as_ref().map_or(0, |error| error.os_error))
        .unwrap_or(0)
}

macro_rules! names {
    ($($name:ident)*) => {
        const NAMES: &[(i32, &CStr)] = &[$((tavola_status::$name as i32, match
            CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes())
        {
            Ok(name) => name,
            Err(_) => panic!("a name without NUL bytes"),
        })),*];

        /// A status without a name does not compile.
        const _: fn(tavola_status) = |status| match status {
            $(tavola_status::$name => {})*
        };
    };
}

names! {
    TAVOLA_OK TAVOLA_NOT_FOUND TAVOLA_EXISTS TAVOLA_CHANGED TAVOLA_END TAVOLA_EMPTY TAVOLA_TIMEOUT
    TAVOLA_LEASE_LOST TAVOLA_CONFLICT TAVOLA_ABORTED TAVOLA_OWNER_DIED TAVOLA_ERR_NULL
    TAVOLA_ERR_PANIC TAVOLA_ERR_TOO_SMALL TAVOLA_ERR_STOPPED
    TAVOLA_ERR_ARGUMENT TAVOLA_ERR_OTHER TAVOLA_ERR_NO_TABLE TAVOLA_ERR_TABLE_EXISTS
    TAVOLA_ERR_FULL TAVOLA_ERR_CORRUPT TAVOLA_ERR_NOT_A_TABLE TAVOLA_ERR_VERSION
    TAVOLA_ERR_ENDIANNESS TAVOLA_ERR_PERMISSION TAVOLA_ERR_READ_ONLY TAVOLA_ERR_BAD_NAME
    TAVOLA_ERR_BAD_OPTION TAVOLA_ERR_TOO_MANY_PARTICIPANTS TAVOLA_ERR_TOO_LARGE TAVOLA_ERR_LENGTHS
    TAVOLA_ERR_NO_UIDS TAVOLA_ERR_NO_OBJECT TAVOLA_ERR_OBJECT_EXISTS TAVOLA_ERR_NOT_HELD
    TAVOLA_ERR_NOT_A_COUNTER TAVOLA_ERR_REENTRANT TAVOLA_ERR_IO TAVOLA_ERR_ALREADY_DRAINED
    TAVOLA_ERR_SINK TAVOLA_ERR_COMPUTE TAVOLA_ERR_BUSY TAVOLA_ERR_TOO_MANY_CHANGES
    TAVOLA_ERR_NOT_DURABLE TAVOLA_ERR_KEY_TOO_LONG TAVOLA_ERR_DAMAGED_JOURNAL
    TAVOLA_ERR_IN_USE_ELSEWHERE TAVOLA_ERR_NOT_RESTORABLE TAVOLA_ERR_NOT_CONSTANT
    TAVOLA_ERR_FILE_LOST TAVOLA_ERR_WRITE_FAILED
}

/// Returns the name of a status, such as "TAVOLA_ERR_FULL", or "?" for an unknown number.
#[unsafe(no_mangle)]
pub extern "C" fn tavola_status_name(status: i32) -> *const c_char {
    let known = NAMES.iter().find(|(number, _)| *number == status);
    known.map_or(c"?".as_ptr(), |(_, name)| name.as_ptr())
}

/// Returns the version of the library, such as "0.1.0". `TAVOLA_VERSION` is that of the header.
#[unsafe(no_mangle)]
pub extern "C" fn tavola_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

#[cfg(test)]
mod tests;
