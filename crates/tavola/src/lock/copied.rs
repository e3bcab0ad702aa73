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

use super::elsewhere::attached_elsewhere;
use super::membership::{is_alive, members};
use crate::layout::COPIED_IN_USE;
use crate::lock::Me;
use crate::region::Region;
use crate::sync::Ordering;

/// Whether the file is a copy that was made while a process was attached to the original.
pub(crate) fn is_copied_in_use(region: &Region, me: Me) -> bool {
    region.superblock().copied.load(Ordering::Relaxed) == COPIED_IN_USE
        || members(region).any(|member| {
            attached_elsewhere(region, member.slot) && !is_alive(region, member.id, me)
        })
}
