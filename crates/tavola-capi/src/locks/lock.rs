//! Named locks.

use super::{Holds, Taken};
use crate::entry::{OK, entry};
use crate::given::{close, given};
use crate::lists::{call_each, tavola_each_text};
use crate::status::tavola_status;
use crate::table::holders::{limit_of, report_holders, tavola_each_holder};
use crate::table::tavola_table;
use std::ffi::{c_char, c_void};
use std::time::Duration;
use tavola_core::{LockGuard, NamedLock, Result};

/// A lock with a name in the file of a table. All threads of all processes that open it meet at it:
/// one holds it exclusively, or up to 96 share it.
pub struct tavola_lock {
    inner: NamedLock,
    holds: Holds,
}

const _: () = crate::given::is_shared::<tavola_lock>();

/// Opens the lock of that name in the file of a table, and creates it if it is missing. It takes
/// 512 bytes and stays as long as the table; a table has room for 18,716 locks and semaphores.
///
/// # Examples
/// ```c
/// tavola_lock *lock = NULL;
/// if (tavola_lock_open(table, "report", &lock) != TAVOLA_OK) {
///   fprintf(stderr, "%s\n", tavola_last_error());
///   return;
/// }
/// if (tavola_lock_lock(lock) == TAVOLA_OWNER_DIED) {
///   puts("the last one died here: mend what it left");
/// }
/// printf("again: %s\n", tavola_status_name(tavola_lock_try(lock)));
/// printf("10 ms later: %s\n", tavola_status_name(tavola_lock_wait(lock, 10)));
/// tavola_lock_unlock(lock);
///
/// tavola_lock_shared(lock);
/// printf("shared: %s\n", tavola_status_name(tavola_lock_shared_try(lock)));
/// printf("and again: %s\n", tavola_status_name(tavola_lock_shared_wait(lock, 10)));
/// tavola_lock_close(lock); // All three are released.
/// ```
///
/// # Errors
/// `TAVOLA_ERR_BAD_NAME` if the name does not have 1 to 56 bytes; `TAVOLA_ERR_BAD_OPTION` if it is
/// that of a semaphore; `TAVOLA_ERR_FULL`; `TAVOLA_ERR_READ_ONLY`; `TAVOLA_ERR_CORRUPT`; at the
/// first write of a process as `tavola_set`.
///
/// # Crash
/// The lock of a killed process is free again: a thread that waits has it within some 20 ms.
/// If it was held exclusively, the next holder has the lock exclusively, even if it asked to share
/// it, and its call returns `TAVOLA_OWNER_DIED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_lock_open(
    table: *const tavola_table,
    name: *const c_char,
    lock: *mut *mut tavola_lock,
) -> tavola_status {
    entry(|| {
        let (table, name) = (given!(handle table), given!(text name));
        let lock = given!(out lock);
        lock.put(Box::into_raw(Box::new(tavola_lock {
            inner: table.inner.named_lock(name)?,
            holds: Holds::default(),
        })));
        OK
    })
}

/// Closes a lock. What is held by its handle is released.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_lock_close(lock: *mut tavola_lock) {
    // SAFETY: the caller's promise.
    unsafe { close(lock) }
}

impl Drop for tavola_lock {
    fn drop(&mut self) {
        while let Ok(hold) = self.holds.take() {
            self.inner.release(hold);
        }
    }
}

/// Takes a lock and notes the hold, for all functions that do so.
///
/// # Safety
/// CAPI-1 of `given.rs`.
unsafe fn take(
    lock: *const tavola_lock,
    take: impl FnOnce(&NamedLock) -> Result<Option<LockGuard<'_>>>,
) -> tavola_status {
    entry(|| {
        let lock = given!(handle lock);
        let taken = take(&lock.inner)?.map(|guard| Taken {
            owner_died: guard.owner_died(),
            hold: guard.into_hold(),
        });
        lock.holds.note(taken)
    })
}

/// Locks it for this thread alone. Waits as long as others hold it; a thread that locks again what
/// it holds waits for itself.
///
/// Returns `TAVOLA_OK`, or `TAVOLA_OWNER_DIED`: the lock is held then, too.
///
/// # Errors
/// At the first write of a process as `tavola_set`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_lock_lock(lock: *const tavola_lock) -> tavola_status {
    // SAFETY: the caller's promise.
    unsafe { take(lock, |lock| lock.lock().map(Some)) }
}

