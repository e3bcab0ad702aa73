//! The calls of victims.

use super::step::Step::{self, *};
use std::time::Duration;
use tavola::Durability;

/// A table, and what a victim does with it.
pub(super) struct Case {
    pub(super) name: String,
    pub(super) durability: Durability,
    /// Whether the victim also creates the table.
    pub(super) creates: bool,
    /// Done before it can die.
    pub(super) before: &'static [Step],
    pub(super) steps: &'static [Step],
}

/// More than a file takes.
const LONG: usize = 40_000;

const BEFORE: &[Step] = &[
    Set("one", 20),
    Set("two", 500),
    Word("word"),
    Count("count"),
    Set("large", LONG),
];

type Steps = (&'static str, &'static [Step], &'static [Step]);

const ALL: [Steps; 11] = [
    (
        "set",
        BEFORE,
        &[Set("one", 30), Set("new", 9), Set("two", 3000)],
    ),
    (
        "change in place",
        BEFORE,
        &[Word("word"), Word("word"), Count("count")],
    ),
    (
        "touch",
        BEFORE,
        &[Touch("one"), Touch("word"), Touch("one")],
    ),
    (
        "remove",
        BEFORE,
        &[Remove("one"), Set("one", 5), Remove("large")],
    ),
    ("append", BEFORE, &[Append("two"), Append("one")]),
    (
        "large values",
        BEFORE,
        &[Set("large", LONG + 9), Set("larger", 3 * LONG)],
    ),
    (
        "transaction",
        BEFORE,
        &[
            All(&["one", "two", "new", "word"], 40),
            All(&["one", "count"], 8),
        ],
    ),
    (
        "large transaction",
        BEFORE,
        &[All(&["one", "large", "new"], LONG)],
    ),
    (
        "snapshot",
        BEFORE,
        &[
            Set("one", 9),
            Snapshot,
            Set("two", 9),
            Snapshot,
            Remove("one"),
        ],
    ),
    (
        "sync",
        BEFORE,
        &[Set("one", 9), Sync, All(&["two", "new"], 9), Sync],
    ),
    (
        "many files",
        &[],
        &[
            Set("a", LONG),
            Set("b", LONG),
            Set("a", LONG),
            Snapshot,
            Set("b", 9),
        ],
    ),
];

/// Returns all cases.
pub(super) fn all() -> Vec<Case> {
    let mut cases = vec![Case {
        name: "durable: create".to_string(),
        durability: Durability::Commit,
        creates: true,
        before: &[],
        steps: &[Set("one", 9)],
    }];
    for (policy, durability) in [
        ("commit", Durability::Commit),
        ("1 ms", Durability::Within(Duration::from_millis(1))),
        ("os", Durability::Os),
    ] {
        cases.extend(ALL.iter().map(|(name, before, steps)| Case {
            name: format!("durable: {name}, {policy}"),
            durability,
            creates: false,
            before,
            steps,
        }));
    }
    cases
}

impl Case {
    /// Returns which states a survivor may find if so many steps had returned.
    pub(super) fn allowed(&self, done: usize, memory_is_lost: bool) -> (usize, usize) {
        let most = (done + 1).min(self.steps.len());
        if !memory_is_lost || self.durability == Durability::Commit {
            return (done, most);
        }
        let synced = self.steps[..done].iter().rposition(|step| step.is_sync());
        (synced.map_or(0, |at| at + 1), most)
    }
}
