//! The ways from a writer to the place of its lines, one a file.

#[cfg(feature = "peers")]
pub(super) mod events;
pub(super) mod kernel;
pub(super) mod shared;
pub(super) mod stamped;

use std::fs::{File, OpenOptions};
use std::path::Path;

use crate::{Error, Result};

/// Bytes that who carries lines on writes at once, about: as many as tavola's `LogText`.
const CHUNK: usize = 256 << 10;

/// Opens a file of the leader's to append to.
pub(super) fn appending(path: &Path) -> Result<File> {
    let opened = OpenOptions::new().append(true).open(path);
    opened.map_err(Error::io("opening the file for the lines"))
}
