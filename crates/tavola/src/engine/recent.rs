//! What was done with a cache in the last 1, 10 and 60 seconds.
//!
//! No thread reads the counters once a second. Instead, a call that counts something checks the
//! clock now and then (see `due`), and takes a sample of all counters if the last one is a second
//! old.

use super::core::Core;
use crate::layout::{Participant, SAMPLES, Sampled, SampledWord};
use crate::lock::tallies;
use crate::sync::Ordering;
use crate::values::Recent;
use std::time::Duration;

/// The reported periods in seconds.
const WANTED_S: [u64; 3] = [1, 10, 60];
/// A sample that took longer than this to add up is discarded: its counters are of different
/// moments. Tests may be slow.
const MOST_MS: u64 = if cfg!(any(test, feature = "torture")) {
    u64::MAX
} else {
    100
};

impl Recent {
    /// Returns the part of reads that found their key, 0 to 1, or `None` if there were no reads or
    /// it is not known.
    pub fn hit_ratio(&self) -> Option<f64> {
        let reads = self.hits as f64 + self.misses as f64;
        (reads > 0.0).then(|| self.hits as f64 / reads)
    }

    /// Returns what was done between two samples.
    fn between(wanted: Duration, from: &Sampled, to: &Sampled) -> Self {
        Self {
            wanted,
            spanned: Duration::from_millis(age_ms(from, to)),
            // Saturates: the latest counts may not be visible yet, and a damaged counter may have
            // any value.
            hits: to.hits.saturating_sub(from.hits),
            misses: to.misses.saturating_sub(from.misses),
            writes: to.writes.saturating_sub(from.writes),
            evicted: to.evicted.saturating_sub(from.evicted),
            expired: to.expired.saturating_sub(from.expired),
        }
    }
}

/// Numbers of calls to a cache, as participants count them.
#[derive(Default)]
pub(crate) struct CallCounts {
    pub(crate) hits: u64,
    pub(crate) misses: u64,
    pub(crate) sets: u64,
    pub(crate) removes: u64,
}

impl CallCounts {
    /// Returns the calls counted in a slot, by all participants that ever had it.
    pub(crate) fn of(tally: &Participant) -> Self {
        let [hits, misses, sets, removes] =
            [&tally.hits, &tally.misses, &tally.sets, &tally.removes]
                .map(|word| word.load(Ordering::Relaxed));
        Self {
            hits,
            misses,
            sets,
            removes,
        }
    }

    fn with(&self, others: &Self) -> Self {
        Self {
            hits: self.hits.wrapping_add(others.hits),
            misses: self.misses.wrapping_add(others.misses),
            sets: self.sets.wrapping_add(others.sets),
            removes: self.removes.wrapping_add(others.removes),
        }
    }

    pub(crate) fn writes(&self) -> u64 {
        self.sets.wrapping_add(self.removes)
    }
}

/// Returns the age of a sample, or 0 if it is ahead of the clock.
fn age_ms(sample: &Sampled, now: &Sampled) -> u64 {
    now.at_ms.saturating_sub(sample.at_ms)
}

/// Returns what was done since the sample whose age is nearest to `wanted`. Samples less than half
/// that old are not used.
fn since(samples: &[Sampled], wanted: Duration, now: &Sampled) -> Recent {
    let wanted_ms = wanted.as_millis() as u64;
    let old_enough = samples
        .iter()
        .filter(|sample| age_ms(sample, now) >= wanted_ms / 2);
    let nearest = old_enough.min_by_key(|sample| age_ms(sample, now).abs_diff(wanted_ms));
    let nothing = Recent {
        wanted,
        ..Recent::default()
    };
    nearest.map_or(nothing, |from| Recent::between(wanted, from, now))
}

impl Core {
    /// Returns the calls to a cache so far; all zero for any other table.
    pub(crate) fn calls(&self) -> CallCounts {
        let region = self.region();
        let all = tallies(region).filter(|_| region.is_cache());
        all.fold(CallCounts::default(), |sum, tally| {
            sum.with(&CallCounts::of(tally))
        })
    }

    /// Returns all counters of a cache; all zero for any other table.
    pub(crate) fn done(&self) -> Sampled {
        self.done_by(self.region().now_ms(), &self.calls())
    }

    /// Returns what [`Self::done`] does, if the calls were counted already, at the time `at_ms`.
    pub(crate) fn done_by(&self, at_ms: u64, calls: &CallCounts) -> Sampled {
        let mut done = Sampled {
            at_ms,
            hits: calls.hits,
            misses: calls.misses,
            writes: calls.writes(),
            ..Sampled::default()
        };
        if !self.region().is_cache() {
            return done;
        }
        done.evicted = self.sum(|head| {
            let evicted = [&head.evicted_new, &head.evicted_old];
            let [new, old] = evicted.map(|word| word.load(Ordering::Relaxed));
            new.wrapping_add(old)
        });
        done.expired = self.sum(|head| head.expired.load(Ordering::Relaxed));
        done
    }

