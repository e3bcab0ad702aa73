//! Opening logs, and what they say of themselves.

use crate::entry::{OK, entry, entry_or};
use crate::given::{SizedStruct, close, given};
use crate::lists::{tavola_each_text, tell};
use crate::status::{Failure, tavola_status};
use crate::table::tavola_table;
use std::ffi::{CString, OsStr, c_char, c_void};
use std::os::unix::ffi::OsStrExt;
use std::ptr;
use std::sync::atomic::AtomicI32;
use tavola_core::{Log, LogOptions, Overload, Result, Table};

/// Lines that all processes write, in shared memory. One drain writes them out in the order of
/// their times; as long as there is none, each is also shown on the standard error of its writer,
/// and stays for the next drain as long as there is room. Whatever became of their writers, lines
/// can be read until they are overwritten.
pub struct tavola_log {
    pub(super) inner: Log,
    path: CString,
    /// Lines above it are skipped by the macros; of this handle alone.
    pub(super) level: AtomicI32,
}

/// What happens when a line finds no room: every piece of the log that is in no living thread's
/// hand is full of lines that no drain has written out, be it that the drain is too slow or that
/// there is none.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum tavola_overload {
    /// The oldest lines are overwritten, a piece at a time, and counted.
    TAVOLA_OVERLOAD_DROP_OLDEST = 0,
    /// The new line is not written, but counted: the log keeps the oldest.
    TAVOLA_OVERLOAD_DROP_NEWEST = 1,
    /// The writer waits for the drain, as long as it lives. Without one it is as with
    /// `TAVOLA_OVERLOAD_DROP_NEWEST`.
    TAVOLA_OVERLOAD_BLOCK = 2,
}

/// What a log is made with; what is 0 has a default. Begin with
/// `tavola_log_options options = TAVOLA_INIT(tavola_log_options);`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tavola_log_options {
    /// `sizeof(tavola_log_options)`.
    pub size: usize,
    /// Room for lines, 64 KiB to 16 GiB, in whole pieces of 16 KiB; 4 MiB when 0. A line takes 24
    /// bytes and its text, in whole words of 8 bytes. Each thread that writes has one piece in
    /// hand, which no other thread writes on, so there should be several times as many of them as
    /// threads. At the end of a full piece up to 1 KiB may stay empty.
    pub bytes: u64,
    /// One of `tavola_overload`.
    pub overload: i32,
    /// The mode of the file of a log that has one of its own; 0600 when 0.
    pub mode: u32,
    /// 1: opens a file of any owner, see `tavola_options`.
    pub any_owner: u32,
    /// 0.
    pub reserved: u32,
}

// SAFETY: integers without padding, the size first.
unsafe impl SizedStruct for tavola_log_options {}

/// # Safety
/// I1 of `given.rs`.
unsafe fn options_of(
    options: *const tavola_log_options,
) -> std::result::Result<LogOptions, Failure> {
    let mut made = LogOptions::new();
    if options.is_null() {
        return Ok(made);
    }
    let given = given!(sized options);
    if given.bytes != 0 {
        made = made.bytes(given.bytes);
    }
    if given.mode != 0 {
        made = made.mode(given.mode);
    }
    made = made.any_owner(given.any_owner != 0);
    let known = [Overload::DropOldest, Overload::DropNewest, Overload::Block];
    match known
        .into_iter()
        .find(|one| number_of(*one) == given.overload)
    {
        Some(overload) => Ok(made.overload(overload)),
        None => Err(Failure::argument("overload is none of tavola_overload")),
    }
}

pub(super) fn number_of(overload: Overload) -> i32 {
    (match overload {
        Overload::DropOldest => tavola_overload::TAVOLA_OVERLOAD_DROP_OLDEST,
        Overload::DropNewest => tavola_overload::TAVOLA_OVERLOAD_DROP_NEWEST,
        Overload::Block => tavola_overload::TAVOLA_OVERLOAD_BLOCK,
    }) as i32
}

fn opened(inner: Log) -> *mut tavola_log {
    let path = CString::new(inner.path().as_os_str().as_bytes()).unwrap_or_default();
    Box::into_raw(Box::new(tavola_log {
        inner,
        path,
        level: AtomicI32::new(super::line::tavola_level::TAVOLA_LEVEL_TRACE as i32),
    }))
}

