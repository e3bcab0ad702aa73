//! Page words: the state of each page is one 64-bit word, changed by single stores. So a death at
//! any instruction leaves every page in exactly one state, and the word says which process or lock
//! holder may change it.
//!
//! | state | written by | next state |
//! |---|---|---|
//! | `Unused` (0) | no process: pages past the high-water mark | `Claimed`, `Extent` |
//! | `Claimed(owner)` | a participant that backs or punches the page | `Free`, `Unbacked` |
//! | `Free(since, next)` | the pool's lock holder; backed | `Build`, `Slab`, `Segment`, `Claimed` |
//! | `Unbacked(next)` | the pool's lock holder; not backed | `Claimed` |
//! | `Build(owner, next)` | the participant that writes a large item | `Large`, `Free` |
//! | `Large(shard, next)` | the shard's lock holder | `Free` |
//! | `Slab(shard, class)` | the shard's lock holder | `Free` |
//! | `Segment(shard)` | the shard's lock holder | `Free` |
//! | `Uids(shard, chunk)` | the shard's lock holder | `Free` |
//! | `Extent(number)` | the pool lock holder, for the builder | if that died: `Claimed`, `Unused` |
//!
//! ```text
//! Claimed   state 4 | - 29            | owner 31
//! Free      state 4 | next 29         | since 31
//! Unbacked  state 4 | next 29         | -
//! Build     state 4 | next 29         | owner 31
//! Large     state 4 | next 29         | shard 12 | mark 1 | first 18
//! Slab      state 4 | class 8 | - 21  | shard 12
//! Segment   state 4 | - 29            | shard 12 | mark 1
//! Uids      state 4 | chunk 29        | shard 12
//! Extent    state 4 | number 29       | -
//! ```
//!
//! `first` holds the low bits of the number of the chain's first page: a damaged `next` that leads
//! into another item's pages is noticed.
//!
//! If an owner is dead, its pages go back to the pool; those of a `Build` only after it is certain
//! that no slot leads there.

/// A page word, decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PageWord {
    Unused,
    Claimed {
        owner: u32,
    },
    Free {
        next: u32,
        since: u32,
    },
    Unbacked {
        next: u32,
    },
    Build {
        next: u32,
        owner: u32,
    },
    Large {
        next: u32,
        shard: u32,
        mark: bool,
        first: u32,
    },
    Slab {
        shard: u32,
        class: u32,
    },
    Segment {
        shard: u32,
        mark: bool,
    },
    Uids {
        shard: u32,
        chunk: u32,
    },
    Extent {
        number: u32,
    },
    /// Not a state that is ever written.
    Damaged,
}

const NEXT_SHIFT: u32 = 4;
const NEXT_MASK: u64 = (1 << 29) - 1;
const HIGH_SHIFT: u32 = 33;
const HIGH_MASK: u64 = (1 << 31) - 1;
const SHARD_MASK: u64 = (1 << 12) - 1;
const MARK: u64 = 1 << (HIGH_SHIFT + 12);
const FIRST_SHIFT: u32 = HIGH_SHIFT + 13;
/// The bits of the first page's number that a `Large` word keeps.
pub(crate) const FIRST_MASK: u32 = (1 << 18) - 1;

const CLAIMED: u64 = 1;
const FREE: u64 = 2;
const UNBACKED: u64 = 3;
const BUILD: u64 = 4;
const LARGE: u64 = 5;
const SLAB: u64 = 6;
const SEGMENT: u64 = 7;
const UIDS: u64 = 8;
const EXTENT: u64 = 9;

fn pack(state: u64, low: u32, high: u32) -> u64 {
    debug_assert!(u64::from(low) <= NEXT_MASK && u64::from(high) <= HIGH_MASK);
    state | u64::from(low) << NEXT_SHIFT | u64::from(high) << HIGH_SHIFT
}

impl PageWord {
    /// Returns the word of this state.
    pub(crate) fn encode(self) -> u64 {
        let marked = |word: u64, mark: bool| if mark { word | MARK } else { word };
        match self {
            Self::Unused => 0,
            Self::Claimed { owner } => pack(CLAIMED, 0, owner),
            Self::Free { next, since } => pack(FREE, next, since & HIGH_MASK as u32),
            Self::Unbacked { next } => pack(UNBACKED, next, 0),
            Self::Build { next, owner } => pack(BUILD, next, owner),
            Self::Large {
                next,
                shard,
                mark,
                first,
            } => {
                let word = pack(LARGE, next, shard) | u64::from(first & FIRST_MASK) << FIRST_SHIFT;
                marked(word, mark)
            }
            Self::Slab { shard, class } => pack(SLAB, class, shard),
            Self::Segment { shard, mark } => marked(pack(SEGMENT, 0, shard), mark),
            Self::Uids { shard, chunk } => pack(UIDS, chunk, shard),
            Self::Extent { number } => pack(EXTENT, number, 0),
            Self::Damaged => unreachable!("a damaged word is only ever read"),
        }
    }

    /// Returns whether [`Self::decode`] would return a segment of this shard, in fewer
    /// instructions.
    #[inline(always)]
    pub(crate) fn is_segment_of(word: u64, shard: u32) -> bool {
        word & 0xF == SEGMENT && (word >> HIGH_SHIFT & SHARD_MASK) == u64::from(shard)
    }

    /// Returns the state of a word; any word is allowed.
    #[inline]
    pub(crate) fn decode(word: u64) -> Self {
        let next = (word >> NEXT_SHIFT & NEXT_MASK) as u32;
        let high = (word >> HIGH_SHIFT & HIGH_MASK) as u32;
        let shard = (word >> HIGH_SHIFT & SHARD_MASK) as u32;
        let mark = word & MARK != 0;
        match word & 0xF {
            0 if word == 0 => Self::Unused,
            CLAIMED => Self::Claimed { owner: high },
            FREE => Self::Free { next, since: high },
            UNBACKED => Self::Unbacked { next },
            BUILD => Self::Build { next, owner: high },
            LARGE => Self::Large {
                next,
                shard,
                mark,
                first: (word >> FIRST_SHIFT) as u32,
            },
            SLAB => Self::Slab {
                shard,
                class: next & 0xFF,
            },
            SEGMENT => Self::Segment { shard, mark },
            UIDS => Self::Uids { shard, chunk: next },
            EXTENT if high == 0 => Self::Extent { number: next },
            _ => Self::Damaged,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_survives_its_word() {
        let top = NEXT_MASK as u32;
        for state in [
            PageWord::Unused,
            PageWord::Claimed {
                owner: HIGH_MASK as u32,
            },
            PageWord::Free {
                next: top,
                since: 77,
            },
            PageWord::Unbacked { next: top },
            PageWord::Build {
                next: top,
                owner: HIGH_MASK as u32,
            },
            PageWord::Large {
                next: top,
                shard: 4095,
                mark: true,
                first: FIRST_MASK,
            },
            PageWord::Large {
                next: 0,
                shard: 0,
                mark: false,
                first: 0,
            },
            PageWord::Slab {
                shard: 4095,
                class: 53,
            },
            PageWord::Segment {
                shard: 9,
                mark: true,
            },
            PageWord::Segment {
                shard: 9,
                mark: false,
            },
            PageWord::Uids {
                shard: 4095,
                chunk: top,
            },
            PageWord::Extent { number: 15 },
        ] {
            assert_eq!(PageWord::decode(state.encode()), state);
        }
        assert_eq!(PageWord::decode(0xF), PageWord::Damaged);
        assert_eq!(PageWord::decode(0x10), PageWord::Damaged);
    }
}
