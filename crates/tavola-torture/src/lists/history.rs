//! Transactions, and what is known about them.

use std::collections::BTreeMap;
use std::fmt;

/// Later than anything.
pub(super) const NEVER: u64 = u64::MAX;

/// Lists by the numbers of their keys. A missing key is an empty list.
pub(super) type Lists = BTreeMap<u64, Vec<u64>>;

/// One operation of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Append { key: u64, element: u64 },
    Read { key: u64, list: Vec<u64> },
}

/// The outcome of a transaction, as far as its process knows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fate {
    /// The commit had returned.
    Committed,
    /// It was aborted, or it had changed nothing.
    Aborted,
    /// The process was killed before it knew.
    Unknown,
}

/// A transaction, or a single call.
#[derive(Clone, Debug)]
pub(super) struct Txn {
    pub(super) process: usize,
    /// When it began.
    pub(super) from: u64,
    /// When it had returned; [`NEVER`] if it had not.
    pub(super) until: u64,
    pub(super) fate: Fate,
    pub(super) ops: Vec<Op>,
}

impl Txn {
    /// Returns the keys and elements that it appends, in its order.
    pub(super) fn appends(&self) -> impl Iterator<Item = (u64, u64)> {
        self.ops.iter().filter_map(|op| match op {
            Op::Append { key, element } => Some((*key, *element)),
            Op::Read { .. } => None,
        })
    }
}

impl fmt::Display for Txn {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{:?}", self.process, self.fate)?;
        for op in &self.ops {
            match op {
                Op::Append { key, element } => write!(out, " {key:x}+{element:x}")?,
                Op::Read { key, list } => match list.last() {
                    Some(last) => write!(out, " {key:x}=..{last:x}#{}", list.len())?,
                    None => write!(out, " {key:x}=[]")?,
                },
            }
        }
        Ok(())
    }
}

/// All that happened to a table between two looks at all of it.
pub(super) struct History {
    /// The lists at the beginning.
    pub(super) before: Lists,
    pub(super) txns: Vec<Txn>,
    /// The lists in the end, after all transactions.
    pub(super) after: Lists,
    /// Whether memory was lost before the end, and the table rebuilt.
    pub(super) is_lost: bool,
    /// Whether what had returned survives even that.
    pub(super) keeps_acknowledged: bool,
}
