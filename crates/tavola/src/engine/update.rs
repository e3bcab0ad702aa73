//! Updates, which depend on the old value: read it without a lock, compute outside any lock, and
//! store the result if the value is still the one that was read; otherwise begin again.

use super::core::Core;
use super::effort::Tries;
use super::request::{Metadata, WriteCondition, WriteRequest};
use crate::error::{Error, Result};
use crate::index::locate::of_value;
use crate::lock::Me;
use crate::values::CasToken;

/// The value that a key has or had, or `None` if it is missing.
type MaybeValue = Option<Vec<u8>>;

impl Core {
    pub(crate) fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let mut value = Vec::new();
        Ok(self.get_into(key, &mut value)?.then_some(value))
    }

    /// Returns the token of a key with this version and value.
    pub(crate) fn token(&self, version: u64, value: &[u8]) -> CasToken {
        CasToken(match version {
            0 => of_value(self.region(), value),
            version => version,
        })
    }

    /// Counts a call like [`Self::count_set`], but only if this process can write.
    pub(crate) fn count_call(&self) {
        if let Ok(me) = self.writer() {
            self.count_set(me);
        }
    }

    /// Stores `new`, or removes the key, if its value is still `old`.
    fn store_if(
        &self,
        request: &WriteRequest<'_>,
        old: Option<&[u8]>,
        new: Option<&[u8]>,
    ) -> Result<bool> {
        let request = request.when(old.map_or(WriteCondition::Absent, WriteCondition::Equals));
        match (old, new) {
            (_, Some(new)) => Ok(self.write(&request, new)?.is_some()),
            (Some(_), None) => self.remove(&request),
            (None, None) => Ok(true),
        }
    }

    /// Counts a call as a remove, or as a set.
    pub(crate) fn count_change(&self, me: Me, removes: bool) {
        match removes {
            true => self.count_remove(me),
            false => self.count_set(me),
        }
    }

    /// Stores `new`, or removes the key, and puts the value it had into `old`, unless `check`
    /// refuses that value. Returns whether the key existed.
    pub(crate) fn exchange<E: From<Error>>(
        &self,
        key: &[u8],
        new: Option<&[u8]>,
        metadata: Option<&Metadata<'_>>,
        old: &mut Vec<u8>,
        mut check: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<bool, E> {
        let request = self.request(key, WriteCondition::Always, metadata)?;
        let mut tries = Tries::new();
        loop {
            let is_there = self.get_into(key, old)?;
            if is_there {
                check(old)?;
            }
            if self.store_if(&request, is_there.then_some(&old[..]), new)? {
                self.count_change(request.participant, new.is_none());
                return Ok(is_there);
            }
            tries.fail(is_there.then(|| old.clone()))?;
        }
    }

    pub(crate) fn update(
        &self,
        key: &[u8],
        metadata: Option<&Metadata<'_>>,
        new: impl FnMut(Option<&[u8]>) -> Result<Option<Vec<u8>>>,
    ) -> Result<(MaybeValue, MaybeValue)> {
        self.try_update(key, metadata, new)
    }

    pub(crate) fn try_update<E: From<Error>>(
        &self,
        key: &[u8],
        metadata: Option<&Metadata<'_>>,
        mut new: impl FnMut(Option<&[u8]>) -> Result<Option<Vec<u8>>, E>,
    ) -> Result<(MaybeValue, MaybeValue), E> {
        let request = self.request(key, WriteCondition::Always, metadata)?;
        let mut tries = Tries::new();
        loop {
            let old = self.get(key)?;
            let value = new(old.as_deref())?;
            if self.store_if(&request, old.as_deref(), value.as_deref())? {
                // An update that leaves a missing key missing, such as an append to it, does not
                // count as a removal.
                self.count_change(request.participant, old.is_some() && value.is_none());
                return Ok((old, value));
            }
            tries.fail(old)?;
        }
    }
}
