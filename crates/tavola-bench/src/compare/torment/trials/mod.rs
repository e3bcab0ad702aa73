//! The trials, a file each: what is done, and how it is judged.

use super::program::Ended;
use super::{Outcome, Trial};

pub(super) mod counters;
pub(super) mod full;
pub(super) mod kill;
pub(super) mod limits;
pub(super) mod old_reader;
pub(super) mod server_kill;

/// How one trial ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) outcome: Outcome,
    pub(super) detail: String,
    pub(super) trials: u32,
}

impl Verdict {
    pub(super) fn new(outcome: Outcome, detail: impl Into<String>, trials: u32) -> Self {
        Self {
            outcome,
            detail: detail.into(),
            trials,
        }
    }

    /// The store could not be used for the trial at all.
    fn of_fault(ended: Option<&Ended>, doing: &str) -> Option<Self> {
        let Some(ended) = ended else {
            return Some(Self::new(Outcome::Hangs, format!("{doing} did not end"), 1));
        };
        let fault = ended.fault()?;
        let outcome = match ended.signal {
            Some(_) => Outcome::Dies,
            None => Outcome::Refuses,
        };
        Some(Self::new(outcome, format!("{doing}: {fault}"), 1))
    }
}

impl Trial {
    /// All of them, in the order of the table.
    pub const ALL: [Self; 6] = [
        Self::Kill,
        Self::Full,
        Self::Limits,
        Self::OldReader,
        Self::Counters,
        Self::ServerKill,
    ];
}

/// "1 value", "2 values".
fn count(number: u64, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    }
}
