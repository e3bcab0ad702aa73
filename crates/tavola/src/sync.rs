//! The one place that imports atomics: every word of shared memory is a [`W32`] or a [`W64`]. Every
//! access to such a word first calls a hook, by which tests can kill the process or change threads
//! at that point.
//!
//! A word has the layout of the std atomic of its size, so a reference to it can point into mapped
//! bytes. In a normal build the hooks are empty. With the feature `torture` a hook kills the
//! process before a chosen store; with the feature `shuttle` it hands control to a model checker
//! before every access. An access to shared memory by any other way would escape both, so there is
//! none.
//!
//! [`copy_in`] and [`copy_out`] copy the bytes of items. Such a copy may race with a writer: it
//! counts only if the bucket's version is afterwards still what it was before (IDX-1 in `index`).
//! The compiler sees raw pointer copies. Under Miri and ThreadSanitizer (`cfg(tavola_checked)`) the
//! same functions copy word by word through relaxed atomics ([`words`]), which order no more than
//! the plain copy does.

#![allow(unsafe_code)]

pub(crate) use core::sync::atomic::Ordering;
use core::sync::atomic::{AtomicU32, AtomicU64};

/// A word of a user's own data, which the user reads and writes directly, without the hooks.
pub(crate) type UserWord = AtomicU64;

/// A 32-bit word that other processes may write.
#[repr(transparent)]
#[derive(Debug)]
pub(crate) struct W32(AtomicU32);

/// A 64-bit word that other processes may write.
#[repr(transparent)]
#[derive(Debug)]
pub(crate) struct W64(AtomicU64);

macro_rules! word {
    ($word:ident, $atomic:ident, $int:ty) => {
        #[allow(dead_code, reason = "both widths offer the same verbs")]
        impl $word {
            pub(crate) const fn new(value: $int) -> Self {
                Self($atomic::new(value))
            }

            #[inline(always)]
            pub(crate) fn load(&self, order: Ordering) -> $int {
                hook::before_load(self.as_ptr());
                hook::seen(self.as_ptr(), self.0.load(order))
            }

            #[inline(always)]
            pub(crate) fn store(&self, value: $int, order: Ordering) {
                hook::before_store(self.as_ptr());
                self.0.store(value, order);
                hook::after_store(self.as_ptr());
            }

            #[inline(always)]
            pub(crate) fn swap(&self, value: $int, order: Ordering) -> $int {
                hook::before_store(self.as_ptr());
                hook::after_exchange(self.as_ptr(), self.0.swap(value, order))
            }

            #[inline(always)]
            pub(crate) fn fetch_add(&self, value: $int, order: Ordering) -> $int {
                hook::before_store(self.as_ptr());
                hook::after_exchange(self.as_ptr(), self.0.fetch_add(value, order))
            }

            #[inline(always)]
            pub(crate) fn fetch_or(&self, value: $int, order: Ordering) -> $int {
                hook::before_store(self.as_ptr());
                hook::after_exchange(self.as_ptr(), self.0.fetch_or(value, order))
            }

            /// Compares and exchanges. Returns the old value; `Err` holds the value that was there
            /// instead of `old`.
            #[inline(always)]
            pub(crate) fn cas(&self, old: $int, new: $int, ok: Ordering) -> Result<$int, $int> {
                hook::before_store(self.as_ptr());
                let found = self.0.compare_exchange(old, new, ok, Ordering::Relaxed);
                hook::after_exchange(self.as_ptr(), found)
            }

            /// Adds without a locked instruction: for words that only the holder of one lock
            /// writes.
            #[inline(always)]
            pub(crate) fn add_owned(&self, value: $int) {
                let old = hook::seen(self.as_ptr(), self.0.load(Ordering::Relaxed));
                self.store(old.wrapping_add(value), Ordering::Relaxed);
            }

            /// Subtracts in the same way as [`Self::add_owned`].
            #[inline(always)]
            pub(crate) fn sub_owned(&self, value: $int) {
                let old = hook::seen(self.as_ptr(), self.0.load(Ordering::Relaxed));
                self.store(old.wrapping_sub(value), Ordering::Relaxed);
            }

            pub(crate) fn as_ptr(&self) -> *mut $int {
                self.0.as_ptr()
            }
        }
    };
}

word!(W32, AtomicU32, u32);
word!(W64, AtomicU64, u64);

