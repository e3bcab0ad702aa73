//! The disk as the journal sees it: one directory, its files, and what is sure to survive a power
//! failure.
//!
//! [`HomeDir`] is the directory of a durable table. The real one ([`RealHome`]) makes system calls;
//! the simulated one (`simulated`, for tests) keeps everything in memory, and can say what may be
//! left of it after a power failure.
//!
//! A power failure leaves this much, as all file systems of Linux promise it, and no more:
//!
//! - Bytes that were written before a [`DiskFile::sync_data`] began that returned are there. Of
//!   later writes, any subset of the sectors of 512 bytes is there, and each sector is old or new.
//! - Names that were created, renamed or removed before a [`HomeDir::sync`] began that returned are
//!   so. Of later changes of names, any subset has happened, but changes of one name in their
//!   order; a rename happens whole or not at all.
//! - A file has the length that it had at its last `sync_data`, or a later one. What was never
//!   written reads as zeros.
//! - A failed `sync_data` promises nothing about anything written before it, also if it is called
//!   again and succeeds, and although reads still return it. The same goes for names and a failed
//!   `sync`.

mod lock;
mod real;
#[cfg(test)]
pub(crate) mod simulated;
#[cfg(all(test, not(miri)))]
mod tests;

pub(crate) use lock::DirLock;
pub(crate) use real::RealHome;

use std::io;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

/// The directory of a durable table. Names have no slash.
pub(crate) trait HomeDir: Send + Sync + UnwindSafe + RefUnwindSafe {
    /// Opens a file for reading and writing.
    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>>;

    /// Creates an empty file, for reading and writing. Fails with `AlreadyExists` if there is one.
    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>>;

    /// Creates an empty file for one writer, or takes over one that a dead writer has left. Returns
    /// `None` while another writer has it open.
    fn claim(&self, name: &str) -> io::Result<Option<Arc<dyn DiskFile>>> {
        match self.remove(name) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        self.create(name).map(Some)
    }

    /// Gives a file another name, and removes the file that had it.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Removes a name.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Returns all names, in no order.
    fn names(&self) -> io::Result<Vec<String>>;

    /// Returns when all changes of names survive a power failure.
    fn sync(&self) -> io::Result<()>;
}

/// A file of the directory.
pub(crate) trait DiskFile: Send + Sync + UnwindSafe + RefUnwindSafe {
    fn len(&self) -> io::Result<u64>;

    /// Reads from `offset` on. Returns fewer bytes than asked for only at the end of the file.
    fn read_at(&self, out: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Writes all bytes at `offset`.
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// Gives the file this length, which is not less than it has: zeroes follow, for which there is
    /// room on the disk.
    fn allocate(&self, len: u64) -> io::Result<()> {
        let had = self.len()?;
        let zeroes = vec![0; len.saturating_sub(had) as usize];
        self.write_all_at(&zeroes, had)
    }

    /// Returns when all bytes that were written, by any process, survive a power failure.
    fn sync_data(&self) -> io::Result<()>;
}
