//! Setting the keys of a saved file that a table lacks, while other processes use it.
//!
//! | what a key of the file has | what it gets |
//! |---|---|
//! | an expiry | the same in the same table; in another one, that wall-clock time |
//! | tags | their handles in the same table, if they are there; in another one, new handles |
//! | a version | that version; later ones of this table are above all that were given out |
//! | a place in the order of eviction | the state of its slot |
//!
//! A key is set only if it is missing, so whatever others have written is newer and stays.

use super::core::Core;
use super::request::{Metadata, NEXT, WriteCondition};
use super::workers::{Pieces, Workers, with_workers};
use crate::alloc::{Stamp, Tags};
use crate::error::{Error, Result};
use crate::index::locate::{Hash, find, restore_state, tag_name};
use crate::journal::{
    About, ChangeRecord, Content, Draft, Kind, NOTE_STATE, Op, Record, decode_tag,
};
use crate::layout::Hint;
use crate::sync::{Ordering, W32, W64};
use crate::sys::clock;
use crate::values::{MARKS, Restored};
use std::collections::HashMap;

/// How far versions rise if it is not known which were given out: another table may have given out
/// that many after it was saved.
pub(super) const VERSIONS_AHEAD: u64 = 1 << 36;
/// Versions from here on are not from a table, and would leave no room for later ones.
pub(crate) const MOST_VERSION: u64 = 1 << 62;

/// Facts about a file that are known before the first key is set.
pub(crate) struct RestorePlan {
    pub(crate) about: About,
    /// Whether the table is the one that was saved.
    pub(crate) is_same: bool,
    /// The highest version in the file.
    pub(crate) versions: u64,
    /// Bytes of keys that a cache takes of each state of slots.
    pub(crate) budgets: [u64; 8],
    /// The last place of keys that the file may have several times, counted in changes.
    pub(crate) last: HashMap<Vec<u8>, u64>,
}

impl RestorePlan {
    /// Estimates the bytes that a key takes in a table, with its part of the index.
    pub(crate) fn cost(change: &ChangeRecord<'_>) -> u64 {
        let value = match change.content {
            Content::Here(value) => value.len() as u64,
            Content::Pieces { len, .. } => u64::from(len),
        };
        let item = 24 + 8 * change.tags.len() as u64 + change.key.len() as u64 + value;
        item * 9 / 8 + 12
    }

    /// Returns an expiry of the file in time of this table's clock.
    fn expiry_ms(&self, expiry_ms: u64, now_ms: u64) -> u64 {
        if expiry_ms == 0 || self.is_same {
            return expiry_ms;
        }
        let left_then = expiry_ms.saturating_sub(self.about.clock_ms);
        let ends_unix_ms = self.about.unix_ms.saturating_add(left_then);
        let left_now = ends_unix_ms.saturating_sub(clock::unix_ms());
        // 0 would be never.
        now_ms.saturating_add(left_now).max(1)
    }
}

/// A tag of the file.
struct FileTag {
    /// Its handle when it was saved.
    saved: Hint,
    /// Its handle now; [`Hint::NONE`]: it is gone. Not known before a key needs it.
    now: Option<Hint>,
}

/// Counts that all threads raise.
struct Counts {
    keys: W64,
    present: W64,
    invalidated: W64,
    left_out: W64,
    is_full: W32,
}

impl Counts {
    /// Counts a key for which there was no room.
    fn leave_out(&self, core: &Core) {
        // In a cache the next key may be smaller.
        let is_full = u32::from(!core.region().is_cache());
        self.is_full.store(is_full, Ordering::Relaxed);
        count(&self.left_out);
    }
}

fn count(counter: &W64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

/// The state of a restore.
pub(crate) struct Restore<'c> {
    core: &'c Core,
    plan: &'c mut RestorePlan,
    workers: &'c mut Workers,
    pieces: Pieces,
    draft: Draft,
    tags: HashMap<Vec<u8>, FileTag>,
    counts: &'c Counts,
    now_ms: u64,
    changes: u64,
    expired: u64,
}

