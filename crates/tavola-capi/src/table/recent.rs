//! What was done with a cache in the last second, ten and sixty.

use super::tavola_table;
use crate::entry::{OK, entry};
use crate::given::given;
use crate::status::{Failure, tavola_status};
use std::ffi::c_void;
use std::time::Duration;
use tavola_core::Recent;

/// What was done with a cache in the last while: counts, to be divided by `spanned_ms` for rates.
/// They are what was done from a sample until now, of which those who read and write take one about
/// each second that has calls: the one whose age is nearest to what was wanted, not less than half.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tavola_recent {
    /// `sizeof(tavola_recent)`, as the library knows it.
    pub size: usize,
    /// The time that was asked for, in milliseconds: 1000, 10000 or 60000.
    pub wanted_ms: u64,
    /// The time that the counts are of: the age of that sample. Where there was a pause it begins
    /// before it, and may be the same for one second and for ten. 0: they are not known, and all 0.
    pub spanned_ms: u64,
    /// Reads that found their key.
    pub hits: u64,
    /// Reads that did not.
    pub misses: u64,
    /// Writes.
    pub writes: u64,
    /// Keys evicted.
    pub evicted: u64,
    /// Keys removed as they had expired, or lost a tag.
    pub expired: u64,
}

impl From<&Recent> for tavola_recent {
    fn from(recent: &Recent) -> Self {
        let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Self {
            size: size_of::<Self>(),
            wanted_ms: ms(recent.wanted),
            spanned_ms: ms(recent.spanned),
            hits: recent.hits,
            misses: recent.misses,
            writes: recent.writes,
            evicted: recent.evicted,
            expired: recent.expired,
        }
    }
}

/// Called with the counts of the last while, which are lent until it returns.
pub type tavola_each_recent =
    Option<unsafe extern "C" fn(user: *mut c_void, recent: *const tavola_recent)>;

/// Calls `each` with the counts of a cache for the last 1, 10 and 60 seconds, in this order. It is
/// not called for a table that is not a cache.
///
/// # Examples
/// ```c
/// static void rates(void *user, const tavola_recent *recent) {
///   (void)user;
///   printf("%llu hits in %llu ms\n", (unsigned long long)recent->hits,
///          (unsigned long long)recent->spanned_ms);
/// }
///
/// static void bucket(void *user, const tavola_latency *latency) {
///   (void)user;
///   printf("%llu reads of %llu ns or more\n", (unsigned long long)latency->reads,
///          (unsigned long long)latency->from_ns);
/// }
///
/// uint64_t median_ns = 0;
/// tavola_get_recent(table, rates, NULL);
/// tavola_latencies(table, bucket, NULL);
/// tavola_latency_quantile(table, 0.5, &median_ns, NULL);
/// ```
///
/// # Errors
/// As `tavola_get_stats`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_get_recent(
    table: *const tavola_table,
    each: tavola_each_recent,
    user: *mut c_void,
) -> tavola_status {
    entry(|| {
        let table = given!(handle table);
        let each = each.ok_or_else(|| Failure::null("each"))?;
        for recent in &table.inner.stats()?.recent {
            // SAFETY: the caller's function, called as its type says.
            unsafe { each(user, &tavola_recent::from(recent)) };
        }
        OK
    })
}
