//! Options of leases: how long values are fresh, and leases last.

use crate::alloc::{Shown, Stamp};
use crate::engine::{in_ms, no_room};
use crate::error::{Error, Result};
use crate::layout::{LONGEST_LEASE_MS, MOST_MS};
use crate::region::Region;
use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};

/// The times of a lease: how long a value is fresh and stale, and how long computing it may take;
/// for [`Table::get_or_lease`](crate::Table::get_or_lease) and
/// [`Table::get_or_compute`](crate::Table::get_or_compute).
///
/// # Examples
/// ```
/// use std::time::Duration;
/// let options = tavola::LeaseOptions::new(Duration::from_secs(60))
///     .stale(Duration::from_secs(600))
///     .lease(Duration::from_secs(5))
///     .back_off(Duration::from_millis(200));
/// # let _ = options;
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LeaseOptions {
    fresh_ms: u64,
    stale_ms: u64,
    lease_ms: u64,
    back_off: Duration,
    early: Option<f64>,
}

impl LeaseOptions {
    /// Returns options with this fresh time. By default a lease lasts 10 s, the back-off after an
    /// error 1 s, no stale values are served, and nothing is computed early.
    pub fn new(fresh: Duration) -> Self {
        Self {
            fresh_ms: in_ms(fresh),
            stale_ms: 0,
            lease_ms: 10_000,
            back_off: Duration::from_secs(1),
            early: None,
        }
    }

    /// Sets how long the value is stale after it was fresh: it still exists, and is served while
    /// one process computes it again.
    pub fn stale(self, stale: Duration) -> Self {
        Self {
            stale_ms: in_ms(stale),
            ..self
        }
    }

    /// Sets how long computing may take, 1 ms to 1 hour. After that another process may compute,
    /// and the value of the first one is refused. This bounds how long others wait for a process
    /// that is alive but does not finish; they do not wait for a dead one.
    pub fn lease(self, lease: Duration) -> Self {
        Self {
            lease_ms: in_ms(lease),
            ..self
        }
    }

    /// Sets how long after an error of [`Table::get_or_compute`] no process tries again; at most an
    /// hour. Zero means that the next call tries again.
    ///
    /// [`Table::get_or_compute`]: crate::Table::get_or_compute
    pub fn back_off(self, back_off: Duration) -> Self {
        Self { back_off, ..self }
    }

    /// Lets one process occasionally compute a value again *before* it is stale (XFetch). The
    /// probability is higher the sooner the value will be stale and the longer it takes to compute:
    /// it happens if `beta` times that duration, times the negative logarithm of a random number
    /// from 0 to 1, exceeds the time left. 1 is usually best; more is earlier.
    ///
    /// The duration is stored in the low 16 bits of the key's flags, so that all processes know it.
    /// The flags of a value that [`Lease::fill_with`] stores must be 0 there.
    ///
    /// [`Lease::fill_with`]: crate::Lease::fill_with
    pub fn early(self, beta: f64) -> Self {
        Self {
            early: Some(beta),
            ..self
        }
    }

    pub(super) fn check(&self, region: &Region) -> Result<()> {
        let wrong = |option, why: &str| {
            let why = why.to_string();
            Err(Error::BadOption { option, why })
        };
        if !(1..=LONGEST_LEASE_MS).contains(&self.lease_ms) {
            return wrong("lease", "the time of a lease is between 1 ms and 1 hour");
        }
        if self
            .early
            .is_some_and(|beta| !(beta >= 0.0 && beta.is_finite()))
        {
            return wrong("early", "it is a number of at least 0");
        }
        match region.fixed() {
            Some(_) => Err(no_room()),
            None => Ok(()),
        }
    }

    pub(super) fn lease_ms(&self) -> u64 {
        self.lease_ms
    }

    pub(super) fn pause(&self) -> Duration {
        self.back_off
    }