/// Reads records by `read`, and returns when all keys are set.
pub(crate) fn restore<E: From<Error>>(
    core: &Core,
    mut plan: RestorePlan,
    read: impl FnOnce(&mut Restore<'_>) -> Result<(), E>,
) -> Result<Restored, E> {
    core.raise_versions(&plan)?;
    let counts = Counts {
        keys: W64::new(0),
        present: W64::new(0),
        invalidated: W64::new(0),
        left_out: W64::new(0),
        is_full: W32::new(0),
    };
    let make = |core: &Core, change: &ChangeRecord<'_>| core.restore_key(change, &counts);
    let expired = with_workers(core, &make, |workers| {
        let mut restore = Restore {
            core,
            plan: &mut plan,
            workers,
            pieces: Pieces::default(),
            draft: Draft::default(),
            tags: HashMap::new(),
            counts: &counts,
            now_ms: core.region().now_ms(),
            changes: 0,
            expired: 0,
        };
        read(&mut restore)?;
        Ok::<_, E>(restore.expired)
    })?;
    Ok(Restored {
        keys: counts.keys.load(Ordering::Relaxed),
        present: counts.present.load(Ordering::Relaxed),
        expired,
        invalidated: counts.invalidated.load(Ordering::Relaxed),
        left_out: counts.left_out.load(Ordering::Relaxed),
    })
}

impl Restore<'_> {
    /// Reads a record. Returns false if it makes no sense.
    pub(crate) fn apply(&mut self, record: &Record<'_>) -> Result<bool> {
        match record.kind {
            Kind::Piece => Ok(self.pieces.add(record)),
            Kind::Tag => {
                let Some((handle, name)) = decode_tag(record) else {
                    return Ok(false);
                };
                let saved = Hint::from_bits(handle);
                self.tags
                    .insert(name.to_vec(), FileTag { saved, now: None });
                Ok(true)
            }
            Kind::Commit => {
                let mut outcome = Ok(true);
                let all = record.each_change(|change, _| {
                    if matches!(outcome, Ok(true)) {
                        outcome = self.change(change);
                    }
                });
                Ok(all.is_some() && outcome?)
            }
            Kind::About | Kind::Foot => Ok(true),
            Kind::Clock => Ok(false),
        }
    }

    fn change(&mut self, change: ChangeRecord<'_>) -> Result<bool> {
        self.changes += 1;
        let value = match change.content {
            Content::Here(_) => None,
            Content::Pieces { first, len } => match self.pieces.take(first, len) {
                Some(value) => Some(value),
                None => return Ok(false),
            },
        };
        if change.op != Op::Set || change.marks > MARKS || change.version >= MOST_VERSION {
            return Ok(false);
        }
        let last = self.plan.last.get(change.key);
        if last.is_some_and(|last| *last != self.changes) {
            return Ok(true);
        }
        let expiry_ms = self.plan.expiry_ms(change.expiry_ms, self.now_ms);
        if expiry_ms != 0 && expiry_ms <= self.now_ms {
            self.expired += 1;
            return Ok(true);
        }
        if self.counts.is_full.load(Ordering::Relaxed) != 0 || !self.is_taken(&change) {
            count(&self.counts.left_out);
            return Ok(true);
        }
        let handles = match self.handles(&change.tags) {
            Ok(Some(handles)) => handles,
            Ok(None) => return Ok(false),
            // A new tag takes room, too.
            Err(Error::Full { .. }) => {
                self.counts.leave_out(self.core);
                return Ok(true);
            }
            Err(error) => return Err(error),
        };
        let shard = Hash::of(self.core.region(), change.key).shard();
        self.draft.begin(Kind::Commit);
        self.draft.push_change(&ChangeRecord {
            expiry_ms,
            content: value.as_deref().map_or(change.content, Content::Here),
            // Threads get handles in place of names.
            tags: handles.iter().map(<[u8; 8]>::as_slice).collect(),
            ..change
        });
        self.workers.push(shard, self.draft.body());
        Ok(true)
    }

    /// Returns whether a cache has room for keys of this state.
    fn is_taken(&mut self, change: &ChangeRecord<'_>) -> bool {
        if !self.core.region().is_cache() {
            return true;
        }
        let budget = &mut self.plan.budgets[usize::from(change.note & NOTE_STATE)];
        let cost = RestorePlan::cost(change);
        let has_room = *budget >= cost;
        *budget -= if has_room { cost } else { 0 };
        has_room
    }

    /// Returns the handles of tags now, or `None` if the file has no record of one.
    fn handles(&mut self, names: &[&[u8]]) -> Result<Option<Vec<[u8; 8]>>> {
        let mut handles = Vec::with_capacity(names.len());
        for name in names {
            let Some(tag) = self.tags.get_mut(*name) else {
                return Ok(None);
            };
            let now = match tag.now {
                Some(now) => now,
                None => *tag.now.insert(match self.plan.is_same {
                    true => self.core.same_tag(tag.saved, name)?,
                    false => self
                        .core
                        .tags(&[name])?
                        .hints()
                        .next()
                        .unwrap_or(Hint::NONE),
                }),
            };
            handles.push(now.to_bits().to_ne_bytes());
        }
        Ok(Some(handles))
    }
}

