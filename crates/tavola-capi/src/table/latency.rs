//! How long reads and writes of a cache take, by samples.

use super::tavola_table;
use crate::entry::{OK, entry};
use crate::given::given;
use crate::status::{Failure, tavola_status};
use std::ffi::c_void;
use tavola_core::Latencies;

/// How many calls to a cache took so long, of those that were timed since it was made: about one in
/// 1024 of the calls that read one key, and of those that set one.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tavola_latency {
    /// `sizeof(tavola_latency)`, as the library knows it.
    pub size: usize,
    /// They took so many nanoseconds, or more.
    pub from_ns: u64,
    /// They took less than so many; `UINT64_MAX`: there is no limit.
    pub below_ns: u64,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
}

/// Called with a bucket of a histogram, which is lent until it returns.
pub type tavola_each_latency =
    Option<unsafe extern "C" fn(user: *mut c_void, latency: *const tavola_latency)>;

/// Calls `each` with the buckets of a histogram: how long sampled reads and writes of a cache took,
/// from short times to long ones, without gaps. All counts are 0 for a table that is not a cache.
///
/// # Errors
/// At the first use of a table, the errors of mapping it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_latencies(
    table: *const tavola_table,
    each: tavola_each_latency,
    user: *mut c_void,
) -> tavola_status {
    entry(|| {
        let table = given!(handle table);
        let each = each.ok_or_else(|| Failure::null("each"))?;
        let Latencies { reads, writes, .. } = table.inner.latencies()?;
        let mut from_ns = 0;
        for ((below_ns, reads), (_, writes)) in reads.into_iter().zip(writes) {
            let latency = tavola_latency {
                size: size_of::<tavola_latency>(),
                from_ns,
                below_ns,
                reads,
                writes,
            };
            // SAFETY: the caller's function, called as its type says.
            unsafe { each(user, &raw const latency) };
            from_ns = below_ns;
        }
        OK
    })
}

/// Returns an estimated quantile of the times of `tavola_latencies`, in nanoseconds. `part` is 0 to
/// 1; 0.5 is the median. The result is 0 without samples. `read_ns` and `write_ns` may be NULL.
///
/// # Errors
/// `TAVOLA_ERR_ARGUMENT`: `part` is not from 0 to 1. Otherwise as `tavola_latencies`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_latency_quantile(
    table: *const tavola_table,
    part: f64,
    read_ns: *mut u64,
    write_ns: *mut u64,
) -> tavola_status {
    entry(|| {
        let table = given!(handle table);
        let (read_ns, write_ns) = (given!(maybe read_ns), given!(maybe write_ns));
        if !(0.0..=1.0).contains(&part) {
            return Err(Failure::argument(
                "a part of all calls is from 0 to 1; the median is at 0.5",
            ));
        }
        let latencies = table.inner.latencies()?;
        let quantile = |buckets: &[_]| Latencies::quantile_ns(buckets, part).unwrap_or(0);
        read_ns.put(quantile(&latencies.reads));
        write_ns.put(quantile(&latencies.writes));
        OK
    })
}
