//! The most that a table may grow to.

use super::tavola_table;
use crate::entry::{OK, entry};
use crate::given::given;
use crate::status::tavola_status;

/// Raises the most bytes that a table may grow to, for all who use it; rounded up to 16 KiB. A
/// table can be raised to sixteen times the `max_size` that it was created with, as far as 64 GiB.
///
/// # Examples
/// ```c
/// tavola_options options = TAVOLA_INIT(tavola_options);
/// tavola_table *orders = NULL;
/// options.max_size = 16 << 20;
/// tavola_open("orders", &options, &orders);
/// tavola_set_max_size(orders, 64 << 20);
/// tavola_close(orders);
/// tavola_names_remove("orders");
/// ```
///
/// # Errors
/// `TAVOLA_ERR_BAD_OPTION` if it is less than now, or more than the table can be raised to;
/// `TAVOLA_ERR_READ_ONLY`; `TAVOLA_ERR_FULL` or `TAVOLA_ERR_IO` if the file cannot be made longer.
/// Nothing has changed then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_set_max_size(
    table: *const tavola_table,
    bytes: u64,
) -> tavola_status {
    entry(|| {
        given!(handle table).inner.set_max_size(bytes)?;
        OK
    })
}
