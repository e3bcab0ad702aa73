//! Making a constant file.

use super::file::tavola_cdb_format;
use crate::entry::{OK, entry, entry_or, found};
use crate::given::{SizedStruct, close, given};
use crate::status::{Failure, tavola_status};
use std::ffi::{c_char, c_int, c_void};
use tavola_constant::{Format, FrozenWriter, Keep, Put, Writer};

/// Options of a new constant file. A field that is 0 means the default. Begin with
/// `tavola_cdb_options options = TAVOLA_INIT(tavola_cdb_options);`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tavola_cdb_options {
    /// `sizeof(tavola_cdb_options)`.
    pub size: usize,
    /// One of `tavola_cdb_format`.
    pub format: i32,
    /// The mode of the file, whatever the umask; 0666 less the umask by default.
    pub mode: u32,
    /// 1: a key of a frozen file that is put several times has its first value, and not its last.
    pub keep_first: u32,
    /// 1: `tavola_cdb_writer_finish` does not wait until the file is on the disk.
    pub unsynced: u32,
}

// SAFETY: integers without padding, the size first.
unsafe impl SizedStruct for tavola_cdb_options {}

/// How a put treats a key that exists already.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum tavola_cdb_mode {
    /// Adds another record without looking for the key. By far the fastest.
    TAVOLA_CDB_ADD = 0,
    /// Removes the older records of the key, then adds this one.
    TAVOLA_CDB_REPLACE = 1,
    /// Adds nothing.
    TAVOLA_CDB_INSERT = 2,
    /// Adds another record, and reports that the key was there.
    TAVOLA_CDB_WARN = 3,
    /// Overwrites the older records of the key with zeros, then adds this one.
    TAVOLA_CDB_REPLACE_ZERO = 4,
}

/// Writes a constant file, for one thread at a time.
pub struct tavola_cdb_writer {
    inner: State,
    /// Records when it was finished.
    finished: u64,
}

enum State {
    // The larger one, by far.
    Cdb(Box<Writer>),
    Frozen(Box<FrozenWriter>),
    Finished,
}

impl tavola_cdb_writer {
    fn is_finished() -> Failure {
        Failure::argument("the file is finished; open another writer to make a new one")
    }
}

/// Begins a constant file. Nothing has its name before `tavola_cdb_writer_finish`; then it replaces
/// a file of that name. `options` may be NULL.
///
/// # Examples
/// ```c
/// tavola_cdb_options options = TAVOLA_INIT(tavola_cdb_options);
/// tavola_cdb_writer *writer = NULL;
/// options.format = TAVOLA_CDB_FORMAT_FROZEN;
/// if (tavola_cdb_writer_open("./people.frozen", &options, &writer) != TAVOLA_OK) {
///   fprintf(stderr, "%s\n", tavola_last_error());
///   return;
/// }
/// tavola_cdb_writer_put(writer, TAVOLA_STR("alice"), TAVOLA_STR("3"), TAVOLA_CDB_ADD, NULL);
/// if (tavola_cdb_writer_finish(writer) == TAVOLA_OK) {
///   printf("%d records\n", (int)tavola_cdb_writer_len(writer));
/// }
/// tavola_cdb_writer_close(writer);
/// remove("./people.frozen");
/// ```
///
/// # Errors
/// `TAVOLA_ERR_ARGUMENT`: `format` is not one of `tavola_cdb_format`. `TAVOLA_ERR_NO_TABLE`: there
/// is no such directory. `TAVOLA_ERR_PERMISSION`, `TAVOLA_ERR_IO`.
///
/// # Crash
/// A process that is killed leaves the old file or the new one, never a part of one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_cdb_writer_open(
    path: *const c_char,
    options: *const tavola_cdb_options,
    writer: *mut *mut tavola_cdb_writer,
) -> tavola_status {
    entry(|| {
        let (path, writer) = (given!(name path), given!(out writer));
        let options = match options.is_null() {
            true => tavola_cdb_options::new(),
            false => given!(sized options),
        };
        let format = [
            tavola_cdb_format::TAVOLA_CDB_FORMAT_32,
            tavola_cdb_format::TAVOLA_CDB_FORMAT_64,
            tavola_cdb_format::TAVOLA_CDB_FORMAT_FROZEN,
        ]
        .into_iter()
        .find(|format| *format as i32 == options.format)
        .ok_or_else(|| Failure::argument("format is not one of tavola_cdb_format"))?;
        let inner = match format {
            tavola_cdb_format::TAVOLA_CDB_FORMAT_32 => begin_cdb(Format::Cdb, &options, path),
            tavola_cdb_format::TAVOLA_CDB_FORMAT_64 => begin_cdb(Format::Cdb64, &options, path),
            tavola_cdb_format::TAVOLA_CDB_FORMAT_FROZEN => begin_frozen(&options, path),
        }?;
        let made = tavola_cdb_writer { inner, finished: 0 };
        writer.put(Box::into_raw(Box::new(made)));
        OK
    })
}

