//! How many keys are live, and how many have expired and still take their room.

use super::tavola_table;
use crate::entry::{OK, entry};
use crate::given::{SizedStruct, given};
use crate::status::tavola_status;
use tavola_core::LiveKeys;

/// Keys of a table.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tavola_live_keys {
    /// `sizeof(tavola_live_keys)`.
    pub size: usize,
    /// Keys that a read finds.
    pub live: u64,
    /// Keys that have expired or lost a tag, and take their room until they are removed.
    pub unreclaimed: u64,
    /// 1: both are estimates, from a part of the keys: of a table with many keys that expire.
    pub is_estimate: u64,
}

// SAFETY: integers without padding, the size first.
unsafe impl SizedStruct for tavola_live_keys {}

impl From<LiveKeys> for tavola_live_keys {
    fn from(keys: LiveKeys) -> Self {
        Self {
            size: size_of::<Self>(),
            live: keys.live,
            unreclaimed: keys.unreclaimed,
            is_estimate: keys.is_estimate.into(),
        }
    }
}

/// Counts the keys that a read finds, and the keys that have expired or lost a tag and were not
/// removed yet. `keys` of `tavola_stats` is the sum of both. It looks only at keys that can expire,
/// and at about 100,000 of them at most; if there are more, the numbers are an estimate.
///
/// # Errors
/// At the first use of a table, the errors of mapping it.
///
/// # Concurrency
/// Takes no lock. While other processes write, the numbers are not of one moment.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_get_live_keys(
    table: *const tavola_table,
    keys: *mut tavola_live_keys,
) -> tavola_status {
    entry(|| {
        let (table, keys) = (given!(handle table), given!(sized_out keys));
        keys.put(&table.inner.live_keys()?.into());
        OK
    })
}
