//! Participants that were attached to another file than this one. They are the evidence that this
//! file is a copy: see [`copied`](super::copied).

use crate::layout::COPIED_IN_USE;
use crate::region::Region;
use crate::sync::Ordering;

/// Notes permanently that the file is a copy, if the dead participant in this slot shows it.
pub(super) fn note_copy(region: &Region, slot: u32) {
    if attached_elsewhere(region, slot) {
        let word = &region.superblock().copied;
        word.store(COPIED_IN_USE, Ordering::Relaxed);
    }
}

/// Returns whether the participant in the slot attached to another file than this one.
pub(super) fn attached_elsewhere(region: &Region, slot: u32) -> bool {
    let participant = region.participant(slot);
    let was = [&participant.file_ino, &participant.file_born].map(|w| w.load(Ordering::Relaxed));
    let is = region.file_identity();
    let differs = |part: usize| was[part] != 0 && is[part] != 0 && was[part] != is[part];
    differs(0) || differs(1)
}
