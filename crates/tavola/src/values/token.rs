//! Tokens for compare-and-swap, and what came of changes.

/// A token of a value for compare-and-swap; equal tokens of a table mean equal values.
///
/// A token is a 64-bit hash of the value, seeded by the table: it takes no memory, and does not
/// change when the item moves. A value that was changed and changed back has its old token.
///
/// In a table with [`versions`](crate::Options::versions) it is the version of the key: equal
/// tokens of a key mean that it was not set in between, not even to the same value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CasToken(pub u64);

/// The result of [`Table::compare_and_swap`](crate::Table::compare_and_swap).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CasOutcome {
    /// The new value is stored.
    Swapped,
    /// The key has another value.
    Changed,
    /// The key is missing.
    NotFound,
}

/// The result of [`Table::update_by_uid`](crate::Table::update_by_uid).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Updated {
    /// The key has this value now.
    Stored(Vec<u8>),
    /// The key is removed.
    Removed,
    /// No key has the uid, or it belongs to another key now.
    NotFound,
}
