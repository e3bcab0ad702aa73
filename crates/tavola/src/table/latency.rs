//! How long reads and writes of a cache take, by samples.
//!
//! A call is timed when the one before it found by its count that one is due: so those that are not
//! cost one look at a word of this process, and nobody looks at the clock.

use super::Table;
use super::core::Core;
use crate::error::Result;
use crate::layout::{BINS, TIMINGS, bin_end_ns, count_time};
use crate::lock::{Me, timing};
use crate::sync::{Ordering, W32, W64};
use crate::sys::clock;

/// Of at most so many reads or writes of a participant one is followed by a look whether a sample
/// is due. Always of so many, where tests count the stores or choose the order of them.
const MOST_UNSEEN: u32 = 64;
const IS_PACED: bool = !cfg!(any(feature = "torture", feature = "shuttle"));
/// From look to look: sooner, and fewer calls are followed by one; later, and more are.
const SOON_MS: u64 = 10;
const LATE_MS: u64 = 100;

/// Which calls are to be timed, or followed by a look at the clock.
pub(super) struct Due {
    /// 1: the next is timed.
    pub(super) read: W32,
    pub(super) write: W32,
    /// A look follows each call whose number has all of these bits, a power of two less one.
    bits: W32,
    /// When somebody looked last.
    looked_ms: W64,
}

impl Due {
    pub(super) const fn new() -> Self {
        Self {
            read: W32::new(0),
            write: W32::new(0),
            bits: W32::new(if IS_PACED { 0 } else { MOST_UNSEEN - 1 }),
            looked_ms: W64::new(0),
        }
    }

    /// Lets looks follow each other by some ten to hundred milliseconds, as far as calls do.
    fn pace(&self, now_ms: u64) {
        let looked_ms = self.looked_ms.load(Ordering::Relaxed);
        let bits = self.bits.load(Ordering::Relaxed);
        let paced = paced(bits, now_ms.saturating_sub(looked_ms));
        if now_ms != looked_ms {
            self.looked_ms.store(now_ms, Ordering::Relaxed);
        }
        if paced != bits {
            self.bits.store(paced, Ordering::Relaxed);
        }
    }
}

/// The bits after a look that came so long after the last.
fn paced(mut bits: u32, mut late_ms: u64) -> u32 {
    if late_ms < SOON_MS {
        return (bits << 1 | 1) & (MOST_UNSEEN - 1);
    }
    while late_ms > LATE_MS && bits > 0 {
        (bits, late_ms) = (bits >> 1, late_ms >> 1);
    }
    bits
}

impl Core {
    /// Whether the read of a cache that now begins is to be timed.
    #[inline(always)]
    pub(super) fn times_read(&self) -> bool {
        self.due.read.load(Ordering::Relaxed) != 0
    }

    /// The same of a write of any table.
    #[inline(always)]
    pub(super) fn times_write(&self) -> bool {
        self.region().is_cache() && self.due.write.load(Ordering::Relaxed) != 0
    }

    pub(super) fn timed_read<T>(&self, call: impl FnOnce() -> T) -> T {
        self.timed(
            &self.due.read,
            |me| &timing(self.region(), me.id()).reads,
            call,
        )
    }

    pub(super) fn timed_write<T>(&self, call: impl FnOnce() -> T) -> T {
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
        // A forked child that may not attach writes nothing.
        let me = self.participant();
        if me.is_attached() {
            count_time(bins(me), took_ns);
        }
        done
    }

    /// After a participant has counted a read or write: so many of these were counted before.
    #[inline(always)]
    pub(super) fn after_count(&self, before: u64, due: &W32) {
        let bits = u64::from(self.due.bits.load(Ordering::Relaxed));
        if !before & bits == 0 {
            self.look(before, due);
        }
    }

    #[cold]
    #[inline(never)]
    fn look(&self, before: u64, due: &W32) {
        let every = u64::from(Latencies::EVERY);
        if before % every == every - 1 {
            due.store(1, Ordering::Relaxed);
        }
        if IS_PACED {
            self.due.pace(clock::coarse_ms());
        }
        self.sample();
    }

