//! Stores, removals, expiry times.

use super::ask;
use crate::client::tavola_mc_client;
use crate::entry::{Answer, entry};
use crate::given::{RawBytes, given};
use crate::outcome::status_of_outcome;
use crate::request::{Store, reply, stored, tavola_mc_store_options};
use crate::status::tavola_mc_status;
use std::ffi::c_void;
use tavola_client_core::Batch;

fn wrote<'a>(client: &tavola_mc_client, prepare: impl FnOnce(&mut Batch<'a>) -> usize) -> Answer {
    Ok(status_of_outcome(&ask(client, prepare)?))
}

/// Executes a store.
///
/// # Safety
/// MC-1 of `given.rs`.
unsafe fn store(
    client: *const tavola_mc_client,
    kind: Store,
    key: RawBytes,
    value: RawBytes,
    how: *const tavola_mc_store_options,
) -> tavola_mc_status {
    entry(|| {
        let client = given!(handle client);
        // SAFETY: the promise of this function.
        let stored = unsafe { stored(key, value, how) }?;
        wrote(client, |batch| kind.prepare(batch, stored))
    })
}

/// Stores a value. `how` may be NULL.
///
/// # Examples
/// ```c
/// tavola_mc_store_options how = TAVOLA_MC_INIT(tavola_mc_store_options);
/// how.exptime = 60;
/// if (tavola_mc_set(client, TAVOLA_MC_STR("user"), TAVOLA_MC_STR("alice"), &how) < 0) {
///   fputs(tavola_mc_last_error(), stderr);
/// }
///
/// how.no_reply = 1;
/// tavola_mc_set(client, TAVOLA_MC_STR("user"), TAVOLA_MC_STR("bob"), &how);
/// tavola_mc_flush(client);
/// ```
///
/// # Errors
/// `TAVOLA_MC_STORED`, or `TAVOLA_MC_QUEUED` without an answer. `TAVOLA_MC_ERR_REFUSED`: the server
/// did not take it, or the key is invalid. `TAVOLA_MC_ERR_UNSENT`: nothing was changed.
/// `TAVOLA_MC_ERR_UNKNOWN`: the value may have been stored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_mc_set(
    client: *const tavola_mc_client,
    key: *const c_void,
    key_len: usize,
    value: *const c_void,
    value_len: usize,
    how: *const tavola_mc_store_options,
) -> tavola_mc_status {
    let (key, value) = (RawBytes(key, key_len), RawBytes(value, value_len));
    // SAFETY: the caller's promise.
    unsafe { store(client, Store::Set, key, value, how) }
}

/// Stores a value if the key is missing; `TAVOLA_MC_NOT_STORED` if it is there. `how` may be NULL.
///
/// # Examples
/// ```c
/// if (tavola_mc_add(client, TAVOLA_MC_STR("list"), TAVOLA_MC_STR("b"), NULL) ==
///     TAVOLA_MC_NOT_STORED) {
///   tavola_mc_replace(client, TAVOLA_MC_STR("list"), TAVOLA_MC_STR("b"), NULL);
/// }
/// tavola_mc_append(client, TAVOLA_MC_STR("list"), TAVOLA_MC_STR(",c"), NULL);
/// tavola_mc_prepend(client, TAVOLA_MC_STR("list"), TAVOLA_MC_STR("a,"), NULL);
/// ```
///
/// # Errors
/// As `tavola_mc_set`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_mc_add(
    client: *const tavola_mc_client,
    key: *const c_void,
    key_len: usize,
    value: *const c_void,
    value_len: usize,
    how: *const tavola_mc_store_options,
) -> tavola_mc_status {
    let (key, value) = (RawBytes(key, key_len), RawBytes(value, value_len));
    // SAFETY: the caller's promise.
    unsafe { store(client, Store::Add, key, value, how) }
}

