//! The lock under which a table that goes with its owner loses its name.
//!
//! A name may lead to another file from one moment to the next. Under this lock, a record lock on a
//! byte of the file, the name leads to the file that was locked: opening, closing and removing such
//! a table takes the lock of the file that the name leads to. The lock ends with its process.

use super::cause::explained;
use super::location::Location;
use crate::error::Result;
use crate::sys::file::{len_and_blocks, try_lock_byte, unlock_byte};
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

/// The byte, before those of the participants.
const BYTE: u64 = (1 << 62) - 1;
/// It is held for a few system calls. A process that holds it for longer is stopped.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(1);

/// The lock of a name; released when it is dropped.
pub(crate) struct NameLock<'a> {
    at: &'a Location,
    fd: OwnedFd,
}

impl<'a> NameLock<'a> {
    /// Locks the name of a table. Returns `None` if the name leads to nothing.
    pub(crate) fn of(at: &'a Location) -> Result<Option<Self>> {
        let failed = |source| explained("opening the table", at.path(), source);
        let begun = Instant::now();
        loop {
            let fd = match at.open(true) {
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
                opened => opened.map_err(failed)?,
            };
            if try_lock_byte(fd.as_fd(), BYTE).map_err(failed)? {
                let locked = Self { at, fd };
                let info = len_and_blocks(locked.fd.as_fd()).map_err(failed)?;
                if at.leads_to(&info) {
                    return Ok(Some(locked));
                }
                continue;
            }
            if begun.elapsed() > PATIENCE {
                let why = "a process that opens or closes the table is stopped; let it continue";
                return Err(failed(io::Error::new(ErrorKind::TimedOut, why)));
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Removes the name.
    pub(crate) fn remove_name(&self) -> Result<()> {
        self.at.remove()
    }
}

impl Drop for NameLock<'_> {
    fn drop(&mut self) {
        // A child that was forked meanwhile has the descriptor, and would keep the lock.
        let _ = unlock_byte(self.fd.as_fd(), BYTE);
    }
}
