//! What functions return, and the message of the last error.

use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString, c_char};
use std::fmt;
use tavola_client_core::{BuildError, Error, FailureCause};

/// What became of a call or a request. 0 is success of a call that is not about a key, a number
/// above 0 is what the server answered about a key, a number below 0 is an error. A number is never
/// used again for something else.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum tavola_mc_status {
    /// The call did what it should.
    TAVOLA_MC_OK = 0,
    /// The key is there.
    TAVOLA_MC_HIT = 1,
    /// The key is missing. Only what the server said is a miss; a failure never is.
    TAVOLA_MC_MISS = 2,
    /// The value is stored.
    TAVOLA_MC_STORED = 3,
    /// The condition of add, replace, append or prepend does not hold.
    TAVOLA_MC_NOT_STORED = 4,
    /// The item's unique number is another.
    TAVOLA_MC_EXISTS = 5,
    /// The key was there and is removed.
    TAVOLA_MC_DELETED = 6,
    /// The key is there and has its new expiry time.
    TAVOLA_MC_TOUCHED = 7,
    /// There is a new number.
    TAVOLA_MC_COUNT = 8,
    /// The request needs no answer, and is sent or held to be sent.
    TAVOLA_MC_QUEUED = 9,

    /// A pointer is NULL and must not be.
    TAVOLA_MC_ERR_NULL = -1,
    /// This is a bug of the library; please report it.
    TAVOLA_MC_ERR_PANIC = -2,
    /// The value does not fit in the memory of the caller; `len` says how long it is.
    TAVOLA_MC_ERR_TOO_SMALL = -3,
    /// A callback gave no memory for the value.
    TAVOLA_MC_ERR_STOPPED = -4,
    /// An argument is invalid.
    TAVOLA_MC_ERR_ARGUMENT = -5,
    /// A text names no server, or the servers make no ring.
    TAVOLA_MC_ERR_SERVERS = -6,
    /// An option is invalid.
    TAVOLA_MC_ERR_OPTION = -7,
    /// The server, or the client itself, refused the request. Nothing was changed.
    TAVOLA_MC_ERR_REFUSED = -8,
    /// The request was not sent: nothing was changed, and it can be repeated.
    TAVOLA_MC_ERR_UNSENT = -9,
    /// The request was sent, and no answer came: it may have been carried out or not.
    TAVOLA_MC_ERR_UNKNOWN = -10,
    /// An error that this library has no number for.
    TAVOLA_MC_ERR_OTHER = -11,
}

/// What kind of failure keeps a request from being answered. Decide by it; the message is for
/// people. A number is never used again for something else.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum tavola_mc_cause {
    /// The last error was no failure of a server.
    TAVOLA_MC_CAUSE_NONE = 0,
    /// The name of the server has no address.
    TAVOLA_MC_CAUSE_UNRESOLVED = 1,
    /// Nothing listens there, or there is no such socket or table: the server is down.
    TAVOLA_MC_CAUSE_REFUSED = 2,
    /// Its machine cannot be reached.
    TAVOLA_MC_CAUSE_UNREACHABLE = 3,
    /// It did not take a connection, or did not answer, in time.
    TAVOLA_MC_CAUSE_TIMED_OUT = 4,
    /// It closed the connection.
    TAVOLA_MC_CAUSE_CLOSED = 5,
    /// The connection broke.
    TAVOLA_MC_CAUSE_RESET = 6,
    /// There is no TLS with it: a certificate is not accepted, or it does not speak TLS.
    TAVOLA_MC_CAUSE_TLS = 7,
    /// It asks for a user and a password, or does not accept those given.
    TAVOLA_MC_CAUSE_AUTHENTICATION = 8,
    /// It took the connection, and refused to serve it.
    TAVOLA_MC_CAUSE_REJECTED = 9,
    /// It sent what is no answer to what it was asked.
    TAVOLA_MC_CAUSE_PROTOCOL = 10,
    /// A proxy took the request, and lost the server behind it.
    TAVOLA_MC_CAUSE_PROXY = 11,
    /// One of several copies refused what another carried out.
    TAVOLA_MC_CAUSE_PARTIAL = 12,
    /// All connections to it are in use by others.
    TAVOLA_MC_CAUSE_BUSY = 13,
    /// This process cannot do what is needed, or was forked during the call.
    TAVOLA_MC_CAUSE_LOCAL = 14,
    /// A cause that this library has no number for.
    TAVOLA_MC_CAUSE_OTHER = 15,
}