fn begin_cdb(
    format: Format,
    options: &tavola_cdb_options,
    path: &std::ffi::OsStr,
) -> tavola_constant::Result<State> {
    let made = Writer::options().format(format).sync(options.unsynced == 0);
    let made = match options.mode {
        0 => made,
        mode => made.mode(mode),
    };
    Ok(State::Cdb(Box::new(made.create(path)?)))
}

fn begin_frozen(
    options: &tavola_cdb_options,
    path: &std::ffi::OsStr,
) -> tavola_constant::Result<State> {
    let keep = match options.keep_first {
        0 => Keep::Last,
        _ => Keep::First,
    };
    let made = FrozenWriter::options()
        .keep(keep)
        .sync(options.unsynced == 0);
    let made = match options.mode {
        0 => made,
        mode => made.mode(mode),
    };
    Ok(State::Frozen(Box::new(made.create(path)?)))
}

fn put_of(mode: i32) -> Result<Put, Failure> {
    let all = [
        (tavola_cdb_mode::TAVOLA_CDB_ADD, Put::Add),
        (tavola_cdb_mode::TAVOLA_CDB_REPLACE, Put::Replace),
        (tavola_cdb_mode::TAVOLA_CDB_INSERT, Put::Insert),
        (tavola_cdb_mode::TAVOLA_CDB_WARN, Put::Warn),
        (tavola_cdb_mode::TAVOLA_CDB_REPLACE_ZERO, Put::ReplaceZero),
    ];
    let found = all.into_iter().find(|one| one.0 as i32 == mode);
    found
        .map(|one| one.1)
        .ok_or_else(|| Failure::argument("mode is not one of tavola_cdb_mode"))
}

/// Puts a record. `mode` is one of `tavola_cdb_mode`; a frozen file takes `TAVOLA_CDB_ADD` only,
/// and has the last value of each key, or the first one (`keep_first`). `existed`, which may be
/// NULL, becomes 1 if the key was there, and 0 if it was not or if the mode does not look.
///
/// # Examples
/// ```c
/// tavola_cdb_writer *writer = NULL;
/// int existed = 0;
/// tavola_cdb_writer_open("./people.cdb", NULL, &writer);
/// tavola_cdb_writer_put(writer, TAVOLA_STR("alice"), TAVOLA_STR("3"), TAVOLA_CDB_ADD, NULL);
/// tavola_cdb_writer_put(writer, TAVOLA_STR("alice"), TAVOLA_STR("4"), TAVOLA_CDB_REPLACE,
///                       &existed);
/// if (existed && tavola_cdb_writer_contains(writer, TAVOLA_STR("alice")) == TAVOLA_OK) {
///   puts("replaced");
/// }
/// tavola_cdb_writer_close(writer);
/// ```
///
/// # Errors
/// `TAVOLA_EXISTS`: the key was there, and the mode is `TAVOLA_CDB_INSERT`, so nothing was added.
/// `TAVOLA_ERR_FULL` of a cdb file: it would become larger than 4 GiB. The record is left out, and
/// the file can be finished. `TAVOLA_ERR_TOO_LARGE`: a key of a frozen file has more than 16 MiB,
/// or a value more than 1 TiB; it is left out. `TAVOLA_ERR_ARGUMENT`: the mode is unknown, or not
/// one of frozen files, or the file is finished. After `TAVOLA_ERR_IO`, and if the file system is
/// full, the file cannot be finished, and all calls return `TAVOLA_ERR_WRITE_FAILED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_cdb_writer_put(
    writer: *mut tavola_cdb_writer,
    key: *const c_void,
    key_len: usize,
    value: *const c_void,
    value_len: usize,
    mode: i32,
    existed: *mut c_int,
) -> tavola_status {
    entry(|| {
        let writer = given!(buffer writer);
        let (key, value) = (given!(bytes key, key_len), given!(bytes value, value_len));
        let (put, existed) = (put_of(mode)?, given!(maybe existed));
        let was_there = match &mut writer.inner {
            State::Cdb(cdb) => cdb.put(key, value, put)?,
            State::Frozen(frozen) if put == Put::Add => {
                frozen.put(key, value)?;
                false
            }
            State::Frozen(_) => {
                return Err(Failure::argument(
                    "a frozen file takes TAVOLA_CDB_ADD only, and keeps the last value of a key; \
                     for its first value, set keep_first in the options",
                ));
            }
            State::Finished => return Err(tavola_cdb_writer::is_finished()),
        };
        existed.put(c_int::from(was_there));
        Ok(match was_there && put == Put::Insert {
            true => tavola_status::TAVOLA_EXISTS,
            false => tavola_status::TAVOLA_OK,
        })
    })
}

