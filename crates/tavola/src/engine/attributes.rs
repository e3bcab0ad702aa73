//! What a key may have beside its value: a time at which it expires, and the user's flags.
//!
//! An item has a field for the time or the flags only if they are set; a key without them costs no
//! byte more. The time is changed in place, by one store of 8 bytes under the shard's lock: a
//! reader sees the old time or the new one. If an item lacks the field, it is copied into a block
//! that has it, as when a key gets a uid.
//!
//! A key that has expired is missing for every reader at the same moment, without any write. Its
//! memory is reclaimed when the key is written, or by the search for expired keys, of which writes
//! do a bounded piece each (`index::clear`).

use super::core::Core;
use super::request::{Metadata, NEXT, WriteRequest};
use crate::alloc::{Shown, Stamp, Tags, copy_with_field, expect_expiry};
use crate::error::{Error, Result};
use crate::index::locate::{Field, Why, change_field, publish_copy};
use crate::layout::{FLAG_EXPIRY, MOST_MS};
use crate::values::{Attributes, Expiry, ExpiryCondition, MARKS, Marks};
use std::time::{Duration, SystemTime};

/// Returns the error of a table of fixed lengths, which has no room for attributes.
#[cold]
pub(crate) fn no_room() -> Error {
    Error::BadOption {
        option: "ttl or flags",
        why: "a table of fixed lengths does not store them; create it without `fixed`".into(),
    }
}

/// Returns the error of a TTL of zero.
#[cold]
fn no_time() -> Error {
    Error::BadOption {
        option: "ttl",
        why: "it is 0; for a key that never expires give Expiry::Never, for one that expires at \
            once Expiry::PAST"
            .into(),
    }
}

/// Converts a duration to milliseconds, rounded up, and at most [`MOST_MS`].
pub(crate) fn in_ms(time: Duration) -> u64 {
    let ms = time.as_nanos().div_ceil(1_000_000);
    u64::try_from(ms).map_or(MOST_MS, |ms| ms.min(MOST_MS))
}

/// Checks that the table has room for marks, and that these are at most 24.
pub(crate) fn check_marks(core: &Core, marks: Marks) -> Result<()> {
    if core.region().fixed().is_some() {
        return Err(no_room());
    }
    if marks.set > MARKS {
        return Err(Error::BadOption {
            option: "mark",
            why: "only 24 bits are available".to_string(),
        });
    }
    Ok(())
}

