//! The record of a key that a transaction changes.

use super::pending::Pending;
use super::record::{Recorded, is_lost, push};
use crate::alloc::{Item, Step, corrupt};
use crate::journal::Draft;
use crate::region::Region;

/// Adds a change of a transaction to a record.
pub(crate) fn record_pending(region: &Region, draft: &mut Draft, pending: &Pending) -> Step<()> {
    let (item_ref, recorded) = match (&pending.new, &pending.old) {
        (Some(new), _) if !is_lost(region, new.item_ref) => {
            let (item_ref, pieces) = (new.item_ref, new.pieces);
            (item_ref, Recorded::Set { item_ref, pieces })
        }
        (Some(old), _) | (None, Some(old)) => {
            let item_ref = old.item_ref;
            (item_ref, Recorded::Remove { item_ref })
        }
        (None, None) => return Ok(()),
    };
    match Item::at(region, item_ref) {
        Some(item) => push(region, draft, &item, recorded),
        None => corrupt("an item"),
    }
}
