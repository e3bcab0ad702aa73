//! On what it depends whether a key is stored, and what it gets beside its value.

use super::leases::{Claim, end_of_changed};
use super::marks::Marks;
use crate::alloc::{Stamp, Step, Tags};
use crate::index::{Found, Spot};
use crate::layout::Hint;
use crate::lock::ShardLock;
use crate::sync::Ordering;
use std::cell::Cell;

/// When a value is stored.
#[derive(Clone, Copy)]
pub(super) enum When<'a> {
    Always,
    /// The key is missing.
    Absent,
    /// The key is there.
    Present,
    /// The key is there and has this value.
    Equals(&'a [u8]),
    /// The key is there and has this version.
    Version(u64),
    /// The key is there and has this uid.
    Has(Hint),
    /// The key is there and has this uid and this value.
    HasValue(Hint, &'a [u8]),
    /// The lease of the key is still its owner's.
    Leased(&'a Claim),
}

/// What a key that is stored gets beside its value.
pub(super) type How<'a> = (Naming, Beside<'a>);

/// Whether a key that is stored gets a uid. The one it has it keeps in any case.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Naming {
    Keep,
    Give,
}

/// As the version of a key: the one after the last.
pub(super) const NEXT: u64 = u64::MAX;

/// Expiry, flags, tags and version of a key that is stored.
#[derive(Clone)]
pub(super) struct Stamping<'a> {
    pub(super) stamp: Stamp<'a>,
    /// If the key exists, it keeps its attributes, except the version.
    pub(super) keep: bool,
    /// The change of its marks. If this is `None`, it keeps them like the other attributes.
    pub(super) marks: Option<Marks>,
    /// The version it got.
    pub(super) version: Cell<u64>,
}

impl<'a> Stamping<'a> {
    pub(super) fn new(stamp: Stamp<'a>, keep: bool) -> Self {
        Self {
            stamp,
            keep,
            marks: None,
            version: Cell::new(0),
        }
    }
}

/// The same, or nothing at all; by reference, as most keys get nothing.
#[derive(Clone, Copy)]
pub(super) struct Beside<'a>(pub(super) Option<&'a Stamping<'a>>);

impl<'a> Beside<'a> {
    /// Whether a value may be changed in place, in an item that has nothing beside it.
    #[inline(always)]
    pub(super) fn is_plain(self) -> bool {
        self.0.is_none_or(|stamping| {
            stamping.marks.is_none() && (stamping.keep || stamping.stamp.is_none())
        })
    }

    /// Whether the key gets something whatever it had.
    #[inline(always)]
    pub(super) fn is_given(self) -> bool {
        self.0
            .is_some_and(|stamping| stamping.marks.is_some() || !stamping.stamp.is_none())
    }

    /// What the key gets; tags that it keeps are in `room` then.
    pub(super) fn of(
        self,
        lock: &ShardLock<'_>,
        key: &[u8],
        spot: &Spot<'_>,
        room: &'a mut Option<Tags>,
    ) -> Step<Stamp<'a>> {
        let mut stamp = self.but_version(lock, key, spot, room)?;
        if let Some(marks) = self.0.and_then(|stamping| stamping.marks) {
            let had = match spot {
                Spot::Taken(found) => found.item(lock)?.told().marks,
                Spot::Free(_) => 0,
            };
            stamp.marks = marks.of(had);
        }
        if lock.region.geometry().has_versions {
            stamp.version = match self.0 {
                Some(stamping) if stamping.stamp.version != NEXT => stamping.stamp.version,
                _ => next_version(lock),
            };
            if let Some(stamping) = self.0 {
                stamping.version.set(stamp.version);
            }
        }
        Ok(stamp)
    }

    fn but_version(
        self,
        lock: &ShardLock<'_>,
        key: &[u8],
        spot: &Spot<'_>,
        room: &'a mut Option<Tags>,
    ) -> Step<Stamp<'a>> {
        match (self.0, spot) {
            (Some(stamping), Spot::Taken(found)) if stamping.keep => {
                let stamp = found.item(lock)?.stamp(room);
                end_of_changed(lock, key, stamp.expiry_ms);
                Ok(stamp)
            }
            (Some(stamping), Spot::Taken(found)) => {
                if found.item(lock)?.expiry_ms() == stamping.stamp.expiry_ms {
                    end_of_changed(lock, key, stamping.stamp.expiry_ms);
                }
                Ok(stamping.stamp)
            }
            (stamping, _) => Ok(stamping.map_or(Stamp::NONE, |stamping| stamping.stamp)),
        }
    }
}

/// A version that no key of the shard has had, unless someone has asked for it.
fn next_version(lock: &ShardLock<'_>) -> u64 {
    // It counts before it is given: should this process die now, it is not given again.
    let versions = &lock.head.versions;
    versions.add_owned(1);
    versions.load(Ordering::Relaxed)
}

impl Naming {
    /// Returns the uid to report for a key whose item does not change, or `None` if it needs one.
    #[inline(always)]
    pub(super) fn kept(self, lock: &ShardLock<'_>, found: &Found<'_>) -> Step<Option<Hint>> {
        Ok(match self {
            Self::Keep => Some(Hint::NONE),
            Self::Give => Some(found.hint(lock)?).filter(|hint| hint.is_some()),
        })
    }
}

impl When<'_> {
    #[inline(always)]
    pub(super) fn holds(self, lock: &ShardLock<'_>, spot: &Spot<'_>) -> Step<bool> {
        Ok(match (self, spot) {
            (When::Always, _) | (When::Absent, Spot::Free(_)) | (When::Present, Spot::Taken(_)) => {
                true
            }
            (When::Equals(value), Spot::Taken(found)) => found.item(lock)?.value_equals(value),
            (When::Version(version), Spot::Taken(found)) => found.item(lock)?.version() == version,
            (When::Has(hint), Spot::Taken(found)) => hint.means(found.hint(lock)?),
            (When::HasValue(hint, value), Spot::Taken(found)) => {
                hint.means(found.hint(lock)?) && found.item(lock)?.value_equals(value)
            }
            (When::Leased(claim), spot) => claim.holds(lock, spot)?,
            _ => false,
        })
    }
}
