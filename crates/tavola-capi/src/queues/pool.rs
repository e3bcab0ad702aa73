//! Pools of elements.

use crate::entry::{OK, entry, entry_or};
use crate::given::{SizedStruct, close, given};
use crate::lists::{call_each, tavola_each_text};
use crate::status::{Failure, tavola_status};
use crate::table::holders::limit_of;
use crate::table::{report, tavola_check_report, tavola_table};
use std::ffi::{CString, OsStr, c_char, c_void};
use std::os::unix::ffi::OsStrExt;
use std::ptr;
use tavola_core::{QueueOptions, QueuePool, Result};

/// A pool of elements in shared memory, and queues of them. Only the numbers of elements move
/// between queues; their bytes stay where they are. A process that has popped an element holds it,
/// and is the only one that may use its bytes, until it pushes it to a queue of the pool. All
/// threads that use a handle hold what was popped with it.
pub struct tavola_pool {
    pub(super) inner: QueuePool,
    path: CString,
}

const _: () = crate::given::is_shared::<tavola_pool>();

/// Options of a new pool. Begin with `tavola_pool_options options =
/// TAVOLA_INIT(tavola_pool_options);`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tavola_pool_options {
    /// `sizeof(tavola_pool_options)`.
    pub size: usize,
    /// How many elements, 1 to 2^30.
    pub elements: u32,
    /// How many bytes each element has.
    pub element_bytes: u32,
    /// The names of the queues: 1 to 65,536 names of 1 to 56 bytes. The first queue has all
    /// elements at the beginning. NULL: one queue, "free".
    pub queues: *const *const c_char,
    /// How many names there are.
    pub queue_count: usize,
    /// The mode of the file, if the pool has a file of its own; 0600 by default.
    pub mode: u64,
    /// Room for so many queues in all, up to 65,536: those that are named here, and those of
    /// `tavola_pool_add_queue`; by default only the former. From the beginning, each queue takes
    /// 256 bytes, and 4 bytes for each element, with the number of elements rounded up to a power
    /// of two.
    pub queue_room: usize,
    /// 1: opens a file of any owner, see `tavola_options`.
    pub any_owner: u64,
}

// SAFETY: integers and a pointer without padding, the size first.
unsafe impl SizedStruct for tavola_pool_options {}

/// # Safety
/// CAPI-1 of `given.rs`.
unsafe fn options_of(
    options: *const tavola_pool_options,
) -> std::result::Result<QueueOptions, Failure> {
    let given = given!(sized options);
    let mut made = QueueOptions::new(given.elements, given.element_bytes);
    let (queues, count) = (given.queues, given.queue_count);
    if !queues.is_null() || count != 0 {
        let mut names = Vec::new();
        for queue in given!(items queues, count) {
            let queue = *queue;
            names.push(given!(text queue));
        }
        made = made.queues(names);
    }
    if given.queue_room != 0 {
        // What is too much for 32 bits is too much for any pool.
        made = made.queue_room(u32::try_from(given.queue_room).unwrap_or(u32::MAX));
    }
    made = made.any_owner(given.any_owner != 0);
    match u32::try_from(given.mode) {
        Ok(0) => Ok(made),
        Ok(mode) => Ok(made.mode(mode)),
        Err(_) => Err(Failure::argument("the mode is no mode of a file")),
    }
}

fn opened(inner: QueuePool) -> *mut tavola_pool {
    let path = CString::new(inner.path().as_os_str().as_bytes()).unwrap_or_default();
    Box::into_raw(Box::new(tavola_pool { inner, path }))
}

/// What the functions have in common that open a pool in a file of its own.
///
/// # Safety
/// CAPI-1 of `given.rs`.
unsafe fn open(
    name: *const c_char,
    options: *const tavola_pool_options,
    pool: *mut *mut tavola_pool,
    open: impl FnOnce(&QueueOptions, &OsStr) -> Result<QueuePool>,
) -> tavola_status {
    entry(|| {
        let (name, pool) = (given!(name name), given!(out pool));
        // SAFETY: CAPI-1.
        let options = unsafe { options_of(options) }?;
        pool.put(opened(open(&options, name)?));
        OK
    })
}

