//! Counters: 64-bit numbers changed in place, which readers get as decimal text.
//!
//! A counter is changed by one 8-byte store in its item, under the shard's lock: a reader loads the
//! word and sees the number before or after. The version need not rise, because no block is freed.
//! In a table with versions, a counter is written to a new item, like any other value, so that its
//! version changes.

use super::claims::end_of_changed;
use super::core::Core;
use super::request::{Metadata, WriteCondition, WriteRequest};
use super::write::{lengths, write_with_uid};
use crate::alloc::{Step, can_count, decimal_u64, write_counter};
use crate::error::{Error, Result};
use crate::index::locate::{New, Spot, Why, change_word, find, publish};
use crate::lock::ShardLock;
use crate::sync::{Ordering, SHORT};

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
}

enum CountResult {
    Now(u64),
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
        if let Some(fixed) = self.region().fixed() {
            return Err(lengths(fixed));
        }
        let request = self.request(key, WriteCondition::Always, Some(metadata))?;
        let hash = request.hash;
        let counted = self.locked(hash.shard(), request.participant, |lock| {
            let found = match find(lock, hash, key)? {
                Spot::Taken(found) => found,
                spot => {
                    return match initial {
                        Some(number) => place(lock, &request, spot, number),
                        None => Ok(CountResult::Missing),
                    };
                }
            };
            let item = found.item(lock)?;
            if item.is_counter() {
                let word = item.counter();
                let number = change.apply(word.load(Ordering::Relaxed));
                if self.region().geometry().has_versions {
                    // A store of one word cannot give the key another version, so a new item is
                    // written.
                    let spot = Spot::Taken(found);
                    return place(lock, &request, spot, number);
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
            place(lock, &request, Spot::Taken(found), number)
        })?;
        let number = match counted {
            CountResult::Now(number) => Some(number),
            CountResult::Missing => None,
            CountResult::AsText => return self.count_as_text(key, change, initial, metadata),
        };
        self.count_set(request.participant);
        Ok(number)
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
                Some(text) => {
                    let number = decimal_u64(text).ok_or(Error::NotACounter)?;
                    Some(change.apply(number))
                }
                None => initial,
            };
            Ok(now.map(|number| number.to_string().into_bytes()))
        })?;
        Ok(now)
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
