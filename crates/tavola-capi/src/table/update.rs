//! Changes that depend on the old value.

use super::tavola_table;
use super::uid::tavola_hint;
use crate::attributes::EntryOut;
use crate::batch::tavola_bytes;
use crate::buffer::{tavola_buffer, with_scratch};
use crate::entry::{Answer, entry, found};
use crate::given::given;
use crate::status::{Failure, tavola_status};
use std::cell::Cell;
use std::ffi::c_void;
use std::{mem, ptr};
use tavola_core::{Hint, Table, Updated};

/// What `tavola_update` does with a key.
#[repr(i32)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum tavola_change {
    /// The value stays as it is. A key that does not exist is not created.
    TAVOLA_CHANGE_KEEP = 0,
    /// The key gets the bytes that the callback returned.
    TAVOLA_CHANGE_SET = 1,
    /// The key is removed.
    TAVOLA_CHANGE_REMOVE = 2,
}

impl tavola_change {
    fn of(number: i32) -> Result<Self, Failure> {
        [
            Self::TAVOLA_CHANGE_KEEP,
            Self::TAVOLA_CHANGE_SET,
            Self::TAVOLA_CHANGE_REMOVE,
        ]
        .into_iter()
        .find(|change| *change as i32 == number)
        .ok_or_else(|| {
            Failure::argument("the callback of an update returned none of tavola_change")
        })
    }
}

/// Gets the old value, which is lent until it returns and is NULL if the key does not exist.
/// Returns one of `tavola_change`. The bytes in `now` must stay valid until the next call of this
/// function or the end of `tavola_update`.
pub type tavola_update_fn = Option<
    unsafe extern "C" fn(
        user: *mut c_void,
        old: *const c_void,
        old_len: usize,
        now: *mut tavola_bytes,
    ) -> i32,
>;

/// Why a key is left as it is.
enum Stop {
    /// The callback says so; whether the key is there.
    Kept(bool),
    Failed(Failure),
}

impl<E: Into<Failure>> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

/// Asks the callback what the value is to be.
///
/// # Safety
/// CAPI-1 of `given.rs`, for the bytes that the callback gives.
unsafe fn ask(
    change: tavola_update_fn,
    user: *mut c_void,
    old: Option<&[u8]>,
) -> Result<Option<Vec<u8>>, Stop> {
    let change = change.ok_or_else(|| Failure::null("change"))?;
    let (data, len) = old.map_or((ptr::null(), 0), |old| (old.as_ptr(), old.len()));
    let mut now = tavola_bytes::EMPTY;
    // SAFETY: the caller's function, called as its type says.
    let becomes = unsafe { change(user, data.cast(), len, &raw mut now) };
    match tavola_change::of(becomes)? {
        tavola_change::TAVOLA_CHANGE_KEEP => Err(Stop::Kept(old.is_some())),
        tavola_change::TAVOLA_CHANGE_SET => {
            let (now, now_len) = (now.data, now.len);
            Ok(Some(given!(bytes now, now_len).to_vec()))
        }
        tavola_change::TAVOLA_CHANGE_REMOVE => Ok(None),
    }
}

/// Changes a value atomically: `change` gets the old value and returns the new one. The key keeps
/// its attributes and tags.
///
/// # Examples
/// ```c
/// static int32_t grow(void *user, const void *old, size_t old_len, tavola_bytes *now) {
///   static const char first[] = "x";
///   (void)user;
///   if (old != NULL && old_len >= 3) {
///     return TAVOLA_CHANGE_REMOVE;
///   }
///   now->data = first;
///   now->len = 1;
///   return TAVOLA_CHANGE_SET;
/// }
///
/// tavola_update(table, TAVOLA_STR("key"), grow, NULL);
/// ```
///
/// # Errors
/// `TAVOLA_NOT_FOUND`: the key does not exist now. Otherwise as `tavola_set`.
///
/// # Concurrency
/// The call holds no lock while it calls `change`. If another process changes the key meanwhile, it
/// calls `change` again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_update(
    table: *const tavola_table,
    key: *const c_void,
    key_len: usize,
    change: tavola_update_fn,
    user: *mut c_void,
) -> tavola_status {
    entry(|| {
        let (table, key) = (given!(handle table), given!(bytes key, key_len));
        change.ok_or_else(|| Failure::null("change"))?;
        // SAFETY: the caller's promise.
        let asked = |old: Option<&[u8]>| unsafe { ask(change, user, old) };
        match table.inner.try_update(key, asked) {
            Ok(now) => found(now.is_some()),
            Err(Stop::Kept(is_there)) => found(is_there),
            Err(Stop::Failed(failure)) => Err(failure),
        }
    })
}

