//! The words that processes share, and the moments at which a checker may let others run.

use std::sync::atomic::AtomicU64;
pub(crate) use std::sync::atomic::{Ordering, fence};

/// A word of shared memory. Each access is a scheduling point in a model.
pub(crate) struct Word<'a>(pub(crate) &'a AtomicU64);

impl Word<'_> {
    #[inline(always)]
    pub(crate) fn load(&self, order: Ordering) -> u64 {
        step();
        self.0.load(order)
    }

    #[inline(always)]
    pub(crate) fn store(&self, value: u64, order: Ordering) {
        step();
        self.0.store(value, order);
    }

    pub(crate) fn add(&self, value: u64, order: Ordering) {
        step();
        self.0.fetch_add(value, order);
    }

    /// Replaces `old` by `new`. Returns false if another value was there.
    pub(crate) fn replace(&self, old: u64, new: u64) -> bool {
        step();
        let replaced = self
            .0
            .compare_exchange(old, new, Ordering::AcqRel, Ordering::Acquire);
        replaced.is_ok()
    }
}

/// Lets the checker of models run another thread, before an access to what processes share.
#[inline(always)]
pub(crate) fn step() {
    // A plain change of threads; `yield_now` would mean that this thread is waiting.
    #[cfg(feature = "shuttle")]
    shuttle::thread::sleep(std::time::Duration::ZERO);
}