impl Core {
    /// Returns the handle of a tag if it leads to the tag of this name.
    fn same_tag(&self, saved: Hint, name: &[u8]) -> Result<Hint> {
        let mut now = Vec::new();
        let is_there = saved.is_some() && tag_name(self.region(), saved, &mut now)?;
        Ok(if is_there && now == name {
            saved
        } else {
            Hint::NONE
        })
    }

    /// Makes sure that no version of the file, or of the table that was saved, is given out again.
    fn raise_versions(&self, plan: &RestorePlan) -> Result<()> {
        if !self.region().geometry().has_versions {
            return Ok(());
        }
        let ahead = if plan.is_same { 0 } else { VERSIONS_AHEAD };
        let (me, least) = (self.writer()?, plan.versions + ahead);
        for shard in 0..self.region().geometry().shards() {
            self.locked(shard, me, |lock| {
                let versions = &lock.head.versions;
                if versions.load(Ordering::Relaxed) < least {
                    versions.store(least, Ordering::Relaxed);
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Sets a key if it is missing. Its tags are handles.
    fn restore_key(&self, change: &ChangeRecord<'_>, counts: &Counts) -> Result<()> {
        if counts.is_full.load(Ordering::Relaxed) != 0 {
            count(&counts.left_out);
            return Ok(());
        }
        let Some(tags) = self.live_tags(&change.tags)? else {
            count(&counts.invalidated);
            return Ok(());
        };
        let stamp = Stamp {
            expiry_ms: change.expiry_ms,
            client: change.client,
            marks: change.marks,
            tags: &tags,
            version: match (self.region().geometry().has_versions, change.version) {
                (false, _) => 0,
                (true, 0) => NEXT,
                (true, version) => version,
            },
        };
        let metadata = Metadata::new(stamp, false);
        let metadata = (!metadata.stamp.is_none()).then_some(&metadata);
        let request = self.request(change.key, WriteCondition::Absent, metadata)?;
        let Content::Here(value) = change.content else {
            return Ok(());
        };
        match self.write(&request, value) {
            Ok(Some(_)) => {
                count(&counts.keys);
                self.use_tags(tags.hints())?;
                self.give_state(change)
            }
            Ok(None) => {
                count(&counts.present);
                Ok(())
            }
            Err(Error::Full { .. }) => {
                counts.leave_out(self);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Returns the tags of these handles, or `None` if one of them is gone.
    fn live_tags(&self, handles: &[&[u8]]) -> Result<Option<Tags>> {
        let (mut tags, mut name) = (Tags::NONE, Vec::new());
        for handle in handles {
            let bits = <[u8; 8]>::try_from(*handle).map_or(0, u64::from_ne_bytes);
            let hint = Hint::from_bits(bits);
            if !hint.is_some() || !tag_name(self.region(), hint, &mut name)? {
                return Ok(None);
            }
            tags.push(hint);
        }
        Ok(Some(tags))
    }

    /// Lets a cache know of a key what the one that was saved knew.
    fn give_state(&self, change: &ChangeRecord<'_>) -> Result<()> {
        let state = u32::from(change.note & NOTE_STATE);
        if state == 0 || !self.region().is_cache() {
            return Ok(());
        }
        let hash = Hash::of(self.region(), change.key);
        self.locked(hash.shard(), self.writer()?, |lock| {
            if let Some(found) = find(lock, hash, change.key)?.found() {
                restore_state(lock, &found, state);
            }
            Ok(())
        })
    }
}
