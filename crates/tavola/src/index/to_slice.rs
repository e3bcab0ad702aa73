//! Reading a value into a slice of the caller, without an allocation. The value is copied there
//! before it is known to be valid, so bytes of an invalid copy are overwritten or zeroed at the
//! end.

use super::want::Want;
use crate::alloc::Item;
use crate::error;

/// Takes a value into a slice, if it fits.
pub(crate) struct ToSlice<'a> {
    out: &'a mut [u8],
    len: usize,
    /// How many bytes of `out` may have been written.
    written: usize,
}

/// A [`ToSlice`] for the short path of a read alone.
pub(crate) struct Glanced<'a>(ToSlice<'a>);

impl<'a> Glanced<'a> {
    #[inline(always)]
    pub(crate) fn new(out: &'a mut [u8]) -> Self {
        Self(ToSlice::new(out, 0))
    }

    /// Returns what [`ToSlice::end`] returns, if the short path has decided it; otherwise how many
    /// bytes may have been written.
    #[inline(always)]
    pub(crate) fn end(self, found: Option<bool>) -> Result<Option<usize>, usize> {
        let ToSlice { len, written, .. } = self.0;
        match found {
            Some(true) if written == len => Ok(Some(len)),
            Some(false) if written == 0 => Ok(None),
            _ => Err(written),
        }
    }
}

impl Want for Glanced<'_> {
    const STAYS: bool = true;

    #[inline(always)]
    fn take(&mut self, item: &Item<'_>) -> bool {
        self.0.take(item)
    }

    #[inline(always)]
    fn take_short(&mut self, item: &Item<'_>) -> bool {
        self.0.take(item)
    }
}

impl<'a> ToSlice<'a> {
    /// Creates it for a slice of which an earlier attempt may have written the first `written`
    /// bytes.
    #[inline(always)]
    pub(crate) fn new(out: &'a mut [u8], written: usize) -> Self {
        Self {
            out,
            len: 0,
            written,
        }
    }

    /// Returns the length of the value, which is now in the slice if it fits. Bytes of invalid
    /// copies are zeroed.
    #[inline(always)]
    pub(crate) fn end(&mut self, found: error::Result<bool>) -> error::Result<Option<usize>> {
        match found {
            Ok(true) if self.written == self.len => Ok(Some(self.len)),
            Ok(false) if self.written == 0 => Ok(None),
            found => self.end_otherwise(found),
        }
    }

    /// Does what [`Self::end`] does for a value that does not fit, or after an invalid copy.
    #[cold]
    #[inline(never)]
    fn end_otherwise(&mut self, found: error::Result<bool>) -> error::Result<Option<usize>> {
        let is_there = matches!(found, Ok(true)) && self.len <= self.out.len();
        let good = if is_there { self.len } else { 0 };
        self.out[good..self.written].fill(0);
        Ok(found?.then_some(self.len))
    }
}

impl Want for ToSlice<'_> {
    #[inline(always)]
    fn take(&mut self, item: &Item<'_>) -> bool {
        let Some(len) = item.value_to(self.out) else {
            self.written = self.out.len();
            return false;
        };
        self.len = len;
        if len <= self.out.len() {
            self.written = self.written.max(len);
        }
        true
    }

    #[inline(always)]
    fn take_short(&mut self, item: &Item<'_>) -> bool {
        self.take(item)
    }
}