/// Issues a fence. A comment at each use names the access or fence that it pairs with.
#[inline(always)]
pub(crate) fn fence(order: Ordering) {
    core::sync::atomic::fence(order);
    hook::after_fence(order);
}

/// Keeps the compiler from moving accesses of a thread across this point, so that a signal handler
/// that interrupts the thread sees them in order.
#[inline(always)]
pub(crate) fn handler_fence() {
    core::sync::atomic::compiler_fence(Ordering::SeqCst);
}

/// One turn of a spin loop.
#[inline(always)]
pub(crate) fn spin_hint() {
    hook::spin();
    core::hint::spin_loop();
}

/// Copies; the most frequent lengths, 8 to 16 bytes, as two words that may overlap, without a call.
///
/// # Safety
/// Both ranges are valid and do not overlap.
#[cfg(not(any(feature = "shuttle", miri, tavola_checked)))]
#[inline(always)]
unsafe fn copy(src: *const u8, dst: *mut u8, len: usize) {
    // SAFETY: each word lies inside the ranges, as `len` is 8 to 16.
    unsafe {
        if len.wrapping_sub(8) <= 8 {
            let first = src.cast::<u64>().read_unaligned();
            let last = src.add(len - 8).cast::<u64>().read_unaligned();
            dst.cast::<u64>().write_unaligned(first);
            dst.add(len - 8).cast::<u64>().write_unaligned(last);
        } else {
            core::ptr::copy_nonoverlapping(src, dst, len);
        }
    }
}

/// Copies process memory into the region.
///
/// # Safety
/// `dst..dst + src.len()` lies in the region, in a block or page that only this thread may write.
#[inline(always)]
pub(crate) unsafe fn copy_in(dst: *mut u8, src: &[u8]) {
    hook::before_store(dst);
    #[cfg(any(feature = "torture", feature = "shuttle"))]
    {
        // Two halves, so that a death can leave half a copy behind, and a reader can find one.
        let half = src.len() / 2;
        // SAFETY: both halves lie inside the caller's range.
        unsafe {
            core::ptr::copy_nonoverlapping(src.as_ptr(), dst, half);
            hook::after_store(dst);
            hook::before_store(dst);
            core::ptr::copy_nonoverlapping(src.as_ptr().add(half), dst.add(half), src.len() - half);
        }
    }
    #[cfg(not(any(feature = "torture", feature = "shuttle", miri, tavola_checked)))]
    // SAFETY: the caller's promise; process memory and region never overlap.
    unsafe {
        copy(src.as_ptr(), dst, src.len());
    }
    #[cfg(all(
        not(any(feature = "torture", feature = "shuttle")),
        any(miri, tavola_checked)
    ))]
    // SAFETY: the caller's promise.
    unsafe {
        words::copy_in(dst, src);
    }
    hook::after_store(dst);
}

/// Copies bytes of the region out. A writer may change them meanwhile: the caller rechecks
/// afterwards.
///
/// Eight aligned bytes may be a value that is changed in place. They are copied by one load: a
/// plain load of an aligned word is whole on all processors that this runs on.
///
/// # Safety
/// `src..src + len` lies in the region; `dst..dst + len` is writable process memory.
#[inline(always)]
pub(crate) unsafe fn copy_out(src: *const u8, dst: *mut u8, len: usize) {
    hook::before_load(src);
    #[cfg(feature = "shuttle")]
    // SAFETY: the caller's promise. One half at a time, so that a writer may come between, except
    // for an aligned word.
    unsafe {
        if len == 8 && src.addr().is_multiple_of(8) {
            let word = (*src.cast::<W64>()).0.load(Ordering::Relaxed);
            dst.cast::<u64>().write_unaligned(word);
            return;
        }
        let half = len / 2;
        core::ptr::copy_nonoverlapping(src, dst, half);
        hook::before_load(src);
        core::ptr::copy_nonoverlapping(src.add(half), dst.add(half), len - half);
    }
    #[cfg(not(any(feature = "shuttle", miri, tavola_checked)))]
    // SAFETY: the caller's promise.
    unsafe {
        copy(src, dst, len);
    }
    #[cfg(all(not(feature = "shuttle"), any(miri, tavola_checked)))]
    // SAFETY: the caller's promise.
    unsafe {
        words::copy_out(src, dst, len);
    }
}

