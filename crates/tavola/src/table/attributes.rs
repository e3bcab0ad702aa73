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

use super::Table;
use super::core::Core;
use super::effort::Tries;
use super::request::{Metadata, NEXT, When, WriteRequest};
use crate::alloc::{Shown, Stamp, Tags, copy_with_field, expect_expiry};
use crate::error::{Error, Result};
use crate::index::{Hash, Spot, Why, change_field, find, publish_copy, read};
use crate::layout::{FLAG_EXPIRY, MOST_MS};
use crate::sync::SHORT;
use crate::values::{Attributes, Details, Entry, Expiry};
use std::time::{Duration, SystemTime};

/// The error of a table of fixed lengths, which has no room for attributes.
#[cold]
pub(super) fn no_room() -> Error {
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
pub(super) fn in_ms(time: Duration) -> u64 {
    let ms = time.as_nanos().div_ceil(1_000_000);
    u64::try_from(ms).map_or(MOST_MS, |ms| ms.min(MOST_MS))
}

impl Core {
    /// Returns the default TTL of new keys, or `None` if they do not expire.
    #[inline(always)]
    pub(super) fn default_metadata(&self) -> Option<Metadata<'static>> {
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
    pub(super) fn next_version(&self) -> u64 {
        match self.region().geometry().has_versions {
            true => NEXT,
            false => 0,
        }
    }

    /// As they have it, if they are there.
    pub(super) fn keeping_default(&self) -> Metadata<'static> {
        let default = self.default_metadata();
        Metadata::new(default.map_or(Stamp::NONE, |default| default.stamp), true)
    }

    /// What a key with these attributes gets.
    pub(super) fn metadata(&self, attributes: Attributes) -> Result<Metadata<'static>> {
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
    pub(super) fn keeping(&self, attributes: Attributes) -> Result<Metadata<'static>> {
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
    pub(super) fn attributes(&self, told: Shown) -> Attributes {
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
    fn touch(&self, request: &WriteRequest<'_>, expiry: Expiry) -> Result<Option<Shown>> {
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
            let had = item.told();
            if let Some(word) = item.expiry_word() {
                change_field(lock, hash, word, expiry_ms);
            } else if expiry_ms != 0 {
                let hint = found.hint(lock)?;
                let copy = copy_with_field(lock, &item, (FLAG_EXPIRY, expiry_ms))?;
                publish_copy(lock, hash, &found, (copy, hint), Why::Field)?;
                return Ok(Some(had));
            }
            found.visit(lock);
            Ok(Some(had))
        })
    }
}

impl Table {
    /// Sets a key with attributes, which replace those of an existing key.
    ///
    /// # Errors
    /// As [`Table::set`]; [`Error::BadOption`] in a table of fixed lengths, which does not store
    /// attributes.
    pub fn set_with(
        &self,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
        attributes: Attributes,
    ) -> Result<()> {
        let (key, value) = (key.as_ref(), value.as_ref());
        self.store_with(key, value, When::Always, attributes)
            .map(|_| ())
    }

    /// Sets a key with attributes only if it is missing, as [`Table::add`].
    ///
    /// # Errors
    /// As [`Table::set_with`].
    pub fn add_with(
        &self,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
        attributes: Attributes,
    ) -> Result<bool> {
        let (key, value) = (key.as_ref(), value.as_ref());
        self.store_with(key, value, When::Absent, attributes)
    }

    /// Sets a key with attributes only if it exists, as [`Table::replace`].
    ///
    /// # Errors
    /// As [`Table::set_with`].
    pub fn replace_with(
        &self,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
        attributes: Attributes,
    ) -> Result<bool> {
        let (key, value) = (key.as_ref(), value.as_ref());
        self.store_with(key, value, When::Present, attributes)
    }

    fn store_with(
        &self,
        key: &[u8],
        value: &[u8],
        when: When<'_>,
        attributes: Attributes,
    ) -> Result<bool> {
        let core = self.core()?;
        let metadata = core.metadata(attributes)?;
        core.store_with(key, value, when, Some(&metadata))
    }

    /// Returns the TTL of a key, as [`Expiry::After`] or [`Expiry::Never`], or `None` if it is
    /// missing.
    ///
    /// # Errors
    /// As [`Table::get`].
    pub fn ttl(&self, key: impl AsRef<[u8]>) -> Result<Option<Expiry>> {
        let key = key.as_ref();
        let core = self.core()?;
        let mut told = Shown::default();
        let found = read(core.region(), key, Hash::of(core.region(), key), &mut told)?;
        Ok(found.then(|| core.attributes(told).expiry))
    }

    /// Changes the TTL of a key. Returns false if the key is missing. Its value and flags do not
    /// change. If the key expires during the call, another process may briefly miss it.
    ///
    /// # Errors
    /// As [`Table::set_with`].
    ///
    /// # Crash
    /// If the process is killed in the call, the key has the old TTL or the new one.
    pub fn touch(&self, key: impl AsRef<[u8]>, expiry: Expiry) -> Result<bool> {
        let key = key.as_ref();
        let core = self.core()?;
        let request = core.request(key, When::Always, None)?;
        let had = core.touch(&request, expiry)?;
        core.count_set(request.participant);
        Ok(had.is_some())
    }

    /// Removes the TTL of a key. Returns false if the key is missing.
    ///
    /// # Errors
    /// As [`Table::set_with`].
    pub fn persist(&self, key: impl AsRef<[u8]>) -> Result<bool> {
        let key = key.as_ref();
        self.touch(key, Expiry::Never)
    }

    /// Changes the TTL of a key, and returns its value with the attributes it had before.
    ///
    /// # Errors
    /// As [`Table::touch`].
    ///
    /// # Concurrency
    /// The returned value is the one whose TTL was changed.
    pub fn get_and_touch(&self, key: impl AsRef<[u8]>, expiry: Expiry) -> Result<Option<Entry>> {
        let key = key.as_ref();
        let core = self.core()?;
        let mut value = Vec::with_capacity(SHORT);
        let had = self.get_and_touch_into(key, expiry, &mut value)?;
        Ok(had.map(|had| core.entry(value, had)))
    }

    /// Changes the TTL of a key, and reads its value into a buffer, which is cleared first. Returns
    /// what else the key had before, or `None` if it is missing.
    ///
    /// # Errors
    /// As [`Table::touch`].
    ///
    /// # Concurrency
    /// As [`Table::get_and_touch`].
    pub fn get_and_touch_into(
        &self,
        key: impl AsRef<[u8]>,
        expiry: Expiry,
        out: &mut Vec<u8>,
    ) -> Result<Option<Details>> {
        let key = key.as_ref();
        let core = self.core()?;
        let mut tries = Tries::new();
        while core.get_to_touch(key, out)? {
            let request = core.request(key, When::Equals(out), None)?;
            if let Some(had) = core.touch(&request, expiry)? {
                core.count_call();
                return Ok(Some(core.details(had)));
            }
            tries.fail(out.clone())?;
        }
        core.count_call();
        Ok(None)
    }
}
