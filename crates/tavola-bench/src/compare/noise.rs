//! How steady the machine is: the same work, timed again and again between the runs.

use std::hint::black_box;
use std::time::Instant;

use super::report::Noise;

/// More than this, and the figures of processors cannot be relied on.
const SPIN_BOUND: f64 = 0.10;
/// The same of memory, which neighbours on the machine share.
const WALK_BOUND: f64 = 0.35;
/// Words of the walk: 32 MiB, more than most caches of one processor.
const WORDS: usize = 4 << 20;
const SPINS: u64 = 1_500_000;
const STEPS: usize = 40_000;
/// Fewer samples say nothing.
const FEWEST: usize = 5;

/// What is timed.
pub(super) struct Gauge {
    next: Vec<u64>,
}

/// One look: seconds of the loop and of the walk.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sample {
    spin: f64,
    walk: f64,
}

impl Gauge {
    pub(super) fn new() -> Self {
        // One cycle through all words: a full-period generator of numbers.
        let mask = WORDS as u64 - 1;
        let step = |at: u64| (at.wrapping_mul(0x5851_f42d_4c95_7f2d) + 0x1405_7b7f) & mask;
        Self {
            next: (0..WORDS as u64).map(step).collect(),
        }
    }

    /// Times both, some milliseconds each.
    pub(super) fn sample(&self) -> Sample {
        let begin = Instant::now();
        let mut word = black_box(1_u64);
        for _ in 0..SPINS {
            word ^= word << 13;
            word ^= word >> 7;
            word ^= word << 17;
        }
        black_box(word);
        let spin = begin.elapsed().as_secs_f64();
        let begin = Instant::now();
        let mut at = black_box(7_u64);
        for _ in 0..STEPS {
            at = self.next[at as usize];
        }
        black_box(at);
        let walk = begin.elapsed().as_secs_f64();
        Sample { spin, walk }
    }
}

/// What all looks of a run say.
pub(super) fn noise(samples: impl Iterator<Item = Sample>) -> Noise {
    let (spins, walks): (Vec<f64>, Vec<f64>) =
        samples.map(|sample| (sample.spin, sample.walk)).unzip();
    verdict(&spins, &walks)
}

fn verdict(spins: &[f64], walks: &[f64]) -> Noise {
    let (spin_spread, walk_spread) = (spread(spins), spread(walks));
    let percent = |share: f64| (share * 100.0).round();
    let why = match () {
        () if spins.len() < FEWEST => Some(format!(
            "how steady the machine was cannot be judged from {} samples",
            spins.len()
        )),
        () if spin_spread > SPIN_BOUND => Some(format!(
            "the same loop took {} % longer at times: others use the processors, or their \
             frequency changes",
            percent(spin_spread)
        )),
        () if walk_spread > WALK_BOUND => Some(format!(
            "the same walk through memory took {} % longer at times: others use caches and memory",
            percent(walk_spread)
        )),
        () => None,
    };
    Noise {
        trusted: why.is_none(),
        spin_spread,
        walk_spread,
        samples: spins.len(),
        why,
    }
}

/// The sample that nine of ten are below, by the one that one of ten is below, less 1.
fn spread(samples: &[f64]) -> f64 {
    if samples.len() < FEWEST {
        return 0.0;
    }
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len() - 1;
    let (low, high) = (sorted[last / 10], sorted[last - last / 10]);
    high / low.max(1e-12) - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_samples_are_trusted_and_uneven_ones_are_not() {
        let even = vec![1.0; 30];
        assert_eq!(verdict(&even, &even).why, None);
        let mut uneven = even.clone();
        uneven[..6].fill(1.3);
        let noise = verdict(&uneven, &even);
        assert!(!noise.trusted && noise.why.unwrap().contains("30 %"));
        assert!(!verdict(&even, &[1.0, 2.0, 1.0, 2.0, 1.0, 2.0]).trusted);
        assert!(!verdict(&even[..FEWEST - 1], &even[..FEWEST - 1]).trusted);
        // One of thirty is an accident.
        uneven.fill(1.0);
        uneven[3] = 9.0;
        assert!(verdict(&uneven, &even).trusted);
    }

    #[test]
    fn the_walk_comes_through_all_of_the_memory() {
        let gauge = Gauge::new();
        let (mut at, mut steps) = (gauge.next[0], 1);
        while at != 0 && steps <= WORDS {
            at = gauge.next[at as usize];
            steps += 1;
        }
        assert_eq!(steps, WORDS);
    }
}
