//! An area: bytes of a program's own, in an extent.
//!
//! ```text
//! 0          head                        64 B
//! 4096       the bytes                   zero when the area appears
//! ```

use super::{MAX_SIZE, assert_layout};
use crate::sync::{Ordering, W64};

/// `TavolaAR`.
const MAGIC: u64 = u64::from_le_bytes(*b"TavolaAR");
/// Where the bytes of an area begin: on a page of the system.
pub(crate) const AREA_DATA: u64 = 4096;

/// The beginning of an area. Never changes.
#[repr(C, align(64))]
pub(crate) struct AreaHead {
    /// `TavolaAR`.
    magic: W64,
    /// Bytes of the area.
    bytes: W64,
    /// Of the words before it.
    checksum: W64,
    unused: [W64; 5],
}
assert_layout!(AreaHead, size 64, { magic: 0, bytes: 8, checksum: 16, unused: 24 });

/// Returns the bytes of an area's extent, or `None` if no area has that size.
pub(crate) fn area_len(bytes: u64) -> Option<u64> {
    (1..MAX_SIZE - AREA_DATA)
        .contains(&bytes)
        .then_some(AREA_DATA + bytes)
}

impl AreaHead {
    pub(crate) fn init(&self, bytes: u64) {
        self.bytes.store(bytes, Ordering::Relaxed);
        self.magic.store(MAGIC, Ordering::Relaxed);
        self.checksum.store(self.sum(), Ordering::Relaxed);
    }

    /// Returns the size of the area, or `None` if the head is damaged.
    pub(crate) fn verify(&self) -> Option<u64> {
        let is_whole = self.magic.load(Ordering::Relaxed) == MAGIC
            && self.checksum.load(Ordering::Relaxed) == self.sum();
        let bytes = self.bytes.load(Ordering::Relaxed);
        (is_whole && area_len(bytes).is_some()).then_some(bytes)
    }

    fn sum(&self) -> u64 {
        super::fold::fold(&[MAGIC, self.bytes.load(Ordering::Relaxed)])
    }
}
