//! Constant files in the place of a table, for commands that read.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use tavola_cdb::{Constant, Error};

use crate::error::CliError;

/// The first bytes of a frozen file.
const FROZEN: [u8; 8] = *b"TavolaFZ";

/// Opens the file that a name is the path of, if it is a constant file. Returns `None` if it is
/// something else, or if the name has no /.
pub fn open(name: &OsStr) -> Result<Option<Constant>, CliError> {
    let path = Path::new(name);
    if !name.as_bytes().contains(&b'/') || !path.is_file() {
        return Ok(None);
    }
    match Constant::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(Error::NotConstant { .. }) if !is_meant(path) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Returns whether a file that is damaged is meant as a constant one: by its first bytes, or by its
/// name if it does not begin as one of our other files.
fn is_meant(path: &Path) -> bool {
    let mut first = [0; FROZEN.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut first));
    let is_cdb = path.extension().is_some_and(|extension| extension == "cdb");
    is_frozen(&first) || is_cdb && !(read.is_ok() && first.starts_with(b"Tavola"))
}

/// Returns whether the first bytes are those of a frozen file.
pub fn is_frozen(first: &[u8]) -> bool {
    first.starts_with(&FROZEN)
}

/// Calls `take` for each record that a search for its key finds, until it returns false. A cdb file
/// may also have later records of a key, and replaced ones.
pub fn each(
    file: &Constant,
    mut take: impl FnMut(&[u8], &[u8]) -> Result<bool, CliError>,
) -> Result<(), CliError> {
    let (mut key, mut value) = (Vec::new(), Vec::new());
    for record in file.records() {
        let record = record?;
        key.clear();
        record.key.append_to(&mut key)?;
        if is_hidden(file, &key, record.key.position())? {
            continue;
        }
        value.clear();
        record.value.append_to(&mut value)?;
        if !take(&key, &value)? {
            break;
        }
    }
    Ok(())
}

/// Returns whether a search for the key finds another record than the one at this place.
fn is_hidden(file: &Constant, key: &[u8], place: u64) -> Result<bool, CliError> {
    let Constant::Cdb(cdb) = file else {
        return Ok(false);
    };
    let found = cdb.find(key).next().transpose()?;
    Ok(found.is_none_or(|found| found.key.position() != place))
}
