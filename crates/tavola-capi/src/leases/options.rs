//! How long values are fresh, and leases last.

use crate::given::{SizedStruct, given};
use crate::status::Failure;
use std::time::Duration;
use tavola_core::LeaseOptions;

/// For `back_off_ms`: who asks after an error tries again at once.
pub const TAVOLA_NO_BACK_OFF: i64 = -1;

/// How long a value is fresh, how long it may be served when it is stale, how long who computes it
/// may take. Begin with `tavola_lease_options options = TAVOLA_INIT(tavola_lease_options);` and say
/// `fresh_ms`, at least.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tavola_lease_options {
    /// `sizeof(tavola_lease_options)`.
    pub size: usize,
    /// A value is fresh for so many milliseconds after it was stored, a thousand years at most;
    /// 0 only together with a `stale_ms`: it is stale at once.
    pub fresh_ms: u64,
    /// For so long afterwards it is stale: still there, and served while one computes it anew.
    pub stale_ms: u64,
    /// How long who computes may take, up to an hour; 10 s when 0. Then another may, and the value
    /// of the first is refused. For one that has died nobody waits so long.
    pub lease_ms: u64,
    /// How long after an error nobody tries again, where `tavola_get_or_compute` computes, up to an
    /// hour; 1 s when 0; or `TAVOLA_NO_BACK_OFF`.
    pub back_off_ms: i64,
    /// Lets one process now and then compute a value anew before it is stale, the more probably the
    /// sooner that will be, and the longer it takes to compute (XFetch): 1 is best as a rule, more
    /// is earlier, 0 is never. The key's flags then hold how long it took, in microseconds.
    pub early_beta: f64,
}

// SAFETY: numbers without padding (a `usize`, four of 64 bits, an `f64`), the size first.
unsafe impl SizedStruct for tavola_lease_options {}

/// The options that a caller means.
///
/// # Safety
/// I1 of `given.rs`.
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
