//! The sentences of the causes of failure: what failed, on which object, why, and what to do.
//!
//! The match in `Display` names every variant, so one without a sentence does not compile.

use super::{Advised, BoxError, Error, Holder, Shown};
use std::fmt::{self, Formatter};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::Duration;

const READ_ONLY: &str = "the table is open read-only, or its file system is read-only; open the \
    table for writing, or move it to another file system";
const NO_UIDS: &str = "the table has fixed lengths and no uids; create it with the option uids";
const DRAINED: &str =
    "the log already has a drain; end that drain, or read the log without draining it";
const CONFLICT: &str =
    "another process has changed a key that the transaction has read; begin it again";
const ABORTED: &str = "the transaction was aborted by its own function; nothing was changed; run \
    it again if its changes are still wanted";
const NO_COUNTER: &str =
    "the value is not a decimal number below 2^64; set it to such a number, or remove the key";
const REENTRANT: &str = "this thread has the turn of the table or is in the middle of a write; \
    begin no transaction with the turn inside another one, and only read in signal handlers";

impl fmt::Display for Error {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound { path } => write_not_found(f, path),
            Self::AlreadyExists { path } => write_already_exists(f, path),
            Self::Full { reason } => write!(f, "there is no room: {reason}"),
            Self::Corrupt { what } => write_corrupt(f, what),
            Self::NotATable { path, why } => write_not_a_table(f, path, why),
            Self::Version {
                path,
                found,
                expected,
            } => write_version(f, path, *found, *expected),
            Self::Endianness { path } => write_endianness(f, path),
            Self::Permission { path, source } => write_refused(f, path, source),
            Self::ReadOnly => f.write_str(READ_ONLY),
            Self::BadName { name, why } => write_bad_name(f, name, why),
            Self::BadOption { option, why } => write!(f, "the option {option} is invalid: {why}"),
            Self::TooManyParticipants { limit } => write_too_many(f, *limit),
            Self::TooLarge { bytes } => write_too_large(f, *bytes),
            Self::KeyTooLong { bytes } => write_key_too_long(f, *bytes),
            Self::NotDurable { path, source } => write_not_durable(f, path, source),
            Self::DamagedJournal { path, why } => write_damaged_journal(f, path, why),
            Self::NotRestorable { path, why } => write_not_restorable(f, path, why),
            Self::InUseElsewhere { path } => write_in_use_elsewhere(f, path),
            Self::Lengths { key, value } => write_lengths(f, *key, *value),
            Self::NoUids => f.write_str(NO_UIDS),
            Self::NotThere { what, name } => write_not_there(f, what, name),
            Self::AlreadyThere { what, name } => write_already_there(f, what, name),
            Self::NotHeld { element } => write_not_held(f, *element),
            Self::AlreadyDrained => f.write_str(DRAINED),
            Self::Sink { source } => write_sink(f, source),
            Self::Compute { source } => write_compute(f, source),
            Self::Codec { source } => write_codec(f, source),
            Self::NotComputed { why, retry } => write_not_computed(f, why, *retry),
            Self::Conflict => f.write_str(CONFLICT),
            Self::Aborted => f.write_str(ABORTED),
            Self::TransactionTooLarge { limit } => write_transaction_too_large(f, *limit),
            Self::NotACounter => f.write_str(NO_COUNTER),
            Self::Reentrant => f.write_str(REENTRANT),
            Self::Busy { holder, waited } => write_busy(f, holder, *waited),
            Self::Io { op, path, source } => write_io(f, op, path, source),
        }
    }
}

fn write_not_found(f: &mut Formatter<'_>, path: &Path) -> fmt::Result {
    write!(
        f,
        "there is no table at {}; check the name and TAVOLA_DIR, or create the table",
        Shown(path)
    )
}

fn write_already_exists(f: &mut Formatter<'_>, path: &Path) -> fmt::Result {
    write!(
        f,
        "a table already exists at {}; open it, or choose another name",
        Shown(path)
    )
}

