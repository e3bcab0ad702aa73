//! Models with threads of the system, under Miri, ThreadSanitizer and plainly.

use crate::region::Region;
use std::ops::Range;
pub(super) use std::thread;

/// Of so many schedules of the checker one is run here.
const PART: usize = 10;
/// The same under valgrind, where one thread runs at a time and few changes of threads are tried.
const PART_ONE_AT_A_TIME: usize = 50;

fn part() -> usize {
    match std::env::var_os("TAVOLA_ONE_AT_A_TIME") {
        None => PART,
        Some(_) => PART_ONE_AT_A_TIME,
    }
}

/// Runs a model a number of times; once under Miri, which has its seeds for more.
pub(super) fn explore(schedules: usize, model: impl Fn() + Send + Sync + 'static) {
    let rounds = match cfg!(miri) {
        true => 1,
        false => (schedules / part()).max(1),
    };
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