/// What the functions have in common that open a pool beside a table.
///
/// # Safety
/// CAPI-1 of `given.rs`.
unsafe fn open_in(
    table: *const tavola_table,
    name: *const c_char,
    options: *const tavola_pool_options,
    pool: *mut *mut tavola_pool,
    open: impl FnOnce(&QueueOptions, &tavola_core::Table, &str) -> Result<QueuePool>,
) -> tavola_status {
    entry(|| {
        let (table, name) = (given!(handle table), given!(text name));
        let pool = given!(out pool);
        // SAFETY: CAPI-1.
        let options = unsafe { options_of(options) }?;
        pool.put(opened(open(&options, &table.inner, name)?));
        OK
    })
}

/// Opens a pool in a file of its own, and creates it if it does not exist. A pool that exists keeps
/// its elements and queues.
///
/// # Examples
/// ```c
/// tavola_pool *pool = NULL, *same = NULL;
/// const char *names[] = {"free", "jobs"};
/// tavola_pool_options options = TAVOLA_INIT(tavola_pool_options);
/// options.elements = 64;
/// options.element_bytes = 256;
/// options.queues = names;
/// options.queue_count = 2;
/// if (tavola_pool_create("work", &options, &pool) == TAVOLA_ERR_TABLE_EXISTS) {
///   tavola_pool_open("work", &options, &pool);
/// }
/// tavola_pool_open_existing("work", &same);
/// printf("%s: %u elements of %u bytes\n", tavola_pool_path(pool), tavola_pool_elements(pool),
///        tavola_pool_element_bytes(pool));
/// tavola_pool_close(same);
/// tavola_pool_close(pool);
/// tavola_names_remove("work");
/// ```
///
/// # Errors
/// `TAVOLA_ERR_NO_OBJECT` if the file of that name is not a pool; otherwise as `tavola_open` and
/// `tavola_pool_create`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_pool_open(
    name: *const c_char,
    options: *const tavola_pool_options,
    pool: *mut *mut tavola_pool,
) -> tavola_status {
    // SAFETY: the caller's promise.
    unsafe { open(name, options, pool, |options, name| options.open(name)) }
}

/// Creates a pool in a file of its own. The file is a table as well, without room for keys.
///
/// # Errors
/// `TAVOLA_ERR_TABLE_EXISTS`; `TAVOLA_ERR_BAD_OPTION`; `TAVOLA_ERR_FULL` if the file system has no
/// room for all elements; otherwise as `tavola_create`.
///
/// # Crash
/// The pool appears complete or not at all.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_pool_create(
    name: *const c_char,
    options: *const tavola_pool_options,
    pool: *mut *mut tavola_pool,
) -> tavola_status {
    // SAFETY: the caller's promise.
    unsafe { open(name, options, pool, |options, name| options.create(name)) }
}

/// Opens a pool that exists in a file of its own.
///
/// # Errors
/// As `tavola_open_existing`; `TAVOLA_ERR_NO_OBJECT` if the file is not a pool.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_pool_open_existing(
    name: *const c_char,
    pool: *mut *mut tavola_pool,
) -> tavola_status {
    entry(|| {
        let (name, pool) = (given!(name name), given!(out pool));
        pool.put(opened(QueuePool::open(name)?));
        OK
    })
}

/// Opens a pool in the file of a table, within its `max_size`, and creates it if it does not exist.
/// A table has room for 16 pools, logs and areas, and each stays as long as the table.
///
/// # Examples
/// ```c
/// static void print(void *user, const char *name, size_t len) {
///   (void)user;
///   printf("%.*s\n", (int)len, name);
/// }
///
/// tavola_pool *pool = NULL, *same = NULL, *made = NULL;
/// tavola_queue *added = NULL;
/// tavola_pool_options options = TAVOLA_INIT(tavola_pool_options);
/// options.elements = 64;
/// options.element_bytes = 256;
/// options.queue_room = 4;
/// tavola_pool_open_in(table, "work", &options, &pool);
/// if (tavola_pool_create_in(table, "work", &options, &made) == TAVOLA_ERR_OBJECT_EXISTS) {
///   tavola_pool_open_existing_in(table, "work", &same);
/// }
/// tavola_pools(table, print, NULL);
///
/// tavola_pool_add_queue(pool, "urgent", &added);
/// tavola_pool_queues(pool, print, NULL);
/// printf("room for %u queues\n", tavola_pool_queue_room(pool));
/// tavola_queue_close(added);
/// tavola_pool_close(same);
/// tavola_pool_close(pool);
/// ```
///
/// # Errors
/// As `tavola_pool_create_in`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_pool_open_in(
    table: *const tavola_table,
    name: *const c_char,
    options: *const tavola_pool_options,
    pool: *mut *mut tavola_pool,
) -> tavola_status {
    // SAFETY: the caller's promise.
    unsafe { open_in(table, name, options, pool, QueueOptions::open_in) }
}

