//! Marks: bits beside a key that are changed without its value, or its version, being another.
//!
//! They stand in one word with the flags of the user's, which is changed by one store of 8 bytes
//! under the shard's lock: a reader sees the old marks or the new ones, and a survivor finds one of
//! them. An item without that field is copied into a block that has it, as for an expiry.

use super::Table;
use super::attributes::no_room;
use super::core::Core;
use super::how::When;
use super::store::{Condition, Stored};
use crate::alloc::{copy_with_field, discard_block};
use crate::error::{Error, Result};
use crate::index::{Hash, Spot, find, replace};
use crate::layout::FLAG_CLIENT;
use crate::sync::Ordering;
use std::cell::Cell;

const MARKS: u32 = (1 << 24) - 1;

/// Marks that are taken from a key and given to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// Those that go.
    pub clear: u32,
    /// Those that come, be they among the former or not.
    pub set: u32,
}

impl Marks {
    /// These, and no others.
    pub fn only(set: u32) -> Self {
        Self { clear: MARKS, set }
    }

    pub(super) fn of(self, had: u32) -> u32 {
        had & !self.clear | self.set
    }
}

/// Whether a table has room for marks, and there are so many.
pub(super) fn check(core: &Core, marks: Marks) -> Result<()> {
    if core.region().fixed().is_some() {
        return Err(no_room());
    }
    if marks.set > MARKS {
        return Err(Error::BadOption {
            option: "mark",
            why: "there are 24 bits".to_string(),
        });
    }
    Ok(())
}

impl Core {
    /// Changes the marks of a key if `when` holds; says what they were.
    fn mark(&self, me: u32, key: &[u8], bits: Marks, when: When<'_>) -> Result<Option<u32>> {
        let hash = Hash::of(self.region(), key);
        self.locked(hash.shard(), me, |lock| {
            let spot = find(lock, hash, key)?;
            let Spot::Taken(found) = spot else {
                return Ok(None);
            };
            if !when.holds(lock, &spot)? {
                return Ok(None);
            }
            let item = found.item(lock)?;
            let field = item.client_word();
            let word = field.map_or(0, |word| word.load(Ordering::Relaxed));
            let marks = (word >> 40) as u32;
            let new = u64::from(bits.of(marks)) << 40 | word & ((1 << 40) - 1);
            if new == word {
                return Ok(Some(marks));
            }
            if let Some(field) = field {
                field.store(new, Ordering::Release);
            } else {
                let hint = found.hint(lock)?;
                let copy = copy_with_field(lock, &item, (FLAG_CLIENT, new))?;
                replace(lock, &found, hash, copy, hint);
                // Only the block: the pages of a large item are the new one's.
                discard_block(lock, found.item_ref)?;
            }
            lock.head.changes.add_owned(1);
            Ok(Some(marks))
        })
    }
}

impl Table {
    /// Clears and sets marks of a key if it is there and `condition` holds, in one step; says which
    /// it had before. `None`: it is missing, or has another token. Its value, its version and its
    /// attributes stay; who sets it takes its marks off, who changes its value leaves them.
    ///
    /// # Examples
    /// ```
    /// # let table = tavola::Table::options().max_size(1 << 20).private()?;
    /// use tavola::Condition;
    /// table.set(b"k", b"v")?;
    /// assert_eq!(table.mark(b"k", Condition::Always, 0, 0b11)?, Some(0));
    /// assert_eq!(table.mark(b"k", Condition::Always, 0b01, 0b100)?, Some(0b11));
    /// let mut value = Vec::new();
    /// assert_eq!(table.get_entry_into(b"k", &mut value)?.unwrap().marks, 0b110);
    /// # Ok::<(), tavola::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Table::set_with`]; [`Error::BadOption`] for more than 24 bits.
    ///
    /// # Crash
    /// Killed before it returned: the old marks or the new ones.
    pub fn mark(
        &self,
        key: impl AsRef<[u8]>,
        condition: Condition,
        clear: u32,
        set: u32,
    ) -> Result<Option<u32>> {
        let key = key.as_ref();
        let core = self.core()?;
        let bits = Marks { clear, set };
        check(core, bits)?;
        let me = core.writer()?;
        match condition {
            Condition::Absent => Ok(None),
            Condition::Always | Condition::Present => core.mark(me, key, bits, When::Always),
            // There the token is the version: no value need be read.
            Condition::Is(token) if core.region().geometry().has_versions => {
                core.mark(me, key, bits, When::Version(token.0))
            }
            Condition::Is(token) => {
                let had = Cell::new(None);
                let refused: Option<Stored> = core.retried(key, token, |when| {
                    had.set(core.mark(me, key, bits, when)?);
                    Ok(had.get().is_some())
                })?;
                Ok(had.get().filter(|_| refused.is_none()))
            }
        }
    }
}
