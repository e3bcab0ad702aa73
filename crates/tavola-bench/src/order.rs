//! In which order a worker visits its share of the indices, without an array that says so.
//!
//! The numbers below the next power of two are counted up, each is sent through a bijection, and
//! those that fall outside the share are left out. The loop has no branch that could be
//! mispredicted and its steps do not wait for each other: an index costs about a nanosecond.

use std::ops::Range;

use crate::bytes::low_bits;

/// Which indices come, and in which order.
#[derive(Clone, Debug)]
pub(crate) enum Order {
    /// One after the other (their keys are in no order anyway).
    Ascending(Range<u64>),
    /// Each once, in random order.
    Shuffled(Shuffle),
    /// The same index, so many times.
    Same { index: u64, left: u64 },
}

impl Order {
    /// Each index of `share` once; another `seed` gives another order.
    pub(crate) fn shuffled(share: Range<u64>, seed: u64) -> Self {
        let count = share.end - share.start;
        let mask = low_bits(64 - count.saturating_sub(1).leading_zeros().min(63));
        let walker = seed.wrapping_mul(STRIDE ^ seed << 32);
        Self::Shuffled(Shuffle {
            start: share.start,
            count,
            mask,
            walker,
            left: mask + 1,
        })
    }

    /// Writes the next indices to `out` and returns how many came; 0 at the end.
    pub(crate) fn fill(&mut self, out: &mut [u64]) -> usize {
        match self {
            Self::Ascending(range) => {
                let len = (range.end - range.start).min(out.len() as u64);
                out.iter_mut()
                    .zip(&mut *range)
                    .for_each(|(slot, index)| *slot = index);
                len as usize
            }
            Self::Shuffled(shuffle) => shuffle.fill(out),
            Self::Same { index, left } => {
                let len = (*left).min(out.len() as u64);
                out[..len as usize].fill(*index);
                *left -= len;
                len as usize
            }
        }
    }
}

/// The state of a shuffled walk.
#[derive(Clone, Debug)]
pub(crate) struct Shuffle {
    start: u64,
    count: u64,
    mask: u64,
    /// Takes each value up to `mask` once, in steps of [`STRIDE`].
    walker: u64,
    left: u64,
}

/// Odd, so that all values are met before the first comes again.
const STRIDE: u64 = 0x9e37_79b9_7f4a_7c15;

impl Shuffle {
    fn fill(&mut self, out: &mut [u64]) -> usize {
        let Self {
            start,
            count,
            mask,
            mut walker,
            mut left,
        } = *self;
        let mut len = 0;
        while len < out.len() && left > 0 {
            // These cannot overflow the rest, however few are left out.
            let some = left.min((out.len() - len) as u64);
            for _ in 0..some {
                let at = scatter(walker & mask, mask);
                out[len] = start + at;
                len += usize::from(at < count);
                walker = walker.wrapping_add(STRIDE);
            }
            left -= some;
        }
        (self.walker, self.left) = (walker, left);
        len
    }
}

/// A bijection of the numbers up to `mask`. It breaks up the even steps of the walker, which would
/// come back near to where they were before the caches have forgotten it.
#[inline(always)]
fn scatter(word: u64, mask: u64) -> u64 {
    (word ^ word >> 11).wrapping_mul(0xd1b5_4a32_d192_ed03) & mask
}

/// The `part`-th of `parts` nearly equal shares of the indices below `count`.
pub(crate) fn share(count: u64, part: u32, parts: u32) -> Range<u64> {
    let bound = |part: u32| (u128::from(count) * u128::from(part) / u128::from(parts)) as u64;
    bound(part)..bound(part + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mut order: Order, chunk: usize) -> Vec<u64> {
        let mut out = vec![0; chunk];
        let mut all = Vec::new();
        loop {
            let len = order.fill(&mut out);
            if len == 0 {
                return all;
            }
            all.extend_from_slice(&out[..len]);
        }
    }

    #[test]
    fn a_shuffle_visits_each_index_once() {
        for count in [0, 1, 2, 3, 7, 64, 65, 1000, 40_000] {
            for chunk in [1, 32, 256] {
                let mut seen = all(Order::shuffled(5..5 + count, 99), chunk);
                seen.sort_unstable();
                assert_eq!(
                    seen,
                    (5..5 + count).collect::<Vec<_>>(),
                    "{count} by {chunk}"
                );
            }
        }
    }

    #[test]
    fn a_shuffle_has_no_run_of_neighbours_and_depends_on_the_seed() {
        let one = all(Order::shuffled(0..10_000, 1), 256);
        let neighbours = one
            .windows(2)
            .filter(|pair| pair[0].abs_diff(pair[1]) < 16)
            .count();
        assert!(
            neighbours < 100,
            "{neighbours} of 10,000 steps go to a neighbour"
        );
        assert_ne!(one, all(Order::shuffled(0..10_000, 77), 256));
    }

    #[test]
    fn ascending_and_same_come_as_often_as_asked() {
        assert_eq!(all(Order::Ascending(3..8), 2), [3, 4, 5, 6, 7]);
        assert_eq!(all(Order::Same { index: 9, left: 3 }, 2), [9, 9, 9]);
    }

    #[test]
    fn shares_cover_all_without_overlap() {
        for parts in 1..9 {
            let shares: Vec<_> = (0..parts).map(|part| share(1001, part, parts)).collect();
            assert_eq!(shares[0].start, 0);
            assert_eq!(shares[parts as usize - 1].end, 1001);
            assert!(shares.windows(2).all(|pair| pair[0].end == pair[1].start));
        }
    }
}
