//! Threads that make the changes of records: one thread reads the records, and several make the
//! changes, those of one shard by one thread, in their order.

use super::batch::WAVE;
use super::core::Core;
use crate::error::{Error, Result};
use crate::journal::{ChangeRecord, Record, decode_change};
use std::collections::HashMap;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Barrier};

/// Bytes of changes that are handed to a thread at once, and how many such pieces may wait.
const HANDED: usize = 64 << 10;
const WAITING: usize = 4;
/// More threads would wait for the one that reads.
const MOST_THREADS: usize = 8;

/// Makes one change.
pub(super) type Make<'m> = dyn Fn(&Core, &ChangeRecord<'_>) -> Result<()> + Sync + 'm;

/// A piece of work for a thread.
enum Task {
    /// Changes, one behind the other.
    Changes(Vec<u8>),
    /// Wait for the others.
    Meet(Arc<Barrier>),
}

/// A thread that makes changes.
struct Worker {
    sender: SyncSender<Task>,
    /// Changes that are not handed over yet.
    changes: Vec<u8>,
}

/// All such threads.
pub(super) struct Workers(Vec<Worker>);

/// Starts threads that make the changes which `read` hands them, and returns when all are made.
pub(super) fn with_workers<T, E: From<Error>>(
    core: &Core,
    make: &Make<'_>,
    read: impl FnOnce(&mut Workers) -> Result<T, E>,
) -> Result<T, E> {
    let shards = core.region().geometry().shards() as usize;
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let count = processors.min(MOST_THREADS).min(shards);
    std::thread::scope(|scope| {
        let mut workers = Vec::with_capacity(count);
        let mut threads = Vec::with_capacity(count);
        for _ in 0..count {
            let (sender, receiver) = sync_channel(WAITING);
            workers.push(Worker {
                sender,
                changes: Vec::with_capacity(HANDED),
            });
            threads.push(scope.spawn(move || make_all(core, make, &receiver)));
        }
        let mut workers = Workers(workers);
        let outcome = read(&mut workers);
        workers.hand_over();
        // The threads end when nothing is handed to them any more.
        drop(workers);
        for thread in threads {
            let made = thread.join();
            made.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        }
        outcome
    })
}

/// Makes the changes that are handed to a thread.
fn make_all(core: &Core, make: &Make<'_>, receiver: &Receiver<Task>) -> Result<()> {
    let mut outcome = Ok(());
    for task in receiver {
        match task {
            Task::Changes(changes) if outcome.is_ok() => {
                outcome = core.in_batch(|| make_changes(core, make, &changes));
            }
            // The others do not wait in vain, whatever has failed here.
            Task::Changes(_) => {}
            Task::Meet(barrier) => {
                barrier.wait();
            }
        }
    }
    outcome
}

fn make_changes(core: &Core, make: &Make<'_>, mut rest: &[u8]) -> Result<()> {
    let mut wave = Vec::with_capacity(WAVE);
    while !rest.is_empty() {
        wave.clear();
        while wave.len() < WAVE
            && let Some((change, after)) = decode_change(rest)
        {
            wave.push(change);
            rest = after;
        }
        if wave.is_empty() {
            return crate::error::corrupt("a record of the journal");
        }
        core.warm(wave.len(), |i| wave[i].key);
        wave.iter().try_for_each(|change| make(core, change))?;
    }
    Ok(())
}

impl Workers {
    /// Lets the thread of this shard make a change, which has these bytes.
    pub(super) fn push(&mut self, shard: u32, change: &[u8]) {
        let number = shard as usize % self.0.len();
        let worker = &mut self.0[number];
        worker.changes.extend_from_slice(change);
        if worker.changes.len() >= HANDED {
            worker.hand_over();
        }
    }

    fn hand_over(&mut self) {
        self.0.iter_mut().for_each(Worker::hand_over);
    }

    /// Returns when all threads have made what was pushed.
    pub(super) fn meet(&mut self) {
        self.hand_over();
        let barrier = Arc::new(Barrier::new(self.0.len() + 1));
        for worker in &self.0 {
            let task = Task::Meet(Arc::clone(&barrier));
            worker
                .sender
                .send(task)
                .expect("a thread takes what it is handed");
        }
        barrier.wait();
    }
}

impl Worker {
    fn hand_over(&mut self) {
        if !self.changes.is_empty() {
            let changes = std::mem::replace(&mut self.changes, Vec::with_capacity(HANDED));
            let sent = self.sender.send(Task::Changes(changes));
            sent.expect("a thread takes what it is handed");
        }
    }
}

/// Values in pieces, by the position of the first one, until a change needs them.
#[derive(Default)]
pub(super) struct Pieces(HashMap<u64, Vec<u8>>);

impl Pieces {
    /// Adds the piece in a record. Returns false if there is none.
    pub(super) fn add(&mut self, record: &Record<'_>) -> bool {
        let (Some(first), Some(bytes)) = (record.word(0), record.body.get(8..)) else {
            return false;
        };
        let first = if first == 0 { record.position } else { first };
        self.0.entry(first).or_default().extend(bytes);
        true
    }

    /// Removes a value, and returns it if it has so many bytes.
    pub(super) fn take(&mut self, first: u64, len: u32) -> Option<Vec<u8>> {
        let mut value = self.0.remove(&first).unwrap_or_default();
        let is_whole = value.len() >= len as usize;
        value.truncate(len as usize);
        is_whole.then_some(value)
    }
}
