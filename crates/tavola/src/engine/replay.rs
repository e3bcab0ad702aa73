//! Making the changes of a journal's records again, in a table that no other process has yet.
//!
//! One thread reads the records, and several make the changes: those of one shard are made by one
//! thread, in their order. A tag may be in another shard than its keys, so all threads have made
//! what came before when a tag is invalidated.

use super::batch::WAVE;
use super::core::Core;
use super::request::{Metadata, WriteCondition, WriteRequest};
use crate::alloc::{Stamp, copy_with_field, expect_expiry};
use crate::error::{Error, Result};
use crate::index::locate::{Field, Hash, Why, change_field, find, publish_copy};
use crate::journal::{ChangeRecord, Content, Draft, Kind, Op, Record, decode_change};
use crate::layout::{FLAG_CLIENT, FLAG_EXPIRY};
use crate::sync::Ordering;
use std::collections::HashMap;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Barrier};

/// Bytes of changes that are handed to a thread at once, and how many such pieces may wait.
const HANDED: usize = 64 << 10;
const WAITING: usize = 4;
/// More threads would wait for the one that reads.
const MOST_THREADS: usize = 8;

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

/// All marks.
const MOST_MARKS: u32 = 0xFF_FFFF;

/// The state of a replay.
pub(crate) struct Replay<'c> {
    core: &'c Core,
    workers: Vec<Worker>,
    /// Values in pieces, by the position of the first one, until a change needs them.
    pieces: HashMap<u64, Vec<u8>>,
    draft: Draft,
    /// The highest version of a key.
    versions: u64,
    /// The last time of the table's clock.
    pub(crate) clock_ms: u64,
    /// Changes that were read.
    pub(crate) changes: u64,
}

/// Reads records by `read`, and returns when all their changes are made.
pub(crate) fn replay<T, E: From<Error>>(
    core: &Core,
    read: impl FnOnce(&mut Replay<'_>) -> Result<T, E>,
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
            threads.push(scope.spawn(move || make_all(core, &receiver)));
        }
        let mut replay = Replay {
            core,
            workers,
            pieces: HashMap::new(),
            draft: Draft::default(),
            versions: 0,
            clock_ms: 0,
            changes: 0,
        };
        let outcome = read(&mut replay);
        replay.hand_over();
        let (versions, clock_ms) = (replay.versions, replay.clock_ms);
        // The threads end when nothing is handed to them any more.
        drop(replay);
        for thread in threads {
            let made = thread.join();
            made.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        }
        let outcome = outcome?;
        core.continue_from(versions, clock_ms);
        Ok(outcome)
    })
}

/// Makes the changes that are handed to a thread.
fn make_all(core: &Core, receiver: &Receiver<Task>) -> Result<()> {
    let mut outcome = Ok(());
    for task in receiver {
        match task {
            Task::Changes(changes) if outcome.is_ok() => outcome = make_changes(core, &changes),
            // The others do not wait in vain, whatever has failed here.
            Task::Changes(_) => {}
            Task::Meet(barrier) => {
                barrier.wait();
            }
        }
    }
    outcome
}

fn make_changes(core: &Core, mut rest: &[u8]) -> Result<()> {
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
        wave.iter()
            .try_for_each(|change| core.make_change(change))?;
    }
    Ok(())
}

