//! Detects a table's file that was copied, by `cp` or the like, while a process was attached to the
//! original. Such a copy has the pages of the file as they were at different moments.
//!
//! Recovery restores the structure of the copy, but it cannot find out whether the bytes of a value
//! belong together. The evidence is a participant that is dead in this file and was attached to
//! another one: a copy has another inode, or another time of creation. The slot of that participant
//! is reused. So a process that takes the slot first notes the fact in the superblock. If it dies
//! between the two stores, the note is there already, and the next process to take the slot makes
//! it again.
//!
//! A table that was copied after its processes were killed looks the same.

use super::elsewhere::attached_elsewhere;
use super::membership::{is_alive, members};
use crate::layout::COPIED_IN_USE;
use crate::lock::Me;
use crate::region::Region;
use crate::sync::Ordering;

/// Returns whether the file is a copy that was made while a process was attached to the original.
pub(crate) fn is_copied_in_use(region: &Region, me: Me) -> bool {
    region.superblock().copied.load(Ordering::Relaxed) == COPIED_IN_USE
        || members(region).any(|member| {
            attached_elsewhere(region, member.slot) && !is_alive(region, member.id, me)
        })
}
