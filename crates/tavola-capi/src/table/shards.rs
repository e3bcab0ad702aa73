//! What each shard holds and does.

use super::tavola_table;
use crate::entry::{OK, entry};
use crate::given::given;
use crate::status::{Failure, tavola_status};
use std::ffi::c_void;
use tavola_core::ShardStats;

/// A shard: a part of the keys with a lock of its own. Where one has far more writes than the
/// others, many write to the same key.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tavola_shard {
    /// `sizeof(tavola_shard)`, as the library knows it.
    pub size: usize,
    /// Its number, from 0 on.
    pub number: u64,
    /// Keys.
    pub keys: u64,
    /// Bytes of their keys and values.
    pub payload_bytes: u64,
    /// How often a key of it was set, changed or removed by who asked for that, since the table was
    /// made.
    pub writes: u64,
    /// Keys that were evicted from it, since the table was made.
    pub evicted: u64,
    /// Recoveries after a death, since the table was made.
    pub recoveries: u64,
}

impl From<&ShardStats> for tavola_shard {
    fn from(shard: &ShardStats) -> Self {
        Self {
            size: size_of::<Self>(),
            number: u64::from(shard.number),
            keys: shard.keys,
            payload_bytes: shard.payload_bytes,
            writes: shard.writes,
            evicted: shard.evicted,
            recoveries: u64::from(shard.recoveries),
        }
    }
}

/// Called with a shard, which is lent until it returns.
pub type tavola_each_shard =
    Option<unsafe extern "C" fn(user: *mut c_void, shard: *const tavola_shard)>;

/// Calls `each` with the state of each shard, in the order of their numbers. While other processes
/// write, the numbers are not of one moment.
///
/// # Errors
/// At the first use of a table, the errors of mapping it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_shard_stats(
    table: *const tavola_table,
    each: tavola_each_shard,
    user: *mut c_void,
) -> tavola_status {
    entry(|| {
        let table = given!(handle table);
        let each = each.ok_or_else(|| Failure::null("each"))?;
        for shard in &table.inner.shard_stats()? {
            // SAFETY: the caller's function, called as its type says.
            unsafe { each(user, &tavola_shard::from(shard)) };
        }
        OK
    })
}
