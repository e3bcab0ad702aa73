//! Opening constant files, and following those that are replaced.

use crate::entry::{OK, entry, entry_or};
use crate::given::{close, given};
use crate::status::{Failure, tavola_status};
use std::ffi::{CString, c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::ptr;
use std::sync::Arc;
use std::time::Duration;
use tavola_constant::{Constant, Followed, Format};

/// A format of constant files.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum tavola_cdb_format {
    /// D. J. Bernstein's cdb, as TinyCDB and others read it: at most 4 GiB.
    TAVOLA_CDB_FORMAT_32 = 0,
    /// The same with numbers of 64 bits.
    TAVOLA_CDB_FORMAT_64 = 1,
    /// Tavola's own format: each key once, with checksums, for files of any size.
    TAVOLA_CDB_FORMAT_FROZEN = 2,
}

/// An open constant file. Threads may share it.
pub struct tavola_cdb {
    inner: Open,
    path: CString,
}

const _: () = crate::given::is_shared::<tavola_cdb>();

enum Open {
    /// Stays the file that was opened until it is refreshed.
    Fixed(Arc<Constant>),
    Followed(Followed<Constant>),
}

impl tavola_cdb {
    fn new(file: Constant, follow: Option<Duration>) -> *mut Self {
        let path = CString::new(file.path().as_os_str().as_bytes()).unwrap_or_default();
        let inner = match follow {
            None => Open::Fixed(Arc::new(file)),
            Some(interval) => Open::Followed(Followed::every(file, interval)),
        };
        Box::into_raw(Box::new(Self { inner, path }))
    }

    /// Calls `read` with the file.
    #[inline(always)]
    pub(super) fn with<T>(
        &self,
        read: impl FnOnce(&Constant) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        match &self.inner {
            Open::Fixed(file) => read(file),
            Open::Followed(followed) => read(&*followed.current()?),
        }
    }

    /// The file, for a handle that keeps it open.
    pub(super) fn kept(&self) -> Result<Arc<Constant>, Failure> {
        Ok(match &self.inner {
            Open::Fixed(file) => Arc::clone(file),
            Open::Followed(followed) => followed.current()?,
        })
    }
}

/// Opens a constant file, whose format is found out. It stays the file that was opened when another
/// one is renamed over it; see `tavola_cdb_refresh` and `tavola_cdb_open_followed`.
///
/// # Examples
/// ```c
/// tavola_cdb_writer *writer = NULL;
/// tavola_cdb *people = NULL;
/// char bytes[64];
/// tavola_buffer value = TAVOLA_BUFFER(bytes, sizeof bytes);
///
/// tavola_cdb_writer_open("./people.cdb", NULL, &writer);
/// tavola_cdb_writer_put(writer, TAVOLA_STR("alice"), TAVOLA_STR("3"), TAVOLA_CDB_ADD, NULL);
/// tavola_cdb_writer_finish(writer);
/// tavola_cdb_writer_close(writer);
///
/// if (tavola_cdb_open("./people.cdb", &people) != TAVOLA_OK) {
///   fprintf(stderr, "%s\n", tavola_last_error());
///   return;
/// }
/// if (tavola_cdb_get(people, TAVOLA_STR("alice"), &value) == TAVOLA_OK) {
///   printf("%.*s\n", (int)value.len, bytes);
/// }
/// if (tavola_cdb_contains(people, TAVOLA_STR("bob")) == TAVOLA_NOT_FOUND) {
///   printf("%s has %d records\n", tavola_cdb_path(people), (int)tavola_cdb_len(people));
/// }
/// tavola_cdb_close(people);
/// remove("./people.cdb");
/// ```
///
/// # Errors
/// `TAVOLA_ERR_NOT_CONSTANT`: the file has none of the formats, or is only the beginning of one.
/// `TAVOLA_ERR_CORRUPT`: a checksum of a frozen file is wrong. `TAVOLA_ERR_NO_TABLE`,
/// `TAVOLA_ERR_PERMISSION`, `TAVOLA_ERR_IO`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_cdb_open(
    path: *const c_char,
    cdb: *mut *mut tavola_cdb,
) -> tavola_status {
    entry(|| {
        let (path, cdb) = (given!(name path), given!(out cdb));
        cdb.put(tavola_cdb::new(Constant::open(path)?, None));
        OK
    })
}

