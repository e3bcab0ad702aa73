//! Making the changes of a journal's records again, in a table that no other process has yet.
//!
//! Several threads make the changes (`workers`). A tag may be in another shard than its keys, so
//! all threads have made what came before when a tag is invalidated.

use super::core::Core;
use super::request::{Metadata, WriteCondition, WriteRequest};
use super::restore::VERSIONS_AHEAD;
use super::workers::{Pieces, Workers, with_workers};
use crate::alloc::{Stamp, copy_with_field, expect_expiry};
use crate::error::{Error, Result};
use crate::index::locate::{Field, Hash, Why, change_field, find, publish_copy};
use crate::journal::{ChangeRecord, Content, Draft, Kind, Op, Record};
use crate::layout::{FLAG_CLIENT, FLAG_EXPIRY};
use crate::sync::Ordering;

/// All marks.
const MOST_MARKS: u32 = 0xFF_FFFF;

/// The state of a replay.
pub(crate) struct Replay<'c> {
    core: &'c Core,
    workers: &'c mut Workers,
    pieces: Pieces,
    draft: Draft,
    /// The highest version of a key.
    versions: u64,
    /// The last time of the table's clock.
    pub(crate) clock_ms: u64,
    /// Changes that were read.
    pub(crate) changes: u64,
    /// Whether what is read is damaged: then a value that lacks a piece is left out.
    pub(crate) is_salvage: bool,
}

/// Reads records by `read`, and returns when all their changes are made.
pub(crate) fn replay<T, E: From<Error>>(
    core: &Core,
    read: impl FnOnce(&mut Replay<'_>) -> Result<T, E>,
) -> Result<T, E> {
    let (outcome, versions, clock_ms) = with_workers(core, &Core::make_change, |workers| {
        let mut replay = Replay {
            core,
            workers,
            pieces: Pieces::default(),
            draft: Draft::default(),
            versions: 0,
            clock_ms: 0,
            changes: 0,
            is_salvage: false,
        };
        let outcome = read(&mut replay)?;
        Ok::<_, E>((outcome, replay.versions, replay.clock_ms))
    })?;
    core.continue_from(versions, clock_ms);
    Ok(outcome)
}

impl Replay<'_> {
    /// Reads a record. Returns false if it makes no sense.
    pub(crate) fn apply(&mut self, record: &Record<'_>) -> Result<bool> {
        match record.kind {
            Kind::Piece => Ok(self.pieces.add(record)),
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
            Kind::About | Kind::Tag => Ok(false),
        }
    }

    /// Raises the versions that follow: it is not known which ones were given out.
    pub(crate) fn skip_versions(&mut self) {
        self.versions = self.versions.saturating_add(VERSIONS_AHEAD);
    }

    fn change(&mut self, change: ChangeRecord<'_>, bytes: &[u8]) -> Result<bool> {
        self.changes += 1;
        let has_versions = self.core.region().geometry().has_versions;
        if change.marks > MOST_MARKS || change.version != 0 && !has_versions {
            return Ok(false);
        }
        self.versions = self.versions.max(change.version);
        if change.op == Op::Invalidate {
            self.workers.meet();
            self.core.invalidate(change.key)?;
            return Ok(true);
        }
        let shard = Hash::of(self.core.region(), change.key).shard();
        match change.content {
            Content::Here(_) => self.workers.push(shard, bytes),
            Content::Pieces { first, len } => {
                let Some(value) = self.pieces.take(first, len) else {
                    return Ok(self.is_salvage);
                };
                self.draft.begin(Kind::Commit);
                self.draft.push_change(&ChangeRecord {
                    content: Content::Here(&value),
                    ..change
                });
                self.workers.push(shard, self.draft.body());
            }
        }
        Ok(true)
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