/// Changes the value of the key with this uid, as `tavola_update` does. `old` is never NULL, and
/// the uid stays.
///
/// # Examples
/// ```c
/// static int32_t reset(void *user, const void *old, size_t old_len, tavola_bytes *now) {
///   (void)user;
///   (void)old;
///   (void)old_len;
///   now->data = "0";
///   now->len = 1;
///   return TAVOLA_CHANGE_SET;
/// }
///
/// tavola_hint hint = 0;
/// tavola_set_uid(table, TAVOLA_STR("counter"), TAVOLA_STR("5"), &hint);
/// tavola_update_by_uid(table, hint, reset, NULL);
/// ```
///
/// # Errors
/// `TAVOLA_NOT_FOUND`: no key has the uid, and `change` was not called; or `change` has removed the
/// key. Otherwise as `tavola_set`.
///
/// # Concurrency
/// As `tavola_update`. If the hint has no generation and the uid goes to another key meanwhile,
/// `change` is called again for that key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_update_by_uid(
    table: *const tavola_table,
    hint: tavola_hint,
    change: tavola_update_fn,
    user: *mut c_void,
) -> tavola_status {
    entry(|| {
        let table = given!(handle table);
        change.ok_or_else(|| Failure::null("change"))?;
        // SAFETY: the caller's promise.
        let asked = |old: &[u8]| unsafe { ask(change, user, Some(old)) };
        match table.inner.try_update_by_uid(Hint::from_bits(hint), asked) {
            Ok(now) => found(matches!(now, Updated::Stored(_))),
            Err(Stop::Kept(is_there)) => found(is_there),
            Err(Stop::Failed(failure)) => Err(failure),
        }
    })
}

/// Removes a key and returns the value that it had.
///
/// # Examples
/// ```c
/// char bytes[64];
/// tavola_buffer old = TAVOLA_BUFFER(bytes, sizeof bytes);
/// tavola_set(table, TAVOLA_STR("job"), TAVOLA_STR("first"));
/// if (tavola_swap(table, TAVOLA_STR("job"), TAVOLA_STR("second"), &old) == TAVOLA_OK) {
///   printf("it was %.*s\n", (int)old.len, bytes);
/// }
/// if (tavola_take(table, TAVOLA_STR("job"), &old) == TAVOLA_OK) {
///   printf("this process removed %.*s\n", (int)old.len, bytes);
/// }
/// ```
///
/// # Errors
/// `TAVOLA_NOT_FOUND`: the key does not exist. `TAVOLA_ERR_TOO_SMALL`: `value->len` says how much
/// room the value needs, and the key stays. `TAVOLA_ERR_STOPPED`: the callback gave no memory or
/// refused the value; the key is removed, and `tavola_last_taken` returns the value. Otherwise as
/// `tavola_remove`.
///
/// # Concurrency
/// If several processes take a key at once, one of them gets its value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_take(
    table: *const tavola_table,
    key: *const c_void,
    key_len: usize,
    value: *mut tavola_buffer,
) -> tavola_status {
    entry(|| {
        let (table, key) = (given!(handle table), given!(bytes key, key_len));
        exchange(&table.inner, key, None, given!(buffer value))
    })
}

