//! Whether a key is over: missing although its item is there, because it has expired or lost a tag.
//! A tag is an item of its own, and is lost once its uid does not lead to it any more.

use super::by_uid;
use super::read::read_on;
use super::reading_process::AsItIs;
use super::sought::{OfTag, Sought};
use super::want::Want;
use crate::alloc::Item;
use crate::error::Result;
use crate::layout::{FLAG_TAGGED, Hint};
use crate::region::Region;

/// Takes nothing of a tag; it is enough that the tag is there.
struct Present;

impl Want for Present {
    #[inline(always)]
    fn take(&mut self, _: &Item<'_>) -> bool {
        true
    }

    #[inline(always)]
    fn take_short(&mut self, _: &Item<'_>) -> bool {
        true
    }
}

/// Takes the name of a tag.
struct NameOf<'a>(&'a mut Vec<u8>);

impl Want for NameOf<'_> {
    fn take(&mut self, item: &Item<'_>) -> bool {
        self.0.clear();
        item.copy_key(self.0)
    }
}

/// Looks a tag up by its name, and takes what is wanted of its item. Returns false if there is no
/// such tag.
pub(crate) fn read_tag(region: &Region, name: &[u8], want: &mut impl Want) -> Result<bool> {
    read_on::<OfTag>(region, name, OfTag::hash(region, name), want, &AsItIs)
}

/// Looks a tag up by its uid, as [`read_tag`] does by its name.
fn read_tag_by_uid(region: &Region, hint: Hint, want: &mut impl Want) -> Result<bool> {
    by_uid::read::<OfTag>(region, hint, want, &AsItIs)
}

/// Returns whether the key of an item is over, or `None` if damage hides that. Without a lock the
/// answer may rest on bytes that have changed since: the caller rechecks.
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
        if !read_tag_by_uid(item.region(), hint, &mut Present).ok()? {
            return Some(true);
        }
    }
    Some(false)
}

/// Returns whether the key of an item may be over some day.
pub(crate) fn may_be_over(item: &Item<'_>) -> bool {
    item.expiry_ms() != 0 || item.flags() & FLAG_TAGGED != 0
}

/// Reads the name of a tag. Returns false if the tag does not exist any more.
pub(crate) fn tag_name(region: &Region, hint: Hint, out: &mut Vec<u8>) -> Result<bool> {
    let found = read_tag_by_uid(region, hint, &mut NameOf(out));
    if !matches!(found, Ok(true)) {
        out.clear();
    }
    found
}
