//! Opening logs, and what they say of themselves.

use crate::entry::{OK, entry, entry_or};
use crate::given::{SizedStruct, close, given};
use crate::lists::{pass_text, tavola_each_text};
use crate::status::{Failure, tavola_status};
use crate::table::tavola_table;
use std::ffi::{CString, OsStr, c_char, c_void};
use std::os::unix::ffi::OsStrExt;
use std::ptr;
use std::sync::atomic::AtomicI32;
use tavola_core::{Log, LogOptions, Overload, Result, Table};

/// A log in shared memory that all processes write lines to. One drain writes the lines out in the
/// order of their times. While there is no drain, each line is also shown on the standard error of
/// its writer, and is kept for the next drain as long as there is room. Lines can be read until
/// they are overwritten, even if their writers have died.
pub struct tavola_log {
    pub(super) inner: Log,
    path: CString,
    /// Lines above it are skipped by the macros; of this handle alone.
    pub(super) level: AtomicI32,
}

/// The policy for a line that finds no room, because all pieces of the log that living threads do
/// not use are full of lines that no drain has written out.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum tavola_overload {
    /// The oldest lines are overwritten, one piece at a time, and counted.
    TAVOLA_OVERLOAD_DROP_OLDEST = 0,
    /// The new line is not written, and counted. The log keeps the oldest lines.
    TAVOLA_OVERLOAD_DROP_NEWEST = 1,
    /// The writer waits for the drain while the drain lives. Without a drain it does the same as
    /// `TAVOLA_OVERLOAD_DROP_NEWEST`.
    TAVOLA_OVERLOAD_BLOCK = 2,
}

/// Options of a new log. A field that is 0 means the default. Begin with `tavola_log_options
/// options = TAVOLA_INIT(tavola_log_options);`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tavola_log_options {
    /// `sizeof(tavola_log_options)`.
    pub size: usize,
    /// Room for lines, 64 KiB to 16 GiB in pieces of 16 KiB; 4 MiB by default. A line takes 24
    /// bytes and its text, rounded up to 8 bytes. Each thread that writes has one piece for itself,
    /// so create the log with several times as many pieces as threads. Up to 1 KiB at the end of a
    /// piece may stay empty.
    pub bytes: u64,
    /// One of `tavola_overload`.
    pub overload: i32,
    /// The mode of the file, if the log has a file of its own; 0600 by default.
    pub mode: u32,
    /// 1: opens a file of any owner, see `tavola_options`.
    pub any_owner: u32,
    /// Must be 0.
    pub reserved: u32,
}

// SAFETY: integers without padding, the size first.
unsafe impl SizedStruct for tavola_log_options {}

/// # Safety
/// CAPI-1 of `given.rs`.
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
        None => Err(Failure::argument("overload is not one of tavola_overload")),
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
/// CAPI-1 of `given.rs`.
unsafe fn open(
    name: *const c_char,
    options: *const tavola_log_options,
    log: *mut *mut tavola_log,
    open: impl FnOnce(&LogOptions, &OsStr) -> Result<Log>,
) -> tavola_status {
    entry(|| {
        let (name, log) = (given!(name name), given!(out log));
        // SAFETY: CAPI-1.
        let options = unsafe { options_of(options) }?;
        log.put(opened(open(&options, name)?));
        OK
    })
}

/// What the functions have in common that make a log beside a table.
///
/// # Safety
/// CAPI-1 of `given.rs`.
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
        // SAFETY: CAPI-1.
        let options = unsafe { options_of(options) }?;
        log.put(opened(open(&options, &table.inner, name)?));
        OK
    })
}

/// Opens a log in a file of its own, and creates it if it does not exist. A log that exists keeps
/// its size and what it does when it is full. `options` may be NULL.
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
/// `TAVOLA_ERR_NO_OBJECT` if the file of that name is not a log; otherwise as `tavola_open` and
/// `tavola_log_create`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_log_open(
    name: *const c_char,
    options: *const tavola_log_options,
    log: *mut *mut tavola_log,
) -> tavola_status {
    // SAFETY: the caller's promise.
    unsafe { open(name, options, log, |options, name| options.open(name)) }
}

