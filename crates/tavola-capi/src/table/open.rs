//! Opening tables.

use super::{opened, tavola_table};
use crate::entry::{OK, entry, entry_or};
use crate::given::given;
use crate::lists::{pass_text, tavola_each_text};
use crate::options::{options_of, tavola_options};
use crate::status::tavola_status;
use std::ffi::{OsStr, c_char, c_int, c_void};
use std::ptr;
use std::sync::Arc;
use tavola_core::{Options, Table};

/// What the functions that open have in common.
///
/// # Safety
/// CAPI-1 of `given.rs`.
unsafe fn open(
    name: *const c_char,
    options: *const tavola_options,
    table: *mut *mut tavola_table,
    open: impl FnOnce(&Options, &OsStr) -> tavola_core::Result<Table>,
) -> tavola_status {
    entry(|| {
        let (name, table) = (given!(name name), given!(out table));
        // SAFETY: CAPI-1.
        let options = unsafe { options_of(options) }?;
        table.put(opened(open(&options, name)?));
        OK
    })
}

/// Opens a table, and creates it if it does not exist. A name stands for a file in the directory of
/// tables (see `tavola_names_directory`); a name with a `/` is a path. `options` may be NULL.
///
/// # Examples
/// ```c
/// tavola_table *sessions = NULL;
/// tavola_options options = TAVOLA_INIT(tavola_options);
/// options.max_size = 64 << 20;
/// if (tavola_open("sessions", &options, &sessions) != TAVOLA_OK) {
///   fprintf(stderr, "%s (errno %d)\n", tavola_last_error(), tavola_last_os_error());
///   return;
/// }
/// printf("%s, library %s\n", tavola_path(sessions), tavola_version());
/// tavola_set(sessions, TAVOLA_STR("token"), TAVOLA_STR("17"));
/// tavola_close(sessions);
/// tavola_names_remove("sessions");
/// ```
///
/// # Errors
/// `TAVOLA_ERR_NOT_A_TABLE`, `TAVOLA_ERR_VERSION` and `TAVOLA_ERR_ENDIANNESS` if the file is not a
/// table that this library can use; `TAVOLA_ERR_BAD_NAME`, `TAVOLA_ERR_BAD_OPTION`,
/// `TAVOLA_ERR_PERMISSION`, `TAVOLA_ERR_FULL`, `TAVOLA_ERR_IO`.
///
/// # Concurrency
/// If several processes do this at once, one creates the table, and all open that one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_open(
    name: *const c_char,
    options: *const tavola_options,
    table: *mut *mut tavola_table,
) -> tavola_status {
    // SAFETY: the caller's promise.
    unsafe { open(name, options, table, |options, name| options.open(name)) }
}

/// Creates a table.
///
/// # Examples
/// ```c
/// tavola_table *made = NULL, *opened = NULL, *reader = NULL;
/// tavola_status status = tavola_create("prices", NULL, &made);
/// if (status == TAVOLA_ERR_TABLE_EXISTS) {
///   puts("another process has created it");
/// } else if (status != TAVOLA_OK) {
///   fprintf(stderr, "%s: %s\n", tavola_status_name(status), tavola_last_error());
/// }
/// tavola_open_existing("prices", NULL, &opened);
/// tavola_open_read_only("prices", NULL, &reader);
/// if (tavola_is_read_only(reader)) {
///   puts("this handle cannot write");
/// }
/// tavola_close(reader);
/// tavola_close(opened);
/// tavola_close(made);
/// tavola_names_remove("prices");
/// ```
///
/// # Errors
/// `TAVOLA_ERR_TABLE_EXISTS`; otherwise as `tavola_open`.
///
/// # Crash
/// The table appears complete or not at all.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_create(
    name: *const c_char,
    options: *const tavola_options,
    table: *mut *mut tavola_table,
) -> tavola_status {
    // SAFETY: the caller's promise.
    unsafe { open(name, options, table, |options, name| options.create(name)) }
}

/// Opens a table that exists.
///
/// # Errors
/// `TAVOLA_ERR_NO_TABLE`; otherwise as `tavola_open`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_open_existing(
    name: *const c_char,
    options: *const tavola_options,
    table: *mut *mut tavola_table,
) -> tavola_status {
    // SAFETY: the caller's promise.
    unsafe {
        open(name, options, table, |options, name| {
            options.open_existing(name)
        })
    }
}

