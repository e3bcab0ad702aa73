//! Leases in hand, and those that others have.

use super::options::{lease_options_of, tavola_lease_options};
use crate::buffer::tavola_buffer;
use crate::entry::{Answer, OK, entry, entry_or};
use crate::given::{SizedStruct, close, given};
use crate::status::{Failure, tavola_status};
use crate::table::tags::{tags_of, tavola_tags};
use crate::table::tavola_table;
use std::ffi::c_void;
use std::mem::replace;
use std::time::Duration;
use tavola_core::{Lease, Leased, Pending};

/// What there is of a key, and who is to compute it.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum tavola_lease_outcome {
    /// The value, fresh.
    TAVOLA_LEASE_HIT = 0,
    /// The value, no more fresh: it may be served still. Another computes it anew, or has failed to
    /// a moment ago.
    TAVOLA_LEASE_STALE = 1,
    /// The value, no more fresh, or soon not to be: it may be served still. The caller is to
    /// compute it anew.
    TAVOLA_LEASE_STALE_WON = 2,
    /// There is no value: the caller is to compute it.
    TAVOLA_LEASE_WON = 3,
    /// There is no value yet: another computes it.
    TAVOLA_LEASE_WAIT = 4,
    /// There is no value: it could not be computed a moment ago.
    TAVOLA_LEASE_FAILED = 5,
}

/// What `tavola_get_or_lease` tells. Begin with
/// `tavola_leased leased = TAVOLA_INIT(tavola_leased);`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tavola_leased {
    /// `sizeof(tavola_leased)`.
    pub size: usize,
    /// What there is.
    pub outcome: tavola_lease_outcome,
    /// 0.
    pub reserved: u32,
    /// After `TAVOLA_LEASE_WAIT` how many milliseconds the other has at most, after
    /// `TAVOLA_LEASE_FAILED` in how many one may try again; else 0.
    pub left_ms: u64,
}

// SAFETY: 0 is an outcome; no padding (a `usize`, two of 32 bits, a `u64`), the size first.
unsafe impl SizedStruct for tavola_leased {}

/// The right, and the duty, to compute the value of a key; or, after `TAVOLA_LEASE_WAIT`, the lease
/// that another has. For one thread at a time. It keeps the table open.
pub struct tavola_lease {
    held: Held,
}

enum Held {
    Own(Lease),
    Anothers(Pending),
    Ended,
}

impl tavola_lease {
    /// Ends one that is the caller's; says whether it still was.
    fn end(&mut self, act: impl FnOnce(Lease) -> tavola_core::Result<bool>) -> Answer {
        match replace(&mut self.held, Held::Ended) {
            Held::Own(lease) => Ok(match act(lease)? {
                true => tavola_status::TAVOLA_OK,
                false => tavola_status::TAVOLA_LEASE_LOST,
            }),
            other => {
                self.held = other;
                Err(Failure::argument(
                    "the lease is another's, or has been filled or given up before",
                ))
            }
        }
    }
}

/// What is told of an outcome.
struct Told {
    outcome: tavola_lease_outcome,
    value: Option<Vec<u8>>,
    held: Option<Held>,
    left: Duration,
}

impl From<Leased> for Told {
    fn from(leased: Leased) -> Self {
        use tavola_lease_outcome::*;
        let told = |outcome, value, held| Self {
            outcome,
            value,
            held,
            left: Duration::ZERO,
        };
        match leased {
            Leased::Hit(value) => told(TAVOLA_LEASE_HIT, Some(value), None),
            Leased::Stale { value, lease: None } => told(TAVOLA_LEASE_STALE, Some(value), None),
            Leased::Stale {
                value,
                lease: Some(lease),
            } => told(TAVOLA_LEASE_STALE_WON, Some(value), Some(Held::Own(lease))),
            Leased::Won(lease) => told(TAVOLA_LEASE_WON, None, Some(Held::Own(lease))),
            Leased::Wait(pending) => Self {
                left: pending.left(),
                ..told(TAVOLA_LEASE_WAIT, None, Some(Held::Anothers(pending)))
            },
            Leased::Failed { error, retry } => Self {
                left: retry,
                ..told(TAVOLA_LEASE_FAILED, Some(error), None)
            },
        }
    }
}