/// Creates a log in a file of its own. The file is a table as well, without room for keys.
/// `options` may be NULL.
///
/// # Errors
/// `TAVOLA_ERR_TABLE_EXISTS`; `TAVOLA_ERR_BAD_OPTION`; `TAVOLA_ERR_FULL` if the file system has no
/// room for it; otherwise as `tavola_create`.
///
/// # Crash
/// The log appears complete or not at all.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_log_create(
    name: *const c_char,
    options: *const tavola_log_options,
    log: *mut *mut tavola_log,
) -> tavola_status {
    // SAFETY: the caller's promise.
    unsafe { open(name, options, log, |options, name| options.create(name)) }
}

/// Opens a log that exists in a file of its own.
///
/// # Errors
/// As `tavola_open_existing`; `TAVOLA_ERR_NO_OBJECT` if the file is not a log.
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

/// Opens a log that exists in a file of its own, for reading only (`tavola_log_reader_open`).
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

/// Opens a log in the file of a table, within its `max_size`, and creates it if it does not exist.
/// A table has room for 16 pools, logs and areas, and each stays as long as the table. `options`
/// may be NULL.
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

/// Creates a log in the file of a table. `options` may be NULL.
///
/// # Errors
/// `TAVOLA_ERR_OBJECT_EXISTS`; `TAVOLA_ERR_BAD_OPTION`; `TAVOLA_ERR_BAD_NAME`;
/// `TAVOLA_ERR_READ_ONLY`; `TAVOLA_ERR_FULL` if the table has too few pages in a row that were
/// never used, or the file system has no room.
///
/// # Crash
/// The log appears complete or not at all.
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

/// Opens a log that exists in the file of a table. To read it, a read-only handle of the table is
/// enough.
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

/// Calls `each` with the name of each log in the file of a table.
///
/// # Errors
/// At the first use of a table, the errors of mapping it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_logs(
    table: *const tavola_table,
    each: tavola_each_text,
    user: *mut c_void,
) -> tavola_status {
    entry(|| {
        for name in given!(handle table).inner.logs()? {
            pass_text(each, user, name);
        }
        OK
    })
}

/// Returns the path of the log's file, which is lent until the log is closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_log_path(log: *const tavola_log) -> *const c_char {
    entry_or(ptr::null(), || Ok(given!(handle log).path.as_ptr()))
}

/// Returns how many bytes of lines the log has room for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_log_bytes(log: *const tavola_log) -> u64 {
    entry_or(0, || Ok(given!(handle log).inner.bytes()))
}

/// Returns what happens when a line finds no room: one of `tavola_overload`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_log_overload(log: *const tavola_log) -> i32 {
    entry_or(0, || Ok(number_of(given!(handle log).inner.overload())))
}

/// Returns how many lines were lost since the log was created: overwritten before a drain wrote
/// them out, or not written for lack of room. Lines that were shown on standard error count as
/// well.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_log_dropped(log: *const tavola_log) -> u64 {
    entry_or(0, || Ok(given!(handle log).inner.dropped()))
}

/// Returns whether the log has a drain, or had one at the last look.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_log_has_drain(log: *const tavola_log) -> bool {
    entry_or(false, || Ok(given!(handle log).inner.has_drain()))
}

/// Sets whether lines are shown on standard error while the log has no drain; the default is true.
/// This is a setting of the handle. A line that finds no room is shown, too, and counts as dropped.
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

/// Closes a log. NULL has no effect.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_log_close(log: *mut tavola_log) {
    // SAFETY: the caller's promise: it came from `opened` and is used no more.
    unsafe { close(log) };
}
