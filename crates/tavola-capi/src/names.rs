//! Names: where tables are.

use crate::buffer::tavola_buffer;
use crate::entry::{OK, entry};
use crate::given::given;
use crate::lists::{call_each, tavola_each_text};
use crate::status::tavola_status;
use std::ffi::{c_char, c_void};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use tavola_core::{Table, names};

/// Returns the directory of named tables: `TAVOLA_DIR`, or `/dev/shm/tavola-UID`.
///
/// # Examples
/// ```c
/// static void print(void *user, const char *path, size_t len) {
///   (void)user;
///   printf("%.*s\n", (int)len, path);
/// }
///
/// char bytes[4096];
/// tavola_buffer text = TAVOLA_BUFFER(bytes, sizeof bytes);
/// tavola_names_directory(&text);
/// printf("tables are in %.*s\n", (int)text.len, bytes);
/// tavola_names_list(print, NULL);
/// tavola_names_path_of("sessions", &text);
/// if (tavola_names_warning("sessions", &text) == TAVOLA_OK) {
///   printf("warning: %.*s\n", (int)text.len, bytes);
/// }
/// if (tavola_names_remove("sessions") == TAVOLA_ERR_NO_TABLE) {
///   puts("there is no such table");
/// }
/// tavola_names_remove_any_owner("sessions");
/// tavola_names_rename("carts", "old carts");
/// ```
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_names_directory(path: *mut tavola_buffer) -> tavola_status {
    entry(|| given!(buffer path).put(names::directory().as_os_str().as_bytes()))
}

/// Returns the file that a name stands for. A name with a `/` is a path already.
///
/// # Errors
/// `TAVOLA_ERR_BAD_NAME`: the name is empty, has more than 200 bytes, begins with a dot, or has
/// control characters.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_names_path_of(
    name: *const c_char,
    path: *mut tavola_buffer,
) -> tavola_status {
    entry(|| given!(buffer path).put(names::path_of(given!(name name))?.as_os_str().as_bytes()))
}

/// Calls `each` with the path of each table in the directory, sorted. It includes tables that this
/// process must not read; to open them returns the reason. A durable table whose memory is in the
/// directory is listed by the path of its own directory.
///
/// # Errors
/// `TAVOLA_ERR_IO`, `TAVOLA_ERR_PERMISSION`. A directory that does not exist holds no tables.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_names_list(
    each: tavola_each_text,
    user: *mut c_void,
) -> tavola_status {
    let bytes = |path: PathBuf| path.into_os_string().into_vec();
    let list = || Ok(names::list()?.into_iter().map(bytes).collect::<Vec<_>>());
    entry(|| call_each(each, user, list))
}

/// Returns why processes may not see each other's writes to this table: because of its file system
/// (overlayfs, a network file system, FUSE). The sentence says what to do.
///
/// # Errors
/// `TAVOLA_NOT_FOUND`: they see each other's writes, and there is no warning.
/// `TAVOLA_ERR_BAD_NAME`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_names_warning(
    name: *const c_char,
    warning: *mut tavola_buffer,
) -> tavola_status {
    entry(|| {
        let (name, warning) = (given!(name name), given!(buffer warning));
        match names::warning(name)? {
            Some(text) => warning.put(text.as_bytes()),
            None => Ok(tavola_status::TAVOLA_NOT_FOUND),
        }
    })
}

/// Removes a table even if another user owns it and everybody may create files in its directory.
/// `tavola_names_remove` refuses this.
///
/// # Errors
/// As `tavola_names_remove`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_names_remove_any_owner(name: *const c_char) -> tavola_status {
    entry(|| {
        Table::options().any_owner(true).remove(given!(name name))?;
        OK
    })
}

/// Removes the file of a table. Processes that have it open keep it until they close it. Of a
/// durable table, it removes the files and the directory; processes that have it open cannot write
/// any more.
///
/// # Errors
/// `TAVOLA_ERR_NO_TABLE`. `TAVOLA_ERR_NOT_A_TABLE`: the file is not a table, and stays.
/// `TAVOLA_ERR_BAD_OPTION`: it is the memory of a durable table, which stays, too.
/// `TAVOLA_ERR_PERMISSION`: also for the table of another user in a directory where everybody may
/// create files.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_names_remove(name: *const c_char) -> tavola_status {
    entry(|| {
        Table::options().remove(given!(name name))?;
        OK
    })
}

/// Renames a table atomically: other processes find it under the old or the new name. Processes
/// that have it open can continue to use it. A symbolic link is renamed, not its target. The
/// directory of a durable table is renamed only if no process has it open.
///
/// # Errors
/// `TAVOLA_ERR_TABLE_EXISTS`: a table has the new name already, and does not change.
/// `TAVOLA_ERR_NOT_A_TABLE`: a file of either name is not a table. `TAVOLA_ERR_NO_TABLE`.
/// `TAVOLA_ERR_IO`: the new name is on another file system; `tavola_copy` copies it there.
/// `TAVOLA_ERR_PERMISSION`: as of `tavola_names_remove`.
///
/// # Crash
/// The table has one of the names. On a file system without `renameat2` it may have both.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_names_rename(
    from: *const c_char,
    to: *const c_char,
) -> tavola_status {
    entry(|| {
        Table::options().rename(given!(name from), given!(name to))?;
        OK
    })
}
