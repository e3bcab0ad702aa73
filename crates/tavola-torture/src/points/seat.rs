//! The place of a victim.

use std::path::Path;
use tavola::{Result, Table};
use tavola_model::{Answer, Op, perform};

/// The table that operations are done to, open or not.
pub(crate) struct Seat<'a> {
    path: &'a Path,
    table: Option<Table>,
}

impl<'a> Seat<'a> {
    pub(crate) fn new(path: &'a Path) -> Self {
        Self { path, table: None }
    }

    fn table(&mut self) -> Result<&Table> {
        if self.table.is_none() {
            self.table = Some(Table::options().open_existing(self.path)?);
        }
        Ok(self.table.as_ref().expect("opened just now"))
    }

    /// Takes part, and changes nothing else.
    pub(crate) fn attach(&mut self) -> Result<()> {
        self.table()?.participants().map(drop)
    }

    /// Opens the table if it is not open yet, and does an operation.
    pub(crate) fn apply(&mut self, op: &Op) -> Result<Answer> {
        perform(self.table()?, op)
    }
}
