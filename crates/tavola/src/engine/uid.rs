//! Operations by uid, the number that stands for a key.

use super::batch::WAVE;
use super::core::Core;
use super::request::WriteCondition;
use crate::alloc::{copy_with_field, free_uid, take_uid};
use crate::error::{Error, Result};
use crate::index::locate::{
    Hash, HintOf, KeyOf, Spot, Why, change_word, fetch_uid_entry, fetch_uid_item, find, is_watched,
    publish_copy, read, read_by_uid, read_by_uid_as, word_by_uid,
};
use crate::layout::{FLAG_UID, Hint, UidPlace};
use crate::values::{Expiry, Updated};

/// How many times in a row a uid may pass to another key between reading and locking, until that
/// counts as damage.
const TRIES: u32 = 1 << 16;

impl Core {
    pub(crate) fn uid_of(&self, key: &[u8]) -> Result<Option<Hint>> {
        let hash = Hash::of(self.region(), key);
        let mut has = HintOf(Hint::NONE);
        if !read(self.region(), key, hash, &mut has)? {
            return Ok(None);
        }
        if has.0.is_some() {
            return Ok(Some(has.0));
        }
        self.give_uid(key, hash)
    }

    /// Gives the key a uid: writes a copy of its item that has one, and lets the slot lead to the
    /// copy.
    #[cold]
    fn give_uid(&self, key: &[u8], hash: Hash) -> Result<Option<Hint>> {
        let me = self.writer()?;
        self.locked(hash.shard(), me, |lock| {
            let found = match find(lock, hash, key)? {
                Spot::Free(_) => return Ok(None),
                Spot::Taken(found) => found,
            };
            let had = found.hint(lock)?;
            if had.is_some() {
                return Ok(Some(had));
            }
            let item = found.item(lock)?;
            let hint = take_uid(lock)?;
            let new = copy_with_field(lock, &item, FLAG_UID, hint.to_bits())
                .inspect_err(|_| free_uid(lock, hint))?;
            publish_copy(lock, hash, &found, new, hint, Why::Uid)?;
            Ok(Some(hint))
        })
    }

    pub(crate) fn key_of_uid(&self, hint: Hint, out: &mut Vec<u8>) -> Result<bool> {
        let found = read_by_uid(self.region(), hint, &mut KeyOf(out));
        if !matches!(found, Ok(true)) {
            out.clear();
        }
        found
    }

    pub(crate) fn set_by_uid(&self, hint: Hint, value: &[u8]) -> Result<bool> {
        let me = self.writer()?;
        if let Ok(word) = <[u8; 8]>::try_from(value)
            && !self.region().geometry().stamps()
        {
            let shard = UidPlace::of(hint.uid(), self.region().geometry().shards_log2).shard;
            let changed = self.locked(shard, me, |lock| {
                // If the key may be watched, it must be known which key changes, so it is written
                // by key. So it is if changes are recorded.
                let place = (!is_watched(lock) && !lock.region.is_journaled())
                    .then(|| word_by_uid(lock, hint))
                    .flatten();
                if let Some(place) = place {
                    change_word(lock, None, 0, place, u64::from_ne_bytes(word))?;
                }
                Ok(place.is_some())
            })?;
            if changed {
                self.count_set(me);
                return Ok(true);
            }
        }
        let default = self.default_metadata();
        let is_there = self.by_key(hint, |key| {
            let request = self.request(key, WriteCondition::Has(hint), default.as_ref())?;
            Ok(self.write(&request, value)?.is_some())
        })?;
        self.count_set(me);
        Ok(is_there)
    }

    pub(crate) fn remove_by_uid(&self, hint: Hint) -> Result<bool> {
        let me = self.writer()?;
        let is_there = self.by_key(hint, |key| {
            self.remove(&self.request(key, WriteCondition::Has(hint), None)?)
        })?;
        self.count_remove(me);
        Ok(is_there)
    }

    pub(crate) fn try_update_by_uid<E: From<Error>>(
        &self,
        hint: Hint,
        mut new: impl FnMut(&[u8]) -> Result<Option<Vec<u8>>, E>,
    ) -> Result<Updated, E> {
        let me = self.writer()?;
        let metadata = self.keeping_default();
        let (mut key, mut old, mut last) = (Vec::new(), Vec::new(), Vec::new());
        let mut tries = 0;
        while tries < TRIES {
            std::mem::swap(&mut old, &mut last);
            old.clear();
            if !self.key_of_uid(hint, &mut key)? || !read_by_uid(self.region(), hint, &mut old)? {
                self.count_set(me);
                return Ok(Updated::NotFound);
            }
            let value = new(&old)?;
            let when = WriteCondition::HasValue(hint, &old);
            let request = self.request(&key, when, Some(&metadata))?;
            let done = match &value {
                Some(value) => self.write(&request, value)?.is_some(),
                None => self.remove(&request)?,
            };
            if done {
                self.count_change(me, value.is_none());
                return Ok(value.map_or(Updated::Removed, Updated::Stored));
            }
            // Another value than the last time: a writer was faster.
            tries = if old == last { tries + 1 } else { 0 };
        }
        Ok(self.region().damaged("the item of a uid")?)
    }

    /// Changes when the key with this uid expires. Returns false if no key has the uid.
    pub(crate) fn touch_by_uid(&self, hint: Hint, expiry: Expiry) -> Result<bool> {
        let me = self.writer()?;
        let is_there = self.by_key(hint, |key| {
            let request = self.request(key, WriteCondition::Has(hint), None)?;
            Ok(self.touch(&request, expiry)?.is_some())
        })?;
        self.count_set(me);
        Ok(is_there)
    }

    /// Reads the values of many uids: calls `found` for each, in order. The cache misses of a wave
    /// overlap, as those of [`Core::read_many`] do: first the entries of the uids are fetched, then
    /// the items they lead to.
    pub(crate) fn read_many_by_uid(
        &self,
        uids: impl Iterator<Item = Hint>,
        mut found: impl FnMut(usize, Option<&[u8]>),
    ) -> Result<()> {
        let (region, mut uids) = (self.region(), uids);
        let (mut value, mut at) = (Vec::new(), 0);
        loop {
            let mut wave = [Hint::NONE; WAVE];
            let count = wave
                .iter_mut()
                .zip(&mut uids)
                .map(|(to, uid)| *to = uid)
                .count();
            let wave = &wave[..count];
            wave.iter().for_each(|hint| fetch_uid_entry(region, *hint));
            wave.iter().for_each(|hint| fetch_uid_item(region, *hint));
            for hint in wave {
                value.clear();
                let is_there = read_by_uid_as(region, *hint, &mut value, self)?;
                found(at, is_there.then_some(&value[..]));
                at += 1;
            }
            if count < WAVE {
                return Ok(());
            }
        }
    }

    /// Runs `act` on the key of a uid until it succeeds. Returns false if no key has the uid.
    pub(super) fn by_key(
        &self,
        hint: Hint,
        mut act: impl FnMut(&[u8]) -> Result<bool>,
    ) -> Result<bool> {
        let mut key = Vec::new();
        for _ in 0..TRIES {
            let is_there = self.key_of_uid(hint, &mut key)?;
            if !is_there || act(&key)? {
                return Ok(is_there);
            }
        }
        self.region().damaged("the item of a uid")
    }
}
