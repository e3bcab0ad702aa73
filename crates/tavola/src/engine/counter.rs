//! Counters: 64-bit numbers changed in place, which readers get as decimal text.
//!
//! A counter is changed by one 8-byte store in its item, under the shard's lock: a reader loads the
//! word and sees the number before or after. The version need not rise, because no block is freed.
//! In a table with versions, a counter is written to a new item, like any other value, so that its
//! version changes.

use super::claims::end_of_changed;
use super::core::Core;
use super::request::{Metadata, WriteCondition, WriteRequest};
use super::write::{write_at, write_with_uid};
use crate::alloc::{Step, can_count, decimal_u64, write_counter};
use crate::error::{Error, Result};
use crate::index::locate::{New, Spot, Why, change_word, find, publish};
use crate::layout::Hint;
use crate::lock::ShardLock;
use crate::sync::{Ordering, SHORT};
use crate::values::Updated;

/// How a counter changes.
#[derive(Clone, Copy)]
pub(crate) enum CounterChange {
    Up(u64),
    Down(u64),
}

impl CounterChange {
    fn apply(self, number: u64) -> u64 {
        match self {
            CounterChange::Up(by) => number.wrapping_add(by),
            CounterChange::Down(by) => number.saturating_sub(by),
        }
    }

    fn of_text(self, text: &[u8]) -> Result<u64> {
        decimal_u64(text)
            .map(|number| self.apply(number))
            .ok_or(Error::NotACounter)
    }
}

enum CountResult {
    Now(u64),
    /// The key is missing, or the condition does not hold.
    Missing,
    /// Key or value is too long for a counter in place.
    AsText,
}

impl Core {
    pub(crate) fn count(
        &self,
        key: &[u8],
        change: CounterChange,
        initial: Option<u64>,
        metadata: &Metadata<'_>,
    ) -> Result<Option<u64>> {
        let request = self.request(key, WriteCondition::Always, Some(metadata))?;
        let number = match self.count_once(&request, change, initial)? {
            CountResult::Now(number) => Some(number),
            CountResult::Missing => None,
            CountResult::AsText => return self.count_as_text(key, change, initial, metadata),
        };
        self.count_set(request.participant);
        Ok(number)
    }

    /// Changes the counter that is the value of the key with this uid. Returns its number, or
    /// `None` if no key has the uid.
    pub(crate) fn count_by_uid(&self, hint: Hint, change: CounterChange) -> Result<Option<u64>> {
        let me = self.writer()?;
        let metadata = self.keeping_default();
        let (mut number, mut is_text) = (None, false);
        self.by_key(hint, |key| {
            let request = self.request(key, WriteCondition::Has(hint), Some(&metadata))?;
            match self.count_once(&request, change, None)? {
                CountResult::Now(now) => number = Some(now),
                CountResult::Missing => return Ok(false),
                CountResult::AsText => is_text = true,
            }
            Ok(true)
        })?;
        if is_text {
            return self.count_as_text_by_uid(hint, change);
        }
        self.count_set(me);
        Ok(number)
    }

    fn count_once(
        &self,
        request: &WriteRequest<'_>,
        change: CounterChange,
        initial: Option<u64>,
    ) -> Result<CountResult> {
        if self.region().fixed().is_some() {
            return self.count_word(request, change, initial);
        }
        let WriteRequest { key, hash, .. } = *request;
        self.locked(hash.shard(), request.participant, |lock| {
            let spot = find(lock, hash, key)?;
            let Spot::Taken(found) = spot else {
                return match initial {
                    Some(number) => place(lock, request, spot, number),
                    None => Ok(CountResult::Missing),
                };
            };
            if !request.condition.holds(lock, &spot)? {
                return Ok(CountResult::Missing);
            }
            let item = found.item(lock)?;
            if item.is_counter() {
                let word = item.counter();
                let number = change.apply(word.load(Ordering::Relaxed));
                if self.region().geometry().has_versions {
                    // A store of one word cannot give the key another version, so a new item is
                    // written.
                    let spot = Spot::Taken(found);
                    return place(lock, request, spot, number);
                }
                end_of_changed(lock, key, item.expiry_ms());
                change_word(lock, Some(hash), found.item_ref, word, number)?;
                found.mark_accessed(lock);
                return Ok(CountResult::Now(number));
            }
            if item.is_large() {
                return Ok(CountResult::AsText);
            }
            let mut text = [0; SHORT];
            let digits = item
                .short_value(&mut text)
                .and_then(|len| decimal_u64(&text[..len]));
            let number = change.apply(digits.ok_or(Error::NotACounter)?);
            place(lock, request, Spot::Taken(found), number)
        })
    }

    /// Changes a counter of a table of fixed lengths: there, the eight bytes of a value are the
    /// number. It is stored as any value of eight bytes, in place if it is aligned.
    #[cold]
    fn count_word(
        &self,
        request: &WriteRequest<'_>,
        change: CounterChange,
        initial: Option<u64>,
    ) -> Result<CountResult> {
        let WriteRequest { key, hash, .. } = *request;
        self.needs_chain(key, &[0; 8])?;
        self.locked(hash.shard(), request.participant, |lock| {
            let spot = find(lock, hash, key)?;
            let number = match &spot {
                Spot::Free(_) => initial,
                Spot::Taken(found) => {
                    let mut bytes = [0; SHORT];
                    found.item(lock)?.short_value(&mut bytes);
                    bytes
                        .first_chunk()
                        .map(|word| change.apply(u64::from_ne_bytes(*word)))
                }
            };
            let Some(number) = number else {
                return Ok(CountResult::Missing);
            };
            let written = write_at(lock, request, spot, &number.to_ne_bytes())?;
            Ok(written.map_or(CountResult::Missing, |_| CountResult::Now(number)))
        })
    }

    #[cold]
    fn count_as_text(
        &self,
        key: &[u8],
        change: CounterChange,
        initial: Option<u64>,
        metadata: &Metadata<'_>,
    ) -> Result<Option<u64>> {
        let mut now = None;
        self.update(key, Some(metadata), |old| {
            now = match old {
                Some(text) => Some(change.of_text(text)?),
                None => initial,
            };
            Ok(now.map(|number| number.to_string().into_bytes()))
        })?;
        Ok(now)
    }

    #[cold]
    fn count_as_text_by_uid(&self, hint: Hint, change: CounterChange) -> Result<Option<u64>> {
        let mut now = None;
        let updated = self.try_update_by_uid(hint, |text| {
            let number = change.of_text(text)?;
            now = Some(number);
            Ok::<_, Error>(Some(number.to_string().into_bytes()))
        })?;
        Ok(match updated {
            Updated::NotFound => None,
            Updated::Stored(_) | Updated::Removed => now,
        })
    }
}

/// Writes a counter at the spot where its key is or would be.
fn place(
    lock: &ShardLock<'_>,
    request: &WriteRequest<'_>,
    spot: Spot<'_>,
    number: u64,
) -> Step<CountResult> {
    let key = request.key;
    if !can_count(key) {
        return Ok(CountResult::AsText);
    }
    let mut room = None;
    let stamp = request.stamp(lock, &spot, &mut room)?;
    let (item_ref, hint) = write_with_uid(lock, request.uid_policy, &spot, |hint| {
        write_counter(lock, key, number, hint, &stamp)
    })?;
    let new = New::small(item_ref, key.len() + 8, hint);
    publish(lock, request.hash, spot, new, Why::Set, || ())?;
    Ok(CountResult::Now(number))
}
