//! Where a log is.

use crate::engine::Core;
use crate::layout::LogGeometry;
use crate::log::LogRing;

/// The offset of a log in its region, and its geometry.
#[derive(Clone, Copy)]
pub(super) struct LogPlace {
    pub(super) base: u64,
    pub(super) geometry: LogGeometry,
}

impl LogPlace {
    pub(super) const NOWHERE: Self = Self {
        base: 0,
        geometry: LogGeometry::NONE,
    };

    #[inline]
    pub(super) fn ring<'a>(&'a self, core: &'a Core) -> LogRing<'a> {
        LogRing::of(core.region(), self.base, &self.geometry)
    }
}
