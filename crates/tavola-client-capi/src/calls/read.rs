//! Gets.

use super::outcome_of;
use super::value::{Into, tavola_mc_value};
use crate::client::tavola_mc_client;
use crate::entry::{Answer, entry};
use crate::given::{RawBytes, given};
use crate::outcome::status_of_outcome;
use crate::request::{Read, key_of};
use crate::status::{Failure, tavola_mc_status};
use std::ffi::c_void;
use tavola_client_core::{Batch, Outcome};

/// Gets the value of a key. `value` is as it was, if the key is missing; the bytes of its memory
/// may have changed after an error.
///
/// # Examples
/// ```c
/// char bytes[64];
/// tavola_mc_value value = TAVOLA_MC_VALUE(bytes, sizeof bytes);
/// tavola_mc_set(client, TAVOLA_MC_STR("user"), TAVOLA_MC_STR("alice"), NULL);
/// switch (tavola_mc_get(client, TAVOLA_MC_STR("user"), &value)) {
///   case TAVOLA_MC_HIT:
///     printf("%.*s\n", (int)value.len, bytes);
///     break;
///   case TAVOLA_MC_MISS:
///     puts("there is no such key");
///     break;
///   case TAVOLA_MC_ERR_TOO_SMALL:
///     printf("the value has %zu bytes\n", value.len);
///     break;
///   default:
///     fputs(tavola_mc_last_error(), stderr);
/// }
/// ```
///
/// # Errors
/// `TAVOLA_MC_MISS`: the server says that the key does not exist. `TAVOLA_MC_ERR_TOO_SMALL`:
/// `value->len` says how much room the value needs. `TAVOLA_MC_ERR_STOPPED`: the callback `room`
/// gave no memory. `TAVOLA_MC_ERR_REFUSED`, `TAVOLA_MC_ERR_UNSENT` and `TAVOLA_MC_ERR_UNKNOWN`:
/// nothing is known about the key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_mc_get(
    client: *const tavola_mc_client,
    key: *const c_void,
    key_len: usize,
    value: *mut tavola_mc_value,
) -> tavola_mc_status {
    // SAFETY: the caller's promise.
    unsafe { read(client, Read::GET, RawBytes(key, key_len), value) }
}

/// Gets the value of a key and its unique number, for `tavola_mc_cas`.
///
/// # Examples
/// ```c
/// static void *begin(void *user, size_t len, uint32_t flags) {
///   (void)flags;
///   *(char **)user = (char *)calloc(1, len + 1);
///   return *(char **)user;
/// }
///
/// char *text = NULL;
/// tavola_mc_value value = TAVOLA_MC_VALUE_ROOM(begin, &text);
/// tavola_mc_set(client, TAVOLA_MC_STR("job"), TAVOLA_MC_STR("queued"), NULL);
/// if (tavola_mc_gets(client, TAVOLA_MC_STR("job"), &value) == TAVOLA_MC_HIT) {
///   puts(text);
///   if (tavola_mc_cas(client, TAVOLA_MC_STR("job"), TAVOLA_MC_STR("running"), value.cas, NULL) ==
///       TAVOLA_MC_EXISTS) {
///     puts("another process was faster");
///   }
/// }
/// free(text);
/// ```
///
/// # Errors
/// As `tavola_mc_get`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_mc_gets(
    client: *const tavola_mc_client,
    key: *const c_void,
    key_len: usize,
    value: *mut tavola_mc_value,
) -> tavola_mc_status {
    // SAFETY: the caller's promise.
    unsafe { read(client, Read::GETS, RawBytes(key, key_len), value) }
}

/// Gets the value of a key and gives the key a new expiry time, as that of
/// `tavola_mc_store_options`.
///
/// # Errors
/// As `tavola_mc_get`; the key has its new expiry time also if the value does not fit.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_mc_get_and_touch(
    client: *const tavola_mc_client,
    key: *const c_void,
    key_len: usize,
    exptime: i32,
    value: *mut tavola_mc_value,
) -> tavola_mc_status {
    // SAFETY: the caller's promise.
    unsafe {
        read(
            client,
            Read::GET.touching(exptime),
            RawBytes(key, key_len),
            value,
        )
    }
}

/// Gets the value of a key and its unique number, and gives the key a new expiry time: both
/// `tavola_mc_gets` and `tavola_mc_get_and_touch`.
///
/// # Examples
/// ```c
/// char bytes[64];
/// tavola_mc_value value = TAVOLA_MC_VALUE(bytes, sizeof bytes);
/// tavola_mc_set(client, TAVOLA_MC_STR("job"), TAVOLA_MC_STR("queued"), NULL);
/// if (tavola_mc_gets_and_touch(client, TAVOLA_MC_STR("job"), 60, &value) == TAVOLA_MC_HIT) {
///   tavola_mc_cas(client, TAVOLA_MC_STR("job"), TAVOLA_MC_STR("running"), value.cas, NULL);
/// }
/// ```
///
/// # Errors
/// As `tavola_mc_get_and_touch`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_mc_gets_and_touch(
    client: *const tavola_mc_client,
    key: *const c_void,
    key_len: usize,
    exptime: i32,
    value: *mut tavola_mc_value,
) -> tavola_mc_status {
    // SAFETY: the caller's promise.
    unsafe {
        read(
            client,
            Read::GETS.touching(exptime),
            RawBytes(key, key_len),
            value,
        )
    }
}

/// Executes a get.
///
/// # Safety
/// MC-1 of `given.rs`.
unsafe fn read(
    client: *const tavola_mc_client,
    how: Read,
    key: RawBytes,
    value: *mut tavola_mc_value,
) -> tavola_mc_status {
    entry(|| {
        // SAFETY: the promise of this function.
        let (client, key) = (given!(handle client), unsafe { key_of(key) }?);
        read_into(client, given!(exclusive value), how, key)
    })
}

fn read_into(
    client: &tavola_mc_client,
    value: &mut tavola_mc_value,
    how: Read,
    key: &[u8],
) -> Answer {
    let mut batch = Batch::new();
    how.prepare(&mut batch, key);
    let mut into = Into::of(value);
    client.client.execute(&mut batch, &mut into);
    let outcome = outcome_of(client, into.outcome.take())?;
    if let Outcome::Hit { flags, cas } = outcome {
        if let Some(len) = into.too_long {
            return Err(Failure::TooSmall(len));
        }
        if into.is_stopped {
            return Err(Failure::Stopped);
        }
        into.note(flags, cas);
    }
    Ok(status_of_outcome(&outcome))
}
