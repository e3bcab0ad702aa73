//! Pins: which chains of pages readers are copying, or have lent to their callers.
//!
//! A reader that has pinned a chain need not hurry: a writer that frees the chain's item finds the
//! pin and leaves the pages to the reader. The proof is in `docs/internals/concurrency.md`, Pins.
//!
//! | word | meaning | next |
//! |---|---|---|
//! | `Free` (0) | unused | `Held`, by a thread of the participant |
//! | `Held(first)` | a reader may read the chain beginning with page `first` | `Free`; `Orphan`* |
//! | `Orphan(first)` | the same, and no item leads to the chain any more | `Left` |
//! | `Left(first)` | the reader has finished: the chain must be freed | `Free`* |
//!
//! *: by the holder of the lock of the chain's shard. The other changes are made by the reader, or
//! on behalf of a dead one.
//!
//! ```text
//! page 29 | - 1 | orphan 1 | left 1
//! ```

/// Pins of each participant.
pub(crate) const PINS: usize = 6;

const ORPHAN: u32 = 1 << 30;
const LEFT: u32 = 1 << 31;
const PAGE_BITS: u32 = (1 << 29) - 1;

/// A pin's word, decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PinWord {
    Free,
    Held { first: u32 },
    Orphan { first: u32 },
    Left { first: u32 },
}

impl PinWord {
    /// Returns the word of this state.
    pub(crate) fn encode(self) -> u32 {
        match self {
            Self::Free => 0,
            Self::Held { first } => first & PAGE_BITS,
            Self::Orphan { first } => first & PAGE_BITS | ORPHAN,
            Self::Left { first } => first & PAGE_BITS | ORPHAN | LEFT,
        }
    }

    /// Returns the state of this word; a word that is never written counts as free.
    pub(crate) fn decode(word: u32) -> Self {
        let first = word & PAGE_BITS;
        match (first, word & ORPHAN != 0, word & LEFT != 0) {
            (0, ..) | (_, false, true) => Self::Free,
            (_, false, false) => Self::Held { first },
            (_, true, false) => Self::Orphan { first },
            (_, true, true) => Self::Left { first },
        }
    }

    /// Returns the first page of the pinned chain.
    pub(crate) fn first(self) -> Option<u32> {
        match self {
            Self::Free => None,
            Self::Held { first } | Self::Orphan { first } | Self::Left { first } => Some(first),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive() {
        let first = PAGE_BITS;
        let states = [
            PinWord::Free,
            PinWord::Held { first },
            PinWord::Orphan { first },
            PinWord::Left { first: 1 },
        ];
        for state in states {
            assert_eq!(PinWord::decode(state.encode()), state);
        }
        assert_eq!(PinWord::decode(LEFT | 7), PinWord::Free);
    }
}
