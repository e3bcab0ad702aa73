//! Writing one key.
//!
//! The new item is written where no slot leads; then one store of the slot makes it the key's.
//! All that follows only makes readers notice and frees the old block.
//!
//! | step, under the shard's lock | a reader finds | a survivor finds, if we die after the step |
//! |---|---|---|
//! | the new item is written to a new block | the old item | a block no slot leads to: freed |
//! | *with a uid:* its entry says `InTransition` | the old item, by key | the old item |
//! | the slot is stored | the new item; an old copy may still count | the new item |
//! | the version rises | the new item; old copies no longer count | the new item |
//! | *with a uid:* its entry says `Live` | the new item | the new item |
//! | the old block is freed | the new item | the new item; the old block is free |

use super::claims::{end_of, wake_at};
use super::core::Core;
use super::effort::{Effort, RoundCount, StepsBack};
use super::request::{Metadata, UidPolicy, WriteCondition, WriteRequest, WriteResult};
use crate::alloc::{Chain, Need, Stamp, Step, Stop, free_uid, take_uid, write_large, write_small};
use crate::error::{Error, Result};
use crate::index::locate::{
    Hash, New, Spot, Warmed, Why, change_word, change_word_unrecorded, drop_key, find, find_along,
    publish,
};
use crate::journal::MOST_KEY;
use crate::layout::{Fixed, Hint};
use crate::lock::ShardLock;

