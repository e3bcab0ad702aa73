//! Exact simulations of eviction policies, to hold a real table against.
//!
//! A cache has room for a number of items, at least one, whatever their sizes. A request for an
//! item that is not there puts it in, and one goes first when there is no room. All take constant
//! time a request, but for hands, which take it on the average. Items are numbered densely, so
//! that what is known of one stands in a vector at its number.

mod clock;
mod lists;
mod lru;
mod s3fifo;
mod sieve;

pub(super) use clock::Clock;
pub(super) use lru::Lru;
pub(super) use s3fifo::S3Fifo;
pub(super) use sieve::Sieve;

use super::Trace;

/// A cache that is simulated.
pub(super) trait Simulation {
    /// An empty cache with room for `items` of the numbers below `keys`.
    fn new(keys: u32, items: u32) -> Self;

    /// Asks for an item and says whether it was there; now it is.
    fn request(&mut self, id: u32) -> bool;
}

/// How many requests of a trace find their item in a cache with room for `items`.
pub(super) fn hits<S: Simulation>(trace: &Trace, items: u32) -> u64 {
    let mut cache = S::new(trace.keys(), items.max(1));
    let found = trace.requests().iter().filter(|&&id| cache.request(id));
    found.count() as u64
}

/// The slow twins the simulations are held against, and requests for both.
#[cfg(test)]
mod twins {
    use super::Simulation;
    use crate::trace::chance::Chance;

    /// The outcome of each request: `+` a hit, `.` a miss.
    pub(super) fn outcomes(mut request: impl FnMut(u32) -> bool, ids: &[u32]) -> String {
        let sign = |&id: &u32| if request(id) { '+' } else { '.' };
        ids.iter().map(sign).collect()
    }

    /// Runs a simulation and its twin, made for so many items, on random requests.
    pub(super) fn compare<S: Simulation, T: FnMut(u32) -> bool>(twin: impl Fn(usize) -> T) {
        let mut chance = Chance::new(7);
        for keys in [1, 2, 3, 8, 40] {
            for items in [1, 2, 3, 5, 10, 11, 25, 60] {
                // Low numbers come more often.
                let mut draw = || chance.below(keys).min(chance.below(keys)) as u32;
                let ids: Vec<u32> = (0..3000).map(|_| draw()).collect();
                let mut cache = S::new(keys as u32, items);
                let ours = outcomes(|id| cache.request(id), &ids);
                let theirs = outcomes(twin(items as usize), &ids);
                assert_eq!(ours, theirs, "{items} of {keys}");
            }
        }
    }
}
