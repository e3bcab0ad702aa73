//! How long values are fresh, and leases last.

use crate::given::{SizedStruct, given};
use crate::status::Failure;
use std::time::Duration;
use tavola_core::LeaseOptions;

/// For `back_off_ms`: the next call after an error tries again at once.
pub const TAVOLA_NO_BACK_OFF: i64 = -1;

/// How long a value is fresh, how long a stale value may be served, and how long a computation may
/// take. Begin with `tavola_lease_options options = TAVOLA_INIT(tavola_lease_options);` and set at
/// least `fresh_ms`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tavola_lease_options {
    /// `sizeof(tavola_lease_options)`.
    pub size: usize,
    /// How many milliseconds a value is fresh after it was stored, at most a thousand years. 0 only
    /// with a `stale_ms`: the value is stale at once.
    pub fresh_ms: u64,
    /// How many milliseconds after that a value is stale: it exists, and is served while one
    /// process computes it again.
    pub stale_ms: u64,
    /// How long the computation may take, up to an hour; 10 s by default. After that another
    /// process may get the lease, and the value of the first is refused. If a process dies, the
    /// others do not wait for so long.
    pub lease_ms: u64,
    /// How long after an error of `tavola_get_or_compute` no process tries again, up to an hour; 1
    /// s by default, or `TAVOLA_NO_BACK_OFF`.
    pub back_off_ms: i64,
    /// Lets a process now and then compute a value before it is stale. This becomes more likely as
    /// that time comes nearer, and with the duration of the computation (XFetch). 1 is a good
    /// value, more is earlier, 0 is never. The low 16 bits of the key's flags
    /// then hold the duration.
    pub early_beta: f64,
}

// SAFETY: numbers without padding (a `usize`, four of 64 bits, an `f64`), the size first.
unsafe impl SizedStruct for tavola_lease_options {}

/// The options that a caller means.
///
/// # Safety
/// CAPI-1 of `given.rs`.
pub(super) unsafe fn lease_options_of(
    options: *const tavola_lease_options,
) -> Result<LeaseOptions, Failure> {
    let given = given!(sized options);
    if (given.fresh_ms, given.stale_ms) == (0, 0) {
        return Err(Failure::argument(
            "the `fresh_ms` of lease options is not set; say how long a value is fresh",
        ));
    }
    let mut made = LeaseOptions::new(Duration::from_millis(given.fresh_ms))
        .stale(Duration::from_millis(given.stale_ms));
    if given.lease_ms != 0 {
        made = made.lease(Duration::from_millis(given.lease_ms));
    }
    made = match given.back_off_ms {
        0 => made,
        TAVOLA_NO_BACK_OFF => made.back_off(Duration::ZERO),
        pause @ 1.. => made.back_off(Duration::from_millis(pause.unsigned_abs())),
        _ => {
            return Err(Failure::argument(
                "a `back_off_ms` is above 0, or 0 for a second, or TAVOLA_NO_BACK_OFF",
            ));
        }
    };
    Ok(match given.early_beta {
        0.0 => made,
        beta => made.early(beta),
    })
}
