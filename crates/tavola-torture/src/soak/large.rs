//! A value of 1 to 15 MB that some replace all the time, and all read and hold in view: anyone who
//! is killed or stopped in that, what is seen is whole, and its pages come back.

use super::worker::{Done, Worker, failed};
use crate::value::sealed;
use tavola::Table;

/// Its key.
pub(super) const LARGE: &[u8] = b"large value";
/// Workers that replace it: so many that the table has room for what they write at once.
const WRITERS: usize = 2;
const LEAST: u64 = 1 << 20;
const MOST: u64 = 15 << 20;

impl Worker<'_> {
    pub(super) fn set_large(&mut self, table: &Table) -> Done {
        if self.seat.number >= WRITERS {
            return self.read_large(table);
        }
        let len = LEAST + self.numbers.below(MOST - LEAST);
        let value = sealed(LARGE, self.numbers.next(), len as usize);
        table.set(LARGE, &value).map_err(failed)
    }

    /// Reads it, or has it in view while other keys are read.
    pub(super) fn read_large(&mut self, table: &Table) -> Done {
        if self.numbers.below(2) == 0 {
            let value = table.get(LARGE).map_err(failed)?;
            return self.opened(LARGE, value.as_deref()).map(drop);
        }
        let Some(view) = table.get_view(LARGE).map_err(failed)? else {
            return Ok(());
        };
        for _ in 0..self.numbers.below(100) {
            self.glance(table)?;
        }
        self.version(LARGE, &view.to_vec()).map(drop)
    }
}
