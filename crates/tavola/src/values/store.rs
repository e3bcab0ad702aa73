//! How a value is stored, and what came of it.

use super::{Attributes, CasToken, Marks};
use crate::alloc::Tags;

/// The condition under which [`Table::store`](crate::Table::store) stores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Condition {
    /// Always.
    #[default]
    Always,
    /// If the key is missing.
    Absent,
    /// If the key exists.
    Present,
    /// If the key exists and has this token.
    Is(CasToken),
}

/// Options of [`Table::store`](crate::Table::store).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreOptions<'a> {
    /// The condition.
    pub condition: Condition,
    /// The attributes of the key. If this is `None`, an existing key keeps its attributes and tags,
    /// and a new key has no flags, no tags and the default TTL.
    pub attributes: Option<Attributes>,
    /// The tags that the key gets, from [`Table::fetch_tags`](crate::Table::fetch_tags). Not used
    /// for a key that keeps its own.
    pub tags: &'a Tags,
    /// The version that the key gets, neither 0 nor `u64::MAX`. If this is `None`, it gets the next
    /// one. The table does not count on from a version that was given: the caller makes sure that
    /// no version is used twice.
    pub version: Option<u64>,
    /// The change of the key's marks. If this is `None`, the key keeps its marks if it keeps its
    /// attributes; otherwise it has none.
    pub marks: Option<Marks>,
}

impl Default for StoreOptions<'_> {
    fn default() -> Self {
        Self {
            condition: Condition::Always,
            attributes: Some(Attributes::default()),
            tags: &Tags::NONE,
            version: None,
            marks: None,
        }
    }
}

/// The result of [`Table::store`](crate::Table::store).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// The value is stored; the key has this token now.
    Done(CasToken),
    /// Nothing is stored: the key is missing.
    NotFound,
    /// Nothing is stored: the key exists, or has another token.
    Exists,
}
