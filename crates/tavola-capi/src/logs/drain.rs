//! Writing a log's lines out.

use super::{alone, tavola_line, tavola_log};
use crate::entry::{OK, entry};
use crate::given::{SizedStruct, close, given};
use crate::status::{Failure, tavola_status};
use std::cell::RefCell;
use std::ffi::{c_int, c_void};
use std::fs::File;
use std::io::{self, Write};
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd;
use std::time::Duration;
use tavola_core::{LogDrain, LogLine, LogSink, LogText, Result};

/// Writes the lines of a log out. For one thread at a time. It keeps the log open.
pub struct tavola_log_drain {
    inner: RefCell<Draining>,
}

struct Draining {
    drain: LogDrain,
    /// For the descriptor that it last wrote to.
    text: Option<(c_int, LogText<Descriptor>)>,
}

/// Where a drain writes lines. Begin with `tavola_log_sink sink = TAVOLA_INIT(tavola_log_sink);`.
/// Each function returns 0, or the number of an error, usually an `errno`; then the lines come
/// again with the next pass.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tavola_log_sink {
    /// `sizeof(tavola_log_sink)`.
    pub size: usize,
    /// Passed to the functions.
    pub user: *mut c_void,
    /// Takes a line, which is lent until it returns.
    pub line: Option<unsafe extern "C" fn(user: *mut c_void, line: *const tavola_line) -> c_int>,
    /// Called with the number of lines that were dropped since its last call. May be NULL.
    pub dropped: Option<unsafe extern "C" fn(user: *mut c_void, lines: u64) -> c_int>,
    /// Writes out the lines that were taken. After it has returned 0, they do not come again. May
    /// be NULL.
    pub flush: Option<unsafe extern "C" fn(user: *mut c_void) -> c_int>,
}

// SAFETY: integers and pointers without padding, the size first; zero is NULL.
unsafe impl SizedStruct for tavola_log_sink {}

fn answered(answer: Option<c_int>) -> io::Result<()> {
    match answer.unwrap_or(0) {
        0 => Ok(()),
        number => Err(io::Error::from_raw_os_error(number)),
    }
}

impl LogSink for tavola_log_sink {
    fn line(&mut self, line: &LogLine<'_>) -> io::Result<()> {
        let line = tavola_line::of(line);
        // SAFETY: the caller's function, called as its type says.
        answered(
            self.line
                .map(|take| unsafe { take(self.user, &raw const line) }),
        )
    }

    fn dropped(&mut self, lines: u64) -> io::Result<()> {
        // SAFETY: the caller's function, called as its type says.
        answered(
            self.dropped
                .map(|report| unsafe { report(self.user, lines) }),
        )
    }

    fn flush(&mut self) -> io::Result<()> {
        // SAFETY: the caller's function, called as its type says.
        answered(self.flush.map(|flush| unsafe { flush(self.user) }))
    }
}

/// A descriptor of the caller's, which stays open.
struct Descriptor(c_int);

impl Write for Descriptor {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // SAFETY: the caller of a pass lends the descriptor; it is not closed here.
        let mut file = ManuallyDrop::new(unsafe { File::from_raw_fd(self.0) });
        file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Draining {
    fn text(&mut self, fd: c_int) -> (&mut LogDrain, &mut LogText<Descriptor>) {
        if self.text.as_ref().is_some_and(|(last, _)| *last != fd) {
            self.text = None;
        }
        let fresh = || (fd, LogText::new(Descriptor(fd)));
        (&mut self.drain, &mut self.text.get_or_insert_with(fresh).1)
    }
}

/// # Safety
/// CAPI-1 of `given.rs`.
unsafe fn to_sink(
    drain: *mut tavola_log_drain,
    sink: *const tavola_log_sink,
    lines: *mut usize,
    act: impl FnOnce(&mut LogDrain, &mut tavola_log_sink) -> Result<usize>,
) -> tavola_status {
    entry(|| {
        let (drain, lines) = (given!(handle drain), given!(maybe lines));
        let mut sink = given!(sized sink);
        if sink.line.is_none() {
            return Err(Failure::null("line"));
        }
        lines.put(act(&mut alone(&drain.inner)?.drain, &mut sink)?);
        OK
    })
}

/// # Safety
/// CAPI-1 of `given.rs`.
unsafe fn to_descriptor(
    drain: *mut tavola_log_drain,
    fd: c_int,
    lines: *mut usize,
    act: impl FnOnce(&mut LogDrain, &mut LogText<Descriptor>) -> Result<usize>,
) -> tavola_status {
    entry(|| {
        let (drain, lines) = (given!(handle drain), given!(maybe lines));
        if fd < 0 {
            return Err(Failure::argument("a descriptor is 0 or more"));
        }
        let mut inner = alone(&drain.inner)?;
        let (drain, text) = inner.text(fd);
        lines.put(act(drain, text)?);
        OK
    })
}

/// Opens a drain of a log. A log has one drain at a time.
///
/// # Examples
/// ```c
/// tavola_log *log = NULL;
/// tavola_log_drain *drain = NULL;
/// size_t lines = 0;
/// tavola_log_open_in(table, "events", NULL, &log);
/// tavola_log_drain_open(log, &drain);
/// tavola_log_line(log, TAVOLA_LEVEL_INFO, TAVOLA_STR("cart 3 is ready"));
/// for (int i = 0; i < 10; i++) {
///   tavola_log_drain_pass_fd(drain, 1, &lines);
///   tavola_log_drain_wait(drain, 10);
/// }
/// tavola_log_drain_finish_fd(drain, 1, &lines);
/// tavola_log_drain_close(drain);
/// tavola_log_close(log);
/// ```
///
/// # Errors
/// `TAVOLA_ERR_ALREADY_DRAINED`; `TAVOLA_ERR_READ_ONLY`; at the first write of a process as
/// `tavola_set`.
///
/// # Concurrency
/// Lines come in the order of their times. There are two exceptions: a line whose writer was held
/// up for a tenth of a second or more while it wrote it may come after later ones, and so may lines
/// around a moment at which the clock of the machine is set back.
///
/// # Crash
/// A drain begins with the lines that no drain before it has written out. If a drain dies in the
/// middle of a pass, the next one writes the lines of that pass again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_log_drain_open(
    log: *const tavola_log,
    drain: *mut *mut tavola_log_drain,
) -> tavola_status {
    entry(|| {
        let (log, drain) = (given!(handle log), given!(out drain));
        let inner = RefCell::new(Draining {
            drain: log.inner.drain()?,
            text: None,
        });
        drain.put(Box::into_raw(Box::new(tavola_log_drain { inner })));
        OK
    })
}

