//! The plan of a transaction for each key, and how far its commit has come with it.

use crate::alloc::{Chain, Stamp, Tags};
use crate::index::locate::{Hash, Pending};

/// The most changes of one transaction.
pub(crate) const MOST_CHANGES: usize = 1 << 16;

/// A value as a transaction has read it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SeenValue {
    pub(crate) token: u64,
    pub(crate) len: usize,
    pub(crate) flags: u32,
}

/// The change of one key by a transaction.
#[derive(Clone)]
pub(crate) enum Change {
    Set {
        value: Vec<u8>,
        /// Without the tags.
        stamp: Stamp<'static>,
        tags: Option<Box<Tags>>,
        /// If the key exists, it keeps its attributes.
        keep: bool,
    },
    Remove,
}

/// A key to change.
pub(super) struct Plan<'w> {
    pub(super) key: &'w [u8],
    pub(super) hash: Hash,
    pub(super) change: &'w Change,
    /// The pages of a large value.
    pub(super) chain: Option<Chain<'w>>,
    /// In a durable table: where the first piece of the value is in the journal; 0: nowhere.
    pub(super) pieces: u64,
    /// The change that its slot leads to during the commit, or `None` if nothing is to be changed.
    pub(super) pending: Option<Pending>,
    /// The lease that its removal has ended.
    pub(super) ended: Option<u32>,
}

impl Plan<'_> {
    /// Returns how many bytes it has at most in a record.
    pub(super) fn inline_bytes(&self) -> usize {
        const HEAD: usize = 64;
        let beside = match self.change {
            Change::Set { value, tags, .. } => {
                let value = if self.pieces == 0 && self.chain.is_none() {
                    value.len()
                } else {
                    0
                };
                // Names of tags are rarely this long.
                value + tags.as_ref().map_or(0, |tags| 64 * tags.len())
            }
            Change::Remove => 0,
        };
        HEAD + self.key.len() + beside
    }
}
