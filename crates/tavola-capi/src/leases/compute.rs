//! Values that one process computes for all.

use super::options::{lease_options_of, tavola_lease_options};
use crate::batch::tavola_bytes;
use crate::buffer::tavola_buffer;
use crate::entry::{Answer, entry};
use crate::given::given;
use crate::status::{Failure, tavola_status};
use crate::table::tags::names_of;
use crate::table::tavola_table;
use std::ffi::c_void;
use std::fmt;

/// Computes the value of a key. It returns 0 and the bytes of the value in `value`, or another
/// number and an error text, of which the other processes get 88 bytes. The bytes must stay valid
/// until the end of `tavola_get_or_compute`.
pub type tavola_compute_fn =
    Option<unsafe extern "C" fn(user: *mut c_void, value: *mut tavola_bytes) -> i32>;

/// A caller's function and what it is called with.
#[derive(Clone, Copy)]
struct Callback {
    compute: tavola_compute_fn,
    user: *mut c_void,
}

/// Why there is no value.
enum Stop {
    /// The callback says so.
    NotComputed(String),
    Failed(Failure),
}

impl<E: Into<Failure>> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

/// The error that the others get.
impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotComputed(why) => f.write_str(why),
            Self::Failed(failure) => failure.fmt(f),
        }
    }
}

/// Asks the callback for the value.
///
/// # Safety
/// CAPI-1 of `given.rs`, for the bytes that the callback gives.
unsafe fn ask(callback: Callback) -> Result<Vec<u8>, Stop> {
    let compute = callback.compute.ok_or_else(|| Failure::null("compute"))?;
    let mut value = tavola_bytes::EMPTY;
    // SAFETY: the caller's function, called as its type says.
    let is_computed = unsafe { compute(callback.user, &raw mut value) } == 0;
    let (value, value_len) = (value.data, value.len);
    let bytes = given!(bytes value, value_len);
    match is_computed {
        true => Ok(bytes.to_vec()),
        false => Err(Stop::NotComputed(
            String::from_utf8_lossy(bytes).into_owned(),
        )),
    }
}

/// Returns the value of a key. If it is missing or stale, one of all processes that ask for it
/// computes it with `compute`; the others sleep, or get the stale value. See `tavola_get_or_lease`.
///
/// The call returns a computed value even if it could not be stored because the table is full, or
/// was not stored because the computation took longer than the lease.
///
/// # Examples
/// ```c
/// static int32_t render(void *user, tavola_bytes *value) {
///   (void)user;
///   value->data = "<p>hello</p>";
///   value->len = 12;
///   return 0;
/// }
///
/// char bytes[256];
/// const tavola_bytes names[] = {{"home", 4}};
/// tavola_buffer value = TAVOLA_BUFFER(bytes, sizeof bytes);
/// tavola_lease_options options = TAVOLA_INIT(tavola_lease_options);
/// options.fresh_ms = 60 * 1000;
/// options.stale_ms = 10 * 60 * 1000;
/// tavola_get_or_compute(table, TAVOLA_STR("page"), &options, render, NULL, &value);
/// tavola_get_or_compute_tagged(table, TAVOLA_STR("home"), &options, names, 1, render, NULL,
///                              &value);
/// ```
///
/// # Errors
/// `TAVOLA_ERR_COMPUTE`: this process has just failed to compute the value, or another one a moment
/// ago; `tavola_last_error` returns the reason. `TAVOLA_ERR_TOO_SMALL` and `TAVOLA_ERR_STOPPED`:
/// the value may be stored, but was not returned. Otherwise as `tavola_get_or_lease`. A table
/// without room for leases is not an error: the process computes without one.
///
/// # Concurrency
/// The call holds no lock while it calls `compute`, and calls it at most once. `compute` must not
/// ask for the same key, because it would wait for itself. A process waits as long as others
/// compute, each for at most its lease.
///
/// # Crash
/// If the process is killed in `compute`, another process computes the value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_get_or_compute(
    table: *const tavola_table,
    key: *const c_void,
    key_len: usize,
    options: *const tavola_lease_options,
    compute: tavola_compute_fn,
    user: *mut c_void,
    value: *mut tavola_buffer,
) -> tavola_status {
    entry(|| {
        let (table, key) = (given!(handle table), given!(bytes key, key_len));
        let callback = Callback { compute, user };
        // SAFETY: the caller's promise.
        unsafe { get_or_compute(table, key, options, &[], callback, value) }
    })
}

/// Does the same as `tavola_get_or_compute`, and gives the value tags of these names. The handles
/// are fetched before the value is computed: if a tag is invalidated meanwhile, the call returns
/// the value, but the key is missing. A value that exists already keeps its tags.
///
/// # Errors
/// As `tavola_get_or_compute`; if the value is computed, also as `tavola_fetch_tags`.
///
/// # Concurrency
/// As `tavola_get_or_compute`.
///
/// # Crash
/// As `tavola_get_or_compute`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_get_or_compute_tagged(
    table: *const tavola_table,
    key: *const c_void,
    key_len: usize,
    options: *const tavola_lease_options,
    tags: *const tavola_bytes,
    tag_count: usize,
    compute: tavola_compute_fn,
    user: *mut c_void,
    value: *mut tavola_buffer,
) -> tavola_status {
    entry(|| {
        let (table, key) = (given!(handle table), given!(bytes key, key_len));
        let tags = given!(items tags, tag_count);
        let callback = Callback { compute, user };
        // SAFETY: the caller's promise.
        unsafe { get_or_compute(table, key, options, tags, callback, value) }
    })
}

/// # Safety
/// CAPI-1 of `given.rs`.
unsafe fn get_or_compute(
    table: &tavola_table,
    key: &[u8],
    options: *const tavola_lease_options,
    tags: &[tavola_bytes],
    callback: Callback,
    value: *mut tavola_buffer,
) -> Answer {
    // SAFETY: the caller's promise.
    let (options, tags) = unsafe { (lease_options_of(options)?, names_of(tags)?) };
    callback.compute.ok_or_else(|| Failure::null("compute"))?;
    let value = given!(buffer value);
    // SAFETY: the caller's promise.
    let asked = || unsafe { ask(callback) };
    match table.inner.try_get_or_compute(key, options, &tags, asked) {
        Ok(bytes) => value.put(&bytes),
        Err(Stop::NotComputed(why)) => Err(Failure::not_computed(why)),
        Err(Stop::Failed(failure)) => Err(failure),
    }
}
