//! Pools of elements.

use crate::entry::{OK, entry, entry_or};
use crate::given::{SizedStruct, close, given};
use crate::lists::{tavola_each_text, tell_all};
use crate::status::{Failure, tavola_status};
use crate::table::holders::limit_of;
use crate::table::{report, tavola_check_report, tavola_table};
use std::ffi::{CString, OsStr, c_char, c_void};
use std::os::unix::ffi::OsStrExt;
use std::ptr;
use tavola_core::{QueueOptions, QueuePool, Result};

/// Elements in shared memory, and queues of them. What moves between queues are the numbers of
/// elements; their bytes stay where they are. Who popped an element holds it, and is the only one
/// to touch its bytes, until it pushes it to any of the pool's queues. What is popped through a
/// handle and its queues is held by all threads that use these.
pub struct tavola_pool {
    pub(super) inner: QueuePool,
    path: CString,
}

const _: () = crate::given::is_shared::<tavola_pool>();

/// What a pool of queues is made with. Begin with
/// `tavola_pool_options options = TAVOLA_INIT(tavola_pool_options);`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tavola_pool_options {
    /// `sizeof(tavola_pool_options)`.
    pub size: usize,
    /// Elements, 1 to 2^30.
    pub elements: u32,
    /// Bytes of each.
    pub element_bytes: u32,
    /// The names of its queues, 1 to 65,536 of 1 to 56 bytes each. In the first, all elements stand
    /// at the beginning. NULL: one, "free".
    pub queues: *const *const c_char,
    /// How many names.
    pub queue_count: usize,
    /// The mode of the file of a pool that has one of its own; 0600 when 0.
    pub mode: u64,
    /// Room for so many queues in all, up to 65,536: those that are named here, and those that
    /// `tavola_pool_add_queue` adds; as many as are named when 0. Each takes 4 bytes for each
    /// element, their number rounded up to a power of two, and 256 bytes, from the beginning.
    pub queue_room: usize,
    /// 1: opens a file of any owner, see `tavola_options`.
    pub any_owner: u64,
}

// SAFETY: integers and a pointer without padding, the size first.
unsafe impl SizedStruct for tavola_pool_options {}

/// # Safety
/// I1 of `given.rs`.
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
/// I1 of `given.rs`.
unsafe fn open(
    name: *const c_char,
    options: *const tavola_pool_options,
    pool: *mut *mut tavola_pool,
    open: impl FnOnce(&QueueOptions, &OsStr) -> Result<QueuePool>,
) -> tavola_status {
    entry(|| {
        let (name, pool) = (given!(name name), given!(out pool));
        // SAFETY: I1.
        let options = unsafe { options_of(options) }?;
        pool.put(opened(open(&options, name)?));
        OK
    })
}

/// What the functions have in common that open a pool beside a table.
///
/// # Safety
/// I1 of `given.rs`.
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
        // SAFETY: I1.
        let options = unsafe { options_of(options) }?;
        pool.put(opened(open(&options, &table.inner, name)?));
        OK
    })
}

/// Opens a pool in a file of its own, making it when it is not there. An existing one keeps its own
/// elements and queues.
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
/// `TAVOLA_ERR_NO_OBJECT` when there is a table of that name which is no pool's; else as
/// `tavola_open` and `tavola_pool_create`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_pool_open(
    name: *const c_char,
    options: *const tavola_pool_options,
    pool: *mut *mut tavola_pool,
) -> tavola_status {
    // SAFETY: the caller's promise.
    unsafe { open(name, options, pool, |options, name| options.open(name)) }
}

/// Makes a pool in a file of its own, which is a table as well, without room for keys.
///
/// # Errors
/// `TAVOLA_ERR_TABLE_EXISTS`; `TAVOLA_ERR_BAD_OPTION`; `TAVOLA_ERR_FULL` when the file system has
/// no room for all elements; else as `tavola_create`.
///
/// # Crash
/// The pool appears whole or not at all.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_pool_create(
    name: *const c_char,
    options: *const tavola_pool_options,
    pool: *mut *mut tavola_pool,
) -> tavola_status {
    // SAFETY: the caller's promise.
    unsafe { open(name, options, pool, |options, name| options.create(name)) }
}

/// Opens a pool that is there, in a file of its own.
///
/// # Errors
/// As `tavola_open_existing`; `TAVOLA_ERR_NO_OBJECT` when that file has none.
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

/// Opens a pool beside a table, in its file and within its `max_size`, making it when it is not
/// there. There can be 16, and each stays as long as the table.
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

/// Makes a pool beside a table.
///
/// # Errors
/// `TAVOLA_ERR_OBJECT_EXISTS`; `TAVOLA_ERR_BAD_OPTION`; `TAVOLA_ERR_BAD_NAME`;
/// `TAVOLA_ERR_READ_ONLY`; `TAVOLA_ERR_FULL` when the table has no such stretch of pages that were
/// never used, or the file system no room.
///
/// # Crash
/// The pool appears whole or not at all.
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

/// Opens a pool that is there, beside a table.
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

/// Tells the names of the pools beside a table.
///
/// # Errors
/// Those of mapping the table, where this is its first use.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_pools(
    table: *const tavola_table,
    each: tavola_each_text,
    user: *mut c_void,
) -> tavola_status {
    entry(|| {
        let table = given!(handle table);
        tell_all(each, user, || Ok(table.inner.pools()?))
    })
}

/// Tells the names of a pool's queues, the one that had all elements at the beginning first.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_pool_queues(
    pool: *const tavola_pool,
    each: tavola_each_text,
    user: *mut c_void,
) -> tavola_status {
    entry(|| {
        let pool = given!(handle pool);
        tell_all(each, user, || Ok(pool.inner.queues()))
    })
}

/// The path of the file that the pool is in, lent until the pool is closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_pool_path(pool: *const tavola_pool) -> *const c_char {
    entry_or(ptr::null(), || Ok(given!(handle pool).path.as_ptr()))
}

/// How many elements the pool has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_pool_elements(pool: *const tavola_pool) -> u32 {
    entry_or(0, || Ok(given!(handle pool).inner.elements()))
}

/// How many queues the pool has room for, those that it has among them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_pool_queue_room(pool: *const tavola_pool) -> u32 {
    entry_or(0, || Ok(given!(handle pool).inner.queue_room()))
}

/// Bytes of an element.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_pool_element_bytes(pool: *const tavola_pool) -> u32 {
    entry_or(0, || Ok(given!(handle pool).inner.element_bytes()))
}

/// Checks the file that the pool is in; see `tavola_check`.
///
/// # Errors
/// As `tavola_check`.
///
/// # Concurrency
/// All queues stand still while they are looked at.
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

/// As `tavola_set_lock_timeout`, for the queues of this pool and the table that it was opened by.
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

/// Closes a pool. What was popped through it and not pushed is lost, and can be reclaimed, when its
/// queues are closed as well. NULL is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_pool_close(pool: *mut tavola_pool) {
    // SAFETY: the caller's promise: it came from `opened` and is used no more.
    unsafe { close(pool) };
}