/// Opens a table for reading only, with a mapping that cannot be written to.
///
/// # Errors
/// `TAVOLA_ERR_NO_TABLE`; otherwise as `tavola_open`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_open_read_only(
    name: *const c_char,
    options: *const tavola_options,
    table: *mut *mut tavola_table,
) -> tavola_status {
    // SAFETY: the caller's promise.
    unsafe {
        open(name, options, table, |options, name| {
            options.open_read_only(name)
        })
    }
}

/// Creates a table in the memory of this process: without a file, invisible to other processes, and
/// freed when it is closed. For tests. It allocates all of `max_size` at once.
///
/// # Examples
/// ```c
/// tavola_table *mine = NULL;
/// tavola_options options = TAVOLA_INIT(tavola_options);
/// options.max_size = 1 << 20;
/// tavola_open_private(&options, &mine);
/// tavola_set(mine, TAVOLA_STR("key"), TAVOLA_STR("value"));
/// tavola_close(mine);
/// ```
///
/// # Errors
/// `TAVOLA_ERR_BAD_OPTION`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_open_private(
    options: *const tavola_options,
    table: *mut *mut tavola_table,
) -> tavola_status {
    // SAFETY: the caller's promise.
    unsafe { open(c"".as_ptr(), options, table, |options, _| options.private()) }
}

/// Closes a table. The process is no longer a participant of it. NULL has no effect.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_close(table: *mut tavola_table) {
    entry(|| {
        if !table.is_null() {
            // SAFETY: the caller's promise: it came from `opened` and is used no more.
            drop(unsafe { Arc::from_raw(table.cast_const()) });
        }
        OK
    });
}

/// Opens a table again with the same options if its file was removed or replaced (`mv new live`, a
/// logout): an open handle keeps the file that it has opened. `*table` is then the new handle, and
/// the old one is closed as by `tavola_close`, so no other thread may be using it. `*moved`, which
/// may be NULL, says whether the handle has changed. If nothing has changed, this costs one system
/// call.
///
/// A handle that writes checks this itself, at most once a second, and sends a notice
/// (`tavola_on_notice`); it does not change over by itself.
///
/// # Examples
/// ```c
/// tavola_table *live = NULL;
/// int moved = 0;
/// tavola_open("live", NULL, &live);
/// if (tavola_refresh(&live, &moved) == TAVOLA_OK && moved) {
///   puts("the file was replaced, and the handle leads to the new one");
/// }
/// tavola_close(live);
/// tavola_names_remove("live");
/// ```
///
/// # Errors
/// `TAVOLA_ERR_NO_TABLE` if there is no table of that name any more; otherwise as
/// `tavola_open_existing`. The handle then stays as it is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_refresh(
    table: *mut *mut tavola_table,
    moved: *mut c_int,
) -> tavola_status {
    entry(|| {
        let (table, moved) = (given!(buffer table), given!(maybe moved));
        let old = table.cast_const();
        let reopened = given!(handle old).inner.reopened()?;
        moved.put(reopened.is_some().into());
        if let Some(new) = reopened {
            *table = opened(new);
            // SAFETY: the caller's promise: it came from `opened` and is used no more.
            drop(unsafe { Arc::from_raw(old) });
        }
        OK
    })
}

/// Sends notices of the library to `each`, and no longer to standard error. A notice says, for
/// example, that an open table has lost its name; it has one or two sentences, without a newline.
/// The thread that noticed it calls `each`, in the middle of a call, but while it holds no lock. If
/// `each` is NULL, notices are dropped. Any thread may pass `user` to `each`.
///
/// # Examples
/// ```c
/// static void notice(void *user, const char *text, size_t len) {
///   fprintf((FILE *)user, "tavola: %.*s\n", (int)len, text);
/// }
///
/// tavola_on_notice(notice, stderr);
/// ```
#[unsafe(no_mangle)]
pub extern "C" fn tavola_on_notice(each: tavola_each_text, user: *mut c_void) {
    entry(|| {
        let user = User(user);
        tavola_core::on_notice(move |notice| pass_text(each, user.pointer(), notice));
        OK
    });
}

/// What a caller wants handed back; it answers for the threads.
struct User(*mut c_void);

impl User {
    fn pointer(&self) -> *mut c_void {
        self.0
    }
}

// SAFETY: never followed here; the caller's promise is that any thread may be handed it.
unsafe impl Send for User {}
// SAFETY: as above.
unsafe impl Sync for User {}

/// Returns the path of the table's file, which is lent until the table is closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_path(table: *const tavola_table) -> *const c_char {
    entry_or(ptr::null(), || Ok(given!(handle table).path.as_ptr()))
}

/// Returns whether the table was opened for reading only.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_is_read_only(table: *const tavola_table) -> bool {
    entry_or(false, || Ok(given!(handle table).inner.is_read_only()))
}
