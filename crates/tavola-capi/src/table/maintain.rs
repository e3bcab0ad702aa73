//! Housekeeping that is asked for, and checks.

use super::tavola_table;
use crate::entry::{OK, entry};
use crate::given::{SizedStruct, given};
use crate::lists::{pass_text, tavola_each_text};
use crate::status::tavola_status;
use std::ffi::{c_char, c_void};
use tavola_core::{CheckReport, Maintained};

/// What a call of `tavola_maintain` did.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tavola_maintained {
    /// `sizeof(tavola_maintained)`.
    pub size: usize,
    /// Bytes that lie on huge pages now and did not before, or were found to already.
    pub collapsed_bytes: u64,
    /// Bytes given back to the system.
    pub given_back_bytes: u64,
    /// 1: the kernel can do it: Linux 6.1 or newer, with transparent huge pages.
    pub huge_pages_supported: u32,
    /// 1: nothing was left to do.
    pub done: u32,
}

// SAFETY: integers without padding, the size first.
unsafe impl SizedStruct for tavola_maintained {}

impl From<Maintained> for tavola_maintained {
    fn from(did: Maintained) -> Self {
        Self {
            size: size_of::<Self>(),
            collapsed_bytes: did.collapsed_bytes,
            given_back_bytes: did.given_back_bytes,
            huge_pages_supported: did.huge_pages_supported.into(),
            done: did.done.into(),
        }
    }
}

/// What a check found.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tavola_check_report {
    /// `sizeof(tavola_check_report)`.
    pub size: usize,
    /// Keys found.
    pub keys: u64,
    /// Bytes of the blocks, segments and large pages that the index leads to.
    pub bytes_reachable: u64,
    /// Bytes of the blocks, segments and large pages that the allocator holds to be in use.
    pub bytes_in_use: u64,
    /// How many things are wrong.
    pub problems: u64,
    /// 1: the file was copied by something that does not know tables (`cp`, `mv` to another file
    /// system, a snapshot) while a process was attached to the original. A value may then consist
    /// of parts of two, which no check or repair can find. Not counted as a problem.
    pub copied_in_use: u64,
}

// SAFETY: integers without padding, the size first.
unsafe impl SizedStruct for tavola_check_report {}

/// What functions have in common that report a check.
///
/// # Safety
/// CAPI-1 of `given.rs`.
pub(crate) unsafe fn report(
    report: *mut tavola_check_report,
    each: tavola_each_text,
    user: *mut c_void,
    check: impl FnOnce() -> Result<CheckReport, crate::status::Failure>,
) -> tavola_status {
    entry(|| {
        let report = given!(sized_out report);
        let found = check()?;
        report.put(&tavola_check_report {
            size: size_of::<tavola_check_report>(),
            keys: found.keys,
            bytes_reachable: found.bytes_reachable,
            bytes_in_use: found.bytes_in_use,
            problems: found.problem_count,
            copied_in_use: u64::from(found.copied_in_use),
        });
        for problem in found.problems {
            pass_text(each, user, problem);
        }
        OK
    })
}

/// Checks a whole table: it reads everything and compares derived data with its source. It calls
/// `each`, which may be NULL, with at most 100 sentences about what is wrong. `TAVOLA_OK` says that
/// the check was done; the table is sound if `report->problems` is 0.
///
/// # Examples
/// ```c
/// static void problem(void *user, const char *text, size_t len) {
///   (void)user;
///   printf("%.*s\n", (int)len, text);
/// }
///
/// tavola_check_report report = TAVOLA_INIT(tavola_check_report);
/// tavola_check(table, &report, problem, NULL);
/// if (report.problems != 0) {
///   tavola_repair(table, &report, problem, NULL);
/// }
/// ```
///
/// # Errors
/// `TAVOLA_ERR_IO` if this process cannot attach.
///
/// # Concurrency
/// Holds the lock of one shard at a time, for as long as this shard takes. With a read-only handle
/// it takes no locks, and what others write meanwhile may look wrong.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_check(
    table: *const tavola_table,
    report: *mut tavola_check_report,
    each: tavola_each_text,
    user: *mut c_void,
) -> tavola_status {
    let check = || Ok(given!(handle table).inner.check()?);
    // SAFETY: the caller's promise.
    unsafe { self::report(report, each, user, check) }
}

/// Repairs a table: it recovers every shard as after a death, so it builds derived data again and
/// drops what cannot be read. The report is that of a check afterwards, with one more problem if
/// something was dropped.
///
/// # Errors
/// `TAVOLA_ERR_READ_ONLY`; otherwise as `tavola_check`.
///
/// # Crash
/// The next process that locks the shard recovers it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_repair(
    table: *const tavola_table,
    report: *mut tavola_check_report,
    each: tavola_each_text,
    user: *mut c_void,
) -> tavola_status {
    let repair = || Ok(given!(handle table).inner.repair()?);
    // SAFETY: the caller's promise.
    unsafe { self::report(report, each, user, repair) }
}

