//! Durable tables: what a write waits for after its change is made, and room in the journal.

use super::core::Core;
use super::transact::MOST_CHANGES;
use crate::alloc::{Need, Stop};
use crate::error::{Error, Result, corrupt};
use crate::journal::{JournalFiles, MOST_PIECE, most_bytes, record_piece, tail, take_last};
use crate::lock::Me;
use crate::values::Durability;
use std::cell::Cell;

thread_local! {
    /// How many calls of this thread wait once, at their end, for all that they change.
    static BATCHES: Cell<u32> = const { Cell::new(0) };
}

impl Core {
    fn files(&self) -> Result<&JournalFiles> {
        match &self.journal {
            Some(files) => Ok(files),
            None => corrupt("the journal"),
        }
    }

    /// Waits for the records of this thread, as the policy says.
    #[cold]
    #[inline(never)]
    pub(super) fn after_record(&self, me: Me) -> Result<()> {
        if BATCHES.get() > 0 || self.durability != Durability::Commit {
            return Ok(());
        }
        self.wait_for_records(me)
    }

    /// Returns whether this thread is in a call that changes many keys.
    pub(crate) fn is_in_batch() -> bool {
        BATCHES.get() > 0
    }

    fn wait_for_records(&self, me: Me) -> Result<()> {
        let end = take_last(self.region());
        if end == 0 {
            return Ok(());
        }
        let files = self.files()?;
        loop {
            // The change is made, and `Busy` would say that nothing was done: the caller would make
            // it a second time. So this waits as long as the one who syncs lives.
            match files.sync_to(self.region(), me, end) {
                Err(Error::Busy { .. }) => {}
                outcome => return outcome,
            }
        }
    }

    /// Calls a function that changes many keys. All its changes are waited for at the end.
    pub(crate) fn in_batch<T>(&self, change: impl FnOnce() -> Result<T>) -> Result<T> {
        if !self.region().is_journaled() {
            return change();
        }
        let batch = Batch::begin();
        let outcome = change();
        drop(batch);
        if let Some(me) = self.membership.current() {
            self.after_record(me)?;
        }
        outcome
    }

    /// Makes room in the journal for a step that lacked it.
    #[cold]
    pub(super) fn make_room_in_journal(&self, me: Me, bytes: u64) -> Result<()> {
        if bytes > most_bytes(self.region()) {
            return Err(Error::TransactionTooLarge {
                limit: MOST_CHANGES as u32,
            });
        }
        self.files()?.make_room(self.region(), me, bytes)
    }

    /// Writes a value to the journal in pieces. Returns the position of the first one; 0 if the
    /// table is not durable.
    pub(crate) fn send_pieces(&self, me: Me, value: &[u8]) -> Result<u64> {
        if !self.region().is_journaled() {
            return Ok(0);
        }
        let mut first = 0;
        for piece in value.chunks(MOST_PIECE) {
            let position = loop {
                match record_piece(self.region(), me, first, piece) {
                    Ok(position) => break position,
                    Err(Stop::Need(Need::Journal { bytes })) => {
                        self.make_room_in_journal(me, bytes)?;
                    }
                    Err(Stop::Need(_)) => return corrupt("the journal"),
                    Err(Stop::Fail(error)) => return Err(error),
                }
            };
            if first == 0 {
                first = position;
            }
        }
        Ok(first)
    }

    /// Returns when all changes of all processes that were made before survive a power failure.
    pub(crate) fn sync(&self) -> Result<()> {
        if !self.region().is_journaled() {
            return Err(self.no_journal());
        }
        let me = self.writer()?;
        self.files()?
            .sync_to(self.region(), me, tail(self.region()))
    }

    /// Returns the error of a call that needs a journal, which this handle has not.
    #[cold]
    pub(crate) fn no_journal(&self) -> Error {
        match self.region().geometry().is_durable {
            true => Error::ReadOnly,
            false => not_durable(),
        }
    }
}

struct Batch;

impl Batch {
    fn begin() -> Self {
        BATCHES.set(BATCHES.get() + 1);
        Self
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        BATCHES.set(BATCHES.get() - 1);
    }
}

/// Returns the error of a call that only durable tables have.
#[cold]
pub(crate) fn not_durable() -> Error {
    Error::BadOption {
        option: "durable",
        why: "the table is only in memory; create a durable one (tavola create --durable DIR)"
            .to_string(),
    }
}
