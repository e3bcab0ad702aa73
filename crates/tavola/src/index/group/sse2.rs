//! Four 128-bit loads. Each aligned 8 bytes of them are one access on every x86-64.

use crate::layout::Bucket;
use core::arch::x86_64::*;

/// Returns a bit for each slot; bit i is set if slot i has the tag. The bits above 6 mean nothing.
#[inline(always)]
pub(super) fn matches(bucket: &Bucket, tag: u32) -> u32 {
    let line: *const __m128i = core::ptr::from_ref(bucket).cast();
    // SAFETY: a bucket is 64 aligned bytes, and SSE2 belongs to every x86-64.
    unsafe {
        let load = |i| _mm_castsi128_ps(_mm_load_si128(line.add(i)));
        // The high halves of [header, 0, 1, 2] and [3, 4, 5, 6].
        let low = _mm_castps_si128(_mm_shuffle_ps::<0xDD>(load(0), load(1)));
        let high = _mm_castps_si128(_mm_shuffle_ps::<0xDD>(load(2), load(3)));
        let tag = _mm_set1_epi32(tag as i32);
        let low = _mm_cmpeq_epi32(_mm_srli_epi32::<8>(low), tag);
        let high = _mm_cmpeq_epi32(_mm_srli_epi32::<8>(high), tag);
        let bytes = _mm_packs_epi16(_mm_packs_epi32(low, high), _mm_setzero_si128());
        _mm_movemask_epi8(bytes) as u32 >> 1
    }
}
