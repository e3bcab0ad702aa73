//! The table of an earlier tour: is it one, and may it be replaced?

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::fs::{FlockOperation, SeekFrom, fcntl_lock, seek};
use tavola::{Error, Table, names};

use super::next_steps::quoted;
use super::{MARKER, MARKER_VALUE};
use crate::error::CliError;

/// Bytes read at once.
const PIECE: usize = 1 << 20;

/// Removes the table of an earlier tour, and no other; it is an error when there is another.
pub fn clear(name: &OsStr) -> Result<(), CliError> {
    let (ours, busy) = match Table::open_read_only(name) {
        Ok(old) => known(&old)?,
        Err(Error::NotFound { .. }) => return Ok(()),
        // Of an older or newer build: what it holds cannot be asked for.
        Err(error @ (Error::Version { .. } | Error::NotATable { .. })) => {
            let path = names::path_of(name)?;
            match of_other_layout(&path) {
                Ok((true, busy)) => (true, busy),
                _ => return Err(error.into()),
            }
        }
        Err(error) => return Err(error.into()),
    };
    let why = match (ours, busy) {
        (true, false) => return Ok(names::remove(name)?),
        (true, true) => "is in use",
        (false, _) => "was not made by a tour",
    };
    let name = quoted(name);
    Err(CliError::Sentence(format!(
        "the table {name} {why}; choose another one with --table NAME"
    )))
}

/// Whether a tour made it, and whether another process is attached.
fn known(old: &Table) -> Result<(bool, bool), CliError> {
    let ours = old.get(MARKER)?.as_deref() == Some(MARKER_VALUE);
    let is_other = |one: &tavola::Participant| one.alive && !one.is_this_process();
    Ok((ours, old.participants()?.iter().any(is_other)))
}

/// The same of a table that cannot be opened: it begins as every table does, and somewhere in its
/// bytes the marker is behind its key; an attached process holds a record lock on the file.
fn of_other_layout(path: &Path) -> io::Result<(bool, bool)> {
    let file = File::options().read(true).write(true).open(path)?;
    let mut magic = [0; 8];
    file.read_exact_at(&mut magic, 0)?;
    let ours = &magic == b"TavolaKV" && holds(&file, &[MARKER, MARKER_VALUE].concat())?;
    let busy = fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive).is_err();
    Ok((ours, busy))
}

/// Whether these bytes stand in what is written of a sparse file.
fn holds(file: &File, wanted: &[u8]) -> io::Result<bool> {
    let mut piece = vec![0; PIECE];
    let mut at = 0;
    // Ends with an error where nothing but a hole is left.
    while let Ok(data) = seek(file, SeekFrom::Data(at)) {
        let len = file.read_at(&mut piece, data)?;
        if piece[..len]
            .windows(wanted.len())
            .any(|some| some == wanted)
        {
            return Ok(true);
        }
        if len < wanted.len() {
            return Ok(false);
        }
        // What is looked for may begin in one piece and end in the next.
        at = data + (len - wanted.len() + 1) as u64;
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_found_wherever_they_stand_in_a_sparse_file() {
        let file = tempfile::tempfile_in("/dev/shm").unwrap();
        file.set_len(1 << 30).unwrap();
        for at in [0, 5, PIECE as u64 - 3, 700 << 20, (1 << 30) - 6] {
            assert!(!holds(&file, b"wanted").unwrap());
            file.write_all_at(b"wanted", at).unwrap();
            assert!(holds(&file, b"wanted").unwrap(), "at {at}");
            file.write_all_at(b"wanteX", at).unwrap();
        }
    }
}