/// What the functions have in common that make a log in a file of its own.
///
/// # Safety
/// I1 of `given.rs`.
unsafe fn open(
    name: *const c_char,
    options: *const tavola_log_options,
    log: *mut *mut tavola_log,
    open: impl FnOnce(&LogOptions, &OsStr) -> Result<Log>,
) -> tavola_status {
    entry(|| {
        let (name, log) = (given!(name name), given!(out log));
        // SAFETY: I1.
        let options = unsafe { options_of(options) }?;
        log.put(opened(open(&options, name)?));
        OK
    })
}

/// What the functions have in common that make a log beside a table.
///
/// # Safety
/// I1 of `given.rs`.
unsafe fn open_in(
    table: *const tavola_table,
    name: *const c_char,
    options: *const tavola_log_options,
    log: *mut *mut tavola_log,
    open: impl FnOnce(&LogOptions, &Table, &str) -> Result<Log>,
) -> tavola_status {
    entry(|| {
        let (table, name) = (given!(handle table), given!(text name));
        let log = given!(out log);
        // SAFETY: I1.
        let options = unsafe { options_of(options) }?;
        log.put(opened(open(&options, &table.inner, name)?));
        OK
    })
}

/// Opens a log in a file of its own, making it when it is not there. An existing one keeps its own
/// size, and what it does when it is full. `options` may be NULL.
///
/// # Examples
/// ```c
/// tavola_log *log = NULL, *same = NULL, *reader = NULL;
/// tavola_log_options options = TAVOLA_INIT(tavola_log_options);
/// options.bytes = 1 << 20;
/// options.overload = TAVOLA_OVERLOAD_DROP_NEWEST;
/// if (tavola_log_create("events", &options, &log) == TAVOLA_ERR_TABLE_EXISTS) {
///   tavola_log_open("events", &options, &log);
/// }
/// tavola_log_open_existing("events", &same);
/// tavola_log_open_read_only("events", &reader);
/// printf("%s has room for %llu bytes\n", tavola_log_path(log),
///        (unsigned long long)tavola_log_bytes(log));
/// tavola_log_close(reader);
/// tavola_log_close(same);
/// tavola_log_close(log);
/// tavola_names_remove("events");
/// ```
///
/// # Errors
/// `TAVOLA_ERR_NO_OBJECT` when there is a table of that name which is no log's; else as
/// `tavola_open` and `tavola_log_create`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_log_open(
    name: *const c_char,
    options: *const tavola_log_options,
    log: *mut *mut tavola_log,
) -> tavola_status {
    // SAFETY: the caller's promise.
    unsafe { open(name, options, log, |options, name| options.open(name)) }
}

/// Makes a log in a file of its own, which is a table as well, without room for keys. `options` may
/// be NULL.
///
/// # Errors
/// `TAVOLA_ERR_TABLE_EXISTS`; `TAVOLA_ERR_BAD_OPTION`; `TAVOLA_ERR_FULL` when the file system has
/// no room for it; else as `tavola_create`.
///
/// # Crash
/// The log appears whole or not at all.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_log_create(
    name: *const c_char,
    options: *const tavola_log_options,
    log: *mut *mut tavola_log,
) -> tavola_status {
    // SAFETY: the caller's promise.
    unsafe { open(name, options, log, |options, name| options.create(name)) }
}

/// Opens a log that is there, in a file of its own.
///
/// # Errors
/// As `tavola_open_existing`; `TAVOLA_ERR_NO_OBJECT` when that file has none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_log_open_existing(
    name: *const c_char,
    log: *mut *mut tavola_log,
) -> tavola_status {
    entry(|| {
        let (name, log) = (given!(name name), given!(out log));
        log.put(opened(Log::open(name)?));
        OK
    })
}

/// Opens a log that is there, in a file of its own, only to read it (`tavola_log_reader_open`).
///
/// # Errors
/// As `tavola_log_open_existing`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_log_open_read_only(
    name: *const c_char,
    log: *mut *mut tavola_log,
) -> tavola_status {
    entry(|| {
        let (name, log) = (given!(name name), given!(out log));
        log.put(opened(Table::open_read_only(name)?.log("")?));
        OK
    })
}

