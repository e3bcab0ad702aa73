//! Durable tables: when changes are on disk.

use super::tavola_table;
use crate::entry::{OK, entry, entry_or};
use crate::given::given;
use crate::status::tavola_status;

/// Returns whether the table is durable: it survives a restart of the machine. `false` also if it
/// cannot be read.
///
/// # Examples
/// ```c
/// tavola_options options = TAVOLA_INIT(tavola_options);
/// tavola_table *users = NULL;
/// options.durable = TAVOLA_DURABLE_WITHIN;
/// options.sync_ms = 20;
/// if (tavola_open("./users", &options, &users) != TAVOLA_OK) {
///   fprintf(stderr, "%s\n", tavola_last_error());
///   return;
/// }
/// tavola_set(users, TAVOLA_STR("alice"), TAVOLA_STR("admin"));
/// if (tavola_is_durable(users) && tavola_sync(users) == TAVOLA_OK) {
///   puts("alice survives a power failure");
/// }
/// tavola_snapshot(users, NULL);
/// tavola_close(users);
/// tavola_names_remove("./users");
/// ```
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_is_durable(table: *const tavola_table) -> bool {
    entry_or(false, || Ok(given!(handle table).inner.is_durable()?))
}

/// Returns when all changes of all processes that were made before survive a power failure. Call it
/// before you report what another process has written.
///
/// # Errors
/// `TAVOLA_ERR_NOT_DURABLE`: the disk failed. `TAVOLA_ERR_BAD_OPTION`: the table is not durable.
/// `TAVOLA_ERR_READ_ONLY`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_sync(table: *const tavola_table) -> tavola_status {
    entry(|| {
        given!(handle table).inner.sync()?;
        OK
    })
}

/// Writes a snapshot of a durable table, and removes what the journal does not need any more.
/// `made`, which may be NULL, gets 1; or 0 if another process is just writing a snapshot. Snapshots
/// are also made automatically. If the disk had failed, one that succeeds lets writes go on.
///
/// # Errors
/// `TAVOLA_ERR_IO`: it could not be written; otherwise as `tavola_sync`.
///
/// # Concurrency
/// Other processes can write meanwhile.
///
/// # Crash
/// The snapshot is there whole, or not at all.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_snapshot(
    table: *const tavola_table,
    made: *mut u32,
) -> tavola_status {
    entry(|| {
        let (table, made) = (given!(handle table), given!(maybe made));
        made.put(u32::from(table.inner.snapshot()?));
        OK
    })
}
