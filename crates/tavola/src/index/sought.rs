//! What a read looks for: a key, or a tag. A tag is an item as a key is, and is read in the same
//! way. A key may be over because one of its tags is lost; a tag has no tags. So reads of keys use
//! reads of tags, and reads of tags use no others.

use super::hash::Hash;
use crate::alloc::Item;
use crate::region::Region;

/// The kind of item that a read looks for.
pub(super) trait Sought: Copy {
    const IS_TAG: bool;

    /// Hashes the name of one.
    fn hash(region: &Region, name: &[u8]) -> Hash;

    /// Returns whether an item of this kind is over, or `None` if damage hides that. Without a lock
    /// the answer may rest on bytes that have changed since: the caller rechecks.
    fn is_over(item: &Item<'_>) -> Option<bool>;
}

/// The read looks for a tag.
#[derive(Clone, Copy)]
pub(super) struct OfTag;

impl Sought for OfTag {
    const IS_TAG: bool = true;

    fn hash(region: &Region, name: &[u8]) -> Hash {
        Hash::of_tag(region, name)
    }

    fn is_over(item: &Item<'_>) -> Option<bool> {
        Some(item.is_expired())
    }
}