/// Why a function did not do what it was asked.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The name of an argument.
    Null(&'static str),
    /// What is wrong with which argument.
    Argument(String),
    /// Bytes that are needed.
    TooSmall(usize),
    Stopped,
    Build(BuildError),
    /// An option that the client's builder does not see.
    Option(String),
    Call(Error),
}

impl From<BuildError> for Failure {
    fn from(error: BuildError) -> Self {
        Self::Build(error)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Call(error)
    }
}

impl Failure {
    pub(crate) fn argument(what: &str) -> Self {
        Self::Argument(what.to_string())
    }

    pub(crate) fn cause(&self) -> tavola_mc_cause {
        match self {
            Self::Call(error) => cause_of(error),
            _ => tavola_mc_cause::TAVOLA_MC_CAUSE_NONE,
        }
    }

    pub(crate) fn status(&self) -> tavola_mc_status {
        use tavola_mc_status::*;
        match self {
            Self::Null(_) => TAVOLA_MC_ERR_NULL,
            Self::Argument(_) => TAVOLA_MC_ERR_ARGUMENT,
            Self::TooSmall(_) => TAVOLA_MC_ERR_TOO_SMALL,
            Self::Stopped => TAVOLA_MC_ERR_STOPPED,
            Self::Build(BuildError::Server(_) | BuildError::Ring(_)) => TAVOLA_MC_ERR_SERVERS,
            Self::Build(BuildError::Option { .. }) | Self::Option(_) => TAVOLA_MC_ERR_OPTION,
            Self::Call(error) => status_of(error),
            Self::Build(_) => TAVOLA_MC_ERR_OTHER,
        }
    }
}

/// The number of a failed call.
pub(crate) fn status_of(error: &Error) -> tavola_mc_status {
    match error {
        Error::Refused(_) => tavola_mc_status::TAVOLA_MC_ERR_REFUSED,
        Error::Unsent { .. } => tavola_mc_status::TAVOLA_MC_ERR_UNSENT,
        Error::Unknown { .. } => tavola_mc_status::TAVOLA_MC_ERR_UNKNOWN,
        _ => tavola_mc_status::TAVOLA_MC_ERR_OTHER,
    }
}

/// The number of the cause of a failed call.
pub(crate) fn cause_of(error: &Error) -> tavola_mc_cause {
    use tavola_mc_cause::*;
    let (Error::Unsent { cause, .. } | Error::Unknown { cause, .. }) = error else {
        return TAVOLA_MC_CAUSE_NONE;
    };
    match cause {
        FailureCause::Unresolved => TAVOLA_MC_CAUSE_UNRESOLVED,
        FailureCause::Refused => TAVOLA_MC_CAUSE_REFUSED,
        FailureCause::Unreachable => TAVOLA_MC_CAUSE_UNREACHABLE,
        FailureCause::TimedOut => TAVOLA_MC_CAUSE_TIMED_OUT,
        FailureCause::Closed => TAVOLA_MC_CAUSE_CLOSED,
        FailureCause::Reset => TAVOLA_MC_CAUSE_RESET,
        FailureCause::Tls => TAVOLA_MC_CAUSE_TLS,
        FailureCause::Authentication => TAVOLA_MC_CAUSE_AUTHENTICATION,
        FailureCause::Rejected => TAVOLA_MC_CAUSE_REJECTED,
        FailureCause::Protocol => TAVOLA_MC_CAUSE_PROTOCOL,
        FailureCause::Proxy => TAVOLA_MC_CAUSE_PROXY,
        FailureCause::Partial => TAVOLA_MC_CAUSE_PARTIAL,
        FailureCause::Busy => TAVOLA_MC_CAUSE_BUSY,
        FailureCause::Local => TAVOLA_MC_CAUSE_LOCAL,
        _ => TAVOLA_MC_CAUSE_OTHER,
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null(argument) => write!(f, "{argument} is NULL; hand in a pointer"),
            Self::Argument(what) | Self::Option(what) => f.write_str(what),
            Self::TooSmall(needed) => write!(
                f,
                "the value has {needed} bytes; hand in memory of that size, or a callback"
            ),
            Self::Stopped => f.write_str("the callback `room` gave no memory for the value"),
            Self::Build(error) => error.fmt(f),
            Self::Call(error) => error.fmt(f),
        }
    }
}

thread_local! {
    static LAST: RefCell<Option<CString>> = const { RefCell::new(None) };
    static LAST_CAUSE: Cell<tavola_mc_cause> =
        const { Cell::new(tavola_mc_cause::TAVOLA_MC_CAUSE_NONE) };
}