impl Core {
    /// Returns the request for a write of a key on this condition.
    #[inline(always)]
    pub(crate) fn request<'a>(
        &self,
        key: &'a [u8],
        condition: WriteCondition<'a>,
        metadata: Option<&'a Metadata<'a>>,
    ) -> Result<WriteRequest<'a>> {
        Ok(WriteRequest {
            participant: self.writer()?,
            key,
            hash: Hash::of(self.region(), key),
            condition,
            uid_policy: self.uid_policy,
            metadata,
        })
    }

    /// Sets a key on a condition. Counts the call.
    #[inline(always)]
    pub(crate) fn store(
        &self,
        key: &[u8],
        value: &[u8],
        condition: WriteCondition<'_>,
        metadata: Option<&Metadata<'_>>,
    ) -> Result<bool> {
        let request = self.request(key, condition, metadata)?;
        let written = self.write(&request, value)?;
        self.count_set(request.participant);
        Ok(written.is_some())
    }

    /// Sets a key, gives it a uid if it has none, and returns the uid.
    pub(crate) fn set_uid(&self, key: &[u8], value: &[u8]) -> Result<Hint> {
        let default = self.default_metadata();
        let request = WriteRequest {
            uid_policy: UidPolicy::Give,
            ..self.request(key, WriteCondition::Always, default.as_ref())?
        };
        let written = self.write(&request, value)?;
        self.count_set(request.participant);
        Ok(written.map_or(Hint::NONE, |written| written.hint))
    }

    /// Stores a value if the condition holds. Does not count the call, because a call may do this
    /// several times.
    #[inline(always)]
    pub(crate) fn write(
        &self,
        request: &WriteRequest<'_>,
        value: &[u8],
    ) -> Result<Option<WriteResult>> {
        if self.times_write() {
            return self.write_timed(request, value);
        }
        let WriteRequest {
            participant: me,
            key,
            hash,
            ..
        } = *request;
        if self.needs_chain(key, value)? {
            return self.write_large(request, value);
        }
        let way = Warmed::fetch(self.region(), hash);
        // A word is usually changed in place.
        let word = <[u8; 8]>::try_from(value).ok().map(u64::from_ne_bytes);
        if let Some(lock) = ShardLock::try_acquire(self.region(), hash.shard(), me) {
            let spot = find_along(&lock, way, hash, key, word.is_none());
            if let (Ok(Spot::Taken(found)), Some(word)) = (&spot, word)
                && matches!(
                    request.condition,
                    WriteCondition::Always | WriteCondition::Present
                )
                && request.uid_policy == UidPolicy::Keep
                && request.is_plain()
                && !self.region().is_journaled()
                && let Some(place) = found.word(&lock, key)
            {
                change_word_unrecorded(&lock, Some(hash), place, word);
                found.mark_accessed(&lock);
                drop(lock);
                self.count_step(me);
                return Ok(Some(WriteResult::NOTHING));
            }
            let outcome = spot.and_then(|spot| write_at(&lock, request, spot, value));
            drop(lock);
            if let Some(done) = self.after_first_try(me, outcome) {
                return done;
            }
        }
        self.write_slowly(request, value)
    }

    /// Does the same as [`Core::write`], which calls it if the write is timed. Timing ends that.
    #[cold]
    #[inline(never)]
    fn write_timed(&self, request: &WriteRequest<'_>, value: &[u8]) -> Result<Option<WriteResult>> {
        self.timed_write(|| self.write(request, value))
    }

    /// Stores an item that is not large, by the general way, however long it takes.
    #[cold]
    fn write_slowly(
        &self,
        request: &WriteRequest<'_>,
        value: &[u8],
    ) -> Result<Option<WriteResult>> {
        let shard = request.hash.shard();
        self.locked(shard, request.participant, |lock| {
            let spot = find(lock, request.hash, request.key)?;
            write_at(lock, request, spot, value)
        })
    }

    /// Returns whether key and value need a chain, or an error if the table cannot store them at
    /// all.
    #[inline(always)]
    pub(crate) fn needs_chain(&self, key: &[u8], value: &[u8]) -> Result<bool> {
        if key.len() > MOST_KEY && self.region().is_journaled() {
            return Err(Error::KeyTooLong {
                bytes: key.len() as u64,
            });
        }
        match self.region().fixed() {
            None => Chain::is_needed(key, value),
            Some(fixed) if fixed.fits(key, value) => Ok(false),
            Some(fixed) => Err(lengths(fixed)),
        }
    }

    /// Stores a large item. Its pages are written before the shard is locked.
    #[cold]
    fn write_large(&self, request: &WriteRequest<'_>, value: &[u8]) -> Result<Option<WriteResult>> {
        let me = request.participant;
        let mut steps = StepsBack::new();
        loop {
            let mut chain = Some(self.chain(me, request.key, value)?);
            let written = self.publish_with_pieces(request, value, &mut chain);
            let is_full = matches!(written, Err(Error::Full { .. }));
            if !is_full || !self.steps_back(me, chain, &mut steps)? {
                return written;
            }
        }
    }

    /// Publishes a large item. In a durable table the value goes to the journal before, in pieces;
    /// once more if a snapshot begins meanwhile.
    fn publish_with_pieces(
        &self,
        request: &WriteRequest<'_>,
        value: &[u8],
        chain: &mut Option<Chain<'_>>,
    ) -> Result<Option<WriteResult>> {
        let mut rounds = RoundCount::new();
        loop {
            let pieces = self.send_pieces(request.participant, value)?;
            if let Some(outcome) = self.publish_large(request, value, chain, pieces)? {
                return Ok(outcome);
            }
            self.count_round(&mut rounds, Need::Pieces)?;
        }
    }

    /// Returns `None` if the pieces must be sent once more.
    #[allow(
        clippy::option_option,
        reason = "the outcome is one of a conditional write"
    )]
    fn publish_large(
        &self,
        request: &WriteRequest<'_>,
        value: &[u8],
        chain: &mut Option<Chain<'_>>,
        pieces: u64,
    ) -> Result<Option<Option<WriteResult>>> {
        let WriteRequest {
            participant: me,
            key,
            hash,
            ..
        } = *request;
        self.locked_with(hash.shard(), me, Effort::holding(), |lock| {
            let spot = find(lock, hash, key)?;
            if !request.condition.holds(lock, &spot)? {
                return Ok(Some(None));
            }
            let built = chain
                .as_ref()
                .expect("a step that published is not repeated");
            let mut room = None;
            let stamp = request.stamp(lock, &spot, &mut room)?;
            let (item_ref, hint) = write_with_uid(lock, request.uid_policy, &spot, |hint| {
                write_large(lock, built, key, value, hint, &stamp)
            })?;
            let new = New {
                pieces,
                ..New::small(item_ref, key.len() + value.len(), hint)
            };
            let published = publish(lock, hash, spot, new, Why::Set, || {
                if let Some(built) = chain.take() {
                    built.publish_pages(lock);
                }
            });
            match published {
                Err(Stop::Need(Need::Pieces)) => Ok(None),
                outcome => outcome.map(|()| {
                    Some(Some(WriteResult {
                        hint,
                        version: stamp.version,
                    }))
                }),
            }
        })
    }

    /// Removes the key if it exists. Counts the call.
    #[inline(always)]
    pub(crate) fn delete(&self, key: &[u8]) -> Result<bool> {
        let request = self.request(key, WriteCondition::Always, None)?;
        let removed = self.remove(&request)?;
        self.count_remove(request.participant);
        Ok(removed)
    }

    /// Removes the key if the condition holds. Does not count the call.
    #[inline(always)]
    pub(crate) fn remove(&self, request: &WriteRequest<'_>) -> Result<bool> {
        let WriteRequest { key, hash, .. } = *request;
        let way = Warmed::fetch(self.region(), hash);
        let (removed, ended) = self.locked(hash.shard(), request.participant, |lock| {
            let spot = find_along(lock, way, hash, key, true)?;
            if !request.condition.holds(lock, &spot)? {
                return Ok((false, None));
            }
            let removed = match spot.found() {
                Some(found) => drop_key(lock, &found, Why::Remove).map(|()| true)?,
                None => false,
            };
            // Values that are being computed now belong to before the removal: they must not be
            // stored.
            Ok((removed, end_of(lock, key)))
        })?;
        wake_at(self.region(), hash.shard(), ended);
        Ok(removed)
    }
}

