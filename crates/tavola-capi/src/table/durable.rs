//! Durable tables: when changes are on disk.

use super::tavola_table;
use crate::entry::{OK, entry, entry_or, found};
use crate::given::{SizedStruct, given};
use crate::options::{durable_of, tavola_durable};
use crate::status::tavola_status;
use std::time::UNIX_EPOCH;
use tavola_core::DurableStats;

/// The state of a durable table's journal. Begin with
/// `tavola_durable_stats stats = TAVOLA_INIT(tavola_durable_stats);`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tavola_durable_stats {
    /// `sizeof(tavola_durable_stats)`.
    pub size: usize,
    /// The policy of the table, one of `tavola_durable`; a handle may have a stricter one, see
    /// `tavola_durability`.
    pub durable: i32,
    /// The time of `TAVOLA_DURABLE_WITHIN`, in milliseconds; 0 for other policies.
    pub sync_ms: u32,
    /// Bytes of the journal since the last snapshot, which a rebuild reads.
    pub journal_bytes: u64,
    /// Bytes that are in memory only: not written to the files yet.
    pub unwritten_bytes: u64,
    /// Bytes that would not survive a power failure now. They include `unwritten_bytes`.
    pub unsynced_bytes: u64,
    /// How often the journal was synced since the memory of the table was made.
    pub syncs: u64,
    /// How many nanoseconds all of these syncs took.
    pub sync_ns: u64,
    /// When the last snapshot was made, in milliseconds since 1970; 0 if there is none.
    pub snapshot_unix_ms: u64,
    /// The bytes of the last snapshot.
    pub snapshot_bytes: u64,
    /// The error number of the system for which the journal has failed; 0 if it has not.
    pub failed_errno: u64,
}

// SAFETY: integers without padding (a `usize`, two of 32 bits, eight `u64`), the size first.
unsafe impl SizedStruct for tavola_durable_stats {}

impl From<DurableStats> for tavola_durable_stats {
    fn from(stats: DurableStats) -> Self {
        let (durable, sync_ms) = durable_of(Some(stats.policy));
        let snapshot = stats.snapshot.map(|(made, bytes)| {
            let since = made.duration_since(UNIX_EPOCH).unwrap_or_default();
            (since.as_millis() as u64, bytes)
        });
        let (snapshot_unix_ms, snapshot_bytes) = snapshot.unwrap_or_default();
        Self {
            size: size_of::<Self>(),
            durable: durable as i32,
            sync_ms,
            journal_bytes: stats.journal_bytes,
            unwritten_bytes: stats.unwritten_bytes,
            unsynced_bytes: stats.unsynced_bytes,
            syncs: stats.syncs,
            sync_ns: stats.sync_time.as_nanos() as u64,
            snapshot_unix_ms,
            snapshot_bytes,
            failed_errno: stats
                .failed
                .map_or(0, |number| number.unsigned_abs().into()),
        }
    }
}

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
/// if (tavola_durability(users, NULL) != TAVOLA_DURABLE_COMMIT) {
///   puts("writes do not wait for the disk");
/// }
/// tavola_snapshot(users, NULL);
/// tavola_durable_stats stats = TAVOLA_INIT(tavola_durable_stats);
/// if (tavola_get_durable_stats(users, &stats) == TAVOLA_OK) {
///   printf("%llu syncs\n", (unsigned long long)stats.syncs);
/// }
/// tavola_close(users);
/// tavola_names_remove("./users");
/// ```
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_is_durable(table: *const tavola_table) -> bool {
    entry_or(false, || Ok(given!(handle table).inner.is_durable()?))
}

/// Returns when the changes of this handle are on disk: the policy of the table, or a stricter one
/// with which the handle was opened. `sync_ms`, which may be NULL, gets the time of
/// `TAVOLA_DURABLE_WITHIN`, and 0 for other policies. Returns `TAVOLA_DURABLE_NONE` if the table is
/// not durable, if the handle is open read-only, or if the table cannot be read.
///
/// With `TAVOLA_DURABLE_COMMIT` each call that changes the table waits for the disk. So do other
/// work meanwhile, or change many keys in one call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_durability(
    table: *const tavola_table,
    sync_ms: *mut u32,
) -> tavola_durable {
    entry_or(tavola_durable::TAVOLA_DURABLE_NONE, || {
        let (table, out) = (given!(handle table), given!(maybe sync_ms));
        let (durable, ms) = durable_of(table.inner.durability());
        out.put(ms);
        Ok(durable)
    })
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
/// `TAVOLA_ERR_FULL`: it does not fit on the disk; `TAVOLA_ERR_IO`: it could not be written;
/// otherwise as `tavola_sync`.
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

/// Writes the state of a durable table's journal to `stats`. A handle that is open read-only may
/// ask, too.
///
/// # Errors
/// `TAVOLA_NOT_FOUND`: the table is not durable. Otherwise as `tavola_get`.
///
/// # Concurrency
/// The numbers are read one after the other, while other processes write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_get_durable_stats(
    table: *const tavola_table,
    stats: *mut tavola_durable_stats,
) -> tavola_status {
    entry(|| {
        let (table, out) = (given!(handle table), given!(sized_out stats));
        let stats = table.inner.durable_stats()?;
        let is_durable = stats.is_some();
        if let Some(stats) = stats {
            out.put(&stats.into());
        }
        found(is_durable)
    })
}
