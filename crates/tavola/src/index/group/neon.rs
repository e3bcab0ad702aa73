//! Two loads that separate low and high halves. Each aligned 8 bytes of them are one access.

use crate::layout::Bucket;
use core::arch::aarch64::*;

/// Returns a bit for each slot; bit i is set if slot i has the tag. The bits above 6 mean nothing.
#[inline(always)]
pub(super) fn matches(bucket: &Bucket, tag: u32) -> u32 {
    const BITS: [u32; 4] = [1, 2, 4, 8];
    let line: *const u32 = core::ptr::from_ref(bucket).cast();
    // SAFETY: a bucket is 64 aligned bytes, and NEON belongs to every aarch64 Linux.
    unsafe {
        let bits = vld1q_u32(BITS.as_ptr());
        let tag = vdupq_n_u32(tag);
        let low = vceqq_u32(vshrq_n_u32::<8>(vld2q_u32(line).1), tag);
        let high = vceqq_u32(vshrq_n_u32::<8>(vld2q_u32(line.add(8)).1), tag);
        let low = vaddvq_u32(vandq_u32(low, bits));
        let high = vaddvq_u32(vandq_u32(high, bits));
        (low | high << 4) >> 1
    }
}
