//! The copies of item bytes. They are safe to call because the range was checked when the pointer
//! was made (`Region::bytes`, `Block::bytes`).

use crate::region::Region;
use crate::sync::{self, SHORT};

#[inline(always)]
pub(super) fn equals(at: *const u8, other: &[u8]) -> bool {
    // SAFETY: the caller got `at` for this very length.
    unsafe { sync::equals(at, other) }
}

/// A processor that sees sequential reads fetches what follows, up to the end of a page of this
/// size.
const FETCHED: usize = 4096;
/// The first lines of this many pages are fetched before a copy.
const AHEAD: usize = 3;

/// Fetches the beginnings of the next pages of a long copy, so that it does not wait for each of
/// them in turn.
#[inline(always)]
fn fetch_ahead(from: *const u8, len: usize) {
    if len > FETCHED {
        fetch_pages(from, len);
    }
}

#[inline(never)]
fn fetch_pages(from: *const u8, len: usize) {
    let next = from.addr().wrapping_neg() % FETCHED;
    let starts = (next..len).step_by(FETCHED).take(AHEAD);
    starts.for_each(|at| sync::prefetch(from.wrapping_add(at)));
}

#[inline(always)]
pub(super) fn append_from(from: *const u8, len: u64, out: &mut Vec<u8>) {
    out.reserve((len as usize).max(SHORT));
    // SAFETY: the caller got `from` for `len` bytes. Room for them, and for at least `SHORT` bytes,
    // was just reserved.
    unsafe {
        let to = out.as_mut_ptr().add(out.len());
        if len <= SHORT as u64 {
            sync::copy_out_short(from, to, len as usize);
        } else {
            fetch_ahead(from, len as usize);
            sync::copy_out(from, to, len as usize);
        }
        out.set_len(out.len() + len as usize);
    }
}

#[inline(always)]
pub(super) fn read(from: *const u8, out: &mut [u8]) {
    fetch_ahead(from, out.len());
    // SAFETY: the caller got `from` for this very length.
    unsafe { sync::copy_out(from, out.as_mut_ptr(), out.len()) };
}

/// Reads at most `SHORT` bytes.
#[inline(always)]
pub(super) fn read_short(from: *const u8, len: u64, out: &mut [u8; SHORT]) {
    // SAFETY: the caller got `from` for `len` bytes, at most `SHORT`.
    unsafe { sync::copy_out_short(from, out.as_mut_ptr(), len as usize) };
}

/// Replaces the content of `out` by at most `SHORT` bytes; `out` has that capacity.
#[inline(always)]
pub(super) fn refill_short(from: *const u8, len: u64, out: &mut Vec<u8>) {
    // SAFETY: the caller got `from` for `len` bytes, at most `SHORT`, and has checked the capacity.
    unsafe {
        sync::copy_out_short(from, out.as_mut_ptr(), len as usize);
        out.set_len(len as usize);
    }
}

#[inline(always)]
pub(super) fn write(region: &Region, offset: u64, from: &[u8]) {
    let to = region.bytes(offset, from.len() as u64);
    // SAFETY: checked for this length; the caller owns the block or page it lies in.
    unsafe { sync::copy_in(to, from) };
}