impl Replay<'_> {
    /// Reads a record. Returns false if it makes no sense.
    pub(crate) fn apply(&mut self, record: &Record<'_>) -> Result<bool> {
        match record.kind {
            Kind::Piece => {
                let (Some(first), Some(bytes)) = (record.word(0), record.body.get(8..)) else {
                    return Ok(false);
                };
                let first = if first == 0 { record.position } else { first };
                self.pieces.entry(first).or_default().extend(bytes);
                Ok(true)
            }
            Kind::Clock => {
                let now_ms = record.word(0);
                self.clock_ms = self.clock_ms.max(now_ms.unwrap_or(0));
                Ok(now_ms.is_some())
            }
            Kind::Commit => {
                let mut outcome = Ok(true);
                let all = record.each_change(|change, bytes| {
                    if matches!(outcome, Ok(true)) {
                        outcome = self.change(change, bytes);
                    }
                });
                Ok(all.is_some() && outcome?)
            }
            Kind::Foot => {
                self.versions = self.versions.max(record.word(2).unwrap_or(0));
                Ok(true)
            }
        }
    }

    fn change(&mut self, change: ChangeRecord<'_>, bytes: &[u8]) -> Result<bool> {
        self.changes += 1;
        let has_versions = self.core.region().geometry().has_versions;
        if change.marks > MOST_MARKS || change.version != 0 && !has_versions {
            return Ok(false);
        }
        self.versions = self.versions.max(change.version);
        if change.op == Op::Invalidate {
            self.meet();
            self.core.invalidate(change.key)?;
            return Ok(true);
        }
        let shard = Hash::of(self.core.region(), change.key).shard() as usize;
        let number = shard % self.workers.len();
        let worker = &mut self.workers[number];
        match change.content {
            Content::Here(_) => worker.changes.extend_from_slice(bytes),
            Content::Pieces { first, len } => {
                let pieces = self.pieces.remove(&first).unwrap_or_default();
                let Some(value) = pieces.get(..len as usize) else {
                    return Ok(false);
                };
                self.draft.begin(Kind::Commit);
                self.draft.push_change(&ChangeRecord {
                    content: Content::Here(value),
                    ..change
                });
                worker.changes.extend_from_slice(self.draft.body());
            }
        }
        if worker.changes.len() >= HANDED {
            worker.hand_over();
        }
        Ok(true)
    }

    fn hand_over(&mut self) {
        self.workers.iter_mut().for_each(Worker::hand_over);
    }

    /// Returns when all threads have made what was read.
    fn meet(&mut self) {
        self.hand_over();
        let barrier = Arc::new(Barrier::new(self.workers.len() + 1));
        for worker in &self.workers {
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

impl Core {
    /// Makes a change that concerns one key.
    fn make_change(&self, change: &ChangeRecord<'_>) -> Result<()> {
        let value = match change.content {
            Content::Here(value) => value,
            Content::Pieces { .. } => &[],
        };
        match change.op {
            Op::Set => {
                let tags = self.tags(&change.tags)?;
                let stamp = Stamp {
                    expiry_ms: change.expiry_ms,
                    client: change.client,
                    marks: change.marks,
                    tags: &tags,
                    version: change.version,
                };
                let metadata = Metadata::new(stamp, false);
                let metadata = (!metadata.stamp.is_none()).then_some(&metadata);
                let request = self.request(change.key, WriteCondition::Always, metadata)?;
                self.write(&request, value)?;
            }
            Op::Value => {
                let keeping = Metadata::new(Stamp::NONE, true);
                let request = self.request(change.key, WriteCondition::Present, Some(&keeping))?;
                self.write(&request, value)?;
            }
            Op::Attributes => {
                let request = self.request(change.key, WriteCondition::Always, None)?;
                self.set_attributes(&request, change)?;
            }
            Op::Remove => {
                let request = self.request(change.key, WriteCondition::Always, None)?;
                self.remove(&request)?;
            }
            Op::Invalidate => {
                self.invalidate(change.key)?;
            }
        }
        Ok(())
    }

    /// Gives a key these attributes, if it exists.
    fn set_attributes(&self, request: &WriteRequest<'_>, change: &ChangeRecord<'_>) -> Result<()> {
        let hash = request.hash;
        let client = u64::from(change.client) | u64::from(change.marks) << 40;
        for field in [FLAG_EXPIRY, FLAG_CLIENT] {
            self.locked(hash.shard(), request.participant, |lock| {
                let Some(found) = find(lock, hash, request.key)?.found() else {
                    return Ok(());
                };
                if change.expiry_ms != 0 {
                    expect_expiry(lock);
                }
                let item = found.item(lock)?;
                let tags = item.tags().len() as u64;
                let (place, content, to) = match field {
                    FLAG_EXPIRY => {
                        let to = Field::Expiry(change.expiry_ms);
                        (item.expiry_word(), change.expiry_ms, to)
                    }
                    _ => {
                        let word = client | tags << 32;
                        (item.client_word(), word, Field::Client(word))
                    }
                };
                match place {
                    Some(place) => change_field(lock, hash, &item, place, to),
                    None if content == 0 => Ok(()),
                    None => {
                        let hint = found.hint(lock)?;
                        let copy = copy_with_field(lock, &item, field, content)?;
                        publish_copy(lock, hash, &found, copy, hint, Why::Field)
                    }
                }
            })?;
        }
        Ok(())
    }

    /// Lets the table continue from these versions and this time.
    fn continue_from(&self, versions: u64, clock_ms: u64) {
        let region = self.region();
        if region.geometry().has_versions {
            for shard in 0..region.geometry().shards() {
                let word = &region.shard(shard).versions;
                word.store(versions, Ordering::Relaxed);
            }
        }
        region.set_clock_to(clock_ms);
    }

    /// Returns the highest version of all shards.
    pub(crate) fn last_version(&self) -> u64 {
        let shards = 0..self.region().geometry().shards();
        let versions = shards.map(|shard| {
            let word = &self.region().shard(shard).versions;
            word.load(Ordering::Relaxed)
        });
        versions.max().unwrap_or(0)
    }
}
