//! What all processes know about a near cache: words in an area of its table.
//!
//! ```text
//! word   0  magic      `TavolaNR`                                          never change once made
//!        1  version
//!        2  upstream   fingerprint of the address, database and prefixes
//!
//!        8  trust      generation of the owner (24 bits) | until, in ms (40 bits)
//!        9  epoch      generation of the owner (24 bits) | count (40 bits)
//!       10  clock      fingerprint of the boot and the time namespace
//!       11  max stale  in ms
//!
//!       16  alive      when the owner last looked, in ms: for standbys alone
//!       17  fills      18 pushes      19 losses: counts, for people
//!
//!      512  generations of 65,536 stripes of keys
//! ```
//!
//! - **SHARED-1** Only the owner of the generation in `trust` and `epoch` changes these words, by
//!   compare-and-exchange from the value that it wrote last. A standby takes `trust` first, with
//!   the next generation, then `epoch`. From then on every exchange of the former owner fails.
//! - **SHARED-2** `trust` and `epoch` never decrease within a boot.

use crate::error::{NearError, Result};
use crate::sync::{Ordering, Word};
use tavola::{Area, Table};

/// The name of the area.
const AREA: &str = "near";
const MAGIC: u64 = u64::from_le_bytes(*b"TavolaNR");
const VERSION: u64 = 1;
const HEAD_WORDS: usize = 512;
const STRIPES: usize = 1 << 16;
const BYTES: u64 = ((HEAD_WORDS + STRIPES) * 8) as u64;
/// Bits of a time or a count, below a generation.
const LOW_BITS: u32 = 40;
const LOW_MASK: u64 = (1 << LOW_BITS) - 1;

/// The word `trust`: until when values may be served, by the word of which owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Trust {
    pub(crate) generation: u64,
    pub(crate) until_ms: u64,
}

impl Trust {
    pub(crate) fn of(word: u64) -> Self {
        Self {
            generation: word >> LOW_BITS,
            until_ms: word & LOW_MASK,
        }
    }

    pub(crate) fn word(self) -> u64 {
        self.generation << LOW_BITS | self.until_ms.min(LOW_MASK)
    }

    /// Returns the first trust of the next owner, or `None` after 16 million owners.
    pub(crate) fn next_owner(self) -> Option<Self> {
        let generation = self.generation + 1;
        (generation >> (64 - LOW_BITS) == 0).then_some(Self {
            generation,
            until_ms: 0,
        })
    }
}

/// Returns the first epoch of an owner.
pub(crate) fn first_epoch(generation: u64) -> u64 {
    generation << LOW_BITS
}

/// Returns the generation of the owner of an epoch.
pub(crate) fn owner_of(epoch: u64) -> u64 {
    epoch >> LOW_BITS
}

/// The shared words of a near cache.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    area: Area,
}

impl Shared {
    /// Opens the words, and creates them if they are missing.
    pub(crate) fn create(table: &Table, upstream: u64) -> Result<Self> {
        let shared = Self {
            area: table.area(AREA, BYTES)?,
        };
        let lock = table.named_lock("near head")?;
        let _guard = lock.lock()?;
        if shared.word(0).load(Ordering::Acquire) == 0 {
            if !table.is_empty()? {
                return Err(NearError::BadOption {
                    option: "table",
                    why: "it has keys that are not of a near cache; use another name".to_owned(),
                });
            }
            shared.word(1).store(VERSION, Ordering::Relaxed);
            shared.word(2).store(upstream, Ordering::Relaxed);
            // Pairs with the load in `verify`: who sees it sees the words before.
            shared.word(0).store(MAGIC, Ordering::Release);
        }
        shared.verify()?;
        match shared.word(2).load(Ordering::Relaxed) == upstream {
            true => Ok(shared),
            false => Err(NearError::OtherUpstream),
        }
    }

    /// Opens the words of a near cache that exists.
    pub(crate) fn open(table: &Table) -> Result<Self> {
        let area = table.existing_area(AREA).map_err(|error| match error {
            tavola::Error::NotThere { .. } => NearError::NotNear,
            other => NearError::Table(other),
        })?;
        let shared = Self { area };
        shared.verify()?;
        Ok(shared)
    }

    fn verify(&self) -> Result<()> {
        if self.area.len() != BYTES || self.word(0).load(Ordering::Acquire) != MAGIC {
            return Err(NearError::NotNear);
        }
        match self.word(1).load(Ordering::Relaxed) {
            VERSION => Ok(()),
            found => Err(NearError::Version { found }),
        }
    }

    fn word(&self, index: usize) -> Word<'_> {
        Word(&self.area.words()[index])
    }

    #[inline(always)]
    pub(crate) fn trust(&self) -> Word<'_> {
        self.word(8)
    }

    #[inline(always)]
    pub(crate) fn epoch(&self) -> Word<'_> {
        self.word(9)
    }

    pub(crate) fn clock(&self) -> Word<'_> {
        self.word(10)
    }

    pub(crate) fn max_stale_ms(&self) -> Word<'_> {
        self.word(11)
    }

    pub(crate) fn alive_ms(&self) -> Word<'_> {
        self.word(16)
    }

    pub(crate) fn fills(&self) -> Word<'_> {
        self.word(17)
    }

    pub(crate) fn pushes(&self) -> Word<'_> {
        self.word(18)
    }

    pub(crate) fn losses(&self) -> Word<'_> {
        self.word(19)
    }

    /// Returns the generation of the stripe of a key.
    pub(crate) fn stripe(&self, key: &[u8]) -> Word<'_> {
        self.word(HEAD_WORDS + fold(&[key]) as usize % STRIPES)
    }
}

/// Returns FNV-1a of some strings, each ended by its length.
pub(crate) fn fold(parts: &[&[u8]]) -> u64 {
    let mut hash = 0xCBF2_9CE4_8422_2325_u64;
    let mut add = |byte: u8| hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
    for part in parts {
        part.iter().copied().for_each(&mut add);
        (part.len() as u64)
            .to_le_bytes()
            .into_iter()
            .for_each(&mut add);
    }
    // The low bits choose a stripe; the high ones are mixed better.
    hash ^ hash >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trust_and_its_word_are_the_same() {
        let trust = Trust {
            generation: 7,
            until_ms: 123_456_789,
        };
        assert_eq!(Trust::of(trust.word()), trust);
        let next = trust.next_owner().expect("an eighth");
        assert_eq!((next.generation, next.until_ms), (8, 0));
        assert!(next.word() > trust.word());
        let last = Trust {
            generation: (1 << 24) - 1,
            until_ms: 0,
        };
        assert_eq!(last.next_owner(), None);
        assert_eq!(owner_of(first_epoch(9) + 5), 9);
    }

    #[test]
    fn a_time_beyond_the_word_does_not_change_the_generation() {
        let trust = Trust {
            generation: 1,
            until_ms: u64::MAX,
        };
        assert_eq!(Trust::of(trust.word()).generation, 1);
    }

    #[test]
    fn another_upstream_is_refused() {
        let table = Table::options()
            .max_size(8 << 20)
            .private()
            .expect("a table");
        assert!(matches!(Shared::open(&table), Err(NearError::NotNear)));
        Shared::create(&table, 1).expect("made");
        Shared::create(&table, 1).expect("opened");
        assert!(Shared::open(&table).is_ok());
        let other = Shared::create(&table, 2);
        assert!(matches!(other, Err(NearError::OtherUpstream)));
    }
}