/// Text for C, without the NUL bytes that it may have inside.
pub(crate) fn c_text(text: &str) -> CString {
    let bytes: Vec<u8> = text.bytes().filter(|byte| *byte != 0).collect();
    CString::new(bytes).unwrap_or_default()
}

/// Keeps what [`tavola_mc_last_error`] and [`tavola_mc_last_cause`] return. In a thread that is
/// ending, nobody asks any more.
pub(crate) fn set_last_error(message: &str, cause: tavola_mc_cause) {
    let message = c_text(message);
    let _ = LAST_CAUSE.try_with(|last| last.set(cause));
    let _ = LAST.try_with(|last| last.try_borrow_mut().map(|mut last| *last = Some(message)));
}

/// Returns the message of the last error of this thread, a sentence that says what to do, or "" if
/// there was no error. Statuses above 0 are not errors and do not change it, and the results of a
/// batch have a message each. The text stays valid until the next error of this thread or until the
/// thread ends.
#[unsafe(no_mangle)]
pub extern "C" fn tavola_mc_last_error() -> *const c_char {
    let text = |message: &CString| message.as_ptr();
    LAST.try_with(|last| last.borrow().as_ref().map_or(c"".as_ptr(), text))
        .unwrap_or(c"".as_ptr())
}

/// Returns the cause of the last error of this thread, one of `tavola_mc_cause`, for errors that
/// are `TAVOLA_MC_ERR_UNSENT` or `TAVOLA_MC_ERR_UNKNOWN`. The results of a batch have a cause each.
///
/// # Examples
/// ```c
/// char bytes[64];
/// tavola_mc_value value = TAVOLA_MC_VALUE(bytes, sizeof bytes);
/// if (tavola_mc_get(client, TAVOLA_MC_STR("user"), &value) < 0) {
///   if (tavola_mc_last_cause() == TAVOLA_MC_CAUSE_TIMED_OUT) puts("the server is slow");
/// }
/// ```
#[unsafe(no_mangle)]
pub extern "C" fn tavola_mc_last_cause() -> tavola_mc_cause {
    LAST_CAUSE
        .try_with(Cell::get)
        .unwrap_or(tavola_mc_cause::TAVOLA_MC_CAUSE_NONE)
}

macro_rules! names {
    ($($name:ident)*) => {
        const NAMES: &[(i32, &CStr)] = &[$((tavola_mc_status::$name as i32, match
            CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes())
        {
            Ok(name) => name,
            Err(_) => panic!("a name without NUL bytes"),
        })),*];

        /// A status without a name does not compile.
        const _: fn(tavola_mc_status) = |status| match status {
            $(tavola_mc_status::$name => {})*
        };
    };
}

names! {
    TAVOLA_MC_OK TAVOLA_MC_HIT TAVOLA_MC_MISS TAVOLA_MC_STORED TAVOLA_MC_NOT_STORED
    TAVOLA_MC_EXISTS TAVOLA_MC_DELETED TAVOLA_MC_TOUCHED TAVOLA_MC_COUNT TAVOLA_MC_QUEUED
    TAVOLA_MC_ERR_NULL TAVOLA_MC_ERR_PANIC TAVOLA_MC_ERR_TOO_SMALL TAVOLA_MC_ERR_STOPPED
    TAVOLA_MC_ERR_ARGUMENT TAVOLA_MC_ERR_SERVERS TAVOLA_MC_ERR_OPTION TAVOLA_MC_ERR_REFUSED
    TAVOLA_MC_ERR_UNSENT TAVOLA_MC_ERR_UNKNOWN TAVOLA_MC_ERR_OTHER
}

/// Returns the name of a status, such as "TAVOLA_MC_MISS", or "?" for an unknown number.
///
/// # Examples
/// ```c
/// tavola_mc_status status = tavola_mc_delete(client, TAVOLA_MC_STR("nothing"), 0);
/// printf("%s %s\n", tavola_mc_status_name(status), tavola_mc_version());
/// ```
#[unsafe(no_mangle)]
pub extern "C" fn tavola_mc_status_name(status: i32) -> *const c_char {
    let known = NAMES.iter().find(|(number, _)| *number == status);
    known.map_or(c"?".as_ptr(), |(_, name)| name.as_ptr())
}

/// Returns the version of the library, such as "0.1.0". `TAVOLA_MC_VERSION` is that of the header.
#[unsafe(no_mangle)]
pub extern "C" fn tavola_mc_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}
