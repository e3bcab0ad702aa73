//! A write request: which key, on which condition, and what the key gets beside its value.

use super::claims::{Claim, end_of_changed};
use crate::alloc::{Stamp, Step, Tags};
use crate::index::locate::{FoundKey, Hash, Spot, find};
use crate::layout::Hint;
use crate::lock::{Me, ShardLock};
use crate::sync::Ordering;
use crate::values::Marks;

/// The condition on which a value is stored.
#[derive(Clone, Copy)]
pub(crate) enum WriteCondition<'a> {
    Always,
    /// The key is missing.
    Absent,
    /// The key exists.
    Present,
    /// The key exists and has this value.
    Equals(&'a [u8]),
    /// The key exists and has this version.
    Version(u64),
    /// The key exists and has this uid.
    Has(Hint),
    /// The key exists and has this uid and this value.
    HasValue(Hint, &'a [u8]),
    /// The lease of the key is still its owner's.
    Leased(&'a Claim),
}

/// A write of one key, without the value.
#[derive(Clone, Copy)]
pub(crate) struct WriteRequest<'a> {
    /// The participant that writes.
    pub(crate) participant: Me,
    pub(crate) key: &'a [u8],
    pub(crate) hash: Hash,
    pub(crate) condition: WriteCondition<'a>,
    pub(crate) uid_policy: UidPolicy,
    /// What the key gets beside its value. If this is `None`, it gets nothing.
    pub(crate) metadata: Option<&'a Metadata<'a>>,
}

/// The result of a write that was carried out.
#[derive(Clone, Copy)]
pub(crate) struct WriteResult {
    /// The uid of the key, if it was to get one.
    pub(crate) hint: Hint,
    /// The version that the key got, or 0.
    pub(crate) version: u64,
}

impl WriteResult {
    pub(crate) const NOTHING: Self = Self {
        hint: Hint::NONE,
        version: 0,
    };
}

/// Whether a key that is stored gets a uid. It keeps the one it has in any case.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum UidPolicy {
    Keep,
    Give,
}

/// A placeholder for a version: the next one of the shard.
pub(crate) const NEXT: u64 = u64::MAX;

/// Expiry, flags, tags and version of a key that is stored.
#[derive(Clone)]
pub(crate) struct Metadata<'a> {
    pub(crate) stamp: Stamp<'a>,
    /// If the key exists, it keeps its attributes, except the version.
    pub(crate) keep: bool,
    /// The change of its marks. If this is `None`, it keeps them like the other attributes.
    pub(crate) marks: Option<Marks>,
}

impl<'a> Metadata<'a> {
    pub(crate) fn new(stamp: Stamp<'a>, keep: bool) -> Self {
        Self {
            stamp,
            keep,
            marks: None,
        }
    }
}

impl<'a> WriteRequest<'a> {
    /// Returns the same write on another condition.
    #[inline(always)]
    pub(crate) fn when<'b>(&self, condition: WriteCondition<'b>) -> WriteRequest<'b>
    where
        'a: 'b,
    {
        WriteRequest { condition, ..*self }
    }

    /// Returns whether the value may be changed in place, if the item has nothing beside it.
    #[inline(always)]
    pub(crate) fn is_plain(&self) -> bool {
        self.metadata.is_none_or(|metadata| {
            metadata.marks.is_none() && (metadata.keep || metadata.stamp.is_none())
        })
    }

    /// Returns whether the key gets attributes even if it had none.
    #[inline(always)]
    pub(crate) fn is_given(&self) -> bool {
        self.metadata
            .is_some_and(|metadata| metadata.marks.is_some() || !metadata.stamp.is_none())
    }

    /// Returns the key if it exists and the condition holds.
    pub(crate) fn find<'l>(&self, lock: &ShardLock<'l>) -> Step<Option<FoundKey<'l>>> {
        let spot = find(lock, self.hash, self.key)?;
        Ok(match self.condition.holds(lock, &spot)? {
            true => spot.found(),
            false => None,
        })
    }

    /// Returns what the key gets beside its value. Tags that it keeps are copied to `room`.
    pub(crate) fn stamp<'r>(
        &self,
        lock: &ShardLock<'_>,
        spot: &Spot<'_>,
        room: &'r mut Option<Tags>,
    ) -> Step<Stamp<'r>>
    where
        'a: 'r,
    {
        let mut stamp = self.stamp_but_version(lock, spot, room)?;
        if let Some(marks) = self.metadata.and_then(|metadata| metadata.marks) {
            let had = match spot {
                Spot::Taken(found) => found.item(lock)?.shown().marks,
                Spot::Free(_) => 0,
            };
            stamp.marks = marks.of(had);
        }
        if lock.region.geometry().has_versions {
            stamp.version = match self.metadata {
                Some(metadata) if metadata.stamp.version != NEXT => metadata.stamp.version,
                _ => next_version(lock),
            };
        }
        Ok(stamp)
    }

    fn stamp_but_version<'r>(
        &self,
        lock: &ShardLock<'_>,
        spot: &Spot<'_>,
        room: &'r mut Option<Tags>,
    ) -> Step<Stamp<'r>>
    where
        'a: 'r,
    {
        match (self.metadata, spot) {
            (Some(metadata), Spot::Taken(found)) if metadata.keep => {
                let stamp = found.item(lock)?.stamp(room);
                end_of_changed(lock, self.key, stamp.expiry_ms);
                Ok(stamp)
            }
            (Some(metadata), Spot::Taken(found)) => {
                if found.item(lock)?.expiry_ms() == metadata.stamp.expiry_ms {
                    end_of_changed(lock, self.key, metadata.stamp.expiry_ms);
                }
                Ok(metadata.stamp)
            }
            (metadata, _) => Ok(metadata.map_or(Stamp::NONE, |metadata| metadata.stamp)),
        }
    }
}

/// Returns a version that no key of the shard has had, unless a caller has set it explicitly.
fn next_version(lock: &ShardLock<'_>) -> u64 {
    // The counter rises before the version is used: if this process dies in between, the version is
    // not given out again.
    let versions = &lock.head.versions;
    versions.add_owned(1);
    versions.load(Ordering::Relaxed)
}

impl UidPolicy {
    /// Returns the uid to report for a key whose item does not change, or `None` if it needs one.
    #[inline(always)]
    pub(crate) fn kept(self, lock: &ShardLock<'_>, found: &FoundKey<'_>) -> Step<Option<Hint>> {
        Ok(match self {
            Self::Keep => Some(Hint::NONE),
            Self::Give => Some(found.hint(lock)?).filter(|hint| hint.is_some()),
        })
    }
}

impl WriteCondition<'_> {
    #[inline(always)]
    pub(crate) fn holds(self, lock: &ShardLock<'_>, spot: &Spot<'_>) -> Step<bool> {
        Ok(match (self, spot) {
            (WriteCondition::Always, _)
            | (WriteCondition::Absent, Spot::Free(_))
            | (WriteCondition::Present, Spot::Taken(_)) => true,
            (WriteCondition::Equals(value), Spot::Taken(found)) => {
                found.item(lock)?.value_equals(value)
            }
            (WriteCondition::Version(version), Spot::Taken(found)) => {
                found.item(lock)?.version() == version
            }
            (WriteCondition::Has(hint), Spot::Taken(found)) => hint.means(found.hint(lock)?),
            (WriteCondition::HasValue(hint, value), Spot::Taken(found)) => {
                hint.means(found.hint(lock)?) && found.item(lock)?.value_equals(value)
            }
            (WriteCondition::Leased(claim), spot) => claim.holds(lock, spot)?,
            _ => false,
        })
    }
}
