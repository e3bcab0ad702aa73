//! A key that was evicted, for who watches.

use crate::values::Attributes;

/// A key that this process has evicted, as reported by
/// [`ServeTable::take_evictions`](crate::serving::ServeTable::take_evictions).
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Eviction<'a> {
    /// The first 256 bytes of the key.
    pub key: &'a [u8],
    /// The length of the whole key in bytes.
    pub key_len: u64,
    /// The length of its value in bytes; 8 for a counter.
    pub value_len: u64,
    /// Its flags and remaining TTL.
    pub attributes: Attributes,
    /// As in [`Entry`](crate::Entry).
    pub marks: u32,
}