    /// Returns what a value with these flags gets that took this long to compute.
    pub(super) fn stamp(&self, flags: u32, now_ms: u64, took: Duration) -> Result<Stamp<'static>> {
        if self.early.is_some() && flags & DURATION_BITS != 0 {
            return Err(Error::BadOption {
                option: "flags",
                why: "with early, the low 16 bits hold the duration and must be 0".to_string(),
            });
        }
        Ok(Stamp {
            expiry_ms: now_ms + (self.fresh_ms + self.stale_ms).min(MOST_MS),
            client: flags | self.early.map_or(0, |_| to_bits(took)),
            ..Stamp::NONE
        })
    }

    /// Returns for how many milliseconds a value is still fresh; a value that does not expire
    /// always is.
    pub(super) fn fresh_ms(&self, shown: &Shown, now_ms: u64) -> u64 {
        match shown.expiry_ms {
            0 => u64::MAX,
            expiry_ms => expiry_ms
                .saturating_sub(now_ms)
                .saturating_sub(self.stale_ms),
        }
    }

    /// Returns whether a value that is fresh for `fresh_ms` more is computed again now.
    pub(super) fn is_early(&self, shown: &Shown, fresh_ms: u64) -> bool {
        let random = || {
            // The keys of the state are random; the time makes a forked child differ from its
            // parent.
            let bits = RandomState::new().hash_one(Instant::now());
            ((bits >> 11) + 1) as f64 / (1u64 << 53) as f64
        };
        self.early.is_some_and(|beta| {
            fresh_ms != u64::MAX && reaches(beta, of_bits(shown.client), random(), fresh_ms)
        })
    }
}

/// The bits of the flags that hold how long a value took to compute.
const DURATION_BITS: u32 = 0xffff;

/// How many bits of a duration are kept; the other five are how many were cut off.
const KEPT_BITS: u32 = 11;

/// Returns a duration as 16 bits: microseconds, of which the highest eleven bits are kept.
fn to_bits(took: Duration) -> u32 {
    let took_us = u32::try_from(took.as_micros()).unwrap_or(u32::MAX);
    let cut = (u32::BITS - took_us.leading_zeros()).saturating_sub(KEPT_BITS);
    cut << KEPT_BITS | took_us >> cut
}

/// Returns the microseconds that the flags of a key hold.
fn of_bits(flags: u32) -> u64 {
    let cut = (flags & DURATION_BITS) >> KEPT_BITS;
    u64::from(flags & ((1 << KEPT_BITS) - 1)) << cut
}

/// Returns whether the duration of a computation, multiplied by a random factor, exceeds the time
/// left (XFetch).
fn reaches(beta: f64, took_us: u64, random: f64, fresh_ms: u64) -> bool {
    took_us as f64 / 1000.0 * beta * -random.ln() >= fresh_ms as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_kept_to_a_thousandth() {
        for took_us in [0, 1, 2047, 2048, 2049, 1_000_000, 3_600_000_000, u32::MAX] {
            let bits = to_bits(Duration::from_micros(took_us.into()));
            assert!(bits <= DURATION_BITS);
            let kept = of_bits(0x5401_0000 | bits);
            let took_us = u64::from(took_us);
            assert!(
                kept <= took_us && took_us - kept <= took_us >> 10,
                "{took_us}: {kept}"
            );
        }
        assert_eq!(
            to_bits(Duration::MAX),
            to_bits(Duration::from_micros(u32::MAX.into()))
        );
    }

    #[test]
    fn the_sooner_it_is_stale_and_the_longer_it_takes_the_earlier_it_is_computed() {
        // With a random number of e^-2, the duration counts twice.
        let random = (-2.0f64).exp();
        assert!(reaches(1.0, 100_000, random, 199) && !reaches(1.0, 100_000, random, 201));
        assert!(reaches(3.0, 100_000, random, 599) && !reaches(0.0, 100_000, random, 1));
        assert!(!reaches(1.0, 0, random, 1) && !reaches(1.0, 100_000, 1.0, 1));
    }

    #[test]
    fn of_even_chances_as_many_are_early_as_the_method_says() {
        const CHANCES: u32 = 100_000;
        let chance = |n: u32| f64::from(n + 1) / f64::from(CHANCES);
        for (beta, took_ms, fresh_ms) in [(1.0, 100, 50), (1.0, 100, 400), (2.5, 40, 300)] {
            let is_early = |n: &u32| reaches(beta, took_ms * 1000, chance(*n), fresh_ms);
            let count = (0..CHANCES).filter(is_early).count() as f64;
            let share = (-(fresh_ms as f64) / (beta * took_ms as f64)).exp();
            assert!((count - share * f64::from(CHANCES)).abs() <= 1.0, "{beta}");
        }
    }
}