/// Copies into the region as [`copy_in`] does, by whole words. If two threads of a careless caller
/// copy to the same place at once, their bytes mix, and nothing worse happens.
///
/// # Safety
/// `dst..dst + src.len()` and the words that cover it lie in the region.
pub(crate) unsafe fn copy_in_words(dst: *mut u8, src: &[u8]) {
    hook::before_store(dst);
    // SAFETY: the caller's promise.
    unsafe { words::copy_in(dst, src) };
    hook::after_store(dst);
}

/// Copies out of the region as [`copy_out`] does, by whole words.
///
/// # Safety
/// As [`copy_out`]; also, the words that cover the range lie in the region.
pub(crate) unsafe fn copy_out_words(src: *const u8, dst: *mut u8, len: usize) {
    hook::before_load(src);
    // SAFETY: the caller's promise.
    unsafe { words::copy_out(src, dst, len) };
}

/// The longest copy that [`copy_out_short`] makes.
pub(crate) const SHORT: usize = 32;

/// Copies at most [`SHORT`] bytes out of the region, if `len` was itself read from the region. The
/// stores are whole words, at addresses that do not depend on `len`.
///
/// Why: a processor that does not know the address of a store yet holds back the loads behind it.
/// If the address depended on `len`, the store would wait for the item to come from memory, and the
/// loads of the next read would wait behind it instead of at the same time.
///
/// # Safety
/// As [`copy_out`]; `dst` has room for [`SHORT`] bytes, whatever `len` is.
#[inline(always)]
pub(crate) unsafe fn copy_out_short(src: *const u8, dst: *mut u8, len: usize) {
    debug_assert!(len <= SHORT, "a copy that is not short");
    #[cfg(any(feature = "shuttle", miri, tavola_checked))]
    // SAFETY: the caller's promise.
    unsafe {
        copy_out(src, dst, len);
    }
    #[cfg(not(any(feature = "shuttle", miri, tavola_checked)))]
    // SAFETY: every load lies within `len`, which its branch has compared; every store lies within
    // `len` rounded up to words.
    unsafe {
        let load = |at: usize| src.add(at).cast::<u64>().read_unaligned();
        let store = |at: usize, word: u64| dst.add(at).cast::<u64>().write_unaligned(word);
        // The bytes from `at` to the end, as one word; loads the last 8 bytes, so `len` is at least
        // 8.
        let tail = |at: usize| load(len - 8) >> (64 - 8 * (len - at));
        let byte = |at: usize| u64::from(src.add(at).read()) << (8 * at);
        let half = |at: usize| u64::from(src.add(at).cast::<u32>().read_unaligned()) << (8 * at);
        if len == 8 {
            store(0, load(0));
        } else if len > 24 {
            store(0, load(0));
            store(8, load(8));
            store(16, load(16));
            store(24, tail(24));
        } else if len > 16 {
            store(0, load(0));
            store(8, load(8));
            store(16, tail(16));
        } else if len > 8 {
            store(0, load(0));
            store(8, tail(8));
        } else if len >= 4 {
            store(0, half(0) | half(len - 4));
        } else if len > 0 {
            store(0, byte(0) | byte(len / 2) | byte(len - 1));
        }
    }
}

/// Returns whether bytes of the region equal `other`. They may change meanwhile: the caller
/// rechecks.
///
/// # Safety
/// `src..src + other.len()` lies in the region.
#[inline(always)]
pub(crate) unsafe fn equals(src: *const u8, other: &[u8]) -> bool {
    hook::before_load(src);
    #[cfg(not(any(miri, tavola_checked)))]
    {
        // SAFETY: the caller's promise; unaligned loads of 8 bytes inside the range.
        unsafe {
            match other.len() {
                0 => true,
                8 => {
                    src.cast::<u64>().read_unaligned()
                        == other.as_ptr().cast::<u64>().read_unaligned()
                }
                len => libc::memcmp(src.cast(), other.as_ptr().cast(), len) == 0,
            }
        }
    }
    #[cfg(any(miri, tavola_checked))]
    // SAFETY: the caller's promise.
    unsafe {
        words::equals(src, other)
    }
}

/// Fetches the cache line of `ptr`; any address is allowed.
#[inline(always)]
pub(crate) fn prefetch<T>(ptr: *const T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a prefetch never faults and changes nothing.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(ptr.cast());
    }
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    // SAFETY: a prefetch never faults and changes nothing.
    unsafe {
        core::arch::asm!("prfm pldl1keep, [{0}]", in(reg) ptr, options(nostack, readonly));
    }
    #[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
    let _ = ptr;
}

