//! Keys that this process evicts, for whoever watches in it. Nothing of this is shared memory.
//!
//! Whoever evicts holds a shard's lock, where nothing is called, allocated or waited for: it copies
//! what is told of a key into a place of a ring that was allocated before. If none is free, the
//! key is counted as lost. Any number of threads evict and take at once:
//!
//! | `turn` of the place of position n | who may use the place |
//! |---|---|
//! | n | who moves `end` from n to n + 1, to write |
//! | n + 1 | who moves `begin` from n to n + 1, to read |
//! | n + `PLACES` | as n, a round later |

use super::Region;
use crate::sync::{Ordering, W32, W64};
use std::sync::OnceLock;

/// Keys that wait to be taken, at most.
const PLACES: usize = 1024;
/// Bytes of a key that are told.
pub(crate) const TOLD: usize = 256;

/// What is told of a key beside its first bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) key_len: u64,
    pub(crate) value_len: u64,
    pub(crate) expiry_ms: u64,
    /// Flags of the user's 32 | marks 32.
    pub(crate) client: u64,
}

/// Whether somebody watches, and what waits for them.
pub(super) struct Evicted {
    is_watched: W32,
    lost: W64,
    ring: OnceLock<Box<Ring>>,
}

struct Ring {
    begin: W64,
    end: W64,
    places: [Place; PLACES],
}

struct Place {
    turn: W64,
    told: [W64; 4],
    key: [W64; TOLD / 8],
}

impl Evicted {
    pub(super) const fn new() -> Self {
        Self {
            is_watched: W32::new(0),
            lost: W64::new(0),
            ring: OnceLock::new(),
        }
    }
}

impl Ring {
    fn new() -> Box<Self> {
        let place = |number| Place {
            turn: W64::new(number as u64),
            told: std::array::from_fn(|_| W64::new(0)),
            key: std::array::from_fn(|_| W64::new(0)),
        };
        Box::new(Self {
            begin: W64::new(0),
            end: W64::new(0),
            places: std::array::from_fn(place),
        })
    }

    /// The place whose `turn` is so much more than the position, which is moved past it.
    fn claim(&self, position: &W64, more: u64) -> Option<(&Place, u64)> {
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

    fn put(&self, told: &Told, key: &[u8; TOLD]) -> bool {
        let Some((place, at)) = self.claim(&self.end, 0) else {
            return false;
        };
        let words = [told.key_len, told.value_len, told.expiry_ms, told.client];
        for (to, from) in place.told.iter().zip(words) {
            to.store(from, Ordering::Relaxed);
        }
        let len = TOLD.min(told.key_len as usize);
        for (to, from) in place.key.iter().zip(key[..len].chunks(8)) {
            let mut bytes = [0; 8];
            bytes[..from.len()].copy_from_slice(from);
            to.store(u64::from_ne_bytes(bytes), Ordering::Relaxed);
        }
        place.turn.store(at + 1, Ordering::Release);
        true
    }

    fn take(&self, key: &mut [u8; TOLD]) -> Option<Told> {
        let (place, at) = self.claim(&self.begin, 1)?;
        let [key_len, value_len, expiry_ms, client] =
            [0, 1, 2, 3].map(|word: usize| place.told[word].load(Ordering::Relaxed));
        for (to, from) in key.chunks_exact_mut(8).zip(&place.key) {
            to.copy_from_slice(&from.load(Ordering::Relaxed).to_ne_bytes());
        }
        place.turn.store(at + PLACES as u64, Ordering::Release);
        Some(Told {
            key_len,
            value_len,
            expiry_ms,
            client,
        })
    }
}

impl Region {
    /// Has keys told that this process evicts, or no more.
    pub(crate) fn watch_evicted(&self, on: bool) {
        if on {
            self.evicted.ring.get_or_init(Ring::new);
        }
        // Pairs with the acquire below: who sees it sees the ring.
        let on = u32::from(on);
        self.evicted.is_watched.store(on, Ordering::Release);
    }

    #[inline(always)]
    pub(crate) fn watches_evicted(&self) -> bool {
        self.evicted.is_watched.load(Ordering::Acquire) != 0
    }

    /// Notes a key that goes, under its shard's lock.
    pub(crate) fn note_evicted(&self, told: &Told, key: &[u8; TOLD]) {
        let ring = self.evicted.ring.get();
        if !ring.is_some_and(|ring| ring.put(told, key)) {
            self.evicted.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The next key that was noted.
    pub(crate) fn take_evicted(&self, key: &mut [u8; TOLD]) -> Option<Told> {
        self.evicted.ring.get()?.take(key)
    }

    /// Keys for which there was no place, since this was asked last.
    pub(crate) fn take_lost(&self) -> u64 {
        match self.evicted.lost.load(Ordering::Relaxed) {
            0 => 0,
            _ => self.evicted.lost.swap(0, Ordering::Relaxed),
        }
    }
}

#[cfg(all(test, not(feature = "shuttle")))]
mod tests {
    use super::*;

    fn told(number: u64) -> (Told, [u8; TOLD]) {
        let mut key = [0; TOLD];
        key[..8].copy_from_slice(&number.to_le_bytes());
        let told = Told {
            key_len: 8,
            value_len: number,
            expiry_ms: number,
            client: number,
        };
        (told, key)
    }

    #[test]
    fn each_key_is_taken_once_or_finds_no_place() {
        const EACH: u64 = 500;
        let ring = Ring::new();
        let (mut taken, mut refused) = (Vec::new(), 0);
        std::thread::scope(|scope| {
            let writers: Vec<_> = (0..4)
                .map(|writer| {
                    let ring = &ring;
                    scope.spawn(move || {
                        let all = (0..EACH).map(|number| told(writer * EACH + number));
                        all.filter(|(told, key)| !ring.put(told, key)).count()
                    })
                })
                .collect();
            let mut key = [0; TOLD];
            while !writers.iter().all(|writer| writer.is_finished()) || taken.is_empty() {
                while let Some(found) = ring.take(&mut key) {
                    assert_eq!((found, key), told(found.value_len));
                    taken.push(found.value_len);
                }
            }
            for writer in writers {
                refused += writer.join().expect("no panic");
            }
            while let Some(found) = ring.take(&mut key) {
                taken.push(found.value_len);
            }
        });
        assert_eq!(taken.len() + refused, 4 * EACH as usize);
        taken.sort_unstable();
        taken.dedup();
        assert_eq!(taken.len() + refused, 4 * EACH as usize);
    }

    #[test]
    fn a_full_ring_refuses_until_one_is_taken() {
        let ring = Ring::new();
        let put = |number| {
            let (told, key) = told(number);
            ring.put(&told, &key)
        };
        for round in 0..3 {
            assert!((0..PLACES as u64).all(put));
            assert!(!put(0));
            let mut key = [0; TOLD];
            for number in 0..PLACES as u64 {
                let found = ring.take(&mut key);
                assert_eq!(found.map(|told| told.client), Some(number), "round {round}");
            }
            assert_eq!(ring.take(&mut key), None);
        }
    }
}
