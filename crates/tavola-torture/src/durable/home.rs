//! The directory of a durable table, and its memory.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use tavola::{Durability, Options, Table};

/// Bytes of records in a file: a few steps fill one.
const FILE: u64 = 64 << 10;
/// Where the file `table` says where the memory is: the length of the path, the path.
const PATH_LEN: usize = 2048 + 48;

pub(crate) fn options(durability: Durability) -> Options {
    let options = Table::options().max_size(4 << 20).shards(2);
    options.durable(durability).journal_file_size(FILE)
}

/// Returns the path of a table's memory, if there was one.
pub(crate) fn memory(home: &Path) -> Option<PathBuf> {
    let table = std::fs::read(home.join("table")).ok()?;
    let len = u64::from_le_bytes(table.get(PATH_LEN..PATH_LEN + 8)?.try_into().ok()?);
    let path = table.get(PATH_LEN + 8..PATH_LEN + 8 + len as usize)?;
    (len > 0).then(|| PathBuf::from(String::from_utf8_lossy(path).into_owned()))
}

/// Removes a table's memory, as a restart of the machine does.
pub(crate) fn lose_memory(home: &Path) -> io::Result<()> {
    match memory(home).map(std::fs::remove_file) {
        Some(Err(error)) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Removes all.
pub(crate) fn remove(home: &Path) -> io::Result<()> {
    lose_memory(home)?;
    match std::fs::remove_dir_all(home) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