/// Stores a value if the key is there; `TAVOLA_MC_NOT_STORED` if it is missing. `how` may be NULL.
///
/// # Errors
/// As `tavola_mc_set`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_mc_replace(
    client: *const tavola_mc_client,
    key: *const c_void,
    key_len: usize,
    value: *const c_void,
    value_len: usize,
    how: *const tavola_mc_store_options,
) -> tavola_mc_status {
    let (key, value) = (RawBytes(key, key_len), RawBytes(value, value_len));
    // SAFETY: the caller's promise.
    unsafe { store(client, Store::Replace, key, value, how) }
}

/// Puts a value behind the one that is there, whose flags and expiry time stay;
/// `TAVOLA_MC_NOT_STORED` if the key is missing. `how` may be NULL; only its `no_reply` counts.
///
/// # Errors
/// As `tavola_mc_set`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_mc_append(
    client: *const tavola_mc_client,
    key: *const c_void,
    key_len: usize,
    value: *const c_void,
    value_len: usize,
    how: *const tavola_mc_store_options,
) -> tavola_mc_status {
    let (key, value) = (RawBytes(key, key_len), RawBytes(value, value_len));
    // SAFETY: the caller's promise.
    unsafe { store(client, Store::Append, key, value, how) }
}

/// Puts a value before the one that is there, as `tavola_mc_append`.
///
/// # Errors
/// As `tavola_mc_set`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_mc_prepend(
    client: *const tavola_mc_client,
    key: *const c_void,
    key_len: usize,
    value: *const c_void,
    value_len: usize,
    how: *const tavola_mc_store_options,
) -> tavola_mc_status {
    let (key, value) = (RawBytes(key, key_len), RawBytes(value, value_len));
    // SAFETY: the caller's promise.
    unsafe { store(client, Store::Prepend, key, value, how) }
}

/// Stores a value if the item's unique number is still `cas`; `TAVOLA_MC_EXISTS` if it is another,
/// `TAVOLA_MC_MISS` if the key is missing. `how` may be NULL.
///
/// # Errors
/// As `tavola_mc_set`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_mc_cas(
    client: *const tavola_mc_client,
    key: *const c_void,
    key_len: usize,
    value: *const c_void,
    value_len: usize,
    cas: u64,
    how: *const tavola_mc_store_options,
) -> tavola_mc_status {
    let (key, value) = (RawBytes(key, key_len), RawBytes(value, value_len));
    // SAFETY: the caller's promise.
    unsafe { store(client, Store::Cas(cas), key, value, how) }
}

/// Removes a key: `TAVOLA_MC_DELETED` or `TAVOLA_MC_MISS`. `no_reply` is 0, or 1 if no answer is
/// needed, as that of `tavola_mc_store_options`.
///
/// # Errors
/// As `tavola_mc_set`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_mc_delete(
    client: *const tavola_mc_client,
    key: *const c_void,
    key_len: usize,
    no_reply: u32,
) -> tavola_mc_status {
    entry(|| {
        let (client, key) = (given!(handle client), given!(bytes key, key_len));
        let reply = reply(no_reply)?;
        wrote(client, |batch| batch.delete(key, reply))
    })
}

/// Gives a key a new expiry time, as that of `tavola_mc_store_options`: `TAVOLA_MC_TOUCHED` or
/// `TAVOLA_MC_MISS`. `no_reply` is 0, or 1 if no answer is needed.
///
/// # Examples
/// ```c
/// char bytes[64];
/// tavola_mc_value value = TAVOLA_MC_VALUE(bytes, sizeof bytes);
/// tavola_mc_set(client, TAVOLA_MC_STR("user"), TAVOLA_MC_STR("alice"), NULL);
/// tavola_mc_touch(client, TAVOLA_MC_STR("user"), 60, 0);
/// tavola_mc_get_and_touch(client, TAVOLA_MC_STR("user"), 3600, &value);
/// ```
///
/// # Errors
/// As `tavola_mc_set`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_mc_touch(
    client: *const tavola_mc_client,
    key: *const c_void,
    key_len: usize,
    exptime: i32,
    no_reply: u32,
) -> tavola_mc_status {
    entry(|| {
        let (client, key) = (given!(handle client), given!(bytes key, key_len));
        let reply = reply(no_reply)?;
        wrote(client, |batch| batch.touch(key, exptime, reply))
    })
}
