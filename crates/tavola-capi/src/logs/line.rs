//! Lines: writing them, and how their readers see them.

use super::tavola_log;
use crate::buffer::tavola_buffer;
use crate::entry::{OK, entry};
use crate::given::given;
use crate::status::{Failure, tavola_status};
use std::ffi::{c_char, c_void};
use std::sync::atomic::Ordering;
use tavola_core::{Level, LogLine};

/// How much a line matters.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum tavola_level {
    /// Something failed.
    TAVOLA_LEVEL_ERROR = 1,
    /// Something may fail.
    TAVOLA_LEVEL_WARN = 2,
    /// What a user wants to know.
    TAVOLA_LEVEL_INFO = 3,
    /// What who looks for a fault wants to know.
    TAVOLA_LEVEL_DEBUG = 4,
    /// Everything.
    TAVOLA_LEVEL_TRACE = 5,
}

/// A line of a log, lent to a callback until it returns.
#[repr(C)]
pub struct tavola_line {
    /// Nanoseconds since 1970-01-01 UTC, by the clock of the machine.
    pub unix_ns: u64,
    /// The process that wrote it, by its own number.
    pub pid: u32,
    /// The thread, by its own number.
    pub tid: u32,
    /// One of `tavola_level`.
    pub level: i32,
    /// Bytes at the end of the text that had no room.
    pub cut: u32,
    /// What was written: any bytes, without a NUL at the end.
    pub text: *const c_char,
    /// How many.
    pub len: usize,
    /// Whether it was shown on its writer's standard error, as there was no drain.
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

/// Is told a line.
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
fn level_of(number: i32) -> Result<Level, Failure> {
    let at = usize::try_from(number).unwrap_or(0).wrapping_sub(1);
    let level = Level::ALL.get(at).copied();
    level.ok_or_else(|| Failure::argument("the level is none of tavola_level"))
}

/// Writes a line: any bytes, without a line's end. Beyond 16,360 they are cut, and the line says
/// so. `level` is one of `tavola_level`, whatever `tavola_log_set_level` says.
///
/// With `TAVOLA_OVERLOAD_BLOCK` it waits for the drain if it has to.
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
/// `TAVOLA_ERR_READ_ONLY`; `TAVOLA_ERR_ARGUMENT`: no such level; `TAVOLA_ERR_FULL` when living
/// threads have every piece of the log in hand, and the line is shown nowhere; at a process's first
/// write as `tavola_set`.
///
/// # Concurrency
/// All processes and threads write at once, without a lock and without a system call. But as long
/// as there is no drain, a line is also shown on standard error, by one `write` (a very long one by
/// several), unless `tavola_log_show_on_stderr` says not to.
///
/// # Crash
/// The line is there when this returns, whatever becomes of its writer then; of a line under way
/// there is nothing.
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

/// Lets the macros `TAVOLA_LOG_ERROR` to `TAVOLA_LOG_TRACE` skip lines above this level; 0: skip
/// all. When this is not called, they skip none. For this handle, in this process.
///
/// # Errors
/// `TAVOLA_ERR_ARGUMENT`: no such level.
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

/// Whether the macros write lines of this level. False for NULL: a program whose log could not be
/// opened may go on without.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_log_is_on(log: *const tavola_log, level: i32) -> bool {
    // SAFETY: I1 of `given.rs`, the caller's promise.
    unsafe { log.as_ref() }.is_some_and(|log| level <= log.level.load(Ordering::Relaxed))
}

/// Tells a line as `tavola log show` prints it, in UTC, without a line's end. Control characters
/// are escaped, and what is not UTF-8 is replaced:
/// `2026-11-22T10:31:05.123456Z  INFO 4711/4712 text`.
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
