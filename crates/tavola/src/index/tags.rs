//! Whether keys are missing although they stand there, as they have expired, or lost a tag.

use super::by_uid::read_by_uid;
use super::want::Want;
use crate::alloc::Item;
use crate::error::Result;
use crate::layout::{FLAG_TAGGED, Hint};
use crate::region::Region;

/// Wants to know of a tag that it is there.
struct Present;

impl Want for Present {
    const OF_TAG: bool = true;

    #[inline(always)]
    fn take(&mut self, _: &Item<'_>) -> bool {
        true
    }

    #[inline(always)]
    fn take_short(&mut self, _: &Item<'_>) -> bool {
        true
    }
}

/// Wants the name of a tag.
struct NameOf<'a>(&'a mut Vec<u8>);

impl Want for NameOf<'_> {
    const OF_TAG: bool = true;

    fn take(&mut self, item: &Item<'_>) -> bool {
        self.0.clear();
        item.copy_key(self.0)
    }
}

/// Whether the key of an item is missing, although it stands there; `None`: that cannot be told, as
/// something is damaged. Without a lock what is told may be of bytes that have changed since, as
/// all that is read then.
#[inline]
pub(crate) fn is_over(item: &Item<'_>) -> Option<bool> {
    if item.flags() & FLAG_TAGGED == 0 {
        return Some(item.is_expired());
    }
    is_tagged_over(item)
}

#[cold]
#[inline(never)]
fn is_tagged_over(item: &Item<'_>) -> Option<bool> {
    if item.is_expired() {
        return Some(true);
    }
    for hint in item.tags().hints() {
        if !read_by_uid(item.region(), hint, &mut Present).ok()? {
            return Some(true);
        }
    }
    Some(false)
}

/// Whether the key of an item may be missing some day, although it stands there.
pub(crate) fn may_be_over(item: &Item<'_>) -> bool {
    item.expiry_ms() != 0 || item.flags() & FLAG_TAGGED != 0
}

/// The name of a tag; false: it is no more.
pub(crate) fn tag_name(region: &Region, hint: Hint, out: &mut Vec<u8>) -> Result<bool> {
    let found = read_by_uid(region, hint, &mut NameOf(out));
    if !matches!(found, Ok(true)) {
        out.clear();
    }
    found
}
