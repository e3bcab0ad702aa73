//! Durable tables: what a write waits for after its change is made, and room in the journal.

use super::core::Core;
use super::plan::MOST_CHANGES;
use crate::alloc::{Need, Stop};
use crate::error::{Error, Result, corrupt};
use crate::journal::{JournalFiles, MOST_PIECE, most_bytes, record_piece, tail, take_last};
use crate::lock::Me;
use crate::values::Durability;
use std::cell::Cell;

/// A call that waits once, at its end, for all that it changes.
#[derive(Clone, Copy)]
struct Batch {
    /// The number of the handle that it changes; 0: no such call.
    handle: u64,
    /// The end of the last record of its changes, or 0.
    end: u64,
}

impl Batch {
    const NONE: Self = Self { handle: 0, end: 0 };
}

thread_local! {
    /// The innermost such call of this thread.
    static BATCH: Cell<Batch> = const { Cell::new(Batch::NONE) };
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
        if self.durability != Durability::Commit {
            return Ok(());
        }
        let end = take_last(self.region());
        let batch = BATCH.get();
        if batch.handle == self.number {
            // It is noted here because the thread's next record may be one of another table.
            let end = end.max(batch.end);
            BATCH.set(Batch { end, ..batch });
            return Ok(());
        }
        self.wait_for_record(me, end)
    }

    /// Returns whether this thread is in a call that waits once for all changes of this handle.
    pub(crate) fn is_in_batch(&self) -> bool {
        BATCH.get().handle == self.number
    }

    /// Returns when the records up to `end` are on disk; 0: none.
    fn wait_for_record(&self, me: Me, end: u64) -> Result<()> {
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
    pub(crate) fn in_batch<T, E: From<Error>>(
        &self,
        change: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        if !self.region().is_journaled() || self.is_in_batch() {
            return change();
        }
        let running = RunningBatch::begin(self.number);
        let outcome = change();
        let end = running.end();
        if let Some(me) = self.membership.current() {
            self.wait_for_record(me, end)?;
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
                    Err(Stop::Need(_)) => unreachable!("a piece needs no pages"),
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

/// A batch that runs. It has the one around it, which is the thread's again when it is dropped.
struct RunningBatch(Batch);

impl RunningBatch {
    fn begin(handle: u64) -> Self {
        Self(BATCH.replace(Batch { handle, end: 0 }))
    }

    /// Ends it. Returns the end of the last record of its changes, or 0.
    fn end(self) -> u64 {
        BATCH.get().end
    }
}

impl Drop for RunningBatch {
    fn drop(&mut self) {
        BATCH.set(self.0);
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