/// Copies all keys into a new table, while other processes go on using this one. `keys` gets the
/// number of keys of the copy, unless it is NULL.
///
/// The copy has the same limits and options, the same mode and the same group. If this process may
/// not give it that group, the group of the copy has no rights. A key keeps its value, expiry,
/// flags, tags, marks and version. A key that has a uid gets a new uid in the copy. Queues and logs
/// in the table's file are not copied. The new file is complete and synchronised to its disk before
/// it gets its name.
///
/// # Examples
/// ```c
/// uint64_t keys = 0;
/// if (tavola_copy_to(table, "./backup.tavola", &keys) == TAVOLA_OK) {
///   printf("copied %llu keys\n", (unsigned long long)keys);
/// }
/// ```
///
/// # Errors
/// `TAVOLA_ERR_TABLE_EXISTS`: the name is taken, and that file is unchanged.
/// `TAVOLA_ERR_NOT_A_TABLE`: this file is a queue pool or a log. Otherwise as `tavola_create`,
/// `tavola_set` and `tavola_iter_next`.
///
/// # Concurrency
/// A key that is there during the whole copy is in it, with a value that it had meanwhile, whole.
/// The values of two keys may be of two moments.
///
/// # Crash
/// The copy appears complete or not at all.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_copy_to(
    table: *const tavola_table,
    name: *const c_char,
    keys: *mut u64,
) -> tavola_status {
    entry(|| {
        let (table, name) = (given!(handle table), given!(name name));
        let keys = given!(maybe keys);
        keys.put(table.inner.copy_to(name)?);
        OK
    })
}

/// Removes all keys.
///
/// # Errors
/// As `tavola_remove`.
///
/// # Concurrency
/// Keys that were there at the beginning are gone at the end; one that is set meanwhile may stay or
/// go. No lock is held for more than some 200 keys.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_clear(table: *const tavola_table) -> tavola_status {
    entry(|| {
        given!(handle table).inner.clear()?;
        OK
    })
}

/// Gives back all memory that can be given back: it merges sparse parts of the index, empties
/// sparse pages, and waits up to 2.5 seconds for pages whose free is deferred. `given_back`, which
/// may be NULL, gets the number of bytes.
///
/// # Errors
/// As `tavola_remove`.
///
/// # Concurrency
/// Moves at most 64 items each time that it holds a lock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compact(
    table: *const tavola_table,
    given_back: *mut u64,
) -> tavola_status {
    entry(|| {
        let (table, given_back) = (given!(handle table), given!(maybe given_back));
        given_back.put(table.inner.compact()?);
        OK
    })
}

/// Does some maintenance: it collapses up to `budget_bytes` of the table into huge pages if the
/// kernel can (about one second for 1 GiB), searches up to 256 buckets of each shard for expired
/// keys, evicts keys of a cache that exceeds its capacity until it fits, and gives back some unused
/// memory. It continues where the last call of this process ended.
///
/// # Examples
/// ```c
/// uint64_t given_back = 0;
/// tavola_maintained did = TAVOLA_INIT(tavola_maintained);
/// tavola_maintain(table, 64 << 20, &did);
/// tavola_remove_expired(table);
/// tavola_compact(table, &given_back);
/// tavola_clear(table);
/// ```
///
/// # Errors
/// As `tavola_remove`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_maintain(
    table: *const tavola_table,
    budget_bytes: u64,
    did: *mut tavola_maintained,
) -> tavola_status {
    entry(|| {
        let (table, did) = (given!(handle table), given!(sized_out did));
        did.put(&table.inner.maintain(budget_bytes)?.into());
        OK
    })
}

/// Removes all keys that have expired. Writes and `tavola_maintain` also do so step by step. No
/// reader finds an expired key in the meantime.
///
/// # Errors
/// As `tavola_remove`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_remove_expired(table: *const tavola_table) -> tavola_status {
    entry(|| {
        given!(handle table).inner.remove_expired()?;
        OK
    })
}

/// Frees the slots of participants that died, and reclaims their resources. `freed`, which may be
/// NULL, gets how many there were. Writes also do so from time to time.
///
/// # Errors
/// `TAVOLA_ERR_READ_ONLY`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_reclaim(
    table: *const tavola_table,
    freed: *mut u32,
) -> tavola_status {
    entry(|| {
        let (table, freed) = (given!(handle table), given!(maybe freed));
        freed.put(table.inner.reclaim()?);
        OK
    })
}
