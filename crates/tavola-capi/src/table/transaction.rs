//! Transactions: changes of several keys that happen at once.

mod run;
mod with;

use super::tags::{tags_of, tavola_tags};
use super::tavola_table;
use crate::attributes::{attributes_of, tavola_attributes};
use crate::buffer::tavola_buffer;
use crate::entry::{Answer, OK, entry, found};
use crate::given::{close, given};
use crate::status::{Failure, tavola_status};
use std::ffi::c_void;
use std::sync::Arc;
use tavola_core::{Begin, Savepoint, Table, Transaction};

/// How a transaction begins.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum tavola_begin {
    /// At once. Its commit finds out whether a key that it has read was changed since.
    TAVOLA_BEGIN_OPTIMISTIC = 0,
    /// When it has the turn of the table, which one transaction has at a time. Transactions that
    /// all begin so never conflict with each other.
    TAVOLA_BEGIN_TURN = 1,
    /// At once, and it writes nothing.
    TAVOLA_BEGIN_READ_ONLY = 2,
}

impl tavola_begin {
    fn of(number: i32) -> Result<Begin, Failure> {
        [
            (Self::TAVOLA_BEGIN_OPTIMISTIC, Begin::Optimistic),
            (Self::TAVOLA_BEGIN_TURN, Begin::Turn),
            (Self::TAVOLA_BEGIN_READ_ONLY, Begin::ReadOnly),
        ]
        .into_iter()
        .find_map(|(begin, means)| (begin as i32 == number).then_some(means))
        .ok_or_else(|| Failure::argument("`begin` must be one of tavola_begin"))
    }
}

/// A transaction. For the thread that began it. It keeps the table open.
pub struct tavola_txn {
    /// Dropped before the table that it borrows.
    held: Held,
    _table: Arc<tavola_table>,
}

enum Held {
    /// From `tavola_txn_begin`.
    Own(Transaction<'static>),
    /// Of a function that runs as a transaction, until it returns.
    Lent(*mut Transaction<'static>),
}

impl tavola_txn {
    fn inner(&mut self) -> &mut Transaction<'static> {
        match &mut self.held {
            Held::Own(own) => own,
            // SAFETY: it lives until the function returns, and nobody else has it meanwhile.
            Held::Lent(lent) => unsafe { &mut **lent },
        }
    }
}

/// Begins a transaction: it collects writes, of which no other process sees anything before
/// `tavola_txn_commit`. `begin` is one of `tavola_begin`. `tavola_transaction` does all of it, and
/// begins again after a conflict.
///
/// # Examples
/// ```c
/// tavola_txn *txn = NULL;
/// int64_t left = 0;
/// tavola_status status = TAVOLA_CONFLICT;
/// tavola_set(table, TAVOLA_STR("alice"), TAVOLA_STR("10"));
/// while (status == TAVOLA_CONFLICT) {
///   tavola_txn_begin(table, TAVOLA_BEGIN_OPTIMISTIC, &txn);
///   tavola_txn_add_number(txn, TAVOLA_STR("alice"), -4, &left);
///   tavola_txn_add_number(txn, TAVOLA_STR("bob"), 4, NULL);
///   if (left < 0) {
///     tavola_txn_abort(txn);
///     break;
///   }
///   status = tavola_txn_commit(txn);
/// }
/// ```
///
/// # Errors
/// `TAVOLA_ERR_BAD_OPTION`: the table is a cache, which may evict a key at any moment.
/// `TAVOLA_ERR_REENTRANT`: this thread has the turn already. With the turn also as `tavola_set`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_txn_begin(
    table: *const tavola_table,
    begin: i32,
    txn: *mut *mut tavola_txn,
) -> tavola_status {
    entry(|| {
        let (_, begin) = (given!(handle table), tavola_begin::of(begin)?);
        let txn = given!(out txn);
        // SAFETY: an open table is a counted one, see `opened`.
        let table = unsafe { counted(table) };
        let lasting = lasting(&table);
        txn.put(Box::into_raw(Box::new(tavola_txn {
            held: Held::Own(lasting.begin(begin)?),
            _table: table,
        })));
        OK
    })
}

/// Counts a table once more.
///
/// # Safety
/// The table is open, and was handed out by `opened`.
unsafe fn counted(table: *const tavola_table) -> Arc<tavola_table> {
    // SAFETY: the caller's promise.
    unsafe {
        Arc::increment_strong_count(table);
        Arc::from_raw(table)
    }
}

