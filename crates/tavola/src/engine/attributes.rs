//! What a key may have beside its value: a time at which it expires, and flags of the user's.
//!
//! An item has fields for them only when they say something; a key without costs no byte. The time
//! is changed in place, by one store of 8 bytes under the shard's lock: a reader sees the old time
//! or the new one. An item without that field is copied into a block that has it, as when a key
//! gets a uid.
//!
//! A key that has expired is missing for every reader at once: nobody needs to be told. Its memory
//! comes back when its key is written to, and by the search that goes along with writes
//! (`index::clear`), which needs no more than a bounded piece of work each.

use super::core::Core;
use super::request::{Metadata, NEXT, WriteRequest};
use crate::alloc::{Shown, Stamp, Tags, copy_with_field, expect_expiry};
use crate::error::{Error, Result};
use crate::index::{Spot, Why, change_field, find, publish_copy};
use crate::layout::{FLAG_EXPIRY, MOST_MS};
use crate::values::{Attributes, Expiry};
use std::time::{Duration, SystemTime};

/// The error of a table of fixed lengths, which has no room for attributes.
#[cold]
pub(crate) fn no_room() -> Error {
    Error::BadOption {
        option: "ttl or flags",
        why: "a table of fixed lengths does not store them; create it without `fixed`".into(),
    }
}

/// The error of a TTL of zero.
#[cold]
fn no_time() -> Error {
    Error::BadOption {
        option: "ttl",
        why: "it is 0; for a key that never expires give Expiry::Never, for one that expires at \
            once Expiry::PAST"
            .into(),
    }
}

/// At most what is kept.
pub(crate) fn in_ms(time: Duration) -> u64 {
    let ms = time.as_nanos().div_ceil(1_000_000);
    u64::try_from(ms).map_or(MOST_MS, |ms| ms.min(MOST_MS))
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
        // Who is attached goes by the table's clock, which is a tick from one's own at most. An
        // error is told by the write that follows.
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

    /// As they have it, if they are there.
    pub(crate) fn keeping_default(&self) -> Metadata<'static> {
        let default = self.default_metadata();
        Metadata::new(default.map_or(Stamp::NONE, |default| default.stamp), true)
    }

    /// What a key with these attributes gets.
    pub(crate) fn metadata(&self, attributes: Attributes) -> Result<Metadata<'static>> {
        // As in `default_stamp`.
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

    /// The same, of a key that keeps what it has if it is there.
    pub(crate) fn keeping(&self, attributes: Attributes) -> Result<Metadata<'static>> {
        Ok(Metadata {
            keep: true,
            ..self.metadata(attributes)?
        })
    }

    /// On the table's clock; 0: never.
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

    /// Returns the attributes as readers get them.
    pub(crate) fn attributes(&self, told: Shown) -> Attributes {
        // At least what may be given back with another value.
        let left = || told.expiry_ms.saturating_sub(self.region().now_ms()).max(1);
        Attributes {
            expiry: match told.expiry_ms {
                0 => Expiry::Never,
                _ => Expiry::After(Duration::from_millis(left())),
            },
            flags: told.client,
        }
    }

    /// Lets the key expire at another time, if it is there and the condition holds; says what it
    /// had. The caller counts.
    pub(crate) fn touch(
        &self,
        request: &WriteRequest<'_>,
        expiry: Expiry,
    ) -> Result<Option<Shown>> {
        if self.region().fixed().is_some() {
            return Err(no_room());
        }
        let expiry_ms = self.expiry_ms(expiry)?;
        let hash = request.hash;
        self.locked(hash.shard(), request.participant, |lock| {
            let spot = find(lock, hash, request.key)?;
            let Spot::Taken(found) = spot else {
                return Ok(None);
            };
            if !request.condition.holds(lock, &spot)? {
                return Ok(None);
            }
            if expiry_ms != 0 {
                expect_expiry(lock);
            }
            let item = found.item(lock)?;
            let had = item.shown();
            if let Some(word) = item.expiry_word() {
                change_field(lock, hash, word, expiry_ms);
            } else if expiry_ms != 0 {
                let hint = found.hint(lock)?;
                let copy = copy_with_field(lock, &item, (FLAG_EXPIRY, expiry_ms))?;
                publish_copy(lock, hash, &found, (copy, hint), Why::Field)?;
                return Ok(Some(had));
            }
            found.mark_accessed(lock);
            Ok(Some(had))
        })
    }
}