/// The value of a key, or the lease to compute it: of all that ask for a key that is missing, one
/// gets the lease, in whichever process; the others wait, or, where the value is stale only, go on
/// with that. See also `tavola_get_or_compute`, which does all this.
///
/// `value` gets the value after `TAVOLA_LEASE_HIT`, `TAVOLA_LEASE_STALE` and
/// `TAVOLA_LEASE_STALE_WON`, and after `TAVOLA_LEASE_FAILED` what was told of it. `lease` gets a
/// lease to fill after `TAVOLA_LEASE_WON` and `TAVOLA_LEASE_STALE_WON`, one to wait for after
/// `TAVOLA_LEASE_WAIT`, else NULL; it is closed in each case by `tavola_lease_close`.
///
/// A value is stored by `tavola_lease_fill` to expire when it is neither fresh nor stale any more.
/// One that was set otherwise is stale when it has no more than `stale_ms` to live, and fresh as
/// long as it does not expire. `tavola_remove` ends the lease of a key, too: what is computed from
/// what was before is not stored.
///
/// # Examples
/// ```c
/// char bytes[256];
/// tavola_buffer value = TAVOLA_BUFFER(bytes, sizeof bytes);
/// tavola_leased leased = TAVOLA_INIT(tavola_leased);
/// tavola_lease *lease = NULL;
/// tavola_lease_options options = TAVOLA_INIT(tavola_lease_options);
/// options.fresh_ms = 60 * 1000;
/// tavola_get_or_lease(table, TAVOLA_STR("page"), &options, &value, &leased, &lease);
/// if (leased.outcome == TAVOLA_LEASE_WON || leased.outcome == TAVOLA_LEASE_STALE_WON) {
///   if (!tavola_lease_is_recorded(lease)) {
///     puts("other processes may compute the value, too");
///   }
///   if (tavola_lease_fill(lease, TAVOLA_STR("<p>hello</p>")) == TAVOLA_LEASE_LOST) {
///     puts("not stored: it took too long, or the key was changed");
///   }
/// } else if (leased.outcome == TAVOLA_LEASE_WAIT) {
///   tavola_lease_wait(lease, 1000);
/// }
/// tavola_lease_close(lease);
/// ```
///
/// # Errors
/// As `tavola_get`; where what was to go to `value` has no room, the lease is given up.
/// `TAVOLA_ERR_ARGUMENT`: `options` do not say how long a value is fresh. `TAVOLA_ERR_BAD_OPTION`:
/// one is out of its bounds; also in a table of fixed lengths, whose items have no room for a time.
/// Where a lease was to be won: `TAVOLA_ERR_READ_ONLY`; `TAVOLA_ERR_FULL`, when the file system has
/// no room for the first lease of a table; at a process's first write as `tavola_set`.
///
/// # Concurrency
/// A hit takes no lock and writes nothing, nor does who finds the lease another's.
///
/// # Crash
/// The lease of a process that has died is won by the next that asks for it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_get_or_lease(
    table: *const tavola_table,
    key: *const c_void,
    key_len: usize,
    options: *const tavola_lease_options,
    value: *mut tavola_buffer,
    leased: *mut tavola_leased,
    lease: *mut *mut tavola_lease,
) -> tavola_status {
    entry(|| {
        let (table, key) = (given!(handle table), given!(bytes key, key_len));
        // SAFETY: the caller's promise.
        let options = unsafe { lease_options_of(options) }?;
        let value = given!(buffer value);
        let (leased, lease) = (given!(sized_out leased), given!(out lease));
        let told = Told::from(table.inner.get_or_lease(key, options)?);
        if let Some(bytes) = &told.value {
            // If it fails, what is told is dropped, and the lease with it.
            value.put(bytes)?;
        }
        leased.put(&tavola_leased {
            outcome: told.outcome,
            left_ms: u64::try_from(told.left.as_millis()).unwrap_or(u64::MAX),
            ..SizedStruct::new()
        });
        let handle = |held| Box::into_raw(Box::new(tavola_lease { held }));
        lease.put(told.held.map_or(std::ptr::null_mut(), handle));
        OK
    })
}

/// Stores the value and ends the lease: who waits for it gets the value.
///
/// # Errors
/// `TAVOLA_LEASE_LOST`: nothing is stored, for the lease has passed on, as its time was over; or
/// the key was removed or set meanwhile; or this is a forked child. `TAVOLA_ERR_ARGUMENT`: the
/// lease is another's, or has ended before. Else as `tavola_set`; the lease is given up then.
///
/// # Crash
/// Killed before it returned: the value is there, or the lease passes on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_lease_fill(
    lease: *mut tavola_lease,
    value: *const c_void,
    value_len: usize,
) -> tavola_status {
    entry(|| {
        let (lease, value) = (given!(buffer lease), given!(bytes value, value_len));
        lease.end(|lease| lease.fill(value))
    })
}

