//! What a trial asks of a store, and the stores that this program can use by itself.

use super::{files, table};
use crate::compare::torment::job::Job;

/// A store that is open. An error is the store's own sentence.
pub(crate) trait Store {
    /// Sets a key.
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), String>;
    /// The value, if there is the key.
    fn get(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>, String>;
    /// Removes a key; it need not be there.
    fn remove(&mut self, key: &[u8]) -> Result<(), String>;
    /// Adds one to a counter by the best means there is, and names it.
    fn add_one(&mut self, key: &[u8]) -> Result<&'static str, String>;
    /// Reads, and keeps what a reader of this store keeps; names it.
    fn hold(&mut self, key: &[u8]) -> Result<&'static str, String>;
    /// Closes in good order.
    fn close(&mut self) -> Result<(), String> {
        Ok(())
    }
}

/// Opens the store that the job names, or makes it.
pub(super) fn open(job: &Job) -> Result<Box<dyn Store>, String> {
    match job.peer.as_str() {
        "tavola" => table::Table::open(job, false),
        "tavola-cache" => table::Table::open(job, true),
        "files-plain" => files::Files::open(job),
        other => Err(format!("this program cannot use {other} by itself")),
    }
}
