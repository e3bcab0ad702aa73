//! A value with its attributes.

use super::{Attributes, CasToken};

/// A value with its attributes, marks and token; from
/// [`Table::get_entry`](crate::Table::get_entry).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The value.
    pub value: Vec<u8>,
    /// The flags of the key, and its TTL as [`Expiry::After`](super::Expiry::After) or
    /// [`Expiry::Never`](super::Expiry::Never).
    pub attributes: Attributes,
    /// The marks set by [`ServeTable::mark`](crate::serving::ServeTable::mark).
    pub marks: u32,
    /// The token for [`Table::compare_and_swap`](crate::Table::compare_and_swap).
    pub token: CasToken,
}

/// The attributes, version and marks of a value that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Details {
    /// As in [`Entry`].
    pub attributes: Attributes,
    /// The version of the key in a table with [`versions`](crate::Options::versions); otherwise 0.
    pub version: u64,
    /// As in [`Entry`].
    pub marks: u32,
}