/// Returns `TAVOLA_OK` if a key was put into the cdb file that is being written, and
/// `TAVOLA_NOT_FOUND` if it was not.
///
/// # Errors
/// `TAVOLA_ERR_ARGUMENT`: the file is a frozen one, which is searched only when it is finished.
/// `TAVOLA_ERR_IO`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_cdb_writer_contains(
    writer: *mut tavola_cdb_writer,
    key: *const c_void,
    key_len: usize,
) -> tavola_status {
    entry(|| {
        let (writer, key) = (given!(buffer writer), given!(bytes key, key_len));
        match &mut writer.inner {
            State::Cdb(cdb) => found(cdb.contains(key)?),
            State::Frozen(_) => Err(Failure::argument(
                "the keys of a frozen file cannot be searched before it is finished",
            )),
            State::Finished => Err(tavola_cdb_writer::is_finished()),
        }
    })
}

/// Returns the number of records: of a cdb file so far, of a frozen file when it is finished, and 0
/// before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_cdb_writer_len(writer: *const tavola_cdb_writer) -> u64 {
    entry_or(0, || {
        let writer = given!(handle writer);
        Ok(match &writer.inner {
            State::Cdb(cdb) => cdb.len(),
            State::Frozen(_) | State::Finished => writer.finished,
        })
    })
}

/// Writes the rest of the file, waits until it is on the disk, and gives it its name. Close the
/// writer afterwards, whatever the call returns.
///
/// # Errors
/// `TAVOLA_ERR_IO`, `TAVOLA_ERR_FULL`: the old file is there, unless the last sync failed. Then the
/// new one is, and may be lost in a power failure. `TAVOLA_ERR_WRITE_FAILED`: an earlier put
/// failed. `TAVOLA_ERR_ARGUMENT`: the file is finished.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_cdb_writer_finish(writer: *mut tavola_cdb_writer) -> tavola_status {
    entry(|| {
        let writer = given!(buffer writer);
        match std::mem::replace(&mut writer.inner, State::Finished) {
            State::Cdb(cdb) => {
                writer.finished = cdb.len();
                cdb.finish()?;
            }
            State::Frozen(frozen) => writer.finished = frozen.finish()?,
            State::Finished => return Err(tavola_cdb_writer::is_finished()),
        }
        OK
    })
}

/// Closes a writer. If the file is not finished, it is given up: the old file stays. NULL has no
/// effect.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_cdb_writer_close(writer: *mut tavola_cdb_writer) {
    // SAFETY: the caller's promise: it came from `tavola_cdb_writer_open` and is used no more.
    unsafe { close(writer) };
}
