//! Reads of keys without a lock, by key and by uid.

use super::by_uid;
use super::hash::Hash;
use super::read::{self, read_on};
use super::reading_process::{AsItIs, ReadingProcess};
use super::sought::Sought;
use super::tags::is_over;
use super::want::Want;
use crate::alloc::Item;
use crate::error::Result;
use crate::layout::Hint;
use crate::region::Region;

/// The read looks for a key.
#[derive(Clone, Copy)]
pub(super) struct OfKey;

impl Sought for OfKey {
    const IS_TAG: bool = false;

    fn hash(region: &Region, name: &[u8]) -> Hash {
        Hash::of(region, name)
    }

    #[inline(always)]
    fn is_over(item: &Item<'_>) -> Option<bool> {
        is_over(item)
    }
}

/// Looks a key up and takes what is wanted of its item. Returns false if the key is missing.
///
/// The common cases are short: nearly every key that is there is in the first slot that matches,
/// and its item is plain; nearly every key that is missing has no slot that matches. [`glance`]
/// does these in few steps, and at home without a call, because two reads in a row overlap only as
/// far as the processor looks ahead: at 180 instructions a read the rate is half of that at 130. In
/// all other cases [`read_again`] starts from the beginning.
#[inline(always)]
pub(crate) fn read(region: &Region, key: &[u8], hash: Hash, want: &mut impl Want) -> Result<bool> {
    read_as(region, key, hash, want, &AsItIs)
}

/// Looks a key up as [`read`] does; how it reads a large item depends on the process.
#[inline(always)]
pub(crate) fn read_as(
    region: &Region,
    key: &[u8],
    hash: Hash,
    want: &mut impl Want,
    process: &dyn ReadingProcess,
) -> Result<bool> {
    match glance(region, key, hash, want) {
        Some(found) => Ok(found),
        None => read_again(region, key, want, process),
    }
}

/// Looks a key up as [`read`] does, if that takes few steps. Returns `None` if it did not.
#[inline(always)]
pub(crate) fn glance(
    region: &Region,
    key: &[u8],
    hash: Hash,
    want: &mut impl Want,
) -> Option<bool> {
    read::glance::<OfKey>(region, key, hash, want)
}

/// Hashes the key again: keeping the hash until here would cost the fast path more.
#[inline(never)]
fn read_again(
    region: &Region,
    key: &[u8],
    want: &mut impl Want,
    process: &dyn ReadingProcess,
) -> Result<bool> {
    read_on::<OfKey>(region, key, Hash::of(region, key), want, process)
}

/// Looks a uid up and takes what is wanted of its item. Returns false if the uid is not in use, or
/// belongs to another key than the one that is meant.
///
/// As in [`read`], the common case is short and inlined into the caller.
#[inline(always)]
pub(crate) fn read_by_uid(region: &Region, hint: Hint, want: &mut impl Want) -> Result<bool> {
    read_by_uid_as(region, hint, want, &AsItIs)
}

/// Looks a uid up as [`read_by_uid`] does; how it reads a large item depends on the process.
#[inline(always)]
pub(crate) fn read_by_uid_as(
    region: &Region,
    hint: Hint,
    want: &mut impl Want,
    process: &dyn ReadingProcess,
) -> Result<bool> {
    by_uid::read::<OfKey>(region, hint, want, process)
}
