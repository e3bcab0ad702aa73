//! Lines: writing them, and how their readers see them.

use super::tavola_log;
use crate::buffer::tavola_buffer;
use crate::entry::{OK, entry};
use crate::given::given;
use crate::status::{Failure, tavola_status};
use std::ffi::{c_char, c_void};
use std::sync::atomic::Ordering;
use tavola_core::{Level, LogLine};

/// The level of a line.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum tavola_level {
    /// Something failed.
    TAVOLA_LEVEL_ERROR = 1,
    /// Something may fail.
    TAVOLA_LEVEL_WARN = 2,
    /// Something that a user wants to know.
    TAVOLA_LEVEL_INFO = 3,
    /// Something that helps to find a fault.
    TAVOLA_LEVEL_DEBUG = 4,
    /// Everything.
    TAVOLA_LEVEL_TRACE = 5,
}

/// A line of a log, which is lent to a callback until it returns.
#[repr(C)]
pub struct tavola_line {
    /// Nanoseconds since 1970-01-01 UTC, by the clock of the machine.
    pub unix_ns: u64,
    /// The process that wrote the line, by its own number.
    pub pid: u32,
    /// The thread that wrote it, by its own number.
    pub tid: u32,
    /// One of `tavola_level`.
    pub level: i32,
    /// How many bytes at the end of the text had no room.
    pub cut: u32,
    /// The text: any bytes, without a NUL at the end.
    pub text: *const c_char,
    /// How many bytes the text has.
    pub len: usize,
    /// Whether the line was shown on the standard error of its writer, because there was no drain.
    pub is_shown: bool,
}

impl tavola_line {
    pub(super) fn of(line: &LogLine<'_>) -> Self {
        Self {
            unix_ns: line.unix_ns,
            pid: line.pid,
            tid: line.tid,
            level: number_of(line.level),
            cut: line.cut,
            text: line.text.as_ptr().cast(),
            len: line.text.len(),
            is_shown: line.is_shown,
        }
    }
}

/// Called with a line, which is lent until it returns.
pub type tavola_each_line =
    Option<unsafe extern "C" fn(user: *mut c_void, line: *const tavola_line)>;

fn number_of(level: Level) -> i32 {
    (match level {
        Level::Error => tavola_level::TAVOLA_LEVEL_ERROR,
        Level::Warn => tavola_level::TAVOLA_LEVEL_WARN,
        Level::Info => tavola_level::TAVOLA_LEVEL_INFO,
        Level::Debug => tavola_level::TAVOLA_LEVEL_DEBUG,
        _ => tavola_level::TAVOLA_LEVEL_TRACE,
    }) as i32
}

#[inline]
pub(super) fn level_of(number: i32) -> Result<Level, Failure> {
    let at = usize::try_from(number).unwrap_or(0).wrapping_sub(1);
    let level = Level::ALL.get(at).copied();
    level.ok_or_else(|| Failure::argument("the level is not one of tavola_level"))
}

/// Writes a line: any bytes, without a newline. Bytes beyond 16,360 are cut, and the line says so.
/// `level` is one of `tavola_level`; the level of `tavola_log_set_level` does not apply. With
/// `TAVOLA_OVERLOAD_BLOCK` the call may wait for the drain.
///
/// # Examples
/// ```c
/// tavola_log *log = NULL;
/// tavola_log_stats stats = TAVOLA_INIT(tavola_log_stats);
/// tavola_log_open_in(table, "events", NULL, &log);
/// tavola_log_show_on_stderr(log, false);
/// tavola_log_set_level(log, TAVOLA_LEVEL_INFO);
/// if (tavola_log_is_on(log, TAVOLA_LEVEL_INFO)) {
///   tavola_log_line(log, TAVOLA_LEVEL_INFO, TAVOLA_STR("cart 3 is ready"));
/// }
/// tavola_log_get_stats(log, &stats);
/// if (tavola_log_dropped(log) != 0 && !tavola_log_has_drain(log) &&
///     tavola_log_overload(log) == TAVOLA_OVERLOAD_DROP_OLDEST) {
///   puts("lines were overwritten");
/// }
/// tavola_log_close(log);
/// ```
///
/// # Errors
/// `TAVOLA_ERR_READ_ONLY`. `TAVOLA_ERR_ARGUMENT`: an unknown level. `TAVOLA_ERR_FULL`: all log
/// buffers are in use by living threads, and the line is not shown anywhere; create the log with
/// more `bytes`. At the first write of a process as `tavola_set`.
///
/// # Concurrency
/// All processes and threads write at once, without a lock and without a system call. While the log
/// has no drain, a line is also shown on standard error with one `write` (a very long line with
/// several), unless `tavola_log_show_on_stderr` has disabled this.
///
/// # Crash
/// When the call has returned, the line is kept, even if its writer is killed. If the writer is
/// killed during the call, the line is not written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_log_line(
    log: *const tavola_log,
    level: i32,
    text: *const c_char,
    len: usize,
) -> tavola_status {
    entry(|| {
        let text = text.cast::<c_void>();
        let (log, text) = (given!(handle log), given!(bytes text, len));
        log.inner.line(level_of(level)?, text)?;
        OK
    })
}

/// Lets the macros `TAVOLA_LOG_ERROR` to `TAVOLA_LOG_TRACE` skip lines above this level; 0 skips
/// all. By default they skip none. This is a setting of the handle in this process.
///
/// # Errors
/// `TAVOLA_ERR_ARGUMENT`: an unknown level.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_log_set_level(log: *const tavola_log, level: i32) -> tavola_status {
    entry(|| {
        let log = given!(handle log);
        if level != 0 {
            level_of(level)?;
        }
        log.level.store(level, Ordering::Relaxed);
        OK
    })
}

/// Returns whether the macros write lines of this level. It returns false for NULL, so that a
/// program whose log could not be opened can go on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_log_is_on(log: *const tavola_log, level: i32) -> bool {
    // SAFETY: CAPI-1 of `given.rs`, the caller's promise.
    unsafe { log.as_ref() }.is_some_and(|log| level <= log.level.load(Ordering::Relaxed))
}

/// Returns a line as `tavola log show` prints it, in UTC, without a line's end. Control characters
/// are escaped, and what is not UTF-8 is replaced: `2026-11-22T10:31:05.123456Z  INFO 4711/4712
/// text`.
///
/// # Errors
/// `TAVOLA_ERR_ARGUMENT`: no such level; those of the buffer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_line_print(
    line: *const tavola_line,
    printed: *mut tavola_buffer,
) -> tavola_status {
    entry(|| {
        let (line, printed) = (given!(handle line), given!(buffer printed));
        let (text, len) = (line.text.cast::<c_void>(), line.len);
        let line = LogLine {
            unix_ns: line.unix_ns,
            pid: line.pid,
            tid: line.tid,
            level: level_of(line.level)?,
            is_shown: line.is_shown,
            text: given!(bytes text, len),
            cut: line.cut,
        };
        printed.put(line.to_string().as_bytes())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_have_their_numbers() {
        for level in Level::ALL {
            assert_eq!(level_of(number_of(level)).unwrap(), level);
        }
        for number in [0, -1, 6, i32::MIN] {
            assert!(level_of(number).is_err());
        }
    }
}