/// Stores an item that is not large, at the spot where its key is or would be.
#[inline(never)]
pub(crate) fn write_at(
    lock: &ShardLock<'_>,
    request: &WriteRequest<'_>,
    spot: Spot<'_>,
    value: &[u8],
) -> Step<Option<WriteResult>> {
    if !request.condition.holds(lock, &spot)? {
        return Ok(None);
    }
    let WriteRequest {
        key,
        hash,
        uid_policy,
        ..
    } = *request;
    if let Spot::Taken(found) = &spot
        && let Ok(word) = <[u8; 8]>::try_from(value)
        && request.is_plain()
        && let Some(place) = found.word(lock, key)
        && let Some(hint) = uid_policy.kept(lock, found)?
    {
        change_word(
            lock,
            Some(hash),
            found.item_ref,
            place,
            u64::from_ne_bytes(word),
        )?;
        found.mark_accessed(lock);
        return Ok(Some(WriteResult { hint, version: 0 }));
    }
    if uid_policy == UidPolicy::Give || spot.has_fields() || request.is_given() {
        return write_with_fields(lock, request, spot, value);
    }
    let item_ref = write_small(lock, key, value, Hint::NONE, &Stamp::NONE)?;
    let new = New::small(item_ref, key.len() + value.len(), Hint::NONE);
    publish(lock, hash, spot, new, Why::Set, || ())?;
    Ok(Some(WriteResult::NOTHING))
}

/// Stores an item that is not large, if it has fields besides key and value, or replaces one that
/// has. A function of its own, so that the common case stays fast.
#[cold]
#[inline(never)]
fn write_with_fields(
    lock: &ShardLock<'_>,
    request: &WriteRequest<'_>,
    spot: Spot<'_>,
    value: &[u8],
) -> Step<Option<WriteResult>> {
    let mut room = None;
    let stamp = request.stamp(lock, &spot, &mut room)?;
    let (item_ref, hint) = write_with_uid(lock, request.uid_policy, &spot, |hint| {
        write_small(lock, request.key, value, hint, &stamp)
    })?;
    let new = New::small(item_ref, request.key.len() + value.len(), hint);
    publish(lock, request.hash, spot, new, Why::Set, || ())?;
    Ok(Some(WriteResult {
        hint,
        version: stamp.version,
    }))
}

/// Writes the new item of a key together with its uid. That is the uid the key has; or a new one if
/// `uid_policy` asks for one; or none.
#[inline(always)]
pub(crate) fn write_with_uid(
    lock: &ShardLock<'_>,
    uid_policy: UidPolicy,
    spot: &Spot<'_>,
    write: impl FnOnce(Hint) -> Step<u64>,
) -> Step<(u64, Hint)> {
    let old = spot.hint(lock)?;
    if old.is_some() || uid_policy == UidPolicy::Keep {
        return Ok((write(old)?, old));
    }
    let hint = take_uid(lock)?;
    match write(hint) {
        Ok(item_ref) => Ok((item_ref, hint)),
        Err(stop) => {
            free_uid(lock, hint);
            Err(stop)
        }
    }
}

/// Returns the error of a key or value that does not have the fixed length of the table.
#[cold]
pub(crate) fn lengths(fixed: Fixed) -> Error {
    Error::Lengths {
        key: fixed.key_len,
        value: fixed.value_len,
    }
}