/// Lends a table for as long as its count is kept.
fn lasting(table: &Arc<tavola_table>) -> &'static Table {
    let place: *const Table = &raw const table.inner;
    // SAFETY: the table lies where it is as long as its count is kept, beside the borrow.
    unsafe { &*place }
}

/// Reads the value of a key, with the writes of the transaction, and its attributes if `attributes`
/// is not NULL.
///
/// # Examples
/// ```c
/// char bytes[64];
/// tavola_buffer value = TAVOLA_BUFFER(bytes, sizeof bytes);
/// tavola_txn *txn = NULL;
/// tavola_txn_begin(table, TAVOLA_BEGIN_READ_ONLY, &txn);
/// if (tavola_txn_get(txn, TAVOLA_STR("user"), &value, NULL) == TAVOLA_NOT_FOUND &&
///     tavola_txn_contains(txn, TAVOLA_STR("guest")) == TAVOLA_NOT_FOUND) {
///   puts("at one moment, neither of them exists");
/// }
/// tavola_txn_commit(txn);
/// ```
///
/// # Errors
/// As `tavola_get`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_txn_get(
    txn: *mut tavola_txn,
    key: *const c_void,
    key_len: usize,
    value: *mut tavola_buffer,
    attributes: *mut tavola_attributes,
) -> tavola_status {
    entry(|| {
        let (txn, key) = (given!(buffer txn), given!(bytes key, key_len));
        let (value, out) = (given!(buffer value), given!(maybe_sized_out attributes));
        let Some((bytes, attributes)) = txn.inner().get_with_attributes(key)? else {
            return found(false);
        };
        value.put(&bytes)?;
        if let Some(out) = out {
            out.put(&tavola_attributes::from(attributes));
        }
        OK
    })
}

/// Returns `TAVOLA_OK` if the key exists, and `TAVOLA_NOT_FOUND` if it does not.
///
/// # Errors
/// As `tavola_contains`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_txn_contains(
    txn: *mut tavola_txn,
    key: *const c_void,
    key_len: usize,
) -> tavola_status {
    entry(|| {
        let (txn, key) = (given!(buffer txn), given!(bytes key, key_len));
        found(txn.inner().contains(key)?)
    })
}

/// Sets a key, whether or not it exists.
///
/// # Examples
/// ```c
/// tavola_attributes hour = TAVOLA_INIT(tavola_attributes);
/// tavola_txn *txn = NULL;
/// hour.ttl_ms = 60 * 60 * 1000;
/// tavola_txn_begin(table, TAVOLA_BEGIN_TURN, &txn);
/// tavola_txn_set(txn, TAVOLA_STR("name"), TAVOLA_STR("alice"));
/// tavola_txn_set_with(txn, TAVOLA_STR("session"), TAVOLA_STR("7"), &hour, NULL);
/// if (tavola_txn_add(txn, TAVOLA_STR("name"), TAVOLA_STR("bob")) == TAVOLA_EXISTS) {
///   tavola_txn_replace(txn, TAVOLA_STR("name"), TAVOLA_STR("carol"));
/// }
/// tavola_txn_append(txn, TAVOLA_STR("name"), TAVOLA_STR(" smith"));
/// tavola_txn_remove(txn, TAVOLA_STR("old"));
/// tavola_txn_commit(txn);
/// ```
///
/// # Errors
/// `TAVOLA_ERR_READ_ONLY`: the transaction writes nothing. `TAVOLA_ERR_TOO_MANY_CHANGES`: it
/// changes more than 65,536 keys. Otherwise `TAVOLA_ERR_TOO_LARGE` and `TAVOLA_ERR_LENGTHS`, as
/// `tavola_set`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_txn_set(
    txn: *mut tavola_txn,
    key: *const c_void,
    key_len: usize,
    value: *const c_void,
    value_len: usize,
) -> tavola_status {
    entry(|| {
        let (txn, key) = (given!(buffer txn), given!(bytes key, key_len));
        txn.inner().set(key, given!(bytes value, value_len))?;
        OK
    })
}

