//! Reading the value of one key.

use super::core::Core;
use crate::error::Result;
use crate::index::locate::{Glanced, Hash, ToSlice, glance};

impl Core {
    /// Reads a value into `out`; implements [`Table::get_into`](crate::Table::get_into).
    #[inline(always)]
    pub(crate) fn get_into(&self, key: &[u8], out: &mut Vec<u8>) -> Result<bool> {
        out.clear();
        self.read(key, Hash::of(self.region(), key), out)
    }

    /// Reads a value into a slice if that takes few steps. Otherwise returns `Err` with the number
    /// of bytes of `out` that may have been written.
    #[inline(always)]
    pub(crate) fn glance_to_slice(
        &self,
        key: &[u8],
        out: &mut [u8],
    ) -> core::result::Result<Option<usize>, usize> {
        let region = self.region();
        if region.is_cache() {
            return Err(0);
        }
        let mut value = Glanced::new(out);
        let found = glance(region, key, Hash::of(region, key), &mut value);
        value.end(found)
    }

    /// Reads a value into a slice, after [`Self::glance_to_slice`] has written `written` bytes in
    /// vain.
    #[inline(always)]
    pub(crate) fn get_to_slice(
        &self,
        key: &[u8],
        out: &mut [u8],
        written: usize,
    ) -> Result<Option<usize>> {
        let mut value = ToSlice::new(out, written);
        let found = self.read(key, Hash::of(self.region(), key), &mut value);
        value.end(found)
    }
}
