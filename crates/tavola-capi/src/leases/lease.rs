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

/// What exists of a key, and which process computes its value.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum tavola_lease_outcome {
    /// The value exists and is fresh.
    TAVOLA_LEASE_HIT = 0,
    /// The value is stale and may still be served. Another process computes it again, or has failed
    /// to a moment ago.
    TAVOLA_LEASE_STALE = 1,
    /// The value is stale, or soon will be, and may still be served. The caller has the lease to
    /// compute it again.
    TAVOLA_LEASE_STALE_WON = 2,
    /// There is no value. The caller has the lease to compute it.
    TAVOLA_LEASE_WON = 3,
    /// There is no value yet. Another process computes it.
    TAVOLA_LEASE_WAIT = 4,
    /// There is no value. A process failed to compute it a moment ago.
    TAVOLA_LEASE_FAILED = 5,
}

/// The result of `tavola_get_or_lease`. Begin with `tavola_leased leased =
/// TAVOLA_INIT(tavola_leased);`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tavola_leased {
    /// `sizeof(tavola_leased)`.
    pub size: usize,
    /// What exists.
    pub outcome: tavola_lease_outcome,
    /// The flags of the value, or 0 if there is none. With `early_beta`, their low 16 bits hold how
    /// long the value took to compute.
    pub flags: u32,
    /// After `TAVOLA_LEASE_WAIT`: how many milliseconds the other process still has. After
    /// `TAVOLA_LEASE_FAILED`: after how many milliseconds a process may try again. Otherwise 0.
    pub left_ms: u64,
}

// SAFETY: 0 is an outcome; no padding (a `usize`, two of 32 bits, a `u64`), the size first.
unsafe impl SizedStruct for tavola_leased {}

/// The lease to compute the value of a key, or, after `TAVOLA_LEASE_WAIT`, another process's lease.
/// For one thread at a time. It keeps the table open.
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

/// What `tavola_get_or_lease` returns.
struct LeaseAnswer {
    outcome: tavola_lease_outcome,
    value: Option<Vec<u8>>,
    held: Option<Held>,
    left: Duration,
}

impl From<Leased> for LeaseAnswer {
    fn from(leased: Leased) -> Self {
        use tavola_lease_outcome::*;
        let answer = |outcome, value, held| Self {
            outcome,
            value,
            held,
            left: Duration::ZERO,
        };
        match leased {
            Leased::Hit(value) => answer(TAVOLA_LEASE_HIT, Some(value), None),
            Leased::Stale { value, lease: None } => answer(TAVOLA_LEASE_STALE, Some(value), None),
            Leased::Stale {
                value,
                lease: Some(lease),
            } => answer(TAVOLA_LEASE_STALE_WON, Some(value), Some(Held::Own(lease))),
            Leased::Won(lease) => answer(TAVOLA_LEASE_WON, None, Some(Held::Own(lease))),
            Leased::Wait(pending) => Self {
                left: pending.left(),
                ..answer(TAVOLA_LEASE_WAIT, None, Some(Held::Anothers(pending)))
            },
            Leased::Failed { error, retry } => Self {
                left: retry,
                ..answer(TAVOLA_LEASE_FAILED, Some(error), None)
            },
        }
    }
}

/// Returns the value of a key, or the lease to compute it. If several processes ask for a missing
/// key, one of them gets the lease, and the others wait or use the stale value.
/// `tavola_get_or_compute` does all this in one call.
///
/// `value` gets the value after `TAVOLA_LEASE_HIT`, `TAVOLA_LEASE_STALE` and
/// `TAVOLA_LEASE_STALE_WON`, and the text of the error after `TAVOLA_LEASE_FAILED`. `lease` gets a
/// lease to fill after `TAVOLA_LEASE_WON` and `TAVOLA_LEASE_STALE_WON`, a lease to wait for after
/// `TAVOLA_LEASE_WAIT`, and NULL otherwise. Close it with `tavola_lease_close` in any case.
///
/// A value that `tavola_lease_fill` stores expires when it is no longer fresh or stale. A value
/// that was set in another way is stale if it expires within `stale_ms`, and fresh before.
/// `tavola_remove` also ends the lease of a key, so a value that was computed from older data is
/// not stored.
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
/// As `tavola_get`; if `value` has no room, the lease is given up. `TAVOLA_ERR_ARGUMENT`: `options`
/// do not say how long a value is fresh. `TAVOLA_ERR_BAD_OPTION`: an option is invalid, or the
/// table has fixed lengths and so no room for a time. A call that tries to get the lease may also
/// return `TAVOLA_ERR_READ_ONLY`, `TAVOLA_ERR_FULL` if the file system has no room for the first
/// lease of a table, and at the first write of a process the errors of `tavola_set`.
///
/// # Concurrency
/// A hit takes no lock and writes nothing; neither does a call that finds another process's lease.
///
/// # Crash
/// The next process that asks for the lease of a dead process gets it.
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
        let (result, flags) = table.inner.get_or_lease_with_flags(key, options)?;
        let answer = LeaseAnswer::from(result);
        if let Some(bytes) = &answer.value {
            // If it fails, this answer is dropped, and the lease with it.
            value.put(bytes)?;
        }
        leased.put(&tavola_leased {
            outcome: answer.outcome,
            flags,
            left_ms: u64::try_from(answer.left.as_millis()).unwrap_or(u64::MAX),
            ..SizedStruct::new()
        });
        let handle = |held| Box::into_raw(Box::new(tavola_lease { held }));
        lease.put(answer.held.map_or(std::ptr::null_mut(), handle));
        OK
    })
}