/// Creates a pool in the file of a table.
///
/// # Errors
/// `TAVOLA_ERR_OBJECT_EXISTS`; `TAVOLA_ERR_BAD_OPTION`; `TAVOLA_ERR_BAD_NAME`;
/// `TAVOLA_ERR_READ_ONLY`; `TAVOLA_ERR_FULL` if the table has too few pages in a row that were
/// never used, or the file system has no room.
///
/// # Crash
/// The pool appears complete or not at all.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_pool_create_in(
    table: *const tavola_table,
    name: *const c_char,
    options: *const tavola_pool_options,
    pool: *mut *mut tavola_pool,
) -> tavola_status {
    // SAFETY: the caller's promise.
    unsafe { open_in(table, name, options, pool, QueueOptions::create_in) }
}

/// Opens a pool that exists in the file of a table.
///
/// # Errors
/// `TAVOLA_ERR_NO_OBJECT`; `TAVOLA_ERR_CORRUPT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_pool_open_existing_in(
    table: *const tavola_table,
    name: *const c_char,
    pool: *mut *mut tavola_pool,
) -> tavola_status {
    entry(|| {
        let (table, name) = (given!(handle table), given!(text name));
        let pool = given!(out pool);
        pool.put(opened(table.inner.pool(name)?));
        OK
    })
}

/// Calls `each` with the name of each pool in the file of a table.
///
/// # Errors
/// At the first use of a table, the errors of mapping it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_pools(
    table: *const tavola_table,
    each: tavola_each_text,
    user: *mut c_void,
) -> tavola_status {
    entry(|| {
        let table = given!(handle table);
        call_each(each, user, || Ok(table.inner.pools()?))
    })
}

/// Calls `each` with the name of each queue of a pool, first with the queue that had all elements
/// at the beginning.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_pool_queues(
    pool: *const tavola_pool,
    each: tavola_each_text,
    user: *mut c_void,
) -> tavola_status {
    entry(|| {
        let pool = given!(handle pool);
        call_each(each, user, || Ok(pool.inner.queues()))
    })
}

/// Returns the path of the pool's file, which is lent until the pool is closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_pool_path(pool: *const tavola_pool) -> *const c_char {
    entry_or(ptr::null(), || Ok(given!(handle pool).path.as_ptr()))
}

/// Returns how many elements the pool has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_pool_elements(pool: *const tavola_pool) -> u32 {
    entry_or(0, || Ok(given!(handle pool).inner.elements()))
}

/// Returns how many queues the pool has room for, including those that it has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_pool_queue_room(pool: *const tavola_pool) -> u32 {
    entry_or(0, || Ok(given!(handle pool).inner.queue_room()))
}

/// Returns how many bytes an element has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_pool_element_bytes(pool: *const tavola_pool) -> u32 {
    entry_or(0, || Ok(given!(handle pool).inner.element_bytes()))
}

/// Checks the file of a pool; see `tavola_check`.
///
/// # Errors
/// As `tavola_check`.
///
/// # Concurrency
/// All queues stand still during the check.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_pool_check(
    pool: *const tavola_pool,
    report: *mut tavola_check_report,
    each: tavola_each_text,
    user: *mut c_void,
) -> tavola_status {
    let check = || Ok(given!(handle pool).inner.check()?);
    // SAFETY: the caller's promise.
    unsafe { self::report(report, each, user, check) }
}

/// Limits how long a call waits for a lock, as `tavola_set_lock_timeout` does, for the queues of
/// this pool and the table that it was opened with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_pool_set_lock_timeout(
    pool: *const tavola_pool,
    limit_ms: u64,
) -> tavola_status {
    entry(|| {
        let pool = given!(handle pool);
        pool.inner.set_lock_timeout(limit_of(limit_ms));
        OK
    })
}

/// Closes a pool. If its queues are closed, too, the elements that were popped and not pushed are
/// lost, and can be reclaimed. NULL has no effect.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_pool_close(pool: *mut tavola_pool) {
    // SAFETY: the caller's promise: it came from `opened` and is used no more.
    unsafe { close(pool) };
}
