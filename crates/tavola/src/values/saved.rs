//! Results of saving and restoring a table.

use std::time::SystemTime;

/// The numbers of a [`Table::save`](crate::Table::save).
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Saved {
    /// Keys in the file.
    pub keys: u64,
    /// Bytes of the file.
    pub bytes: u64,
}

/// The numbers of a [`Table::restore`](crate::Table::restore).
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Restored {
    /// Keys that were set.
    pub keys: u64,
    /// Keys that the table had already, and kept.
    pub present: u64,
    /// Keys that have expired.
    pub expired: u64,
    /// Keys that have lost a tag.
    pub invalidated: u64,
    /// Keys for which the table has no room.
    pub left_out: u64,
}

/// A file that was read and is whole; from [`Table::saved_file`](crate::Table::saved_file).
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SavedFile {
    /// Keys in the file.
    pub keys: u64,
    /// Bytes of the file.
    pub bytes: u64,
    /// When it was begun, by the wall clock.
    pub saved_at: SystemTime,
    /// Whether this very table was saved, which has not been removed or lost since.
    pub is_of_table: bool,
}
