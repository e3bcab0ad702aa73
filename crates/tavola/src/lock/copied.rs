//! Tells whether a table's file is a copy that was made by `cp` or the like while a process was
//! attached to the original.
//!
//! Such a copy reads the pages of the file at different moments. Recovery makes its structure whole
//! again, but it can't tell whether the bytes of a value belong together. The evidence is a
//! participant that is dead here and had attached to another file: a copy has another inode, or was
//! made at another time. Its slot is given out again, so whoever takes the slot notes the fact in
//! the superblock first. Death between the two stores: the note is there, and is made once more.
//!
//! A table whose processes were killed, and which was copied afterwards, looks the same.

use super::membership::{is_alive, members};
use crate::layout::COPIED_IN_USE;
use crate::lock::Me;
use crate::region::Region;
use crate::sync::Ordering;

/// Notes it for good if the participant in this slot, which is dead, shows that the file is a copy.
pub(super) fn note_copy(region: &Region, slot: u32) {
    if attached_elsewhere(region, slot) {
        let word = &region.superblock().copied;
        word.store(COPIED_IN_USE, Ordering::Relaxed);
    }
}

/// Whether the file is a copy that was made while a process was attached to the original.
pub(crate) fn is_copied_in_use(region: &Region, me: Me) -> bool {
    region.superblock().copied.load(Ordering::Relaxed) == COPIED_IN_USE
        || members(region).any(|member| {
            attached_elsewhere(region, member.slot) && !is_alive(region, member.id, me)
        })
}

/// Whether the slot's user attached to another file than this one.
fn attached_elsewhere(region: &Region, slot: u32) -> bool {
    let participant = region.participant(slot);
    let was = [&participant.file_ino, &participant.file_born].map(|w| w.load(Ordering::Relaxed));
    let is = region.file_identity();
    let differs = |part: usize| was[part] != 0 && is[part] != 0 && was[part] != is[part];
    differs(0) || differs(1)
}