fn write_corrupt(f: &mut Formatter<'_>, what: &str) -> fmt::Result {
    write!(
        f,
        "the table is damaged ({what}); repair it with 'tavola check --repair', or load it again"
    )
}

fn write_not_a_table(f: &mut Formatter<'_>, path: &Path, why: &str) -> fmt::Result {
    write!(
        f,
        "{} is not a table ({why}); check the name, or choose another",
        Shown(path)
    )
}

fn write_version(f: &mut Formatter<'_>, path: &Path, found: u32, expected: u32) -> fmt::Result {
    let path = Shown(path);
    write!(
        f,
        "{path} has format version {found}, this library reads version {expected}; "
    )?;
    match found == 1 && expected > 1 {
        true => write!(f, "to keep its keys run: tavola migrate {path}"),
        false => f.write_str("dump it with the version that wrote it and load it again"),
    }
}

fn write_endianness(f: &mut Formatter<'_>, path: &Path) -> fmt::Result {
    write!(
        f,
        "{} was created on a machine with another byte order; dump it there and load it here",
        Shown(path)
    )
}

/// Writes the sentence for access that was refused. A cause that this library found has its own
/// advice.
fn write_refused(f: &mut Formatter<'_>, path: &Path, source: &io::Error) -> fmt::Result {
    let path = Shown(path);
    match source.raw_os_error() {
        None if is_advised(source) => write!(f, "access to {path} was refused: {source}"),
        None => write!(f, "{path} is not used: {source}"),
        Some(_) => write!(
            f,
            "access to {path} was refused ({source}); ask its owner for access, \
             or use a table or a TAVOLA_DIR of your own"
        ),
    }
}

fn is_advised(source: &io::Error) -> bool {
    source.get_ref().is_some_and(|inner| inner.is::<Advised>())
}

fn write_bad_name(f: &mut Formatter<'_>, name: &str, why: &str) -> fmt::Result {
    write!(f, "the name {name} is invalid: {why}; choose another one")
}

fn write_too_many(f: &mut Formatter<'_>, limit: u32) -> fmt::Result {
    write!(
        f,
        "all {limit} participant slots are in use by running processes; end some of them, or open \
         the table read-only"
    )
}

fn write_too_large(f: &mut Formatter<'_>, bytes: u64) -> fmt::Result {
    write!(
        f,
        "key and value together have {bytes} bytes, more than 4294967295; split the value over \
         several keys"
    )
}

fn write_lengths(f: &mut Formatter<'_>, key: u32, value: u32) -> fmt::Result {
    write!(
        f,
        "the table accepts only keys of {key} bytes and values of {value} bytes; use these \
         lengths, or a table without fixed lengths"
    )
}

fn write_key_too_long(f: &mut Formatter<'_>, bytes: u64) -> fmt::Result {
    write!(
        f,
        "the key has {bytes} bytes; keys of a durable table have at most 8192: shorten it, for \
         example to a hash"
    )
}

fn write_not_durable(f: &mut Formatter<'_>, path: &Path, source: &io::Error) -> fmt::Result {
    if source.raw_os_error().is_none() {
        return write!(f, "this handle cannot change {}: {source}", Shown(path));
    }
    write!(
        f,
        "the disk of {} failed ({source}): writes are refused until a snapshot succeeds; free the \
         disk or move the table, then run: tavola snapshot {0}",
        Shown(path)
    )
}

fn write_damaged_journal(f: &mut Formatter<'_>, path: &Path, why: &str) -> fmt::Result {
    write!(
        f,
        "{} is damaged ({why}); restore it from a backup, or see with tavola journal --verify what \
         is lost, and accept that with: tavola repair --cut",
        Shown(path)
    )
}

fn write_not_restorable(f: &mut Formatter<'_>, path: &Path, why: &str) -> fmt::Result {
    write!(
        f,
        "{} cannot be restored ({why}), and nothing was changed; restore another file, or save the \
         table again",
        Shown(path)
    )
}

