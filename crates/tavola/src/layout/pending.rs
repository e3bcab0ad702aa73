//! Changes of a transaction that is being committed, and the word that decides about all of them.
//!
//! While a transaction commits, the slot of each key that it changes leads to a pending change
//! instead of an item:
//!
//! ```text
//! slot ──▶ pending change   commit: number of a commit word
//!                           old: ref of the key's item before; 0: it was missing
//!                           new: ref of its item afterwards; 0: it is removed
//! ```
//!
//! | commit word | the keys have | next |
//! |---|---|---|
//! | free: 0 | | open, by the compare and exchange of a participant |
//! | open | their old items | committed, or free after the slots have their old items again |
//! | committed | their new items | free, after the slots have their new items |
//!
//! So the store of *committed* is the change of all keys. A commit word becomes free after no slot
//! leads to a change that names it: by its owner, or, after the owner's death, by the participant
//! that has seen all shards recovered.

/// Commit words of a table: so many transactions can commit at the same time.
pub(crate) const COMMITS: usize = 64;

/// Bytes of a pending change.
pub(crate) const CHANGE_BYTES: u64 = 24;
/// Offsets of its words.
pub(crate) const CHANGE_COMMIT: u64 = 0;
pub(crate) const CHANGE_OLD: u64 = 8;
pub(crate) const CHANGE_NEW: u64 = 16;

const OPEN: u64 = 1;
const COMMITTED: u64 = 2;
const STATE: u64 = 0xFF;

/// A commit word, decoded: `owner 32 | 0 24 | state 8`. Any other word is damaged, and counts as
/// free.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CommitWord {
    Free,
    Open { owner: u32 },
    Committed { owner: u32 },
}

impl CommitWord {
    pub(crate) fn encode(self) -> u64 {
        match self {
            Self::Free => 0,
            Self::Open { owner } => u64::from(owner) << 32 | OPEN,
            Self::Committed { owner } => u64::from(owner) << 32 | COMMITTED,
        }
    }

    pub(crate) fn decode(word: u64) -> Self {
        let owner = (word >> 32) as u32;
        match word & STATE {
            OPEN => Self::Open { owner },
            COMMITTED => Self::Committed { owner },
            _ => Self::Free,
        }
    }

    /// Returns the participant that has the word.
    pub(crate) fn owner(self) -> Option<u32> {
        match self {
            Self::Free => None,
            Self::Open { owner } | Self::Committed { owner } => Some(owner),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::CommitWord;

    #[test]
    fn commit_words_survive() {
        let owner = u32::MAX;
        for word in [
            CommitWord::Free,
            CommitWord::Open { owner },
            CommitWord::Committed { owner },
        ] {
            assert_eq!(CommitWord::decode(word.encode()), word);
        }
        assert_eq!(CommitWord::decode(u64::MAX), CommitWord::Free);
    }
}
