//! Reading a log beside its drain.

use super::{alone, tavola_each_line, tavola_line, tavola_log};
use crate::entry::{OK, entry, entry_or};
use crate::given::{close, given};
use crate::status::{Failure, tavola_status};
use std::cell::RefCell;
use std::ffi::c_void;
use tavola_core::{LogLine, LogReader};

/// Reads the lines of a log, including those that were drained, and leaves them for others. For one
/// thread at a time. It keeps the log open.
pub struct tavola_log_reader {
    inner: RefCell<LogReader>,
}

/// Opens a reader, which begins with the oldest line of the log. A read-only handle of the log is
/// enough.
///
/// # Examples
/// ```c
/// static void show(void *user, const tavola_line *line) {
///   char bytes[512];
///   tavola_buffer text = TAVOLA_BUFFER(bytes, sizeof bytes);
///   (void)user;
///   if (tavola_line_print(line, &text) == TAVOLA_OK) {
///     printf("%.*s\n", (int)text.len, bytes);
///   }
/// }
///
/// tavola_log *log = NULL;
/// tavola_log_reader *reader = NULL;
/// tavola_log_open_in(table, "events", NULL, &log);
/// tavola_log_show_on_stderr(log, false);
/// tavola_log_reader_open(log, &reader);
/// tavola_log_reader_skip(reader);
/// tavola_log_line(log, TAVOLA_LEVEL_INFO, TAVOLA_STR("cart 3 is ready"));
/// tavola_log_reader_lines(reader, show, NULL);
/// tavola_log_reader_follow(reader, show, NULL);
/// printf("%llu pieces missed\n", (unsigned long long)tavola_log_reader_missed(reader));
/// tavola_log_reader_close(reader);
/// tavola_log_close(log);
/// ```
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_log_reader_open(
    log: *const tavola_log,
    reader: *mut *mut tavola_log_reader,
) -> tavola_status {
    entry(|| {
        let (log, reader) = (given!(handle log), given!(out reader));
        let inner = RefCell::new(log.inner.reader());
        reader.put(Box::into_raw(Box::new(tavola_log_reader { inner })));
        OK
    })
}

fn pass_lines<'a>(
    lines: impl Iterator<Item = LogLine<'a>>,
    each: unsafe extern "C" fn(*mut c_void, *const tavola_line),
    user: *mut c_void,
) {
    for line in lines {
        let line = tavola_line::of(&line);
        // SAFETY: the caller's function, called as its type says.
        unsafe { each(user, &raw const line) };
    }
}

/// Calls `each` with the lines that this reader has not returned before, in the order of their
/// times.
///
/// # Concurrency
/// Lines that are being written at this moment may be missing, and come with the next call after
/// later ones; `tavola_log_reader_follow` waits for them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_log_reader_lines(
    reader: *mut tavola_log_reader,
    each: tavola_each_line,
    user: *mut c_void,
) -> tavola_status {
    entry(|| {
        let reader = given!(handle reader);
        let each = each.ok_or_else(|| Failure::null("each"))?;
        pass_lines(alone(&reader.inner)?.lines(), each, user);
        OK
    })
}

/// Does the same as `tavola_log_reader_lines`, but leaves out the lines of the last millisecond,
/// and waits for a writer that is held up in the middle of a line. So the order holds from call to
/// call, as it does for a drain.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_log_reader_follow(
    reader: *mut tavola_log_reader,
    each: tavola_each_line,
    user: *mut c_void,
) -> tavola_status {
    entry(|| {
        let reader = given!(handle reader);
        let each = each.ok_or_else(|| Failure::null("each"))?;
        pass_lines(alone(&reader.inner)?.follow(), each, user);
        OK
    })
}

/// Skips all lines that the log has now.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_log_reader_skip(reader: *mut tavola_log_reader) -> tavola_status {
    entry(|| {
        let reader = given!(handle reader);
        alone(&reader.inner)?.skip();
        OK
    })
}

/// Returns how many pieces of the log, 16 KiB each, were overwritten before this reader had read
/// all of them. The number is a lower bound: it does not include lines that were written to a piece
/// after the reader had looked at it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_log_reader_missed(reader: *mut tavola_log_reader) -> u64 {
    entry_or(0, || {
        let reader = given!(handle reader);
        Ok(alone(&reader.inner)?.missed())
    })
}

/// Closes a reader. NULL has no effect.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_log_reader_close(reader: *mut tavola_log_reader) {
    // SAFETY: the caller's promise: it came from `tavola_log_reader_open` and is used no more.
    unsafe { close(reader) };
}
