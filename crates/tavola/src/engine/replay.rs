//! Making the changes of a journal's records again, in a table that no other process has yet.

use super::core::Core;
use super::request::{Metadata, WriteCondition, WriteRequest};
use crate::alloc::{Stamp, copy_with_field, expect_expiry};
use crate::error::Result;
use crate::index::{Field, Why, change_field, find, publish_copy};
use crate::journal::{ChangeRecord, Content, Kind, Op, Record};
use crate::layout::{FLAG_CLIENT, FLAG_EXPIRY};
use crate::sync::Ordering;
use std::collections::HashMap;

/// All marks.
const MOST_MARKS: u32 = 0xFF_FFFF;

/// What was read so far.
pub(crate) struct Replay<'c> {
    core: &'c Core,
    /// Values in pieces, by the position of the first one, until a change needs them.
    pieces: HashMap<u64, Vec<u8>>,
    /// The highest version of a key.
    versions: u64,
    /// The last time of the table's clock.
    pub(crate) clock_ms: u64,
    /// Changes that were made.
    pub(crate) changes: u64,
}

impl<'c> Replay<'c> {
    pub(crate) fn new(core: &'c Core) -> Self {
        Self {
            core,
            pieces: HashMap::new(),
            versions: 0,
            clock_ms: 0,
            changes: 0,
        }
    }

    /// Makes the changes of a record. Returns false if the record makes no sense.
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
                let all = record.each_change(|change| {
                    if matches!(outcome, Ok(true)) {
                        outcome = self.change(&change);
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

    fn change(&mut self, change: &ChangeRecord<'_>) -> Result<bool> {
        self.changes += 1;
        let core = self.core;
        let has_versions = core.region().geometry().has_versions;
        if change.marks > MOST_MARKS || change.version != 0 && !has_versions {
            return Ok(false);
        }
        let pieces;
        let value = match change.content {
            Content::Here(value) => value,
            Content::Pieces { first, len } => {
                pieces = self.pieces.remove(&first).unwrap_or_default();
                match pieces.get(..len as usize) {
                    Some(value) => value,
                    None => return Ok(false),
                }
            }
        };
        self.versions = self.versions.max(change.version);
        match change.op {
            Op::Set => {
                let tags = core.tags(&change.tags)?;
                let stamp = Stamp {
                    expiry_ms: change.expiry_ms,
                    client: change.client,
                    marks: change.marks,
                    tags: &tags,
                    version: change.version,
                };
                let metadata = Metadata::new(stamp, false);
                let metadata = (!metadata.stamp.is_none()).then_some(&metadata);
                let request = core.request(change.key, WriteCondition::Always, metadata)?;
                core.write(&request, value)?;
            }
            Op::Value => {
                let keeping = Metadata::new(Stamp::NONE, true);
                let request = core.request(change.key, WriteCondition::Present, Some(&keeping))?;
                core.write(&request, value)?;
            }
            Op::Attributes => {
                let request = core.request(change.key, WriteCondition::Always, None)?;
                core.set_attributes(&request, change)?;
            }
            Op::Remove => {
                let request = core.request(change.key, WriteCondition::Always, None)?;
                core.remove(&request)?;
            }
            Op::Invalidate => {
                core.invalidate(change.key)?;
            }
        }
        Ok(true)
    }

    /// Ends: the table continues the versions and the clock.
    pub(crate) fn finish(self) {
        let region = self.core.region();
        if region.geometry().has_versions {
            for shard in 0..region.geometry().shards() {
                let word = &region.shard(shard).versions;
                word.store(self.versions, Ordering::Relaxed);
            }
        }
        region.set_clock_to(self.clock_ms);
    }
}

impl Core {
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
