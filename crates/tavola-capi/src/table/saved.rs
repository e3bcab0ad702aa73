//! Saving all keys to a file, and restoring them, so that a cache starts warm.

use super::tavola_table;
use crate::entry::{OK, entry};
use crate::given::{SizedStruct, given};
use crate::status::tavola_status;
use std::ffi::c_char;
use tavola_core::{Restored, Saved};

/// The numbers of a `tavola_save`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tavola_saved {
    /// `sizeof(tavola_saved)`.
    pub size: usize,
    /// Keys in the file.
    pub keys: u64,
    /// Bytes of the file.
    pub bytes: u64,
}

// SAFETY: integers without padding, the size first.
unsafe impl SizedStruct for tavola_saved {}

impl From<Saved> for tavola_saved {
    fn from(saved: Saved) -> Self {
        Self {
            size: size_of::<Self>(),
            keys: saved.keys,
            bytes: saved.bytes,
        }
    }
}

/// The numbers of a `tavola_restore`: where the keys of the file went.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tavola_restored {
    /// `sizeof(tavola_restored)`.
    pub size: usize,
    /// Keys that were set.
    pub keys: u64,
    /// Keys that the table had already, and kept.
    pub present: u64,
    /// Keys that have expired.
    pub expired: u64,
    /// Keys that have lost a tag.
    pub invalidated: u64,
    /// Keys for which the table has no room.
    pub left_out: u64,
}

// SAFETY: integers without padding, the size first.
unsafe impl SizedStruct for tavola_restored {}

impl From<Restored> for tavola_restored {
    fn from(restored: Restored) -> Self {
        Self {
            size: size_of::<Self>(),
            keys: restored.keys,
            present: restored.present,
            expired: restored.expired,
            invalidated: restored.invalidated,
            left_out: restored.left_out,
        }
    }
}

/// Writes all keys to a file, from which `tavola_restore` sets them again: after a restart of the
/// machine, or in another table. The file has each key with its value, flags, tags, marks, version
/// and the time at which it expires. Only its owner may read it. It gets its name when it is
/// complete and on disk, and replaces a file of that name; until then it is called `PATH.new`.
/// `saved` may be NULL.
///
/// # Examples
/// ```c
/// tavola_options options = TAVOLA_INIT(tavola_options);
/// tavola_restored restored = TAVOLA_INIT(tavola_restored);
/// tavola_table *pages = NULL;
/// options.capacity = 4 << 20;
/// if (tavola_open("pages", &options, &pages) != TAVOLA_OK) {
///   fprintf(stderr, "%s\n", tavola_last_error());
///   return;
/// }
/// tavola_set(pages, TAVOLA_STR("/"), TAVOLA_STR("<p>hello</p>"));
/// if (tavola_save(pages, "./pages.saved", NULL) == TAVOLA_OK) {
///   tavola_restore(pages, "./pages.saved", &restored);
///   printf("%d were there\n", (int)restored.present);
/// }
/// remove("./pages.saved");
/// tavola_close(pages);
/// tavola_names_remove("pages");
/// ```
///
/// # Errors
/// `TAVOLA_ERR_IO`: it could not be written, or another process is writing it; a file that had the
/// name is unchanged. `TAVOLA_ERR_NOT_A_TABLE`: a queue pool or a log. `TAVOLA_ERR_CORRUPT`.
///
/// # Concurrency
/// No writer waits. The file has each key as it was at some moment meanwhile.
///
/// # Crash
/// The file has its earlier content or the new one, also after a power failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_save(
    table: *const tavola_table,
    path: *const c_char,
    saved: *mut tavola_saved,
) -> tavola_status {
    entry(|| {
        let (table, path) = (given!(handle table), given!(name path));
        let saved = given!(maybe_sized_out saved);
        let made = table.inner.save(path)?;
        if let Some(saved) = saved {
            saved.put(&made.into());
        }
        OK
    })
}

/// Sets all keys of a file that `tavola_save` has written, and which the table lacks: a key that it
/// has already is newer, and stays. The whole file is checked before the first key is set. A cache
/// that is smaller than the file takes the keys that eviction would remove last. `restored`, which
/// may be NULL, gets what became of the keys of the file.
///
/// # Errors
/// `TAVOLA_ERR_NOT_RESTORABLE`: the file is damaged, or is not such a file, or has a newer format;
/// `TAVOLA_ERR_LENGTHS`: the table has other fixed lengths; `TAVOLA_ERR_IO`: the file cannot be
/// read. Nothing was changed then. `TAVOLA_ERR_READ_ONLY`. A full table is not an error, see
/// `left_out` of the struct.
///
/// # Concurrency
/// Each key appears on its own, and never replaces what others have set meanwhile.
///
/// # Crash
/// Some of the keys are set, each of them whole.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_restore(
    table: *const tavola_table,
    path: *const c_char,
    restored: *mut tavola_restored,
) -> tavola_status {
    entry(|| {
        let (table, path) = (given!(handle table), given!(name path));
        let restored = given!(maybe_sized_out restored);
        let made = table.inner.restore(path)?;
        if let Some(restored) = restored {
            restored.put(&made.into());
        }
        OK
    })
}
