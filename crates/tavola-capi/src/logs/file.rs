//! A stream of the C library that writes lines.

use super::line::level_of;
use super::tavola_log;
use crate::entry::{OK, entry};
use crate::given::given;
use crate::status::{Failure, tavola_status};
use std::ffi::{c_char, c_int, c_void};
use std::io;
use std::ptr;
use tavola_core::{Level, Log};

/// The C library's type of a stream, which only its own functions look into.
///
/// cbindgen:ignore
#[repr(C)]
#[expect(clippy::upper_case_acronyms, reason = "the name of the C library")]
pub struct FILE {
    _private: [u8; 0],
}

/// The functions behind a stream, as glibc and musl have them.
#[repr(C)]
struct CookieFunctions {
    read: Option<unsafe extern "C" fn(*mut c_void, *mut c_char, usize) -> isize>,
    write: Option<unsafe extern "C" fn(*mut c_void, *const c_char, usize) -> isize>,
    seek: Option<unsafe extern "C" fn(*mut c_void, *mut i64, c_int) -> c_int>,
    close: Option<unsafe extern "C" fn(*mut c_void) -> c_int>,
}

unsafe extern "C" {
    fn fopencookie(
        cookie: *mut c_void,
        mode: *const c_char,
        functions: CookieFunctions,
    ) -> *mut FILE;
    fn setvbuf(stream: *mut FILE, buffer: *mut c_char, mode: c_int, size: usize) -> c_int;
}

/// `_IOLBF` of glibc and musl: a stream writes out what it has at the end of each line.
const LINE_BUFFERED: c_int = 1;

/// A line that is longer is divided.
const MOST: usize = 64 * 1024;

/// What a stream writes to.
struct LineStream {
    log: Log,
    level: Level,
    /// A line whose end has not come yet.
    rest: Vec<u8>,
}

impl LineStream {
    fn write(&mut self, bytes: &[u8]) -> tavola_core::Result<()> {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            match piece.strip_suffix(b"\n") {
                Some(line) if self.rest.is_empty() => self.log.line(self.level, line)?,
                Some(end) => {
                    self.rest.extend_from_slice(end);
                    self.end_line()?;
                }
                None => self.rest.extend_from_slice(piece),
            }
            if self.rest.len() >= MOST {
                self.end_line()?;
            }
        }
        Ok(())
    }

    fn end_line(&mut self) -> tavola_core::Result<()> {
        let line = std::mem::take(&mut self.rest);
        self.log.line(self.level, &line)
    }
}

/// Opens a stream of the C library whose lines go to a log, all with this level: for `fprintf`,
/// `fputs`, and libraries that write to a `FILE *`. A line is written when its end comes, or with
/// `fclose`. The stream keeps the log open; close it with `fclose`.
///
/// # Examples
/// ```c
/// tavola_log *log = NULL;
/// FILE *stream = NULL;
/// tavola_log_open_in(table, "events", NULL, &log);
/// tavola_log_show_on_stderr(log, false);
/// if (tavola_log_file(log, TAVOLA_LEVEL_INFO, &stream) == TAVOLA_OK) {
///   fprintf(stream, "cart %d", 3);
///   fputs(" is ready\ncart 4 is not\n", stream);
///   fclose(stream);
/// }
/// tavola_log_close(log);
/// ```
///
/// # Errors
/// `TAVOLA_ERR_ARGUMENT`: an unknown level. `TAVOLA_ERR_IO`: the C library has no memory for a
/// stream. If a line cannot be written, the functions of the stream return an error, as they do if
/// a disk is full.
///
/// # Concurrency
/// Threads may share the stream; the C library locks it for each call. A line that one thread puts
/// together by several calls may get mixed with another's, so give each thread a stream, or write a
/// line by one call.
///
/// # Crash
/// Lines whose end was written are in the log. The beginning of a line is lost with its process.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_log_file(
    log: *const tavola_log,
    level: i32,
    stream: *mut *mut FILE,
) -> tavola_status {
    entry(|| {
        let (log, out) = (given!(handle log), given!(out stream));
        let lines = LineStream {
            log: log.inner.clone(),
            level: level_of(level)?,
            rest: Vec::new(),
        };
        out.put(open(lines)?);
        OK
    })
}

fn open(lines: LineStream) -> Result<*mut FILE, Failure> {
    let functions = CookieFunctions {
        read: None,
        write: Some(write_stream),
        seek: None,
        close: Some(close_stream),
    };
    let path = lines.log.path().to_path_buf();
    let cookie = Box::into_raw(Box::new(lines)).cast::<c_void>();
    // SAFETY: the functions fit the type of the C library, and the cookie is theirs until the
    // stream is closed.
    let stream = unsafe { fopencookie(cookie, c"w".as_ptr(), functions) };
    if stream.is_null() {
        let source = io::Error::last_os_error();
        // SAFETY: no stream has it, so it is still ours.
        drop(unsafe { Box::from_raw(cookie.cast::<LineStream>()) });
        let op = "opening a stream of the log";
        return Err(Failure::from(tavola_core::Error::Io { op, path, source }));
    }
    // SAFETY: a stream that was just opened. If it stays fully buffered, lines come later.
    unsafe { setvbuf(stream, ptr::null_mut(), LINE_BUFFERED, 0) };
    Ok(stream)
}

/// Called by the C library with what was written to the stream, whose lock it holds.
unsafe extern "C" fn write_stream(cookie: *mut c_void, bytes: *const c_char, len: usize) -> isize {
    let status = entry(|| {
        // SAFETY: from `open`; the C library calls for one thread at a time until then.
        let lines = unsafe { &mut *cookie.cast::<LineStream>() };
        let bytes = bytes.cast::<c_void>();
        lines.write(given!(bytes bytes, len))?;
        OK
    });
    // A stream of glibc takes less than everything as an error; one of musl takes a negative
    // number.
    match status {
        tavola_status::TAVOLA_OK => len as isize,
        _ => -1,
    }
}

/// Called by the C library when the stream is closed.
unsafe extern "C" fn close_stream(cookie: *mut c_void) -> c_int {
    let status = entry(|| {
        // SAFETY: from `open`; the C library uses it no more.
        let mut lines = unsafe { Box::from_raw(cookie.cast::<LineStream>()) };
        if !lines.rest.is_empty() {
            lines.end_line()?;
        }
        OK
    });
    match status {
        tavola_status::TAVOLA_OK => 0,
        _ => -1,
    }
}