impl Core {
    /// Returns the default TTL of new keys, or `None` if they do not expire.
    #[inline(always)]
    pub(crate) fn default_metadata(&self) -> Option<Metadata<'static>> {
        if !self.region().geometry().stamps() {
            return None;
        }
        Some(Metadata::new(self.default_stamp(), false))
    }

    #[inline(never)]
    fn default_stamp(&self) -> Stamp<'static> {
        // Attaches first: a participant uses the table's clock, which may differ from the process's
        // own by a tick. The write that follows reports the error, if there is one.
        let _ = self.writer();
        let region = self.region();
        let expiry_ms = match region.geometry().ttl_ms {
            0 => 0,
            ttl_ms => region.now_ms() + ttl_ms,
        };
        Stamp {
            expiry_ms,
            version: self.next_version(),
            ..Stamp::NONE
        }
    }

    /// Returns the placeholder for the next version, or 0 if keys have no versions.
    pub(crate) fn next_version(&self) -> u64 {
        match self.region().geometry().has_versions {
            true => NEXT,
            false => 0,
        }
    }

    /// Returns metadata for a write that leaves an existing key its attributes; a new key gets the
    /// defaults.
    pub(crate) fn keeping_default(&self) -> Metadata<'static> {
        let default = self.default_metadata();
        Metadata::new(default.map_or(Stamp::NONE, |default| default.stamp), true)
    }

    /// Returns metadata for a key with these attributes.
    pub(crate) fn metadata(&self, attributes: Attributes) -> Result<Metadata<'static>> {
        // Attaches, for the reason given in `default_stamp`.
        self.writer()?;
        let stamp = Stamp {
            expiry_ms: self.expiry_ms(attributes.expiry)?,
            client: attributes.flags,
            marks: 0,
            tags: &Tags::NONE,
            version: self.next_version(),
        };
        if !stamp.is_none() && self.region().fixed().is_some() {
            return Err(no_room());
        }
        Ok(Metadata::new(stamp, false))
    }

    /// Returns metadata for a write that gives these attributes to a new key; an existing key keeps
    /// its own.
    pub(crate) fn keeping(&self, attributes: Attributes) -> Result<Metadata<'static>> {
        Ok(Metadata {
            keep: true,
            ..self.metadata(attributes)?
        })
    }

    /// Returns the expiry in time of the table's clock; 0: never.
    fn expiry_ms(&self, expiry: Expiry) -> Result<u64> {
        Ok(match expiry {
            Expiry::Default => self.keeping_default().stamp.expiry_ms,
            Expiry::Never => 0,
            Expiry::After(Duration::ZERO) => return Err(no_time()),
            Expiry::After(time) => self.region().now_ms() + in_ms(time),
            Expiry::At(time) => {
                let left = time.duration_since(SystemTime::now());
                self.region().now_ms() + left.map_or(0, in_ms)
            }
        })
    }

    /// Returns the attributes in the form in which readers get them.
    pub(crate) fn attributes(&self, shown: Shown) -> Attributes {
        // At least 1 ms, so that the result is a valid TTL for another write.
        let left = || {
            shown
                .expiry_ms
                .saturating_sub(self.region().now_ms())
                .max(1)
        };
        Attributes {
            expiry: match shown.expiry_ms {
                0 => Expiry::Never,
                _ => Expiry::After(Duration::from_millis(left())),
            },
            flags: shown.client,
        }
    }

    /// Changes when a key expires, if it exists and the condition of the request holds. Returns the
    /// attributes it had. The caller counts the call.
    pub(crate) fn touch(
        &self,
        request: &WriteRequest<'_>,
        expiry: Expiry,
    ) -> Result<Option<Shown>> {
        let touched = self.touch_if(request, expiry, ExpiryCondition::Always)?;
        Ok(touched.map(|touched| touched.had))
    }

    /// Changes when a key expires, if it exists and both conditions hold: that of the request, and
    /// one on the time at which it expires. That time is compared and changed under one lock.
    pub(crate) fn touch_if(
        &self,
        request: &WriteRequest<'_>,
        expiry: Expiry,
        condition: ExpiryCondition,
    ) -> Result<Option<Touched>> {
        if self.region().fixed().is_some() {
            return Err(no_room());
        }
        let expiry_ms = self.expiry_ms(expiry)?;
        let hash = request.hash;
        self.locked(hash.shard(), request.participant, |lock| {
            let Some(found) = request.find(lock)? else {
                return Ok(None);
            };
            let item = found.item(lock)?;
            let had = item.shown();
            if !holds(condition, had.expiry_ms, expiry_ms) {
                let is_changed = false;
                return Ok(Some(Touched { had, is_changed }));
            }
            if expiry_ms != 0 {
                expect_expiry(lock);
            }
            let is_changed = true;
            let touched = Some(Touched { had, is_changed });
            if let Some(word) = item.expiry_word() {
                change_field(lock, hash, &item, word, Field::Expiry(expiry_ms))?;
            } else if expiry_ms != 0 {
                let hint = found.hint(lock)?;
                let copy = copy_with_field(lock, &item, FLAG_EXPIRY, expiry_ms)?;
                publish_copy(lock, hash, &found, copy, hint, Why::Field)?;
                return Ok(touched);
            }
            found.mark_accessed(lock);
            Ok(touched)
        })
    }
}

/// A key whose time to expire was to change.
pub(crate) struct Touched {
    /// The attributes that it had.
    pub(crate) had: Shown,
    /// Whether the condition held.
    pub(crate) is_changed: bool,
}

/// Returns whether a key that expires at `had_ms` may expire at `new_ms` instead; 0: never.
fn holds(condition: ExpiryCondition, had_ms: u64, new_ms: u64) -> bool {
    // Never is later than any time.
    let order = |ms: u64| ms.wrapping_sub(1);
    match condition {
        ExpiryCondition::Always => true,
        ExpiryCondition::Never => had_ms == 0,
        ExpiryCondition::Expires => had_ms != 0,
        ExpiryCondition::Later => order(new_ms) > order(had_ms),
        ExpiryCondition::Earlier => order(new_ms) < order(had_ms),
        ExpiryCondition::ExpiresAndEarlier => had_ms != 0 && order(new_ms) < order(had_ms),
    }
}