/// Stores the value and ends the lease. Processes that wait for it get the value.
///
/// # Errors
/// `TAVOLA_LEASE_LOST`: nothing is stored, because the time of the lease has passed and another
/// process has it, or the key was removed or set meanwhile, or this is a forked child.
/// `TAVOLA_ERR_ARGUMENT`: the lease is another process's, or has ended before. Otherwise as
/// `tavola_set`; the lease is then given up.
///
/// # Crash
/// If the process is killed before the call returned, the value is stored, or another process gets
/// the lease.
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

/// Does the same as `tavola_lease_fill`, with tags. Fetch the handles before you compute the value;
/// see `tavola_fetch_tags`. NULL means no tags.
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

/// Does the same as `tavola_lease_fill_tagged`, and also sets the flags of the key. With
/// `early_beta`, the low 16 bits of the flags must be 0, because they will hold how long the value
/// took to compute.
///
/// # Examples
/// ```c
/// enum { HTML = 7 };
/// char bytes[256];
/// tavola_buffer value = TAVOLA_BUFFER(bytes, sizeof bytes);
/// tavola_leased leased = TAVOLA_INIT(tavola_leased);
/// tavola_lease *lease = NULL;
/// tavola_lease_options options = TAVOLA_INIT(tavola_lease_options);
/// options.fresh_ms = 60 * 1000;
/// tavola_get_or_lease(table, TAVOLA_STR("start"), &options, &value, &leased, &lease);
/// if (leased.outcome == TAVOLA_LEASE_WON) {
///   tavola_lease_fill_with(lease, TAVOLA_STR("<p>hello</p>"), HTML, NULL);
/// } else {
///   printf("%.*s has flags %u\n", (int)value.len, bytes, leased.flags);
/// }
/// tavola_lease_close(lease);
/// ```
///
/// # Errors
/// As `tavola_lease_fill`. `TAVOLA_ERR_BAD_OPTION`: the flags are invalid.
///
/// # Crash
/// As `tavola_lease_fill`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_lease_fill_with(
    lease: *mut tavola_lease,
    value: *const c_void,
    value_len: usize,
    flags: u32,
    tags: *const tavola_tags,
) -> tavola_status {
    entry(|| {
        let (lease, value) = (given!(buffer lease), given!(bytes value, value_len));
        // SAFETY: the caller's promise.
        let tags = unsafe { tags_of(tags)? };
        lease.end(|lease| lease.fill_with(value, flags, &tags))
    })
}

/// Ends the lease without a value. For `back_off_ms`, at most an hour, no process gets the lease
/// again: processes that ask get the stale value, or `TAVOLA_LEASE_FAILED` with the first 88 bytes
/// of `error`.
///
/// # Errors
/// `TAVOLA_LEASE_LOST`: another process has the lease. `TAVOLA_ERR_ARGUMENT`: the lease is another
/// process's, or has ended before. Otherwise as `tavola_remove`.
///
/// # Crash
/// If the process is killed before the call returned, other processes get the error, or one gets
/// the lease.
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

/// Sleeps until another process's lease (`TAVOLA_LEASE_WAIT`) has ended, its owner has died, or the
/// key exists. Then ask for the key again.
///
/// # Errors
/// `TAVOLA_TIMEOUT`: the time limit passed before. `TAVOLA_ERR_ARGUMENT`: the lease is the caller's
/// own. Otherwise as `tavola_get`.
///
/// # Concurrency
/// The process that ends the lease wakes all that sleep. They notice the death of the owner within
/// about 10 ms.
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

/// Returns whether other processes know of this lease of the caller. It returns false if so many
/// keys of the shard are being computed at once that no record is free. Other processes may then
/// compute the value, too, and a fill may store nothing because another key was removed or changed
/// meanwhile. It also returns false for a lease that has ended or that is another process's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_lease_is_recorded(lease: *const tavola_lease) -> bool {
    entry_or(false, || {
        Ok(match &given!(handle lease).held {
            Held::Own(lease) => lease.is_recorded(),
            _ => false,
        })
    })
}

/// Closes a lease. A lease that was neither filled nor failed is given up, and another process may
/// get it at once. NULL has no effect.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_lease_close(lease: *mut tavola_lease) {
    // SAFETY: the caller's promise: it came from `tavola_get_or_lease` and is used no more.
    unsafe { close(lease) };
}
