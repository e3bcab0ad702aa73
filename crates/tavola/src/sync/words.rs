//! Copies that consist of relaxed atomic accesses, one per word. They serve copies that users may
//! let race, and all copies under Miri and ThreadSanitizer.
//!
//! Every access has the size of all others at its address, as Miri defines no order between atomics
//! of different sizes. A range is covered by aligned words. Its first and last word may hold bytes
//! outside the range; these belong to the same block or page, whose sizes are multiples of a word.

use super::W64;
use core::ops::Range;
use core::sync::atomic::Ordering::Relaxed;

const BYTES: usize = size_of::<u64>();

/// Returns the words that cover the range; for each the part of it that lies inside, and the offset
/// in the range at which that part begins.
///
/// # Safety
/// The range and the words that cover it lie in the region.
unsafe fn cover<'a>(
    from: *const u8,
    len: usize,
) -> impl Iterator<Item = (&'a W64, Range<usize>, usize)> {
    let skew = from.addr() % BYTES;
    (0..(skew + len).div_ceil(BYTES)).map(move |number| {
        let begin = number * BYTES;
        let inside = skew.saturating_sub(begin)..BYTES.min(skew + len - begin);
        // SAFETY: the caller's promise; aligned, as `skew` is subtracted.
        let word = unsafe { &*from.sub(skew).add(begin).cast::<W64>() };
        (word, inside.clone(), begin + inside.start - skew)
    })
}

/// Copies process memory into the region.
///
/// # Safety
/// As [`super::copy_in`].
pub(super) unsafe fn copy_in(dst: *mut u8, src: &[u8]) {
    // SAFETY: the caller's promise.
    for (word, inside, at) in unsafe { cover(dst, src.len()) } {
        let mut bytes = [0; BYTES];
        if inside.len() < BYTES {
            bytes = word.load(Relaxed).to_ne_bytes();
        }
        bytes[inside.clone()].copy_from_slice(&src[at..at + inside.len()]);
        word.store(u64::from_ne_bytes(bytes), Relaxed);
    }
}

/// Copies bytes of the region out.
///
///
/// # Safety
/// As [`super::copy_out`].
pub(super) unsafe fn copy_out(src: *const u8, dst: *mut u8, len: usize) {
    // SAFETY: the caller's promise.
    for (word, inside, at) in unsafe { cover(src, len) } {
        let bytes = word.load(Relaxed).to_ne_bytes();
        // SAFETY: `at` and the part together lie within `len`.
        unsafe {
            core::ptr::copy_nonoverlapping(
                bytes[inside.clone()].as_ptr(),
                dst.add(at),
                inside.len(),
            )
        };
    }
}

/// Returns whether bytes of the region equal `other`.
///
/// # Safety
/// As [`super::equals`].
#[cfg(any(miri, tavola_checked))]
pub(super) unsafe fn equals(src: *const u8, other: &[u8]) -> bool {
    // SAFETY: the caller's promise.
    unsafe { cover(src, other.len()) }.all(|(word, inside, at)| {
        let bytes = word.load(Relaxed).to_ne_bytes();
        bytes[inside.clone()] == other[at..at + inside.len()]
    })
}
