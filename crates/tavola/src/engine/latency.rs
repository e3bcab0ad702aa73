//! Latency histograms of a cache: how long reads and writes take, measured on one call in 1024.
//!
//! Which calls are timed is decided in `due`, so an untimed call costs one load of a word of this
//! process.

use super::core::Core;
use super::due::IS_PACED;
use crate::layout::{BINS, TIMINGS, bin_end_ns, count_time};
use crate::lock::{Me, timing};
use crate::sync::{Ordering, W32, W64};
use crate::sys::clock;
use crate::values::Latencies;

impl Core {
    /// Returns whether the read that now begins is timed. For caches only.
    #[inline(always)]
    pub(crate) fn times_read(&self) -> bool {
        self.due.read.load(Ordering::Relaxed) != 0
    }

    /// Returns whether the write that now begins is timed. For any table.
    #[inline(always)]
    pub(crate) fn times_write(&self) -> bool {
        self.region().is_cache() && self.due.write.load(Ordering::Relaxed) != 0
    }

    pub(crate) fn timed_read<T>(&self, call: impl FnOnce() -> T) -> T {
        self.timed(
            &self.due.read,
            |me| &timing(self.region(), me.id()).reads,
            call,
        )
    }

    pub(crate) fn timed_write<T>(&self, call: impl FnOnce() -> T) -> T {
        let bins = |me: Me| &timing(self.region(), me.id()).writes;
        self.timed(&self.due.write, bins, call)
    }

    fn timed<'a, T>(
        &self,
        due: &W32,
        bins: impl FnOnce(Me) -> &'a [W64; BINS],
        call: impl FnOnce() -> T,
    ) -> T {
        due.store(0, Ordering::Relaxed);
        let began_ns = clock::exact_ns();
        let done = call();
        let took_ns = clock::exact_ns().saturating_sub(began_ns);
        // A forked child that cannot attach records nothing.
        let me = self.participant();
        if me.is_attached() {
            count_time(bins(me), took_ns);
        }
        done
    }

    /// Checks the clock if it is this call's turn. Must be called after a participant has counted a
    /// read or write, of which `before` were counted before.
    #[inline(always)]
    pub(crate) fn after_count(&self, before: u64, due: &W32) {
        let bits = u64::from(self.due.bits.load(Ordering::Relaxed));
        if !before & bits == 0 {
            self.take_sample(before, due);
        }
    }

    #[cold]
    #[inline(never)]
    fn take_sample(&self, before: u64, due: &W32) {
        let every = u64::from(Latencies::EVERY);
        if before % every == every - 1 {
            due.store(1, Ordering::Relaxed);
        }
        if IS_PACED {
            self.due.pace(clock::coarse_ms());
        }
        self.sample();
    }

    pub(crate) fn latencies(&self) -> Latencies {
        let rows = || (0..TIMINGS).map(|row| self.region().timing(row));
        let sum = |bins: fn(&crate::layout::Timing) -> &[W64; BINS]| {
            let count = |bin: usize| {
                rows().fold(0, |sum: u64, row| {
                    sum.wrapping_add(bins(row)[bin].load(Ordering::Relaxed))
                })
            };
            (0..BINS).map(|bin| (bin_end_ns(bin), count(bin))).collect()
        };
        Latencies {
            reads: sum(|row| &row.reads),
            writes: sum(|row| &row.writes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Table;

    #[test]
    fn one_in_so_many_calls_is_timed() {
        let options = Table::options().max_size(1 << 20).shards(1);
        let table = options.clone().capacity(512 << 10).private().unwrap();
        let counts = |table: &Table| {
            let latencies = table.latencies().unwrap();
            let count = |all: &[(u64, u64)]| all.iter().map(|(_, count)| count).sum::<u64>();
            (count(&latencies.reads), count(&latencies.writes))
        };
        for round in 0..10 * Latencies::EVERY {
            table.set((round % 8).to_le_bytes(), b"value").unwrap();
        }
        assert_eq!(counts(&table), (0, 9));
        for _ in 0..=Latencies::EVERY {
            assert!(table.get(1u32.to_le_bytes()).unwrap().is_some());
        }
        assert_eq!(counts(&table), (1, 9));
        // Reads that found nothing count, too.
        for _ in 0..=Latencies::EVERY {
            assert!(table.get(b"none").unwrap().is_none());
        }
        assert_eq!(counts(&table), (2, 9));
        // Other tables have no histograms.
        let table = options.private().unwrap();
        for _ in 0..2 * Latencies::EVERY {
            table.set(b"key", b"value").unwrap();
            table.get(b"key").unwrap();
        }
        assert_eq!(counts(&table), (0, 0));
    }

    #[test]
    fn buckets_end_where_the_next_begin() {
        let options = Table::options().max_size(1 << 20).shards(1);
        let latencies = options.private().unwrap().latencies().unwrap();
        assert_eq!(latencies.reads, latencies.writes);
        let ends: Vec<u64> = latencies.reads.iter().map(|(end, _)| *end).collect();
        assert_eq!((ends[0], ends[1], ends[31]), (64, 128, u64::MAX));
        assert!(ends.is_sorted());
    }

    #[test]
    fn a_quantile_lies_in_the_bucket_it_is_counted_in() {
        let quantile = Latencies::quantile_ns;
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(quantile(&[(64, 0), (128, 0)], 0.5), None);
        let buckets = [(64, 0), (128, 100), (256, 0), (512, 100), (u64::MAX, 2)];
        assert_eq!(quantile(&buckets, 0.0), Some(64));
        assert_eq!(quantile(&buckets, 50.0 / 202.0), Some(96));
        assert_eq!(quantile(&buckets, 100.0 / 202.0), Some(128));
        assert_eq!(quantile(&buckets, 150.0 / 202.0), Some(384));
        assert_eq!(quantile(&buckets, 1.0), Some(512));
        assert_eq!(quantile(&buckets, 7.0), Some(512));
        assert_eq!(quantile(&[(64, 3)], f64::NAN), None);
    }
}