fn write_in_use_elsewhere(f: &mut Formatter<'_>, path: &Path) -> fmt::Result {
    write!(
        f,
        "{} is in use by processes whose shared memory this process cannot reach; end them, or run \
         all in the same /dev/shm (in containers: --ipc or a common mount)",
        Shown(path)
    )
}

fn write_not_there(f: &mut Formatter<'_>, what: &str, name: &str) -> fmt::Result {
    write!(
        f,
        "there is no {what} named {name:?}; check the name, or create it"
    )
}

fn write_already_there(f: &mut Formatter<'_>, what: &str, name: &str) -> fmt::Result {
    write!(
        f,
        "a {what} named {name:?} exists already; open it, or choose another name"
    )
}

fn write_not_held(f: &mut Formatter<'_>, element: u32) -> fmt::Result {
    write!(
        f,
        "element {element} is not held by this process; push only elements that this process has \
         popped, each once"
    )
}

fn write_sink(f: &mut Formatter<'_>, source: &io::Error) -> fmt::Result {
    write!(
        f,
        "lines of the log could not be written out ({source}), and stay in the log; correct that, \
         then drain it again"
    )
}

fn write_compute(f: &mut Formatter<'_>, source: &BoxError) -> fmt::Result {
    write!(
        f,
        "the value could not be computed ({source}); correct that cause, which is the calling \
         program's own, then call again"
    )
}

fn write_codec(f: &mut Formatter<'_>, source: &BoxError) -> fmt::Result {
    write!(
        f,
        "the bytes do not match the type of the typed table: {source}; read the key with the type \
         it was set with"
    )
}

fn write_not_computed(f: &mut Formatter<'_>, why: &str, retry: Duration) -> fmt::Result {
    write!(
        f,
        "the last attempt to compute the value failed ({why}); try again in {retry:?}"
    )
}

fn write_transaction_too_large(f: &mut Formatter<'_>, limit: u32) -> fmt::Result {
    write!(
        f,
        "the transaction changes more than {limit} keys, the most that it can; use several \
         transactions, or set_many"
    )
}

fn write_busy(f: &mut Formatter<'_>, holder: &Holder, waited: Duration) -> fmt::Result {
    write!(
        f,
        "{} is locked by {holder}, for more than {waited:.0?}; try again, or continue or end that \
         process",
        holder.lock
    )
}

/// Writes what failed, and what to do about it: an error of this library's own says so itself.
fn write_io(f: &mut Formatter<'_>, op: &str, path: &Path, source: &io::Error) -> fmt::Result {
    write!(f, "{op} failed for {}: {source}", Shown(path))?;
    match source.raw_os_error() {
        Some(number) => write!(f, "; {}", advice(number, source.kind())),
        None => Ok(()),
    }
}

/// Returns what to do about an error of the system.
fn advice(number: i32, kind: ErrorKind) -> &'static str {
    match (kind, number) {
        (ErrorKind::NotFound | ErrorKind::NotADirectory, _) => "check that its path exists",
        (ErrorKind::PermissionDenied, _) => "ask its owner for access, or use another directory",
        (ErrorKind::StorageFull | ErrorKind::QuotaExceeded, _) => {
            "free space on its file system, or enlarge it or the quota"
        }
        (ErrorKind::ReadOnlyFilesystem, _) => "move it to a file system that can be written",
        (ErrorKind::OutOfMemory, _) => "end processes, or raise the memory limit (ulimit -v)",
        (ErrorKind::ResourceBusy | ErrorKind::WouldBlock, _) => {
            "end the process that uses it, or try again later"
        }
        (_, libc::EMFILE) => "close files, or raise this process's limit of them (ulimit -n)",
        (_, libc::ENFILE) => "end processes, or raise the system's limit of files (fs.file-max)",
        (_, libc::EIO) => "check the disk and the kernel log (dmesg)",
        _ => "check the file and its file system (df -T, dmesg), then try again",
    }
}
