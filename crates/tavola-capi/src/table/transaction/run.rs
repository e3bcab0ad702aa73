//! Functions that run as transactions.

use super::{Held, counted, tavola_table, tavola_txn};
use crate::entry::{Answer, OK, entry};
use crate::given::given;
use crate::status::{Failure, tavola_status};
use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;
use tavola_core::{Error, Table, Transaction};

/// The function of a transaction. It returns 0 to commit what it has done in `txn`, and another
/// number to abort. It must not close `txn`.
pub type tavola_txn_fn =
    Option<unsafe extern "C" fn(user: *mut c_void, txn: *mut tavola_txn) -> i32>;

/// Why a transaction does not commit.
enum Stop {
    Aborted,
    Failed(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// Runs a caller's function as a transaction, by the function of the library that `run` calls.
///
/// # Safety
/// CAPI-1 of `given.rs`.
unsafe fn run(
    table: *const tavola_table,
    body: tavola_txn_fn,
    user: *mut c_void,
    run: impl FnOnce(&Table, &mut Body<'_>) -> Result<(), Stop>,
) -> Answer {
    let _ = given!(handle table);
    let body = body.ok_or_else(|| Failure::null("body"))?;
    // SAFETY: an open table is a counted one, see `opened`.
    let table = unsafe { counted(table) };
    let mut asked = |lent: &mut Transaction<'_>| {
        let mut txn = tavola_txn {
            held: Held::Lent(ptr::from_mut(lent).cast()),
            _table: Arc::clone(&table),
        };
        // SAFETY: the caller's function, called as its type says.
        match unsafe { body(user, &raw mut txn) } {
            0 => Ok(()),
            _ => Err(Stop::Aborted),
        }
    };
    match run(&table.inner, &mut asked) {
        Ok(()) => OK,
        Err(Stop::Aborted) => Ok(tavola_status::TAVOLA_ABORTED),
        Err(Stop::Failed(Error::Conflict)) => Ok(tavola_status::TAVOLA_CONFLICT),
        Err(Stop::Failed(error)) => Err(error.into()),
    }
}

/// The function of a transaction, as the library calls it.
type Body<'a> = dyn FnMut(&mut Transaction<'_>) -> Result<(), Stop> + 'a;

/// Runs a function that reads and changes several keys, and commits what it has done: all changes
/// happen at once. If another process has changed a key that the function has read, the function
/// runs again; so it must do nothing that cannot be repeated.
///
/// # Examples
/// ```c
/// static int32_t move(void *user, tavola_txn *txn) {
///   int64_t left = 0;
///   (void)user;
///   tavola_txn_add_number(txn, TAVOLA_STR("alice"), -4, &left);
///   tavola_txn_add_number(txn, TAVOLA_STR("bob"), 4, NULL);
///   return left < 0;
/// }
///
/// static int32_t look(void *user, tavola_txn *txn) {
///   *(bool *)user = tavola_txn_contains(txn, TAVOLA_STR("alice")) == TAVOLA_OK &&
///                   tavola_txn_contains(txn, TAVOLA_STR("bob")) == TAVOLA_OK;
///   return 0;
/// }
///
/// bool has_both = false;
/// tavola_set(table, TAVOLA_STR("alice"), TAVOLA_STR("10"));
/// if (tavola_transaction(table, move, NULL) == TAVOLA_ABORTED) {
///   puts("alice has not so much");
/// }
/// tavola_transaction_once(table, move, NULL);
/// tavola_view_keys(table, look, &has_both);
/// ```
///
/// # Errors
/// `TAVOLA_ABORTED`: the function has returned another number than 0; nothing is changed. Otherwise
/// as `tavola_txn_begin` and `tavola_txn_commit`, without `TAVOLA_CONFLICT`.
///
/// # Concurrency
/// Transactions and single calls are strictly serializable. After eight conflicts, the transaction
/// waits for the turn (`TAVOLA_BEGIN_TURN`).
///
/// # Crash
/// As `tavola_txn_commit`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_transaction(
    table: *const tavola_table,
    body: tavola_txn_fn,
    user: *mut c_void,
) -> tavola_status {
    // SAFETY: the caller's promise.
    entry(|| unsafe { run(table, body, user, |table, body| table.transaction(body)) })
}

/// Does the same as `tavola_transaction`, but runs the function only once: it waits for the turn of
/// the table first.
///
/// # Errors
/// `TAVOLA_CONFLICT`: a key was changed meanwhile by something other than a transaction with the
/// turn; nothing is changed. Otherwise as `tavola_transaction`.
///
/// # Crash
/// As `tavola_txn_commit`. If the process is killed while it has the turn, the next one gets it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_transaction_once(
    table: *const tavola_table,
    body: tavola_txn_fn,
    user: *mut c_void,
) -> tavola_status {
    // SAFETY: the caller's promise.
    entry(|| unsafe {
        run(table, body, user, |table, body| {
            table.transaction_once(body)
        })
    })
}

/// Runs a function that reads several keys as they were at one moment. It may run several times,
/// and writes nothing.
///
/// # Errors
/// As `tavola_transaction`. `TAVOLA_ERR_READ_ONLY` if the table is open for reading only and the
/// function reads more than one key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_view_keys(
    table: *const tavola_table,
    body: tavola_txn_fn,
    user: *mut c_void,
) -> tavola_status {
    // SAFETY: the caller's promise.
    entry(|| unsafe { run(table, body, user, |table, body| table.view(body)) })
}
