//! Marks: 24 bits beside a key that can be changed without changing its value or version.
//!
//! They share a word with the user's flags, which is changed by one store of 8 bytes under the
//! shard's lock: a reader sees the old marks or the new ones, and so does a survivor. If an item
//! lacks that field, it is copied into a block that has it, as for an expiry.

use super::attributes::check_marks;
use super::core::Core;
use super::request::{WriteCondition, WriteRequest};
use crate::alloc::copy_with_field;
use crate::error::Result;
use crate::index::locate::{Field, Why, change_field, publish_copy};
use crate::layout::FLAG_CLIENT;
use crate::sync::Ordering;
use crate::values::{Condition, Marks, Stored};
use std::cell::Cell;

impl Core {
    /// Changes the marks of a key if the condition holds. Returns what they were.
    fn mark(&self, request: &WriteRequest<'_>, bits: Marks) -> Result<Option<u32>> {
        let hash = request.hash;
        self.locked(hash.shard(), request.participant, |lock| {
            let Some(found) = request.find(lock)? else {
                return Ok(None);
            };
            let item = found.item(lock)?;
            let field = item.client_word();
            let word = field.map_or(0, |word| word.load(Ordering::Relaxed));
            let marks = (word >> 40) as u32;
            let new = u64::from(bits.of(marks)) << 40 | word & ((1 << 40) - 1);
            if new == word {
                return Ok(Some(marks));
            }
            if let Some(field) = field {
                change_field(lock, hash, &item, field, Field::Client(new))?;
            } else {
                let hint = found.hint(lock)?;
                let copy = copy_with_field(lock, &item, FLAG_CLIENT, new)?;
                publish_copy(lock, hash, &found, copy, hint, Why::Field)?;
            }
            Ok(Some(marks))
        })
    }
}

impl Core {
    /// Implements [`ServeTable::mark`](crate::serving::ServeTable::mark).
    pub(crate) fn mark_if(
        &self,
        key: &[u8],
        condition: Condition,
        bits: Marks,
    ) -> Result<Option<u32>> {
        check_marks(self, bits)?;
        let request = self.request(key, WriteCondition::Always, None)?;
        match condition {
            Condition::Absent => Ok(None),
            Condition::Always | Condition::Present => self.mark(&request, bits),
            // The token is the version, so the value need not be read.
            Condition::Is(token) if self.region().geometry().has_versions => {
                self.mark(&request.when(WriteCondition::Version(token.0)), bits)
            }
            Condition::Is(token) => {
                let had = Cell::new(None);
                let refused: Option<Stored> = self.retried(key, token, |when| {
                    had.set(self.mark(&request.when(when), bits)?);
                    Ok(had.get().is_some())
                })?;
                Ok(had.get().filter(|_| refused.is_none()))
            }
        }
    }
}
