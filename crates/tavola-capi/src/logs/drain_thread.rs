//! A drain that runs in a thread of its own.

use super::tavola_log;
use crate::entry::{OK, entry, entry_or};
use crate::given::{SizedStruct, given};
use crate::status::{Failure, tavola_status};
use std::ffi::{OsStr, c_char, c_int};
use std::fs::File;
use std::io::Write;
use std::os::fd::BorrowedFd;
use tavola_core::{DrainThread, Log, LogText, RotatingFile};

/// A thread of this process that writes the lines of a log out, see `tavola_log_drain_start`.
pub struct tavola_log_drain_thread {
    inner: DrainThread,
}

/// How a line is printed.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum tavola_log_form {
    /// Time, level, process, thread and text, see `tavola_line_print`.
    TAVOLA_LOG_FULL = 0,
    /// `#0.003948 2 text`: the seconds since the first line that was written, the number of the
    /// thread (1 for the first that came), and the text.
    TAVOLA_LOG_SHORT = 1,
}

/// Where a thread writes the lines of a log. Begin with `tavola_log_drain_options options =
/// TAVOLA_INIT(tavola_log_drain_options);`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tavola_log_drain_options {
    /// `sizeof(tavola_log_drain_options)`.
    pub size: usize,
    /// A file to append to, which is created if it does not exist; NULL: `fd`.
    pub path: *const c_char,
    /// Before a write that would make the file larger than this, it is renamed to PATH.1, PATH.1 to
    /// PATH.2 and so on, and a new file is begun. 0: never. Only with `path`.
    pub rotate_bytes: u64,
    /// How many old files stay.
    pub keep: u32,
    /// A descriptor that is open for writing and blocking, if `path` is NULL. The thread writes to
    /// a duplicate, so the caller may close it.
    pub fd: c_int,
    /// One of `tavola_log_form`.
    pub form: i32,
    /// Must be 0.
    pub reserved: u32,
}

// SAFETY: integers and a pointer without padding, the size first; zero is a value of each.
unsafe impl SizedStruct for tavola_log_drain_options {}

/// Starts a thread that writes the lines of a log out, to a file or a descriptor, until
/// `tavola_log_drain_stop`. It keeps the log open. The library starts no thread unless it is asked
/// to.
///
/// # Examples
/// ```c
/// tavola_log *log = NULL;
/// tavola_log_drain_thread *drain = NULL;
/// uint64_t lines = 0;
/// tavola_log_drain_options options = TAVOLA_INIT(tavola_log_drain_options);
/// options.path = "events.log";
/// options.rotate_bytes = 100 << 20;
/// options.keep = 5;
/// options.form = TAVOLA_LOG_SHORT;
/// tavola_log_open_in(table, "events", NULL, &log);
/// tavola_log_drain_start(log, &options, &drain);
/// tavola_log_line(log, TAVOLA_LEVEL_INFO, TAVOLA_STR("cart 3 is ready"));
/// if (tavola_log_drain_has_failed(drain)) {
///   puts("the file cannot be written now; the lines are in the log");
/// }
/// tavola_log_drain_stop(drain, &lines);
/// tavola_log_close(log);
/// ```
///
/// # Errors
/// `TAVOLA_ERR_ALREADY_DRAINED`; `TAVOLA_ERR_ARGUMENT`: neither a path nor a descriptor, or a
/// `rotate_bytes` without a path. `TAVOLA_ERR_IO`: the file cannot be opened, or the thread not
/// started. Otherwise as `tavola_log_drain_open`.
///
/// # Concurrency
/// If the lines cannot be written, the thread tries again every 100 ms. A forked child has no
/// thread, and the lines that it writes are written out by its parent's.
///
/// # Crash
/// As `tavola_log_drain_open`. If the process ends by `exit` or by returning from `main`, the
/// thread writes out all lines first, for at most 10 seconds. After `_exit` or a signal that kills,
/// they stay in the log for the next drain.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_log_drain_start(
    log: *const tavola_log,
    options: *const tavola_log_drain_options,
    thread: *mut *mut tavola_log_drain_thread,
) -> tavola_status {
    entry(|| {
        let (log, thread) = (given!(handle log), given!(out thread));
        let options = given!(sized options);
        let path = options.path;
        let inner = match path.is_null() {
            true => start(&log.inner, duplicate(&options)?, options.form)?,
            false => {
                let file = rotating(given!(name path), &options)?;
                start(&log.inner, file, options.form)?
            }
        };
        thread.put(Box::into_raw(Box::new(tavola_log_drain_thread { inner })));
        OK
    })
}

fn start(log: &Log, out: impl Write + Send + 'static, form: i32) -> Result<DrainThread, Failure> {
    let is = |known: tavola_log_form| form == known as i32;
    let text = if is(tavola_log_form::TAVOLA_LOG_FULL) {
        LogText::new(out)
    } else if is(tavola_log_form::TAVOLA_LOG_SHORT) {
        LogText::short(out)
    } else {
        return Err(Failure::argument("form is not one of tavola_log_form"));
    };
    Ok(log.start_drain(text)?)
}

fn rotating(path: &OsStr, options: &tavola_log_drain_options) -> Result<RotatingFile, Failure> {
    let rotate_bytes = Some(options.rotate_bytes).filter(|bytes| *bytes != 0);
    RotatingFile::open(path, rotate_bytes, options.keep)
        .map_err(|source| unwritable("opening the file of a drain", path, source))
}

/// Returns a file of the library's own for the caller's descriptor.
fn duplicate(options: &tavola_log_drain_options) -> Result<File, Failure> {
    if options.fd < 0 || options.rotate_bytes != 0 {
        return Err(Failure::argument(
            "a drain needs a path, or a descriptor of 0 or more and no rotate_bytes",
        ));
    }
    // SAFETY: the caller's promise: the descriptor is open during the call. It is not kept.
    let lent = unsafe { BorrowedFd::borrow_raw(options.fd) };
    let own = lent
        .try_clone_to_owned()
        .map_err(|source| unwritable("duplicating a descriptor", OsStr::new(""), source))?;
    Ok(File::from(own))
}

fn unwritable(op: &'static str, path: &OsStr, source: std::io::Error) -> Failure {
    let path = path.into();
    Failure::from(tavola_core::Error::Io { op, path, source })
}

/// Returns whether the thread's last attempt to write lines has failed. They stay in the log, and
/// the thread tries again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_log_drain_has_failed(
    thread: *const tavola_log_drain_thread,
) -> bool {
    entry_or(false, || Ok(given!(handle thread).inner.has_failed()))
}

/// Writes out all lines and ends the thread. `lines`, which may be NULL, gets how many lines it has
/// written. NULL for `thread` has no effect. In a forked child it only forgets the thread.
///
/// # Errors
/// `TAVOLA_ERR_SINK`: the last lines could not be written, and stay in the log;
/// `TAVOLA_ERR_ALREADY_DRAINED` in a forked child. The thread has ended in any case, and the
/// handle must not be used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_log_drain_stop(
    thread: *mut tavola_log_drain_thread,
    lines: *mut u64,
) -> tavola_status {
    entry(|| {
        let lines = given!(maybe lines);
        if thread.is_null() {
            return OK;
        }
        // SAFETY: the caller's promise: it came from `tavola_log_drain_start` and is used no more.
        let thread = unsafe { Box::from_raw(thread) };
        lines.put(thread.inner.stop()?);
        OK
    })
}
