//! Requests that are prepared one by one and executed at once.

use crate::client::tavola_mc_client;
use crate::entry::{OK, entry, entry_or};
use crate::given::{self, RawBytes, given};
use crate::outcome::{Callbacks, tavola_mc_sink};
use crate::request::{
    Read, Store, count_options, key_of, reply, stored, tavola_mc_count_options,
    tavola_mc_store_options,
};
use crate::status::tavola_mc_status;
use std::ffi::c_void;
use tavola_client_core::{Batch, Client};

/// Requests to be executed at once. One thread at a time may use a batch. The library does not copy
/// keys and values: they must stay as they are until the batch is cleared or freed, or until its
/// last execution.
pub struct tavola_mc_batch {
    client: Client,
    requests: Batch<'static>,
}

/// Makes a batch without requests. The client may be closed before it.
///
/// # Examples
/// ```c
/// static void *room(void *user, size_t index, size_t value_len, uint32_t flags) {
///   (void)flags;
///   char **values = (char **)user;
///   values[index] = (char *)calloc(1, value_len + 1);
///   return values[index];
/// }
/// static void done(void *user, size_t index, const tavola_mc_result *result) {
///   char **values = (char **)user;
///   switch (result->status) {
///     case TAVOLA_MC_HIT: printf("%s\n", values[index]); break;
///     case TAVOLA_MC_MISS: puts("there is no such key"); break;
///     case TAVOLA_MC_STORED: puts("stored"); break;
///     default: fprintf(stderr, "%s\n", result->why);
///   }
///   free(values[index]);
/// }
///
/// char *values[3] = {NULL, NULL, NULL};
/// tavola_mc_sink sink = TAVOLA_MC_INIT(tavola_mc_sink);
/// sink.room = room;
/// sink.done = done;
/// sink.user = values;
/// tavola_mc_batch *batch = NULL;
/// tavola_mc_batch_new(client, &batch);
/// tavola_mc_batch_set(batch, TAVOLA_MC_STR("fruit"), TAVOLA_MC_STR("apple"), NULL);
/// tavola_mc_batch_get(batch, TAVOLA_MC_STR("fruit"));
/// tavola_mc_batch_get(batch, TAVOLA_MC_STR("other"));
/// printf("%zu requests\n", tavola_mc_batch_len(batch));
/// tavola_mc_batch_execute(batch, &sink);
/// tavola_mc_batch_free(batch);
/// ```
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_mc_batch_new(
    client: *const tavola_mc_client,
    batch: *mut *mut tavola_mc_batch,
) -> tavola_mc_status {
    entry(|| {
        let (client, batch) = (given!(handle client), given!(exclusive batch));
        *batch = Box::into_raw(Box::new(tavola_mc_batch {
            client: client.client.clone(),
            requests: Batch::new(),
        }));
        OK
    })
}

/// Frees a batch. NULL has no effect.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_mc_batch_free(batch: *mut tavola_mc_batch) {
    // SAFETY: the caller's promise.
    unsafe { given::close(batch) }
}

/// Drops all requests and keeps their memory. The next request has index 0 again.
///
/// # Examples
/// ```c
/// tavola_mc_count_options how = TAVOLA_MC_INIT(tavola_mc_count_options);
/// tavola_mc_sink sink = TAVOLA_MC_INIT(tavola_mc_sink);
/// tavola_mc_batch *batch = NULL;
/// how.has_initial = 1;
/// tavola_mc_batch_new(client, &batch);
/// tavola_mc_batch_incr(batch, TAVOLA_MC_STR("visits"), 1, &how);
/// tavola_mc_batch_decr(batch, TAVOLA_MC_STR("stock"), 1, NULL);
/// tavola_mc_batch_touch(batch, TAVOLA_MC_STR("visits"), 3600, 1);
/// tavola_mc_batch_get_and_touch(batch, TAVOLA_MC_STR("visits"), 3600);
/// tavola_mc_batch_gets(batch, TAVOLA_MC_STR("visits"));
/// tavola_mc_batch_gets_and_touch(batch, TAVOLA_MC_STR("visits"), 3600);
/// tavola_mc_batch_execute(batch, &sink);
///
/// tavola_mc_batch_clear(batch);
/// tavola_mc_batch_delete(batch, TAVOLA_MC_STR("visits"), 0);
/// tavola_mc_batch_execute(batch, &sink);
/// tavola_mc_batch_free(batch);
/// ```
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_mc_batch_clear(batch: *mut tavola_mc_batch) -> tavola_mc_status {
    entry(|| {
        given!(exclusive batch).requests.clear();
        OK
    })
}

/// Returns the number of requests, which is the index of the next one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_mc_batch_len(batch: *const tavola_mc_batch) -> usize {
    entry_or(0, || Ok(given!(handle batch).requests.len()))
}