/// Sets a key with attributes and tags. Each of the two may be NULL.
///
/// # Errors
/// As `tavola_txn_set` and `tavola_set_tagged`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_txn_set_with(
    txn: *mut tavola_txn,
    key: *const c_void,
    key_len: usize,
    value: *const c_void,
    value_len: usize,
    attributes: *const tavola_attributes,
    tags: *const tavola_tags,
) -> tavola_status {
    entry(|| {
        let (txn, key) = (given!(buffer txn), given!(bytes key, key_len));
        let value = given!(bytes value, value_len);
        // SAFETY: the caller's promise.
        let (attributes, tags) = unsafe { (attributes_of(attributes)?, tags_of(tags)?) };
        txn.inner().set_tagged(key, value, attributes, &tags)?;
        OK
    })
}

/// Sets a key only if it does not exist.
///
/// # Errors
/// `TAVOLA_EXISTS`: it exists. Otherwise as `tavola_txn_set`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_txn_add(
    txn: *mut tavola_txn,
    key: *const c_void,
    key_len: usize,
    value: *const c_void,
    value_len: usize,
) -> tavola_status {
    entry(|| {
        let (txn, key) = (given!(buffer txn), given!(bytes key, key_len));
        match txn.inner().add(key, given!(bytes value, value_len))? {
            true => OK,
            false => Ok(tavola_status::TAVOLA_EXISTS),
        }
    })
}

/// Sets a key only if it exists.
///
/// # Errors
/// `TAVOLA_NOT_FOUND`: it does not. Otherwise as `tavola_txn_set`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_txn_replace(
    txn: *mut tavola_txn,
    key: *const c_void,
    key_len: usize,
    value: *const c_void,
    value_len: usize,
) -> tavola_status {
    entry(|| {
        let (txn, key) = (given!(buffer txn), given!(bytes key, key_len));
        found(txn.inner().replace(key, given!(bytes value, value_len))?)
    })
}

/// Appends bytes to a value. The key keeps its attributes.
///
/// # Errors
/// `TAVOLA_NOT_FOUND`: the key does not exist, and is not created. Otherwise as `tavola_txn_set`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_txn_append(
    txn: *mut tavola_txn,
    key: *const c_void,
    key_len: usize,
    more: *const c_void,
    more_len: usize,
) -> tavola_status {
    entry(|| {
        let (txn, key) = (given!(buffer txn), given!(bytes key, key_len));
        let len = txn.inner().append(key, given!(bytes more, more_len))?;
        found(len.is_some())
    })
}

/// Removes a key.
///
/// # Errors
/// `TAVOLA_NOT_FOUND`: it does not exist. Otherwise as `tavola_txn_set`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_txn_remove(
    txn: *mut tavola_txn,
    key: *const c_void,
    key_len: usize,
) -> tavola_status {
    entry(|| {
        let (txn, key) = (given!(buffer txn), given!(bytes key, key_len));
        found(txn.inner().remove(key)?)
    })
}

/// Adds `by` to a signed number, as `tavola_add_number` does. `now` may be NULL.
///
/// # Errors
/// As `tavola_add_number` and `tavola_txn_set`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_txn_add_number(
    txn: *mut tavola_txn,
    key: *const c_void,
    key_len: usize,
    by: i64,
    now: *mut i64,
) -> tavola_status {
    entry(|| {
        let (txn, key) = (given!(buffer txn), given!(bytes key, key_len));
        let now = given!(maybe now);
        now.put(txn.inner().add_number(key, by)?);
        OK
    })
}

/// Sets a savepoint and writes its number to `savepoint`: `tavola_txn_roll_back_to` undoes what
/// comes after it.
///
/// # Examples
/// ```c
/// uint32_t before = 0;
/// tavola_txn *txn = NULL;
/// tavola_txn_begin(table, TAVOLA_BEGIN_OPTIMISTIC, &txn);
/// tavola_txn_set(txn, TAVOLA_STR("a"), TAVOLA_STR("1"));
/// tavola_txn_savepoint(txn, &before);
/// tavola_txn_set(txn, TAVOLA_STR("b"), TAVOLA_STR("2"));
/// tavola_txn_roll_back_to(txn, before);
/// tavola_txn_commit(txn);
/// ```
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_txn_savepoint(
    txn: *mut tavola_txn,
    savepoint: *mut u32,
) -> tavola_status {
    entry(|| {
        let (txn, savepoint) = (given!(buffer txn), given!(out savepoint));
        savepoint.put(txn.inner().savepoint().number());
        OK
    })
}

/// Undoes all writes since a savepoint, and forgets the savepoints after it.
///
/// # Errors
/// `TAVOLA_ERR_BAD_OPTION`: the transaction has no such savepoint any more; nothing is undone.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_txn_roll_back_to(
    txn: *mut tavola_txn,
    savepoint: u32,
) -> tavola_status {
    entry(|| {
        let txn = given!(buffer txn);
        txn.inner().roll_back_to(Savepoint::of(savepoint))?;
        OK
    })
}

