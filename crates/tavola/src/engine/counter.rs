//! Counters: 64-bit numbers in place, decimal text to whoever reads them.
//!
//! A counter is changed by one 8-byte store in its item, under the shard's lock: a reader loads the
//! word and sees one number or the next. No bump is needed, as no block is freed. In a table with
//! versions it is written anew, as any other value.

use super::claims::end_of_changed;
use super::core::Core;
use super::request::{Metadata, When, WriteRequest};
use super::write::{lengths, write_with_uid};
use crate::alloc::{Step, can_count, decimal_u64, write_counter};
use crate::error::{Error, Result};
use crate::index::{New, Spot, Why, change_word, find, publish};
use crate::lock::ShardLock;
use crate::sync::{Ordering, SHORT};

/// What becomes of the number.
#[derive(Clone, Copy)]
pub(crate) enum Change {
    Up(u64),
    Down(u64),
}

impl Change {
    fn apply(self, number: u64) -> u64 {
        match self {
            Change::Up(by) => number.wrapping_add(by),
            Change::Down(by) => number.saturating_sub(by),
        }
    }
}

enum Counted {
    Now(u64),
    Missing,
    /// Key or value are too long for a counter in place.
    AsText,
}

impl Core {
    pub(crate) fn count(
        &self,
        key: &[u8],
        change: Change,
        initial: Option<u64>,
        metadata: &Metadata<'_>,
    ) -> Result<Option<u64>> {
        if let Some(fixed) = self.region().fixed() {
            return Err(lengths(fixed));
        }
        let request = self.request(key, When::Always, Some(metadata))?;
        let hash = request.hash;
        let counted = self.locked(hash.shard(), request.participant, |lock| {
            let found = match find(lock, hash, key)? {
                Spot::Taken(found) => found,
                spot => {
                    return match initial {
                        Some(number) => place(lock, &request, spot, number),
                        None => Ok(Counted::Missing),
                    };
                }
            };
            let item = found.item(lock)?;
            if item.is_counter() {
                let word = item.counter();
                let number = change.apply(word.load(Ordering::Relaxed));
                if self.region().geometry().has_versions {
                    // With another version, which a store of one word cannot give it.
                    let spot = Spot::Taken(found);
                    return place(lock, &request, spot, number);
                }
                end_of_changed(lock, key, item.expiry_ms());
                change_word(lock, Some(hash), word, number);
                found.mark_accessed(lock);
                return Ok(Counted::Now(number));
            }
            if item.is_large() {
                return Ok(Counted::AsText);
            }
            let mut text = [0; SHORT];
            let digits = item
                .short_value(&mut text)
                .and_then(|len| decimal_u64(&text[..len]));
            let number = change.apply(digits.ok_or(Error::NotACounter)?);
            place(lock, &request, Spot::Taken(found), number)
        })?;
        let number = match counted {
            Counted::Now(number) => Some(number),
            Counted::Missing => None,
            Counted::AsText => return self.count_as_text(key, change, initial, metadata),
        };
        self.count_set(request.participant);
        Ok(number)
    }

    #[cold]
    fn count_as_text(
        &self,
        key: &[u8],
        change: Change,
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

/// Writes a counter where its key is or would be.
fn place(
    lock: &ShardLock<'_>,
    request: &WriteRequest<'_>,
    spot: Spot<'_>,
    number: u64,
) -> Step<Counted> {
    let key = request.key;
    if !can_count(key) {
        return Ok(Counted::AsText);
    }
    let mut room = None;
    let stamp = request.stamp(lock, &spot, &mut room)?;
    let (item_ref, hint) = write_with_uid(lock, request.uid_policy, &spot, |hint| {
        write_counter(lock, key, number, hint, &stamp)
    })?;
    let new = New {
        item_ref,
        payload: key.len() + 8,
        hint,
    };
    publish(lock, request.hash, spot, new, Why::Set, || ())?;
    Ok(Counted::Now(number))
}
