//! A key that is touched again and again, each time before it expires, is there for all readers.

use crate::support::Dir;
use crate::support::process::{coarse_ns, monotonic_ns};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed, Ordering::SeqCst, fence};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tavola::{Expiry, Hint, Table};

/// A reader may have been stopped before its read, or after it.
fn overlap(a: &Range<u64>, b: &Range<u64>) -> bool {
    a.start < b.end && b.start < a.end
}

/// When those reads began and ended that missed the key, no part of them before or after.
fn reads_that_miss(is_over: &AtomicBool, is_there: impl Fn() -> bool) -> Vec<Range<u64>> {
    let mut missed = Vec::new();
    while !is_over.load(Relaxed) {
        let before = monotonic_ns();
        fence(SeqCst);
        if !is_there() {
            missed.push(before..monotonic_ns());
        }
    }
    missed
}

/// A key that is touched in time is there for every reader, however long that one was stopped
/// between two of its steps: there are more of them than processors.
#[test]
fn a_touch_in_time_keeps_a_key_for_all() {
    let dir = Dir::new();
    let options = Table::options().max_size(64 << 20);
    let table = options.create(dir.table("t")).unwrap();
    let hint = AtomicU64::new(0);
    let set = || {
        let new = table.set_uid(b"key", b"value").unwrap();
        hint.store(new.to_bits(), Relaxed);
    };
    set();
    let is_over = AtomicBool::new(false);
    let ttl = Expiry::After(Duration::from_millis(30));
    // Of a key that is touched after now: the last moment it is there for sure, in milliseconds.
    let lives_until = || (coarse_ns() / 1_000_000 + 29) * 1_000_000;
    let begun = Instant::now();
    let mut until = lives_until();
    assert!(table.touch(b"key", ttl).unwrap());
    let is_there = |kind: usize| match kind % 3 {
        0 => table.contains(b"key").unwrap(),
        1 => {
            let hint = Hint::from_bits(hint.load(Relaxed));
            table.get_by_uid(hint).unwrap().is_some()
        }
        _ => table.iter().count() == 1,
    };
    let read = |kind| reads_that_miss(&is_over, || is_there(kind));
    let (late, missed) = std::thread::scope(|scope| {
        // Enough that one that loses its turn has to wait longer than the key has left.
        let readers = 12 * std::thread::available_parallelism().map_or(1, usize::from);
        let readers: Vec<_> = (0..readers)
            .map(|kind| scope.spawn(move || read(kind)))
            .collect();
        let mut late = Vec::new();
        while begun.elapsed() < Duration::from_secs(3) {
            let next = lives_until();
            if !table.touch(b"key", ttl).unwrap() {
                set();
            }
            // A later read sees it: a write may be on its way for a moment after it was done.
            fence(SeqCst);
            let now = monotonic_ns();
            if now > until {
                // The machine did not let us: what readers missed about then, they missed rightly.
                late.push(until..now);
            }
            until = next;
            sleep(Duration::from_millis(1));
        }
        is_over.store(true, Relaxed);
        // Nobody touched it any more.
        late.push(until..u64::MAX);
        let missed: Vec<Range<u64>> = readers
            .into_iter()
            .flat_map(|r| r.join().unwrap())
            .collect();
        (late, missed)
    });
    let wrongly = missed
        .iter()
        .filter(|read| !late.iter().any(|span| overlap(read, span)));
    assert_eq!(wrongly.count(), 0, "{} late", late.len());
}