/// Opens a log beside a table, in its file and within its `max_size`, making it when it is not
/// there. There can be 16 logs and pools, and each stays as long as the table. `options` may be
/// NULL.
///
/// # Examples
/// ```c
/// static void print(void *user, const char *name, size_t len) {
///   (void)user;
///   printf("%.*s\n", (int)len, name);
/// }
///
/// tavola_log *log = NULL, *same = NULL, *made = NULL;
/// tavola_log_open_in(table, "events", NULL, &log);
/// if (tavola_log_create_in(table, "events", NULL, &made) == TAVOLA_ERR_OBJECT_EXISTS) {
///   tavola_log_open_existing_in(table, "events", &same);
/// }
/// tavola_logs(table, print, NULL);
/// tavola_log_close(same);
/// tavola_log_close(log);
/// ```
///
/// # Errors
/// As `tavola_log_create_in`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_log_open_in(
    table: *const tavola_table,
    name: *const c_char,
    options: *const tavola_log_options,
    log: *mut *mut tavola_log,
) -> tavola_status {
    // SAFETY: the caller's promise.
    unsafe { open_in(table, name, options, log, LogOptions::open_in) }
}

/// Makes a log beside a table. `options` may be NULL.
///
/// # Errors
/// `TAVOLA_ERR_OBJECT_EXISTS`; `TAVOLA_ERR_BAD_OPTION`; `TAVOLA_ERR_BAD_NAME`;
/// `TAVOLA_ERR_READ_ONLY`; `TAVOLA_ERR_FULL` when the table has no such stretch of pages that were
/// never used, or the file system no room.
///
/// # Crash
/// The log appears whole or not at all.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_log_create_in(
    table: *const tavola_table,
    name: *const c_char,
    options: *const tavola_log_options,
    log: *mut *mut tavola_log,
) -> tavola_status {
    // SAFETY: the caller's promise.
    unsafe { open_in(table, name, options, log, LogOptions::create_in) }
}

/// Opens a log that is there, beside a table; to read it, a table that is open read-only will do.
///
/// # Errors
/// `TAVOLA_ERR_NO_OBJECT`; `TAVOLA_ERR_CORRUPT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_log_open_existing_in(
    table: *const tavola_table,
    name: *const c_char,
    log: *mut *mut tavola_log,
) -> tavola_status {
    entry(|| {
        let (table, name) = (given!(handle table), given!(text name));
        let log = given!(out log);
        log.put(opened(table.inner.log(name)?));
        OK
    })
}

/// Tells the names of the logs beside a table.
///
/// # Errors
/// Those of mapping the table, where this is its first use.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_logs(
    table: *const tavola_table,
    each: tavola_each_text,
    user: *mut c_void,
) -> tavola_status {
    entry(|| {
        for name in given!(handle table).inner.logs()? {
            tell(each, user, name);
        }
        OK
    })
}

/// The path of the file that the log is in, lent until the log is closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_log_path(log: *const tavola_log) -> *const c_char {
    entry_or(ptr::null(), || Ok(given!(handle log).path.as_ptr()))
}

/// Bytes of all its lines together, at most.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_log_bytes(log: *const tavola_log) -> u64 {
    entry_or(0, || Ok(given!(handle log).inner.bytes()))
}

/// What happens when a line finds no room: one of `tavola_overload`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_log_overload(log: *const tavola_log) -> i32 {
    entry_or(0, || Ok(number_of(given!(handle log).inner.overload())))
}

/// Lines that were lost since the log was made: overwritten before a drain wrote them out, or not
/// written for want of room, whether or not they were shown on standard error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_log_dropped(log: *const tavola_log) -> u64 {
    entry_or(0, || Ok(given!(handle log).inner.dropped()))
}

/// Whether a drain is at work, or was when it was last looked for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_log_has_drain(log: *const tavola_log) -> bool {
    entry_or(false, || Ok(given!(handle log).inner.has_drain()))
}

/// Whether lines are shown on standard error while there is no drain, as they are when this is not
/// called. For this handle.
///
/// A line that finds no room is shown, too; it counts as dropped all the same.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_log_show_on_stderr(
    log: *const tavola_log,
    shown: bool,
) -> tavola_status {
    entry(|| {
        given!(handle log).inner.show_on_stderr(shown);
        OK
    })
}

/// Closes a log. NULL is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_log_close(log: *mut tavola_log) {
    // SAFETY: the caller's promise: it came from `opened` and is used no more.
    unsafe { close(log) };
}
