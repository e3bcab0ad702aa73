//! Areas.

use crate::entry::{OK, entry, entry_or};
use crate::given::{close, given};
use crate::lists::{call_each, tavola_each_text};
use crate::status::tavola_status;
use crate::table::tavola_table;
use std::ffi::{c_char, c_void};
use std::ptr;
use tavola_core::Area;

/// Bytes of a program's own in the file of a table.
pub struct tavola_area {
    inner: Area,
}

const _: () = crate::given::is_shared::<tavola_area>();

/// Opens the area of that name in the file of a table, and creates it with that size if it is
/// missing. Its bytes are zero at first. It counts towards the table's `max_size` and stays as long
/// as the table; a table has room for 16 pools, logs and areas.
///
/// # Examples
/// ```c
/// static void print(void *user, const char *name, size_t len) {
///   (void)user;
///   printf("%.*s\n", (int)len, name);
/// }
///
/// tavola_area *area = NULL, *same = NULL;
/// tavola_area_open_in(table, "settings", 4096, &area);
/// strcpy(tavola_area_data(area), "shared by all processes");
/// printf("%s, %llu bytes\n", (char *)tavola_area_data(area),
///        (unsigned long long)tavola_area_bytes(area));
/// tavola_areas(table, print, NULL);
/// tavola_area_open_existing_in(table, "settings", &same);
/// tavola_area_close(same);
/// tavola_area_close(area);
/// ```
///
/// # Errors
/// `TAVOLA_ERR_BAD_OPTION` if there is one of another size; `TAVOLA_ERR_BAD_NAME` if the name does
/// not have 1 to 96 bytes; `TAVOLA_ERR_FULL` if the table has too few adjacent unused pages, or the
/// file system has no room; `TAVOLA_ERR_READ_ONLY`; `TAVOLA_ERR_CORRUPT`.
///
/// # Crash
/// The area appears complete or not at all.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_area_open_in(
    table: *const tavola_table,
    name: *const c_char,
    bytes: u64,
    area: *mut *mut tavola_area,
) -> tavola_status {
    entry(|| {
        let (table, name) = (given!(handle table), given!(text name));
        let area = given!(out area);
        let inner = table.inner.area(name, bytes)?;
        area.put(Box::into_raw(Box::new(tavola_area { inner })));
        OK
    })
}

/// Opens an area that exists, whatever its size.
///
/// # Errors
/// `TAVOLA_ERR_NO_OBJECT`; `TAVOLA_ERR_CORRUPT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_area_open_existing_in(
    table: *const tavola_table,
    name: *const c_char,
    area: *mut *mut tavola_area,
) -> tavola_status {
    entry(|| {
        let (table, name) = (given!(handle table), given!(text name));
        let area = given!(out area);
        let inner = table.inner.existing_area(name)?;
        area.put(Box::into_raw(Box::new(tavola_area { inner })));
        OK
    })
}

/// Closes an area. Pointers to its bytes are invalid from then on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_area_close(area: *mut tavola_area) {
    // SAFETY: the caller's promise.
    unsafe { close(area) }
}

/// Returns the bytes of an area, which begin at a page of the system and never move; NULL if `area`
/// is NULL. Other processes may have them at other addresses. If the table is open for reading
/// only, a write ends the process with a signal.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_area_data(area: *const tavola_area) -> *mut c_void {
    entry_or(ptr::null_mut(), || {
        Ok(given!(handle area).inner.as_ptr().cast())
    })
}

/// Returns the size of an area in bytes; 0 if `area` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_area_bytes(area: *const tavola_area) -> u64 {
    entry_or(0, || Ok(given!(handle area).inner.len()))
}

/// Calls `each` with the name of each area in the file of a table.
///
/// # Errors
/// At the first use of a table, the errors of mapping it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_areas(
    table: *const tavola_table,
    each: tavola_each_text,
    user: *mut c_void,
) -> tavola_status {
    entry(|| {
        let table = given!(handle table);
        call_each(each, user, || Ok(table.inner.areas()?))
    })
}
