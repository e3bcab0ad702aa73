//! Caches: how much memory they may take.

use super::tavola_table;
use crate::entry::{OK, entry};
use crate::given::given;
use crate::status::tavola_status;

/// Returns how many bytes a cache may take, in all; 0 if the table is not a cache.
///
/// # Errors
/// At the first use of a table, the errors of mapping it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_capacity(
    table: *const tavola_table,
    bytes: *mut u64,
) -> tavola_status {
    entry(|| {
        let (table, bytes) = (given!(handle table), given!(out bytes));
        bytes.put(table.inner.capacity()?.unwrap_or(0));
        OK
    })
}

/// Changes how many bytes a cache may take, for all processes; rounded down to 16 KiB. Later writes
/// apply a smaller capacity step by step; `tavola_maintain` applies all that is left.
///
/// # Examples
/// ```c
/// tavola_table *cache = NULL;
/// uint64_t bytes = 0;
/// tavola_options options = TAVOLA_INIT(tavola_options);
/// options.max_size = 16 << 20;
/// options.capacity = 8 << 20;
/// tavola_open_private(&options, &cache);
/// tavola_set_capacity(cache, 4 << 20);
/// tavola_capacity(cache, &bytes);
/// tavola_close(cache);
/// ```
///
/// # Errors
/// `TAVOLA_ERR_BAD_OPTION` if the table is not a cache, or cannot have so many bytes;
/// `TAVOLA_ERR_READ_ONLY`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_set_capacity(
    table: *const tavola_table,
    bytes: u64,
) -> tavola_status {
    entry(|| {
        given!(handle table).inner.set_capacity(bytes)?;
        OK
    })
}