/// Locks it for this thread alone if nobody holds it; otherwise returns `TAVOLA_TIMEOUT`.
///
/// # Errors
/// As `tavola_lock_lock`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_lock_try(lock: *const tavola_lock) -> tavola_status {
    // SAFETY: the caller's promise.
    unsafe { take(lock, |lock| lock.try_lock()) }
}

/// Locks it for this thread alone. Returns `TAVOLA_TIMEOUT` if others still hold it after so many
/// milliseconds; `UINT64_MAX` is no limit.
///
/// # Errors
/// As `tavola_lock_lock`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_lock_wait(
    lock: *const tavola_lock,
    limit_ms: u64,
) -> tavola_status {
    // SAFETY: the caller's promise.
    unsafe { take(lock, |lock| lock.lock_within(time_of(limit_ms))) }
}

/// Locks it together with others that share it. Waits as long as one holds it exclusively, or waits
/// to do so.
///
/// # Errors
/// As `tavola_lock_lock`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_lock_shared(lock: *const tavola_lock) -> tavola_status {
    // SAFETY: the caller's promise.
    unsafe { take(lock, |lock| lock.share().map(Some)) }
}

/// Shares it if nobody holds it exclusively or waits to do so; otherwise returns `TAVOLA_TIMEOUT`.
///
/// # Errors
/// As `tavola_lock_lock`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_lock_shared_try(lock: *const tavola_lock) -> tavola_status {
    // SAFETY: the caller's promise.
    unsafe { take(lock, |lock| lock.try_share()) }
}

/// Shares it. Returns `TAVOLA_TIMEOUT` if that was impossible for so many milliseconds;
/// `UINT64_MAX` is no limit.
///
/// # Errors
/// As `tavola_lock_lock`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_lock_shared_wait(
    lock: *const tavola_lock,
    limit_ms: u64,
) -> tavola_status {
    // SAFETY: the caller's promise.
    unsafe { take(lock, |lock| lock.share_within(time_of(limit_ms))) }
}

/// Releases what was locked by this handle, exclusively or shared: one hold. In a forked child this
/// has no effect on what the parent holds.
///
/// # Errors
/// `TAVOLA_ERR_NOT_HELD`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_lock_unlock(lock: *const tavola_lock) -> tavola_status {
    entry(|| {
        let lock = given!(handle lock);
        lock.inner.release(lock.holds.take()?);
        OK
    })
}

/// Calls `each` with each process that holds the lock, once for each hold, with the shard -1.
///
/// # Examples
/// ```c
/// static void print(void *user, const tavola_holder *holder) {
///   (void)user;
///   printf("pid %u%s\n", holder->pid, holder->is_stopped ? ", stopped" : "");
/// }
///
/// tavola_lock *lock = NULL;
/// tavola_lock_open(table, "report", &lock);
/// tavola_lock_lock(lock);
/// tavola_lock_holders_of(lock, print, NULL);
/// tavola_lock_close(lock);
/// ```
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_lock_holders_of(
    lock: *const tavola_lock,
    each: tavola_each_holder,
    user: *mut c_void,
) -> tavola_status {
    entry(|| {
        let lock = given!(handle lock);
        report_holders(each, user, || Ok(lock.inner.holders()))
    })
}

/// Calls `each` with the name of each lock and semaphore in the file of a table.
///
/// # Examples
/// ```c
/// static void print(void *user, const char *name, size_t len) {
///   (void)user;
///   printf("%.*s\n", (int)len, name);
/// }
///
/// tavola_lock_names(table, print, NULL);
/// ```
///
/// # Errors
/// `TAVOLA_ERR_CORRUPT`; at the first use of a table, the errors of mapping it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_lock_names(
    table: *const tavola_table,
    each: tavola_each_text,
    user: *mut c_void,
) -> tavola_status {
    entry(|| {
        let table = given!(handle table);
        call_each(each, user, || Ok(table.inner.lock_names()?))
    })
}

/// No limit is a time that never ends.
pub(super) fn time_of(limit_ms: u64) -> Duration {
    limit_of(limit_ms).unwrap_or(Duration::MAX)
}