    /// Takes a sample if one is due and no other process takes it.
    pub(crate) fn sample(&self) {
        let region = self.region();
        let word = &region.superblock().sampled;
        let seen = word.load(Ordering::Relaxed);
        let Some(next) = SampledWord::decode(seen).next(region.now_ms()) else {
            return;
        };
        if word.cas(seen, next.encode(), Ordering::Relaxed).is_err() {
            return;
        }
        let done = self.done();
        if region.now_ms().saturating_sub(done.at_ms) < MOST_MS {
            region.sample(next.number).write(&done);
        }
    }

    /// Returns what was done lately with a cache whose counters are `now`.
    pub(crate) fn recent(&self, now: &Sampled) -> [Recent; 3] {
        let ring = (0..SAMPLES).filter(|_| self.region().is_cache());
        let samples: Vec<Sampled> = ring
            .filter_map(|number| self.region().sample(number).read())
            .filter(|sample| sample.at_ms <= now.at_ms)
            .collect();
        WANTED_S.map(|seconds| since(&samples, Duration::from_secs(seconds), now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::CacheSample;
    use crate::table::Table;
    use std::time::Instant;

    fn sampled(at_ms: u64, count: u64) -> Sampled {
        Sampled {
            at_ms,
            hits: 9 * count,
            misses: count,
            writes: 2 * count,
            evicted: 3 * count,
            expired: 4 * count,
        }
    }

    fn cache() -> Table {
        let options = Table::options().max_size(1 << 20).shards(1);
        options.capacity(512 << 10).private().unwrap()
    }

    /// Makes the last sample so old that the next is due.
    fn let_pass(table: &Table) {
        let region = table.core().unwrap().region();
        let word = &region.superblock().sampled;
        let mut last = SampledWord::decode(word.load(Ordering::Relaxed));
        last.at_ms -= 1000;
        word.store(last.encode(), Ordering::Relaxed);
    }

    fn place(table: &Table, number: u32) -> &CacheSample {
        table.core().unwrap().region().sample(number)
    }

    fn last(table: &Table) -> SampledWord {
        let word = &table.core().unwrap().region().superblock().sampled;
        SampledWord::decode(word.load(Ordering::Relaxed))
    }

    #[test]
    fn counts_are_since_the_sample_that_is_nearest_and_not_too_young() {
        let second = |number: u64| sampled(1_000_000 + 1000 * number, 10 * number);
        let samples: Vec<Sampled> = (0..63).rev().map(second).collect();
        let now = sampled(1_000_000 + 62_400, 625);
        let recent = |seconds| since(&samples, Duration::from_secs(seconds), &now);
        for (seconds, from) in [(1, 61), (10, 52), (60, 2)] {
            let found = recent(seconds);
            assert_eq!(found.wanted, Duration::from_secs(seconds));
            assert_eq!(found.spanned, Duration::from_millis(62_400 - 1000 * from));
            let count = 625 - 10 * from;
            assert_eq!((found.hits, found.misses), (9 * count, count));
            assert_eq!((found.writes, found.evicted), (2 * count, 3 * count));
            assert_eq!((found.expired, found.hit_ratio()), (4 * count, Some(0.9)));
        }
        // Half as old will do, less will not.
        let half = since(&samples[..31], Duration::from_secs(60), &now);
        assert_eq!(half.spanned, Duration::from_millis(62_400 - 32_000));
        let less = since(&samples[..30], Duration::from_secs(60), &now);
        assert_eq!((less.spanned, less.hits), (Duration::ZERO, 0));
        assert_eq!((less.wanted.as_secs(), less.hit_ratio()), (60, None));
        // Nothing was done since a sample of long ago.
        let idle = since(&samples, Duration::from_secs(1), &sampled(9_000_000, 620));
        assert_eq!(idle.spanned, Duration::from_millis(8_000_000 - 62_000));
        assert_eq!((idle.hits, idle.hit_ratio()), (0, None));
    }

    #[test]
    fn counters_that_have_fallen_count_as_nothing() {
        let samples = [sampled(1000, 50)];
        let found = since(&samples, Duration::from_secs(1), &sampled(2000, 20));
        assert_eq!((found.hits, found.misses, found.writes), (0, 0, 0));
        assert_eq!((found.evicted, found.expired), (0, 0));
        assert_eq!(found.spanned, Duration::from_secs(1));
    }

    #[cfg(not(feature = "torture"))]
    #[test]
    fn a_call_that_counts_takes_one_sample_when_the_last_is_old() {
        let began = Instant::now();
        let table = cache();
        let first = last(&table).number;
        let zero = place(&table, first).read();
        table.set(b"key", b"value").unwrap();
        let read = |count| (0..count).for_each(|_| assert!(table.get(b"key").unwrap().is_some()));
        read(200);
        let_pass(&table);
        read(200);
        let (second, taken) = (last(&table).number, place(&table, first + 1).read());
        let_pass(&table);
        table.stats().unwrap();
        let third = place(&table, first + 2).read();
        // Had a second gone by, there may be one more.
        if began.elapsed() > Duration::from_millis(900) {
            return;
        }
        let zero = zero.unwrap();
        assert_eq!((zero.hits, zero.misses, zero.writes), (0, 0, 0));
        assert_eq!(second, first + 1);
        let taken = taken.unwrap();
        assert!(taken.hits > 200 && taken.hits <= 264, "{taken:?}");
        assert_eq!((taken.misses, taken.writes), (0, 1));
        assert_eq!(third.unwrap().hits, 400);
    }

    #[cfg(not(any(feature = "torture", feature = "shuttle")))]
    #[test]
    fn a_rare_call_takes_a_sample_when_it_is_due() {
        let table = cache();
        let first = last(&table).number;
        let_pass(&table);
        table.set(b"key", b"value").unwrap();
        assert_eq!(place(&table, first + 1).read().unwrap().writes, 1);
        let_pass(&table);
        assert!(table.get(b"none").unwrap().is_none());
        assert_eq!(place(&table, first + 2).read().unwrap().misses, 1);
    }

    #[cfg(not(feature = "torture"))]
    #[test]
    fn what_a_dead_one_left_is_passed_over() {
        let table = cache();
        let core = table.core().unwrap();
        table.set(b"key", b"value").unwrap();
        let first = last(&table);
        // It had claimed the next place and written half of it.
        let_pass(&table);
        let next = last(&table).next(core.region().now_ms()).unwrap();
        let word = &core.region().superblock().sampled;
        word.store(next.encode(), Ordering::Relaxed);
        let at = core.region().geometry().samples_off + 64 * u64::from(next.number);
        for (number, torn) in [next.at_ms, 1 << 40, 1 << 41].into_iter().enumerate() {
            let place = core.region().word(at + 8 * number as u64);
            place.store(torn, Ordering::Relaxed);
        }
        assert_eq!(place(&table, next.number).read(), None);
        let mut now = core.done();
        // A sample may be a little younger than the word that claimed its place.
        now.at_ms = place(&table, first.number).read().unwrap().at_ms + 10_000;
        let recent = core.recent(&now);
        assert_eq!((recent[1].spanned.as_secs(), recent[1].writes), (10, 1));
        assert_eq!(recent[1].hits, 0);
        // Other processes continue.
        let_pass(&table);
        core.sample();
        let taken = place(&table, next.number + 1).read().unwrap();
        assert_eq!(taken.writes, 1);
    }

    /// Beside real counters, a minute of samples that say that ten hits were counted each second.
    #[cfg(not(feature = "torture"))]
    #[test]
    fn a_table_reports_the_last_second_ten_and_sixty() {
        let table = cache();
        let region = table.core().unwrap().region();
        table.set(b"key", b"value").unwrap();
        for _ in 0..630 {
            assert!(table.get(b"key").unwrap().is_some());
        }
        for _ in 0..126 {
            assert!(table.get(b"none").unwrap().is_none());
        }
        let (began, now_ms) = (Instant::now(), region.now_ms());
        for number in 0..SAMPLES {
            let age_s = u64::from(SAMPLES - 1 - number);
            region.sample(number).write(&Sampled {
                at_ms: now_ms - 1000 * age_s,
                hits: 630 - 10 * age_s,
                misses: 126 - 2 * age_s,
                writes: 1,
                ..Sampled::default()
            });
        }
        let last = SampledWord {
            number: SAMPLES - 1,
            at_ms: now_ms,
        };
        let word = &region.superblock().sampled;
        word.store(last.encode(), Ordering::Relaxed);
        let stats = table.stats().unwrap();
        // However long that took, and the clock's tick.
        let late = began.elapsed() + Duration::from_millis(20);
        for one in stats.recent {
            let age = Duration::from_secs(one.hits / 10);
            assert_eq!(
                (one.hits % 10, one.misses * 5, one.writes),
                (0, one.hits, 0)
            );
            assert_eq!(one.hit_ratio(), Some(5.0 / 6.0));
            assert!(one.spanned >= age && one.spanned <= age + late, "{one:?}");
            let off = one.spanned.abs_diff(one.wanted);
            assert!(off <= Duration::from_millis(500), "{one:?}");
        }
        assert_eq!(stats.recent.map(|one| one.wanted.as_secs()), WANTED_S);
    }

    #[test]
    fn a_table_that_is_no_cache_reports_nothing() {
        let table = Table::options().max_size(1 << 20).private().unwrap();
        for _ in 0..200 {
            table.set(b"key", b"value").unwrap();
            table.get(b"key").unwrap();
        }
        let stats = table.stats().unwrap();
        assert_eq!(stats.recent.map(|one| one.wanted.as_secs()), WANTED_S);
        assert!(stats.recent.iter().all(|one| one.spanned.is_zero()));
        assert_eq!((stats.hits, stats.writes), (0, 0));
    }
}