/// What an access does beside itself: nothing, a death, or a change of threads.
mod hook {
    #[inline(always)]
    pub(super) fn before_load<T>(_at: *const T) {
        #[cfg(feature = "shuttle")]
        super::model::step(_at.cast());
        #[cfg(feature = "shuttle")]
        if size_of::<T>() == 1 {
            super::late::show_page(_at.cast());
        }
    }

    #[inline(always)]
    pub(super) fn before_store<T>(_at: *const T) {
        #[cfg(feature = "torture")]
        super::killpoint::pass();
        #[cfg(feature = "shuttle")]
        super::model::step(_at.cast());
        #[cfg(feature = "shuttle")]
        super::late::before(_at);
    }

    #[inline(always)]
    pub(super) fn after_store<T>(_at: *const T) {
        #[cfg(feature = "shuttle")]
        super::late::after(_at);
        #[cfg(feature = "shuttle")]
        super::model::stored();
    }

    /// Returns what a load yields to its thread, if memory holds `found`.
    #[inline(always)]
    pub(super) fn seen<T: Copy>(_at: *const T, found: T) -> T {
        #[cfg(feature = "shuttle")]
        let found = super::late::newest(_at, found);
        found
    }

    #[inline(always)]
    pub(super) fn after_fence(_order: super::Ordering) {
        #[cfg(feature = "shuttle")]
        if _order == super::Ordering::SeqCst {
            super::late::show_own();
        }
    }

    #[inline(always)]
    pub(super) fn after_exchange<T, F>(_at: *const T, found: F) -> F {
        #[cfg(feature = "shuttle")]
        super::late::after(_at);
        #[cfg(feature = "shuttle")]
        super::model::exchanged();
        found
    }

    #[inline(always)]
    pub(super) fn spin() {
        #[cfg(feature = "shuttle")]
        super::model::spin();
    }
}

/// Called before a system call that changes the directory of a durable table, or a file in it, or
/// that gives a new region its name: a place at which the harness of kill points may kill, as
/// before a store.
#[inline(always)]
pub(crate) fn before_disk_call() {
    #[cfg(feature = "torture")]
    killpoint::pass();
}

#[cfg(feature = "shuttle")]
mod checker;
#[cfg(feature = "shuttle")]
pub(crate) mod late;
#[cfg(feature = "shuttle")]
pub(crate) mod model;
mod record_ring;
mod words;

pub(crate) use record_ring::{Record, RecordRing, WORDS as RECORD_WORDS};

/// Deaths at a chosen store (feature `torture`).
#[cfg(feature = "torture")]
pub mod killpoint {
    use core::sync::atomic::{AtomicU64, Ordering};

    static PASSED: AtomicU64 = AtomicU64::new(0);
    static DIE_AT: AtomicU64 = AtomicU64::new(0);

    /// Kills this process by SIGKILL before its `k`-th store from now, counted from 1; never if `k`
    /// is 0.
    pub fn die_at(k: u64) {
        PASSED.store(0, Ordering::Relaxed);
        DIE_AT.store(k, Ordering::Relaxed);
    }

    /// Returns how many stores were made since the last [`die_at`].
    pub fn passed() -> u64 {
        PASSED.load(Ordering::Relaxed)
    }

    #[inline(always)]
    pub(super) fn pass() {
        let k = PASSED.fetch_add(1, Ordering::Relaxed) + 1;
        if k == DIE_AT.load(Ordering::Relaxed) {
            // SAFETY: a signal to this very process.
            unsafe { libc::kill(libc::getpid(), libc::SIGKILL) };
            loop {
                core::hint::spin_loop();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_copy_is_of_every_length() {
        let from: Vec<u8> = (1..=2 * SHORT as u8).collect();
        for len in 0..=SHORT {
            for at in [0, 1, 8] {
                let mut to = [0; SHORT];
                // SAFETY: `from` has more than `at + len` bytes, `to` has room for SHORT.
                unsafe { copy_out_short(from[at..].as_ptr(), to.as_mut_ptr(), len) };
                assert_eq!(to[..len], from[at..at + len], "{len} bytes");
            }
        }
    }
}
