//! Names: where tables are.

use crate::buffer::tavola_buffer;
use crate::entry::{OK, entry};
use crate::given::given;
use crate::lists::{tavola_each_text, tell_all};
use crate::status::tavola_status;
use std::ffi::{c_char, c_void};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use tavola_core::{Table, names};

/// Tells the directory of named tables: `TAVOLA_DIR`, else `/dev/shm/tavola-UID`.
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
/// ```
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_names_directory(path: *mut tavola_buffer) -> tavola_status {
    entry(|| given!(buffer path).put(names::directory().as_os_str().as_bytes()))
}

/// Tells the file that a name stands for. A name with a `/` in it is a path already.
///
/// # Errors
/// `TAVOLA_ERR_BAD_NAME` for an empty name, one of more than 200 bytes, one that begins with a dot,
/// and one with control characters.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_names_path_of(
    name: *const c_char,
    path: *mut tavola_buffer,
) -> tavola_status {
    entry(|| given!(buffer path).put(names::path_of(given!(name name))?.as_os_str().as_bytes()))
}

/// Tells the path of each table in the directory, sorted by name, of those that may not be read
/// too: opening them says why they cannot be read.
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
    entry(|| tell_all(each, user, list))
}

/// Says why processes may not see each other's writes to this table, because of the file system
/// that it is on or will be on: overlayfs, a network file system, FUSE. The sentence says what to
/// do. `TAVOLA_NOT_FOUND`: they do see them, and nothing is written.
///
/// # Errors
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

/// Unlinks a table whoever owns it, also in a directory where everybody may make files.
/// `tavola_names_remove` refuses the tables of other users there.
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

/// Unlinks a table. Processes that have it open keep it until they close it.
///
/// # Errors
/// `TAVOLA_ERR_NO_TABLE`; `TAVOLA_ERR_NOT_A_TABLE` if the file is something else, which is left
/// alone; `TAVOLA_ERR_PERMISSION`, also for another user's table in a directory where everybody may
/// make files.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_names_remove(name: *const c_char) -> tavola_status {
    entry(|| {
        names::remove(given!(name name))?;
        OK
    })
}