/// Executes the requests: all servers at once, each by as few system calls as it can. `sink` gets
/// what became of each request, exactly once for each, in any order. A request that failed may have
/// been carried out only if its status is `TAVOLA_MC_ERR_UNKNOWN`. The batch keeps its requests and
/// can be executed again. If `sink` is NULL, nothing is reported.
///
/// # Errors
/// `TAVOLA_MC_OK` says nothing about single requests. `TAVOLA_MC_ERR_ARGUMENT`: the size of `sink`
/// is not set; nothing was sent.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_mc_batch_execute(
    batch: *mut tavola_mc_batch,
    sink: *const tavola_mc_sink,
) -> tavola_mc_status {
    entry(|| {
        let batch = given!(exclusive batch);
        let mut callbacks = Callbacks::of(&batch.client, sink)?;
        batch.client.execute(&mut batch.requests, &mut callbacks);
        OK
    })
}

/// Adds a get.
///
/// # Safety
/// MC-1 of `given.rs`.
unsafe fn add_read(batch: *mut tavola_mc_batch, how: Read, key: RawBytes) -> tavola_mc_status {
    entry(|| {
        // SAFETY: the promise of this function.
        let (batch, key) = (given!(exclusive batch), unsafe { key_of(key) }?);
        how.prepare(&mut batch.requests, key);
        OK
    })
}

/// Adds a store.
///
/// # Safety
/// MC-1 of `given.rs`.
unsafe fn add_store(
    batch: *mut tavola_mc_batch,
    kind: Store,
    key: RawBytes,
    value: RawBytes,
    how: *const tavola_mc_store_options,
) -> tavola_mc_status {
    entry(|| {
        let batch = given!(exclusive batch);
        // SAFETY: the promise of this function.
        let stored = unsafe { stored(key, value, how) }?;
        kind.prepare(&mut batch.requests, stored);
        OK
    })
}

/// Adds a request to get the value of a key: `TAVOLA_MC_HIT` or `TAVOLA_MC_MISS`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_mc_batch_get(
    batch: *mut tavola_mc_batch,
    key: *const c_void,
    key_len: usize,
) -> tavola_mc_status {
    // SAFETY: the caller's promise.
    unsafe { add_read(batch, Read::GET, RawBytes(key, key_len)) }
}

/// Adds a request to get the value of a key and its unique number, for `tavola_mc_batch_cas`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_mc_batch_gets(
    batch: *mut tavola_mc_batch,
    key: *const c_void,
    key_len: usize,
) -> tavola_mc_status {
    // SAFETY: the caller's promise.
    unsafe { add_read(batch, Read::GETS, RawBytes(key, key_len)) }
}

/// Adds a request to get the value of a key and to give the key a new expiry time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_mc_batch_get_and_touch(
    batch: *mut tavola_mc_batch,
    key: *const c_void,
    key_len: usize,
    exptime: i32,
) -> tavola_mc_status {
    let how = Read::GET.touching(exptime);
    // SAFETY: the caller's promise.
    unsafe { add_read(batch, how, RawBytes(key, key_len)) }
}

/// Adds a request to get the value of a key and its unique number, and to give the key a new expiry
/// time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_mc_batch_gets_and_touch(
    batch: *mut tavola_mc_batch,
    key: *const c_void,
    key_len: usize,
    exptime: i32,
) -> tavola_mc_status {
    let how = Read::GETS.touching(exptime);
    // SAFETY: the caller's promise.
    unsafe { add_read(batch, how, RawBytes(key, key_len)) }
}

/// Adds a request to store a value: `TAVOLA_MC_STORED`. `how` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_mc_batch_set(
    batch: *mut tavola_mc_batch,
    key: *const c_void,
    key_len: usize,
    value: *const c_void,
    value_len: usize,
    how: *const tavola_mc_store_options,
) -> tavola_mc_status {
    let (key, value) = (RawBytes(key, key_len), RawBytes(value, value_len));
    // SAFETY: the caller's promise.
    unsafe { add_store(batch, Store::Set, key, value, how) }
}

/// Adds a request to store a value if the key is missing: `TAVOLA_MC_STORED` or
/// `TAVOLA_MC_NOT_STORED`. `how` may be NULL.
///
/// # Examples
/// ```c
/// tavola_mc_store_options how = TAVOLA_MC_INIT(tavola_mc_store_options);
/// tavola_mc_batch *batch = NULL;
/// how.exptime = 60;
/// how.no_reply = 1;
/// tavola_mc_batch_new(client, &batch);
/// tavola_mc_batch_add(batch, TAVOLA_MC_STR("list"), TAVOLA_MC_STR("b"), &how);
/// tavola_mc_batch_append(batch, TAVOLA_MC_STR("list"), TAVOLA_MC_STR(",c"), &how);
/// tavola_mc_batch_prepend(batch, TAVOLA_MC_STR("list"), TAVOLA_MC_STR("a,"), &how);
/// tavola_mc_batch_replace(batch, TAVOLA_MC_STR("other"), TAVOLA_MC_STR("x"), &how);
/// tavola_mc_batch_cas(batch, TAVOLA_MC_STR("third"), TAVOLA_MC_STR("y"), 1, &how);
/// tavola_mc_batch_execute(batch, NULL);
/// tavola_mc_batch_free(batch);
/// tavola_mc_flush(client);
/// ```
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_mc_batch_add(
    batch: *mut tavola_mc_batch,
    key: *const c_void,
    key_len: usize,
    value: *const c_void,
    value_len: usize,
    how: *const tavola_mc_store_options,
) -> tavola_mc_status {
    let (key, value) = (RawBytes(key, key_len), RawBytes(value, value_len));
    // SAFETY: the caller's promise.
    unsafe { add_store(batch, Store::Add, key, value, how) }
}