/// Sets a key as `tavola_set` does, and returns the value that it had.
///
/// # Errors
/// `TAVOLA_NOT_FOUND`: the key did not exist, and is set now. `TAVOLA_ERR_TOO_SMALL`: `old->len`
/// says how much room the old value needs, and the key stays as it is. `TAVOLA_ERR_STOPPED`: the
/// callback gave no memory or refused the old value; the key is set, and `tavola_last_taken`
/// returns the old value. Otherwise as `tavola_set`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_swap(
    table: *const tavola_table,
    key: *const c_void,
    key_len: usize,
    value: *const c_void,
    value_len: usize,
    old: *mut tavola_buffer,
) -> tavola_status {
    entry(|| {
        let (table, key) = (given!(handle table), given!(bytes key, key_len));
        let value = given!(bytes value, value_len);
        exchange(&table.inner, key, Some(value), given!(buffer old))
    })
}

/// Sets or removes a key; its old value goes to `old`. Memory of the caller's is looked at before,
/// a callback is called afterwards, when nobody can change the value any more.
fn exchange(table: &Table, key: &[u8], now: Option<&[u8]>, old: &mut tavola_buffer) -> Answer {
    with_scratch(|had| {
        let has_room = |value: &[u8]| old.expect(value.len());
        let is_there = match now {
            Some(value) => table.try_swap(key, value, had, has_room)?,
            None => table.try_take(key, had, has_room)?,
        };
        if !is_there {
            return found(false);
        }
        old.put(had).inspect_err(|_| keep(mem::take(had)))
    })
}

thread_local! {
    /// The value that a callback of this thread refused last, when it was nowhere else any more.
    static LAST_TAKEN: Cell<Option<Vec<u8>>> = const { Cell::new(None) };
}

/// In a thread that is ending, nobody asks for it any more.
fn keep(value: Vec<u8>) {
    let _ = LAST_TAKEN.try_with(|last| last.set(Some(value)));
}

/// Returns the value that the last `tavola_take` or `tavola_swap` of this thread removed and could
/// not return (`TAVOLA_ERR_STOPPED`). The value is kept until this call has returned it, or until
/// the next one is refused, or until the thread ends.
///
/// # Examples
/// ```c
/// static void *room(void *user, size_t len) {
///   return *(void **)user = malloc(len);
/// }
///
/// void *bytes = NULL;
/// tavola_buffer value = TAVOLA_BUFFER_ALLOC(room, &bytes);
/// tavola_set(table, TAVOLA_STR("job"), TAVOLA_STR("first"));
/// if (tavola_take(table, TAVOLA_STR("job"), &value) == TAVOLA_ERR_STOPPED) {
///   puts("no memory for the value; try once more");
///   tavola_last_taken(&value);
/// }
/// free(bytes);
/// ```
///
/// # Errors
/// `TAVOLA_NOT_FOUND`: there is no such value. `TAVOLA_ERR_TOO_SMALL`, `TAVOLA_ERR_STOPPED`: the
/// value is still kept.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_last_taken(value: *mut tavola_buffer) -> tavola_status {
    entry(|| {
        let value = given!(buffer value);
        let Some(bytes) = LAST_TAKEN.try_with(Cell::take).ok().flatten() else {
            return found(false);
        };
        value.put(&bytes).inspect_err(|_| keep(bytes))
    })
}

/// Reads the value of a key, and its token for `tavola_compare_and_swap`: a hash of the value. A
/// value that was changed and changed back has its old token, unless the table was made with
/// `versions`; then the token changes each time that the key is set.
///
/// # Errors
/// As `tavola_get`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_get_with_token(
    table: *const tavola_table,
    key: *const c_void,
    key_len: usize,
    value: *mut tavola_buffer,
    token: *mut u64,
) -> tavola_status {
    entry(|| {
        let (table, key) = (given!(handle table), given!(bytes key, key_len));
        let (value, token) = (given!(buffer value), given!(out token));
        let (out, table) = (EntryOut::with_token(value, token), &table.inner);
        let to_slice = |room: &mut [u8]| table.get_entry_to_slice(key, room);
        out.read(table, key, to_slice, |bytes| {
            table.get_entry_into(key, bytes)
        })
    })
}
