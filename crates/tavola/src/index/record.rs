//! The record of a change in the journal of a durable table, made from what the index leads to.
//!
//! A key may lose a tag while its record is written: then it is missing, and the record says that
//! it is removed. Whether it has its tags is asked again under the journal's lock, under which tags
//! are invalidated. So the records of the key and of the tag are in the order in which it happened.

use super::tags::{is_over, tag_name};
use crate::alloc::{DIGITS, Item, Need, Shown, Step, Stop, corrupt, decimal};
use crate::journal::{
    Appended, ChangeRecord, Content, Draft, Kind, MOST_KEY, Op, is_kept, record as write_record,
};
use crate::layout::FLAG_TAGGED;
use crate::lock::ShardLock;
use crate::region::Region;
use crate::sync::W64;

/// The content of the record of a change.
#[derive(Clone, Copy)]
pub(crate) enum Recorded {
    /// Nothing: a reader sees no change.
    Nothing,
    /// The key of this item has what is in the item. The value of a large one is in pieces; the
    /// first is at this position.
    Set { item_ref: u64, pieces: u64 },
    /// The same, but the value is this word.
    Word { item_ref: u64, word: u64 },
    /// The key of this item has these attributes, or those of the item.
    Attributes { item_ref: u64, shown: Option<Shown> },
    /// The key of this item is removed, or it is a tag that is invalidated.
    Remove { item_ref: u64 },
}

/// Makes a change of a durable table, and its record.
#[cold]
#[inline(never)]
pub(super) fn make_recorded(
    lock: &ShardLock<'_>,
    place: &W64,
    word: u64,
    recorded: Recorded,
) -> Step<()> {
    let change = Appended { place, word };
    let region = lock.region;
    let item = match recorded {
        Recorded::Nothing => {
            place.store(word, crate::sync::Ordering::Release);
            return Ok(());
        }
        Recorded::Set { item_ref, .. }
        | Recorded::Word { item_ref, .. }
        | Recorded::Attributes { item_ref, .. }
        | Recorded::Remove { item_ref } => match Item::at(region, item_ref) {
            Some(item) => item,
            None => return corrupt("an item"),
        },
    };
    let decide = |draft: &mut Draft| {
        if let Recorded::Set { pieces, .. } = recorded
            && pieces != 0
            && !is_kept(region, pieces)
        {
            return Err(Stop::Need(Need::Pieces));
        }
        let is_lost = matches!(recorded, Recorded::Set { .. }) && has_lost_tag(&item);
        if is_lost {
            draft.begin(Kind::Commit);
            push(region, draft, &item, Recorded::Remove { item_ref: 0 })?;
        }
        Ok(is_lost)
    };
    write_record(
        lock,
        &change,
        |draft| push(region, draft, &item, recorded),
        decide,
    )
}

fn has_lost_tag(item: &Item<'_>) -> bool {
    item.flags() & FLAG_TAGGED != 0 && is_over(item) == Some(true)
}

/// Returns whether an item has a tag that is gone.
pub(crate) fn is_lost(region: &Region, item_ref: u64) -> bool {
    Item::at(region, item_ref).is_some_and(|item| has_lost_tag(&item))
}

/// Adds a change to a record.
pub(crate) fn push(
    region: &Region,
    draft: &mut Draft,
    item: &Item<'_>,
    recorded: Recorded,
) -> Step<()> {
    let key_len = item.key_len() as usize;
    if key_len > MOST_KEY {
        return corrupt("an item");
    }
    let mut names = Vec::new();
    let mut change = ChangeRecord::of(op_of(item, recorded), &[]);
    let mut digits = [0; DIGITS];
    let word;
    let (mut value, mut value_len): (&[u8], usize) = (&[], 0);
    match recorded {
        Recorded::Set { pieces, .. } => {
            let shown = item.shown();
            (change.client, change.expiry_ms) = (shown.client, shown.expiry_ms);
            (change.marks, change.version) = (shown.marks, shown.version);
            names = tag_names(region, item);
            match (pieces, item.number()) {
                (0, Some(number)) => value = decimal(number, &mut digits),
                (0, None) => value_len = item.value_len() as usize,
                (first, _) => {
                    let len = item.value_len() as u32;
                    change.content = Content::Pieces { first, len };
                }
            }
        }
        Recorded::Word { word: number, .. } if item.is_counter() => {
            value = decimal(number, &mut digits);
        }
        Recorded::Word { word: now, .. } => {
            word = now.to_ne_bytes();
            value = &word;
        }
        Recorded::Attributes { shown, .. } => {
            let shown = shown.unwrap_or_else(|| item.shown());
            (change.client, change.expiry_ms) = (shown.client, shown.expiry_ms);
            change.marks = shown.marks;
        }
        Recorded::Nothing | Recorded::Remove { .. } => {}
    }
    change.tags = names.iter().map(Vec::as_slice).collect();
    draft.begin_change(&change, key_len, value.len() + value_len);
    let mut is_whole = item.copy_key(draft.bytes());
    if value_len > 0 {
        is_whole &= item.copy_value(draft.bytes());
    }
    draft.push_bytes(value);
    draft.end_change();
    match is_whole {
        true => Ok(()),
        false => corrupt("an item"),
    }
}

fn op_of(item: &Item<'_>, recorded: Recorded) -> Op {
    match recorded {
        Recorded::Remove { .. } if item.is_tag() => Op::Invalidate,
        Recorded::Remove { .. } | Recorded::Nothing => Op::Remove,
        Recorded::Word { .. } => Op::Value,
        Recorded::Attributes { .. } => Op::Attributes,
        Recorded::Set { .. } => Op::Set,
    }
}

/// Returns the names of a key's tags. A tag that is gone is found out under the journal's lock.
fn tag_names(region: &Region, item: &Item<'_>) -> Vec<Vec<u8>> {
    let mut names = Vec::new();
    for hint in item.tags().hints() {
        let mut name = Vec::new();
        if matches!(tag_name(region, hint, &mut name), Ok(true)) {
            names.push(name);
        }
    }
    names
}