/// Adds a request to store a value if the key is there: `TAVOLA_MC_STORED` or
/// `TAVOLA_MC_NOT_STORED`. `how` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_mc_batch_replace(
    batch: *mut tavola_mc_batch,
    key: *const c_void,
    key_len: usize,
    value: *const c_void,
    value_len: usize,
    how: *const tavola_mc_store_options,
) -> tavola_mc_status {
    let (key, value) = (RawBytes(key, key_len), RawBytes(value, value_len));
    // SAFETY: the caller's promise.
    unsafe { add_store(batch, Store::Replace, key, value, how) }
}

/// Adds a request to put a value behind the one that is there, whose flags and expiry time stay:
/// `TAVOLA_MC_STORED` or `TAVOLA_MC_NOT_STORED`. `how` may be NULL; only its `no_reply` counts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_mc_batch_append(
    batch: *mut tavola_mc_batch,
    key: *const c_void,
    key_len: usize,
    value: *const c_void,
    value_len: usize,
    how: *const tavola_mc_store_options,
) -> tavola_mc_status {
    let (key, value) = (RawBytes(key, key_len), RawBytes(value, value_len));
    // SAFETY: the caller's promise.
    unsafe { add_store(batch, Store::Append, key, value, how) }
}

/// Adds a request to put a value before the one that is there, as `tavola_mc_batch_append`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_mc_batch_prepend(
    batch: *mut tavola_mc_batch,
    key: *const c_void,
    key_len: usize,
    value: *const c_void,
    value_len: usize,
    how: *const tavola_mc_store_options,
) -> tavola_mc_status {
    let (key, value) = (RawBytes(key, key_len), RawBytes(value, value_len));
    // SAFETY: the caller's promise.
    unsafe { add_store(batch, Store::Prepend, key, value, how) }
}

/// Adds a request to store a value if the item's unique number is still `cas`: `TAVOLA_MC_STORED`,
/// `TAVOLA_MC_EXISTS` or `TAVOLA_MC_MISS`. `how` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_mc_batch_cas(
    batch: *mut tavola_mc_batch,
    key: *const c_void,
    key_len: usize,
    value: *const c_void,
    value_len: usize,
    cas: u64,
    how: *const tavola_mc_store_options,
) -> tavola_mc_status {
    let (key, value) = (RawBytes(key, key_len), RawBytes(value, value_len));
    // SAFETY: the caller's promise.
    unsafe { add_store(batch, Store::Cas(cas), key, value, how) }
}

/// Adds a request to remove a key: `TAVOLA_MC_DELETED` or `TAVOLA_MC_MISS`. `no_reply` is 0, or 1
/// if no answer is needed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_mc_batch_delete(
    batch: *mut tavola_mc_batch,
    key: *const c_void,
    key_len: usize,
    no_reply: u32,
) -> tavola_mc_status {
    entry(|| {
        let (batch, key) = (given!(exclusive batch), given!(bytes key, key_len));
        batch.requests.delete(key, reply(no_reply)?);
        OK
    })
}

/// Adds a request to add `delta` to a number, which wraps around at 2^64: `TAVOLA_MC_COUNT` or
/// `TAVOLA_MC_MISS`. `how` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_mc_batch_incr(
    batch: *mut tavola_mc_batch,
    key: *const c_void,
    key_len: usize,
    delta: u64,
    how: *const tavola_mc_count_options,
) -> tavola_mc_status {
    entry(|| {
        let (batch, key) = (given!(exclusive batch), given!(bytes key, key_len));
        batch.requests.incr(key, count_options(delta, how)?);
        OK
    })
}

/// Adds a request to subtract `delta` from a number, down to 0: `TAVOLA_MC_COUNT` or
/// `TAVOLA_MC_MISS`. `how` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_mc_batch_decr(
    batch: *mut tavola_mc_batch,
    key: *const c_void,
    key_len: usize,
    delta: u64,
    how: *const tavola_mc_count_options,
) -> tavola_mc_status {
    entry(|| {
        let (batch, key) = (given!(exclusive batch), given!(bytes key, key_len));
        batch.requests.decr(key, count_options(delta, how)?);
        OK
    })
}

/// Adds a request to give a key a new expiry time: `TAVOLA_MC_TOUCHED` or `TAVOLA_MC_MISS`.
/// `no_reply` is 0, or 1 if no answer is needed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_mc_batch_touch(
    batch: *mut tavola_mc_batch,
    key: *const c_void,
    key_len: usize,
    exptime: i32,
    no_reply: u32,
) -> tavola_mc_status {
    entry(|| {
        let (batch, key) = (given!(exclusive batch), given!(bytes key, key_len));
        batch.requests.touch(key, exptime, reply(no_reply)?);
        OK
    })
}
