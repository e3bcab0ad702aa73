//! Locks that other processes hold, and how long they are waited for.

use super::tavola_table;
use crate::entry::{Answer, OK, entry};
use crate::given::given;
use crate::status::{Failure, tavola_status};
use std::ffi::c_void;
use std::time::Duration;
use tavola_core::{Holder, Lock};

/// Milliseconds that mean no limit.
const WITHOUT_LIMIT: u64 = u64::MAX;

pub(crate) fn limit_of(limit_ms: u64) -> Option<Duration> {
    (limit_ms != WITHOUT_LIMIT).then(|| Duration::from_millis(limit_ms))
}

/// A process that holds a lock of a table.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tavola_holder {
    /// `sizeof(tavola_holder)`, as the library knows it.
    pub size: usize,
    /// The shard whose lock it holds; -1: the lock of the page pool, or a named lock.
    pub shard: i64,
    /// Its process id, in its own pid namespace; 0 when it is not known.
    pub pid: u32,
    /// 1: `pid` is a number of the caller's own pid namespace; 0: another process, or none, has
    /// that number here.
    pub is_local: u32,
    /// 1: a signal or a debugger has stopped it, as far as that can be seen from here.
    pub is_stopped: u32,
    /// 0: it is dead; the next that wants the lock takes it over.
    pub is_alive: u32,
}

impl From<&Holder> for tavola_holder {
    fn from(holder: &Holder) -> Self {
        Self {
            size: size_of::<Self>(),
            shard: match holder.lock {
                Lock::Shard(number) => i64::from(number),
                _ => -1,
            },
            pid: holder.pid,
            is_local: holder.is_local.into(),
            is_stopped: holder.is_stopped.into(),
            is_alive: holder.is_alive.into(),
        }
    }
}

/// Is called with a holder, lent until it returns.
pub type tavola_each_holder =
    Option<unsafe extern "C" fn(user: *mut c_void, holder: *const tavola_holder)>;

/// Limits how long a call with this handle waits for a lock whose holder lives, in milliseconds.
/// `UINT64_MAX`, the default, is no limit. When the limit has passed, the call returns
/// `TAVOLA_ERR_BUSY`, and `tavola_last_error` names the holder.
///
/// A process usually holds a lock for less than a microsecond. A holder that is stopped (SIGSTOP, a
/// debugger, `docker pause`) keeps it until it continues; a dead holder never keeps it. A call may
/// wait for several locks, one after the other. The limit does not apply to the lock of the page
/// pool.
///
/// # Examples
/// ```c
/// tavola_set_lock_timeout(table, 100);
/// if (tavola_set(table, TAVOLA_STR("key"), TAVOLA_STR("value")) == TAVOLA_ERR_BUSY) {
///   fputs(tavola_last_error(), stderr);
/// }
/// ```
///
/// # Errors
/// At the first use of a table, the errors of mapping it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_set_lock_timeout(
    table: *const tavola_table,
    limit_ms: u64,
) -> tavola_status {
    entry(|| {
        let table = given!(handle table);
        table.inner.set_lock_timeout(limit_of(limit_ms))?;
        OK
    })
}

/// Calls `each` with each lock of a shard or of the page pool that one process has held at three
/// looks within 40 ms; this process is stopped or very busy. Without such a lock it returns at
/// once.
///
/// # Errors
/// At the first use of a table, the errors of mapping it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_lock_holders(
    table: *const tavola_table,
    each: tavola_each_holder,
    user: *mut c_void,
) -> tavola_status {
    entry(|| {
        let table = given!(handle table);
        report_holders(each, user, || Ok(table.inner.lock_holders()?))
    })
}

/// Calls the callback, which must be there, with each holder.
pub(crate) fn report_holders(
    each: tavola_each_holder,
    user: *mut c_void,
    holders: impl FnOnce() -> Result<Vec<Holder>, Failure>,
) -> Answer {
    let each = each.ok_or_else(|| Failure::null("each"))?;
    for holder in &holders()? {
        // SAFETY: the caller's function, called as its type says.
        unsafe { each(user, &tavola_holder::from(holder)) };
    }
    OK
}
