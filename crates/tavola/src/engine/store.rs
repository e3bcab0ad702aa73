//! Storing on conditions and with versions: what protocols need beyond `set` and similar calls.

use super::attributes::{check_marks, no_room};
use super::core::Core;
use super::effort::Tries;
use super::entry::KeyOrUid;
use super::request::{Metadata, NEXT, WriteCondition};
use crate::error::{Error, Result};
use crate::values::{CasToken, Condition, StoreOptions, Stored};
use std::cell::Cell;

impl Core {
    fn metadata_of<'a>(&self, how: &StoreOptions<'a>) -> Result<Metadata<'a>> {
        let mut metadata = match how.attributes {
            Some(attributes) => self.metadata(attributes)?,
            None => self.keeping_default(),
        };
        if !how.tags.is_empty() {
            if self.region().fixed().is_some() {
                return Err(no_room());
            }
            metadata.stamp.tags = how.tags;
        }
        if let Some(version) = how.version {
            if !self.region().geometry().has_versions {
                return Err(wrong(
                    "the table has no versions; create it with `versions`",
                ));
            }
            if version == 0 || version == NEXT {
                return Err(wrong("0 and 2^64 - 1 are not valid versions"));
            }
            metadata.stamp.version = version;
        }
        if let Some(marks) = how.marks {
            check_marks(self, marks)?;
            metadata.marks = Some(marks);
        }
        Ok(metadata)
    }

    pub(crate) fn store_by(
        &self,
        key: &[u8],
        value: &[u8],
        how: &StoreOptions<'_>,
    ) -> Result<Stored> {
        let metadata = self.metadata_of(how)?;
        let request = self.request(key, WriteCondition::Always, Some(&metadata))?;
        let version = Cell::new(0);
        let store = |when: WriteCondition<'_>| {
            let written = self.write(&request.when(when), value)?;
            version.set(written.map_or(0, |written| written.version));
            Ok(written.is_some())
        };
        let refused = match how.condition {
            Condition::Always => (!store(WriteCondition::Always)?).then_some(Stored::NotFound),
            Condition::Absent => (!store(WriteCondition::Absent)?).then_some(Stored::Exists),
            Condition::Present => (!store(WriteCondition::Present)?).then_some(Stored::NotFound),
            Condition::Is(token) => self.retried(key, token, store)?,
        };
        self.count_set(request.participant);
        if refused.is_none() && !how.tags.is_empty() {
            self.use_tags(how.tags.hints())?;
        }
        Ok(refused.unwrap_or_else(|| Stored::Done(self.token(version.get(), value))))
    }

    /// Runs `act` on a key that has this token, and repeats it if another writer was faster.
    /// Returns `None` after success, else why it was refused.
    pub(crate) fn retried(
        &self,
        key: &[u8],
        token: CasToken,
        act: impl Fn(WriteCondition<'_>) -> Result<bool>,
    ) -> Result<Option<Stored>> {
        let (mut value, mut tries) = (Vec::new(), Tries::new());
        loop {
            let Some(details) = self.entry_into(KeyOrUid::Key(key), &mut value)? else {
                return Ok(Some(Stored::NotFound));
            };
            if self.token(details.version, &value) != token {
                return Ok(Some(Stored::Exists));
            }
            let when = match details.version {
                0 => WriteCondition::Equals(&value),
                version => WriteCondition::Version(version),
            };
            if act(when)? {
                return Ok(None);
            }
            tries.fail((details.version, value.clone()))?;
        }
    }
}

#[cold]
fn wrong(why: &str) -> Error {
    Error::BadOption {
        option: "version",
        why: why.to_string(),
    }
}