/// Writes out the lines that are due. Lines of the last millisecond may not be due yet. `lines`,
/// which may be NULL, gets how many lines it wrote. The functions of the sink may write to the log.
///
/// # Examples
/// ```c
/// static int take(void *user, const tavola_line *line) {
///   fprintf((FILE *)user, "%.*s\n", (int)line->len, line->text);
///   return 0;
/// }
///
/// tavola_log *log = NULL;
/// tavola_log_drain *drain = NULL;
/// tavola_log_sink sink = TAVOLA_INIT(tavola_log_sink);
/// sink.user = stdout;
/// sink.line = take;
/// tavola_log_open_in(table, "events", NULL, &log);
/// tavola_log_drain_open(log, &drain);
/// tavola_log_line(log, TAVOLA_LEVEL_INFO, TAVOLA_STR("cart 3 is ready"));
/// tavola_log_drain_pass(drain, &sink, NULL);
/// tavola_log_drain_finish(drain, &sink, NULL);
/// tavola_log_drain_close(drain);
/// tavola_log_close(log);
/// ```
///
/// # Errors
/// `TAVOLA_ERR_SINK`: a function of the sink failed, and the lines come again;
/// `tavola_last_os_error` returns what the function returned. `TAVOLA_ERR_ALREADY_DRAINED` in a
/// forked child.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_log_drain_pass(
    drain: *mut tavola_log_drain,
    sink: *const tavola_log_sink,
    lines: *mut usize,
) -> tavola_status {
    // SAFETY: the caller's promise.
    unsafe { to_sink(drain, sink, lines, LogDrain::pass) }
}

/// Writes out all lines. Call it at the end, when the writers have ended.
///
/// # Errors
/// As `tavola_log_drain_pass`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_log_drain_finish(
    drain: *mut tavola_log_drain,
    sink: *const tavola_log_sink,
    lines: *mut usize,
) -> tavola_status {
    // SAFETY: the caller's promise.
    unsafe { to_sink(drain, sink, lines, LogDrain::finish) }
}

/// Does the same as `tavola_log_drain_pass`, and writes the lines as text to a file, a pipe or a
/// terminal; see `tavola_line_print`. The descriptor must be blocking. You may pass another one
/// each time, to rotate a large file; `tavola log drain --file PATH --rotate SIZE` in the shell
/// rotates by itself.
///
/// # Errors
/// `TAVOLA_ERR_SINK`: the lines come again, and a part of them may have been written. Otherwise as
/// `tavola_log_drain_pass`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_log_drain_pass_fd(
    drain: *mut tavola_log_drain,
    fd: c_int,
    lines: *mut usize,
) -> tavola_status {
    // SAFETY: the caller's promise.
    unsafe { to_descriptor(drain, fd, lines, LogDrain::pass) }
}

/// Does the same as `tavola_log_drain_finish`, and writes the lines as text to a descriptor.
///
/// # Errors
/// As `tavola_log_drain_pass_fd`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_log_drain_finish_fd(
    drain: *mut tavola_log_drain,
    fd: c_int,
    lines: *mut usize,
) -> tavola_status {
    // SAFETY: the caller's promise.
    unsafe { to_descriptor(drain, fd, lines, LogDrain::finish) }
}

/// Sleeps for at most 10 ms and at most `timeout_ms`, and less if many lines are written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_log_drain_wait(
    drain: *mut tavola_log_drain,
    timeout_ms: u64,
) -> tavola_status {
    entry(|| {
        let drain = given!(handle drain);
        let limit = Duration::from_millis(timeout_ms);
        alone(&drain.inner)?.drain.wait(limit);
        OK
    })
}

/// Closes a drain. NULL has no effect.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_log_drain_close(drain: *mut tavola_log_drain) {
    // SAFETY: the caller's promise: it came from `tavola_log_drain_open` and is used no more.
    unsafe { close(drain) };
}