    fn latencies(&self) -> Latencies {
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

/// Latency histograms of reads and writes of a cache since its creation; from [`Table::latencies`].
///
/// About one in [`Latencies::EVERY`] of the calls that read or set one key is timed, which costs
/// about 30 ns. Each bucket is a pair: its upper bound in nanoseconds, and its number of calls. A
/// bucket begins where the previous one ends, the first at 0; the last has the bound [`u64::MAX`].
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Latencies {
    /// Reads.
    pub reads: Vec<(u64, u64)>,
    /// Writes.
    pub writes: Vec<(u64, u64)>,
}

impl Latencies {
    /// One in this number of calls of a participant is timed.
    pub const EVERY: u32 = 1024;

    /// Returns the time in nanoseconds within which this part of the calls (0 to 1) was done, or
    /// `None` if there were no calls. It is an estimate from buckets such as [`Latencies::reads`].
    pub fn quantile_ns(buckets: &[(u64, u64)], part: f64) -> Option<u64> {
        let all: f64 = buckets.iter().map(|(_, count)| *count as f64).sum();
        let wanted = part.clamp(0.0, 1.0) * all;
        let (mut begin_ns, mut before) = (0, 0.0);
        for (end_ns, count) in buckets {
            let count = *count as f64;
            if count > 0.0 && before + count >= wanted {
                let width_ns = match *end_ns {
                    u64::MAX => 0,
                    end_ns => end_ns.saturating_sub(begin_ns),
                };
                return Some(begin_ns + (width_ns as f64 * (wanted - before) / count) as u64);
            }
            (begin_ns, before) = (*end_ns, before + count);
        }
        None
    }
}

impl Table {
    /// Returns the sampled latencies of reads and writes of a cache. For other tables all counts
    /// are 0.
    ///
    /// # Errors
    /// Currently none.
    pub fn latencies(&self) -> Result<Latencies> {
        Ok(self.core()?.latencies())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Options;

    #[test]
    fn looks_come_some_ten_to_hundred_milliseconds_apart() {
        // Calls a second, and how many of them there are to a look in the end.
        for (rate, expected) in [
            (1, 1),
            (10, 1),
            (40, 1),
            (400, 4),
            (4_000, 64),
            (4_000_000, 64),
        ] {
            for start in [0, MOST_UNSEEN - 1] {
                let mut bits = start;
                for _ in 0..20 {
                    bits = paced(bits, u64::from(bits + 1) * 1000 / rate);
                    assert!(bits < MOST_UNSEEN && (bits + 1).is_power_of_two());
                }
                let every_ms = u64::from(bits + 1) * 1000 / rate;
                assert!(bits == 0 || every_ms <= LATE_MS, "{rate}: {every_ms} ms");
                assert!(bits + 1 >= expected, "{rate}: {bits:#b}");
            }
        }
        // One pause is enough to look at every call.
        assert_eq!(paced(MOST_UNSEEN - 1, 6400), 0);
        assert_eq!(paced(MOST_UNSEEN - 1, u64::MAX), 0);
    }

    #[test]
    fn one_in_so_many_calls_is_timed() {
        let options = Options::new().max_size(1 << 20).shards(1);
        let table = options.clone().capacity(512 << 10).private().unwrap();
        let counts = |table: &Table| {
            let told = table.latencies().unwrap();
            let count = |all: &[(u64, u64)]| all.iter().map(|(_, count)| count).sum::<u64>();
            (count(&told.reads), count(&told.writes))
        };
        for round in 0..10 * Latencies::EVERY {
            table.set((round % 8).to_le_bytes(), b"value").unwrap();
        }
        assert_eq!(counts(&table), (0, 9));
        for _ in 0..=Latencies::EVERY {
            assert!(table.get(1u32.to_le_bytes()).unwrap().is_some());
        }
        assert_eq!(counts(&table), (1, 9));
        // Those that found nothing count, too.
        for _ in 0..=Latencies::EVERY {
            assert!(table.get(b"none").unwrap().is_none());
        }
        assert_eq!(counts(&table), (2, 9));
        // Of other tables nothing is known.
        let table = options.private().unwrap();
        for _ in 0..2 * Latencies::EVERY {
            table.set(b"key", b"value").unwrap();
            table.get(b"key").unwrap();
        }
        assert_eq!(counts(&table), (0, 0));
    }

    #[test]
    fn buckets_end_where_the_next_begin() {
        let options = Options::new().max_size(1 << 20).shards(1);
        let told = options.private().unwrap().latencies().unwrap();
        assert_eq!(told.reads, told.writes);
        let ends: Vec<u64> = told.reads.iter().map(|(end, _)| *end).collect();
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
