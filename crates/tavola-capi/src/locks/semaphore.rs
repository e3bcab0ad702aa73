//! Semaphores.

use super::lock::time_of;
use super::{Holds, Taken};
use crate::entry::{OK, entry};
use crate::given::{close, given};
use crate::status::tavola_status;
use crate::table::tavola_table;
use std::ffi::c_char;
use tavola_core::{Permit, Result, Semaphore};

/// A semaphore with a name in the file of a table: no more threads of all processes have a permit
/// at once than it was created with.
pub struct tavola_sem {
    inner: Semaphore,
    holds: Holds,
}

const _: () = crate::given::is_shared::<tavola_sem>();

/// Opens the semaphore of that name in the file of a table, and creates it with 1 to 96 permits if
/// it is missing.
///
/// # Examples
/// ```c
/// tavola_sem *converters = NULL;
/// tavola_sem_open(table, "converters", 2, &converters);
/// tavola_sem_acquire(converters);
/// tavola_sem_acquire(converters);
/// printf("a third: %s\n", tavola_status_name(tavola_sem_try(converters)));
/// tavola_sem_release(converters);
/// printf("now: %s\n", tavola_status_name(tavola_sem_wait(converters, 100)));
/// tavola_sem_close(converters);
/// ```
///
/// # Errors
/// `TAVOLA_ERR_BAD_OPTION` for another number of permits than it has, or if the name is that of a
/// lock; otherwise as `tavola_lock_open`.
///
/// # Crash
/// The permits of a killed process pass on to those that wait for one, within some 20 ms: their
/// calls return `TAVOLA_OWNER_DIED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_sem_open(
    table: *const tavola_table,
    name: *const c_char,
    permits: u32,
    semaphore: *mut *mut tavola_sem,
) -> tavola_status {
    entry(|| {
        let (table, name) = (given!(handle table), given!(text name));
        let semaphore = given!(out semaphore);
        semaphore.put(Box::into_raw(Box::new(tavola_sem {
            inner: table.inner.semaphore(name, permits)?,
            holds: Holds::default(),
        })));
        OK
    })
}

/// Closes a semaphore. The permits of its handle are given back.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_sem_close(semaphore: *mut tavola_sem) {
    // SAFETY: the caller's promise.
    unsafe { close(semaphore) }
}

impl Drop for tavola_sem {
    fn drop(&mut self) {
        while let Ok(hold) = self.holds.take() {
            self.inner.release(hold);
        }
    }
}

/// Takes a permit and notes it, for all functions that do so.
///
/// # Safety
/// CAPI-1 of `given.rs`.
unsafe fn take(
    semaphore: *const tavola_sem,
    take: impl FnOnce(&Semaphore) -> Result<Option<Permit<'_>>>,
) -> tavola_status {
    entry(|| {
        let semaphore = given!(handle semaphore);
        let taken = take(&semaphore.inner)?.map(|permit| Taken {
            owner_died: permit.owner_died(),
            hold: permit.into_hold(),
        });
        semaphore.holds.note(taken)
    })
}

/// Takes a permit. Waits as long as all are taken.
///
/// Returns `TAVOLA_OK`, or `TAVOLA_OWNER_DIED`: the permit is taken then, too.
///
/// # Errors
/// At the first write of a process as `tavola_set`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_sem_acquire(semaphore: *const tavola_sem) -> tavola_status {
    // SAFETY: the caller's promise.
    unsafe { take(semaphore, |semaphore| semaphore.acquire().map(Some)) }
}

/// Takes a permit if one is free; otherwise returns `TAVOLA_TIMEOUT`.
///
/// # Errors
/// As `tavola_sem_acquire`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_sem_try(semaphore: *const tavola_sem) -> tavola_status {
    // SAFETY: the caller's promise.
    unsafe { take(semaphore, |semaphore| semaphore.try_acquire()) }
}

/// Takes a permit. Returns `TAVOLA_TIMEOUT` if all were taken for so many milliseconds;
/// `UINT64_MAX` is no limit.
///
/// # Errors
/// As `tavola_sem_acquire`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_sem_wait(
    semaphore: *const tavola_sem,
    limit_ms: u64,
) -> tavola_status {
    // SAFETY: the caller's promise.
    unsafe {
        take(semaphore, |semaphore| {
            semaphore.acquire_within(time_of(limit_ms))
        })
    }
}

/// Gives a permit of this handle back.
///
/// # Errors
/// `TAVOLA_ERR_NOT_HELD`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_sem_release(semaphore: *const tavola_sem) -> tavola_status {
    entry(|| {
        let semaphore = given!(handle semaphore);
        semaphore.inner.release(semaphore.holds.take()?);
        OK
    })
}
