//! A ring of records in process memory: any number of threads put records in and take them out,
//! and none of them waits or allocates.
//!
//! A thread that puts a record in may hold a lock of shared memory, where nothing may be called,
//! allocated or waited for. So the ring is allocated when the process begins to listen, and a
//! record that finds no place is counted as lost. The word `turn` of each place says which thread
//! may use it next. For the place of position n:
//!
//! | `turn` | the thread that may use the place |
//! |---|---|
//! | n | the one that moves `end` from n to n + 1, to write |
//! | n + 1 | the one that moves `begin` from n to n + 1, to read |
//! | n + `PLACES` | as n, one round later |

use super::{Ordering, W32, W64};
use std::sync::OnceLock;

/// The most records that wait to be taken.
const PLACES: usize = 1024;
/// Words of a record.
pub(crate) const WORDS: usize = 36;

pub(crate) type Record = [u64; WORDS];

/// The ring, and whether this process listens.
pub(crate) struct RecordRing {
    listens: W32,
    lost: W64,
    places: OnceLock<Box<Places>>,
}

struct Places {
    begin: W64,
    end: W64,
    places: [RingPlace; PLACES],
}

struct RingPlace {
    turn: W64,
    record: [W64; WORDS],
}

impl RecordRing {
    pub(crate) const fn new() -> Self {
        Self {
            listens: W32::new(0),
            lost: W64::new(0),
            places: OnceLock::new(),
        }
    }

    /// Starts taking records in, or stops.
    pub(crate) fn listen(&self, on: bool) {
        if on {
            self.places.get_or_init(Places::new);
        }
        // Pairs with the acquire below: a thread that sees the word sees the ring.
        self.listens.store(u32::from(on), Ordering::Release);
    }

    #[inline(always)]
    pub(crate) fn listens(&self) -> bool {
        self.listens.load(Ordering::Acquire) != 0
    }

    /// Puts a record in, or counts it as lost if no place is free.
    pub(crate) fn put(&self, record: &Record) {
        let places = self.places.get();
        if !places.is_some_and(|places| places.put(record)) {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Takes the oldest record out.
    pub(crate) fn take(&self) -> Option<Record> {
        self.places.get()?.take()
    }

    /// Returns how many records were lost since the last call.
    pub(crate) fn take_lost(&self) -> u64 {
        match self.lost.load(Ordering::Relaxed) {
            0 => 0,
            _ => self.lost.swap(0, Ordering::Relaxed),
        }
    }
}

impl Places {
    fn new() -> Box<Self> {
        let place = |number| RingPlace {
            turn: W64::new(number as u64),
            record: std::array::from_fn(|_| W64::new(0)),
        };
        Box::new(Self {
            begin: W64::new(0),
            end: W64::new(0),
            places: std::array::from_fn(place),
        })
    }

    /// Returns the place whose `turn` is `more` above the position, and moves the position past it.
    fn claim(&self, position: &W64, more: u64) -> Option<(&RingPlace, u64)> {
        let mut at = position.load(Ordering::Relaxed);
        loop {
            let place = &self.places[at as usize % PLACES];
            // Pairs with the release at the end of `put` and of `take`.
            let turn = place.turn.load(Ordering::Acquire);
            if turn == at + more {
                match position.cas(at, at + 1, Ordering::Relaxed) {
                    Ok(_) => return Some((place, at)),
                    Err(now) => at = now,
                }
            } else if turn < at + more {
                return None;
            } else {
                at = position.load(Ordering::Relaxed);
            }
        }
    }

    fn put(&self, record: &Record) -> bool {
        let Some((place, at)) = self.claim(&self.end, 0) else {
            return false;
        };
        for (to, from) in place.record.iter().zip(record) {
            to.store(*from, Ordering::Relaxed);
        }
        place.turn.store(at + 1, Ordering::Release);
        true
    }

    fn take(&self) -> Option<Record> {
        let (place, at) = self.claim(&self.begin, 1)?;
        let record = std::array::from_fn(|word| place.record[word].load(Ordering::Relaxed));
        place.turn.store(at + PLACES as u64, Ordering::Release);
        Some(record)
    }
}

#[cfg(all(test, not(feature = "shuttle")))]
mod tests {
    use super::*;

    fn record(number: u64) -> Record {
        std::array::from_fn(|word| number + word as u64)
    }

    #[test]
    fn each_record_is_taken_once_or_finds_no_place() {
        const EACH: u64 = 500;
        let ring = Places::new();
        let (mut taken, mut refused) = (Vec::new(), 0);
        std::thread::scope(|scope| {
            let writers: Vec<_> = (0..4)
                .map(|writer| {
                    let ring = &ring;
                    scope.spawn(move || {
                        let all = (0..EACH).map(|number| record(writer * EACH + number));
                        all.filter(|record| !ring.put(record)).count()
                    })
                })
                .collect();
            while !writers.iter().all(|writer| writer.is_finished()) || taken.is_empty() {
                while let Some(found) = ring.take() {
                    assert_eq!(found, record(found[0]));
                    taken.push(found[0]);
                }
            }
            for writer in writers {
                refused += writer.join().expect("no panic");
            }
            while let Some(found) = ring.take() {
                taken.push(found[0]);
            }
        });
        assert_eq!(taken.len() + refused, 4 * EACH as usize);
        taken.sort_unstable();
        taken.dedup();
        assert_eq!(taken.len() + refused, 4 * EACH as usize);
    }

    #[test]
    fn a_full_ring_refuses_until_one_is_taken() {
        let ring = Places::new();
        for round in 0..3 {
            assert!((0..PLACES as u64).all(|number| ring.put(&record(number))));
            assert!(!ring.put(&record(0)));
            for number in 0..PLACES as u64 {
                assert_eq!(ring.take(), Some(record(number)), "round {round}");
            }
            assert_eq!(ring.take(), None);
        }
    }
}