/// Commits a transaction, and closes it whatever is returned: all changes happen at once, or none.
///
/// # Errors
/// `TAVOLA_CONFLICT`: another process has changed a key after this transaction had read it. Nothing
/// happens, and the caller may begin again. Otherwise as `tavola_set`; nothing is changed then.
///
/// # Concurrency
/// Takes the locks of the shards of all keys. Readers do not wait: they see all changes or none.
///
/// # Crash
/// If the process is killed before the call returned, all keys are changed or none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_txn_commit(txn: *mut tavola_txn) -> tavola_status {
    entry(|| {
        needs_own(given!(buffer txn))?;
        // SAFETY: the caller's promise: it came from `tavola_txn_begin` and is used no more.
        let mut txn = unsafe { Box::from_raw(txn) };
        is_valid(txn.inner().try_commit()?)
    })
}

/// Commits a transaction as `tavola_txn_commit` does, but does not close it: after
/// `TAVOLA_ERR_BUSY` the caller may try again. `tavola_txn_abort` closes it.
///
/// # Examples
/// ```c
/// tavola_txn *txn = NULL;
/// tavola_status status = TAVOLA_ERR_BUSY;
/// tavola_set_lock_timeout(table, 50);
/// tavola_txn_begin(table, TAVOLA_BEGIN_OPTIMISTIC, &txn);
/// tavola_txn_set(txn, TAVOLA_STR("name"), TAVOLA_STR("alice"));
/// while ((status = tavola_txn_try_commit(txn)) == TAVOLA_ERR_BUSY) {
///   puts("another process keeps a lock");
/// }
/// tavola_txn_abort(txn);
/// ```
///
/// # Errors
/// As `tavola_txn_commit`.
///
/// # Concurrency
/// As `tavola_txn_commit`.
///
/// # Crash
/// As `tavola_txn_commit`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_txn_try_commit(txn: *mut tavola_txn) -> tavola_status {
    entry(|| {
        let txn = given!(buffer txn);
        needs_own(txn)?;
        is_valid(txn.inner().try_commit()?)
    })
}

/// Returns `TAVOLA_OK` if the transaction has seen all keys as they were at one moment, and
/// `TAVOLA_CONFLICT` if not: then a failure that follows from what it has read does not count.
///
/// # Examples
/// ```c
/// tavola_txn *txn = NULL;
/// bool has_both = false;
/// tavola_txn_begin(table, TAVOLA_BEGIN_OPTIMISTIC, &txn);
/// has_both = tavola_txn_contains(txn, TAVOLA_STR("a")) == TAVOLA_OK &&
///            tavola_txn_contains(txn, TAVOLA_STR("b")) == TAVOLA_OK;
/// if (!has_both && tavola_txn_validate(txn) == TAVOLA_OK) {
///   puts("at one moment, one of them was missing");
/// }
/// tavola_txn_abort(txn);
/// ```
///
/// # Errors
/// As `tavola_view_keys`.
///
/// # Concurrency
/// Takes the locks of the shards of all keys that were read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_txn_validate(txn: *mut tavola_txn) -> tavola_status {
    entry(|| is_valid(given!(buffer txn).inner().validate()?))
}

/// The library itself ends the transaction of a function that it runs.
fn needs_own(txn: &tavola_txn) -> Result<(), Failure> {
    match txn.held {
        Held::Own(_) => Ok(()),
        Held::Lent(_) => Err(Failure::argument(
            "the function of a transaction does not commit it; return 0",
        )),
    }
}

fn is_valid(is_valid: bool) -> Answer {
    Ok(match is_valid {
        true => tavola_status::TAVOLA_OK,
        false => tavola_status::TAVOLA_CONFLICT,
    })
}

/// Closes a transaction without doing anything. NULL has no effect, and neither has the transaction
/// of a function that runs: to abort that, return another number than 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_txn_abort(txn: *mut tavola_txn) {
    entry(|| {
        let is_own =
            matches!(given!(maybe_buffer txn), Some(txn) if matches!(txn.held, Held::Own(_)));
        if is_own {
            // SAFETY: the caller's promise: it came from `tavola_txn_begin` and is used no more.
            unsafe { close(txn) };
        }
        OK
    });
}
