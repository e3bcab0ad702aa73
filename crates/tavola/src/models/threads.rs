//! Models with threads of the system, under Miri, ThreadSanitizer and plainly.

use crate::region::Region;
use std::ops::Range;
pub(super) use std::thread;

/// Of so many schedules of the checker one is run here.
const PART: usize = 10;

/// Runs a model a number of times; once under Miri, which has its seeds for more.
pub(super) fn explore(schedules: usize, model: impl Fn() + Send + Sync + 'static) {
    let rounds = if cfg!(miri) { 1 } else { schedules / PART };
    (0..rounds).for_each(|_| model());
}

/// Where threads change is for the system to say.
pub(super) fn open_up(_: &Region) {}

pub(super) fn open_pages() {}

pub(super) fn open_but(_: &Region, _: Range<u64>, _: Range<u64>) {}

/// How late stores are seen is for the system to say, too.
pub(super) fn late(work: impl FnOnce()) {
    work();
}

pub(super) fn quietly<T>(work: impl FnOnce() -> T) -> T {
    work()
}