/// Opens a constant file, and follows it: a call with this handle looks at the name if
/// `interval_ms` milliseconds have passed since the last look, and reads the file that has the name
/// then.
///
/// # Examples
/// ```c
/// tavola_cdb *people = NULL;
/// if (tavola_cdb_open_followed("./people.cdb", 1000, &people) != TAVOLA_OK) {
///   fprintf(stderr, "%s\n", tavola_last_error());
/// }
/// tavola_cdb_close(people);
/// ```
///
/// # Errors
/// As `tavola_cdb_open`. If the new file cannot be opened, one call returns that error; the calls
/// after it read the old file until the interval has passed again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_cdb_open_followed(
    path: *const c_char,
    interval_ms: u64,
    cdb: *mut *mut tavola_cdb,
) -> tavola_status {
    entry(|| {
        let (path, cdb) = (given!(name path), given!(out cdb));
        // A century; a longer one would not fit into nanoseconds.
        let interval = Duration::from_millis(interval_ms.min(100 * 365 * 86_400_000));
        cdb.put(tavola_cdb::new(Constant::open(path)?, Some(interval)));
        OK
    })
}

/// Opens the file that has the name now, if it is another one, or was written to. `moved`, which
/// may be NULL, becomes 1 then, and 0 if it is the same. Searches and iterators that are open keep
/// the old file. Unless the handle follows its file, no other thread may be using it.
///
/// # Examples
/// ```c
/// tavola_cdb *people = NULL;
/// int moved = 0;
/// if (tavola_cdb_open("./people.cdb", &people) == TAVOLA_OK) {
///   tavola_cdb_refresh(people, &moved);
///   puts(moved ? "another file" : "the same file");
/// }
/// tavola_cdb_close(people);
/// ```
///
/// # Errors
/// As `tavola_cdb_open`; the old file stays open then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_cdb_refresh(
    cdb: *mut tavola_cdb,
    moved: *mut c_int,
) -> tavola_status {
    entry(|| {
        let moved = given!(maybe moved);
        let is_newer = match &given!(handle cdb).inner {
            Open::Followed(followed) => followed.refresh()?,
            Open::Fixed(file) => match tavola_constant::Reopen::reopened(&**file)? {
                None => false,
                Some(newer) => {
                    given!(buffer cdb).inner = Open::Fixed(Arc::new(newer));
                    true
                }
            },
        };
        moved.put(c_int::from(is_newer));
        OK
    })
}

/// Checks the whole file: that its records follow each other, that each of them is found, and the
/// checksums of a frozen file. `records`, which may be NULL, becomes the number of records.
///
/// # Examples
/// ```c
/// tavola_cdb *people = NULL;
/// uint64_t records = 0;
/// if (tavola_cdb_open("./people.cdb", &people) == TAVOLA_OK) {
///   if (tavola_cdb_check(people, &records) != TAVOLA_OK) {
///     fprintf(stderr, "%s\n", tavola_last_error());
///   }
///   printf("format %d, %d bytes\n", (int)tavola_cdb_format_of(people),
///          (int)tavola_cdb_size_bytes(people));
/// }
/// tavola_cdb_close(people);
/// ```
///
/// # Errors
/// `TAVOLA_ERR_CORRUPT`: `tavola_last_error` says what is damaged, and where.
/// `TAVOLA_ERR_FILE_LOST`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_cdb_check(
    cdb: *const tavola_cdb,
    records: *mut u64,
) -> tavola_status {
    entry(|| {
        let (cdb, records) = (given!(handle cdb), given!(maybe records));
        records.put(cdb.with(|file| Ok(file.check()?))?);
        OK
    })
}

/// Returns the number of records, and 0 after an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_cdb_len(cdb: *const tavola_cdb) -> u64 {
    entry_or(0, || given!(handle cdb).with(|file| Ok(file.len())))
}

/// Returns the length of the file in bytes, and 0 after an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_cdb_size_bytes(cdb: *const tavola_cdb) -> u64 {
    entry_or(0, || given!(handle cdb).with(|file| Ok(file.size_bytes())))
}

/// Returns the format of the file, one of `tavola_cdb_format`, and -1 after an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_cdb_format_of(cdb: *const tavola_cdb) -> i32 {
    entry_or(-1, || given!(handle cdb).with(|file| Ok(number_of(file))))
}

fn number_of(file: &Constant) -> i32 {
    (match file {
        Constant::Cdb(cdb) if cdb.format() == Format::Cdb => {
            tavola_cdb_format::TAVOLA_CDB_FORMAT_32
        }
        Constant::Cdb(_) => tavola_cdb_format::TAVOLA_CDB_FORMAT_64,
        Constant::Frozen(_) => tavola_cdb_format::TAVOLA_CDB_FORMAT_FROZEN,
    }) as i32
}

/// Returns the path by which the file was opened, which is lent until the handle is closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_cdb_path(cdb: *const tavola_cdb) -> *const c_char {
    entry_or(ptr::null(), || Ok(given!(handle cdb).path.as_ptr()))
}

/// Closes a constant file. NULL has no effect.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_cdb_close(cdb: *mut tavola_cdb) {
    // SAFETY: the caller's promise: it came from `tavola_cdb_open` and is used no more.
    unsafe { close(cdb) };
}