/// As `tavola_lease_fill`, with tags, which are to be taken before the value is computed: see
/// `tavola_fetch_tags`. NULL: none.
///
/// # Examples
/// ```c
/// char bytes[256];
/// const tavola_bytes names[] = {{"home", 4}};
/// tavola_tags tags = TAVOLA_INIT(tavola_tags);
/// tavola_buffer value = TAVOLA_BUFFER(bytes, sizeof bytes);
/// tavola_leased leased = TAVOLA_INIT(tavola_leased);
/// tavola_lease *lease = NULL;
/// tavola_lease_options options = TAVOLA_INIT(tavola_lease_options);
/// options.fresh_ms = 60 * 1000;
/// tavola_fetch_tags(table, names, 1, &tags);
/// tavola_get_or_lease(table, TAVOLA_STR("page"), &options, &value, &leased, &lease);
/// if (leased.outcome == TAVOLA_LEASE_WON) {
///   tavola_lease_fill_tagged(lease, TAVOLA_STR("<p>hello</p>"), &tags);
/// }
/// tavola_lease_close(lease);
///
/// lease = NULL;
/// tavola_get_or_lease(table, TAVOLA_STR("other"), &options, &value, &leased, &lease);
/// if (leased.outcome == TAVOLA_LEASE_WON) {
///   tavola_lease_fail(lease, 1000, TAVOLA_STR("the database does not answer"));
/// }
/// tavola_lease_close(lease);
/// ```
///
/// # Errors
/// As `tavola_lease_fill`.
///
/// # Crash
/// As `tavola_lease_fill`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_lease_fill_tagged(
    lease: *mut tavola_lease,
    value: *const c_void,
    value_len: usize,
    tags: *const tavola_tags,
) -> tavola_status {
    entry(|| {
        let (lease, value) = (given!(buffer lease), given!(bytes value, value_len));
        // SAFETY: the caller's promise.
        let tags = unsafe { tags_of(tags)? };
        lease.end(|lease| lease.fill_tagged(value, &tags))
    })
}

/// Ends the lease without a value. For `back_off_ms`, an hour at most, nobody wins it again: who
/// asks gets the stale value where there is one, else is told `TAVOLA_LEASE_FAILED` with `error`,
/// of which 88 bytes are kept.
///
/// # Errors
/// `TAVOLA_LEASE_LOST`: it had passed on. `TAVOLA_ERR_ARGUMENT`: the lease is another's, or has
/// ended before. Else as `tavola_remove`.
///
/// # Crash
/// Killed before it returned: others are told, or the lease passes on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_lease_fail(
    lease: *mut tavola_lease,
    back_off_ms: u64,
    error: *const c_void,
    error_len: usize,
) -> tavola_status {
    entry(|| {
        let (lease, error) = (given!(buffer lease), given!(bytes error, error_len));
        lease.end(|lease| lease.fail(Duration::from_millis(back_off_ms), error))
    })
}

/// Sleeps until a lease that another has (`TAVOLA_LEASE_WAIT`) has ended, or its owner has died, or
/// the key is there: ask for it again.
///
/// # Errors
/// `TAVOLA_TIMEOUT`: the time was up before. `TAVOLA_ERR_ARGUMENT`: the lease is the caller's own.
/// Else as `tavola_get`.
///
/// # Concurrency
/// Who ends the lease wakes all that sleep. That its owner has died they find out themselves,
/// within some 10 ms.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_lease_wait(
    lease: *mut tavola_lease,
    timeout_ms: u64,
) -> tavola_status {
    entry(|| {
        let Held::Anothers(pending) = &given!(buffer lease).held else {
            return Err(Failure::argument("the lease is not another's: fill it"));
        };
        Ok(match pending.wait(Duration::from_millis(timeout_ms))? {
            true => tavola_status::TAVOLA_OK,
            false => tavola_status::TAVOLA_TIMEOUT,
        })
    })
}

/// Whether others know of a lease of the caller's. False: so many keys of its shard are being
/// computed at once that there is no record left. Then others may compute this value, too, and a
/// fill may store nothing because another key was removed or changed meanwhile. False also of one
/// that has ended, or is another's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_lease_is_recorded(lease: *const tavola_lease) -> bool {
    entry_or(false, || {
        Ok(match &given!(handle lease).held {
            Held::Own(lease) => lease.is_recorded(),
            _ => false,
        })
    })
}

/// Closes a lease. One that was neither filled nor failed is given up, and another may win it at
/// once. NULL is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_lease_close(lease: *mut tavola_lease) {
    // SAFETY: the caller's promise: it came from `tavola_get_or_lease` and is used no more.
    unsafe { close(lease) };
}
