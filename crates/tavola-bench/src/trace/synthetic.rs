//! Traces that are made here: popular items as many as any, and the same with scans mixed in.

use super::chance::{Chance, fraction};

/// Of so many requests one is part of a scan.
const SCAN_SHARE: u64 = 5;
/// A scan is so many times shorter than there are items.
const SCANS_OF: u64 = 10;
const SEED: u64 = 0x7a66;

/// What a trace that is made here is like.
#[derive(Clone, Copy, Debug)]
pub struct Synthetic {
    /// The item of rank r is asked for in proportion to 1 / r^alpha.
    pub alpha: f64,
    /// Whether a fifth of the requests are scans: runs of items that come once and never again.
    pub has_scans: bool,
    /// Items; those of scans are more.
    pub keys: u32,
    /// Requests.
    pub requests: u64,
}

impl Synthetic {
    /// Its name: `zipf` or `scan`.
    pub(super) fn name(&self) -> &'static str {
        if self.has_scans { "scan" } else { "zipf" }
    }

    pub(super) fn ids(&self) -> Vec<u32> {
        let mut chance = Chance::new(SEED);
        let zipf = Zipf::new(self.keys, self.alpha);
        let run = (u64::from(self.keys) / SCANS_OF).max(1);
        let mut unseen = self.keys;
        let mut next = |at| {
            let is_scan = self.has_scans && at / run % SCAN_SHARE == SCAN_SHARE - 1;
            if !is_scan {
                return zipf.draw(&mut chance);
            }
            unseen += 1;
            unseen - 1
        };
        (0..self.requests).map(&mut next).collect()
    }
}

/// Draws ranks by the alias method: each rank has a column of the same width, of which it leaves
/// the upper part to another one.
struct Zipf {
    /// The part of each column that is its own, and whose the rest is.
    columns: Vec<(f64, u32)>,
}

impl Zipf {
    fn new(keys: u32, alpha: f64) -> Self {
        let weight = |rank: u32| f64::from(rank + 1).powf(-alpha);
        let mean = (0..keys).map(weight).sum::<f64>() / f64::from(keys);
        let mut columns: Vec<(f64, u32)> =
            (0..keys).map(|rank| (weight(rank) / mean, rank)).collect();
        // Weights fall with the rank: the first are too high for their columns, the last too low.
        let mut high = 0;
        let mut low: Vec<u32> = (0..keys)
            .rev()
            .take_while(|&rank| columns[rank as usize].0 < 1.0)
            .collect();
        while let Some(rank) = low.pop() {
            while high < columns.len() && columns[high].0 < 1.0 {
                high += 1;
            }
            let missing = 1.0 - columns[rank as usize].0;
            if high >= columns.len() || high == rank as usize {
                // Only what rounding left over.
                break;
            }
            columns[rank as usize].1 = high as u32;
            columns[high].0 -= missing;
            if columns[high].0 < 1.0 {
                low.push(high as u32);
                high += 1;
            }
        }
        Self { columns }
    }

    fn draw(&self, chance: &mut Chance) -> u32 {
        let rank = chance.below(self.columns.len() as u64) as u32;
        let (own, other) = self.columns[rank as usize];
        if fraction(chance.word()) < own {
            rank
        } else {
            other
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(alpha: f64, has_scans: bool) -> Vec<u32> {
        let synthetic = Synthetic {
            alpha,
            has_scans,
            keys: 100,
            requests: 200_000,
        };
        let ids = synthetic.ids();
        assert_eq!(ids.len(), 200_000);
        assert!(ids == synthetic.ids(), "the same again");
        ids
    }

    #[test]
    fn items_come_as_often_as_their_rank_says() {
        for alpha in [0.0, 0.5, 0.9, 1.3] {
            let ids = made(alpha, false);
            let sum: f64 = (1..=100).map(|rank| f64::from(rank).powf(-alpha)).sum();
            for rank in [1, 2, 3, 10, 50, 100] {
                let wanted = 200_000.0 * f64::from(rank).powf(-alpha) / sum;
                let count = ids.iter().filter(|&&id| id == rank - 1).count() as f64;
                let limit = 5.0 * wanted.sqrt();
                assert!(
                    (count - wanted).abs() < limit,
                    "{alpha}, rank {rank}: {count}, not {wanted}"
                );
            }
        }
    }

    #[test]
    fn a_fifth_of_the_requests_are_runs_of_items_that_come_once() {
        let ids = made(0.9, true);
        let scanned: Vec<u32> = ids.iter().copied().filter(|&id| id >= 100).collect();
        let all: Vec<u32> = (100..100 + 40_000).collect();
        assert_eq!(scanned, all);
        let is_scan: Vec<bool> = ids[..100].iter().map(|&id| id >= 100).collect();
        let runs = [false, false, false, false, true];
        assert!((0..100).all(|at| is_scan[at] == runs[at / 10 % 5]));
    }
}
