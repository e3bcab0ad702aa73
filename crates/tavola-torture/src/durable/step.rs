//! The steps of a victim with a durable table, and the content of the table after each.

use std::collections::BTreeMap;
use std::time::Duration;
use tavola::{Expiry, Result, Table};

/// Keys that finders and survivors set begin so.
pub(super) const PROBE: &[u8] = b"probe";

/// The content of a table: values, and whether the keys expire.
pub(super) type State = BTreeMap<Vec<u8>, (Vec<u8>, bool)>;

/// A call.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    Set(&'static str, usize),
    /// A value that is changed in place.
    Word(&'static str),
    Count(&'static str),
    Touch(&'static str),
    Remove(&'static str),
    Append(&'static str),
    /// Sets all keys in one transaction.
    All(&'static [&'static str], usize),
    Snapshot,
    Sync,
}

/// The value that the step of a number sets.
fn value(number: usize, len: usize) -> Vec<u8> {
    vec![b'a' + number as u8 % 26; len]
}

const FAR: Expiry = Expiry::After(Duration::from_secs(100_000));

impl Step {
    pub(super) fn apply(self, table: &Table, number: usize) -> Result<()> {
        match self {
            Step::Set(key, len) => table.set(key, value(number, len)),
            Step::Word(key) => table.set(key, value(number, 8)),
            Step::Count(key) => table.incr(key, 7).map(drop),
            Step::Touch(key) => table.touch(key, FAR).map(drop),
            Step::Remove(key) => table.remove(key).map(drop),
            Step::Append(key) => table.append(key, value(number, 5)).map(drop),
            Step::All(keys, len) => table.transaction(|t| {
                keys.iter()
                    .try_for_each(|key| t.set(key, value(number, len)))
            }),
            Step::Snapshot => table.snapshot().map(drop),
            Step::Sync => table.sync(),
        }
    }

    /// Does the same with the state.
    pub(super) fn expect(self, state: &mut State, number: usize) {
        let key_of = |key: &str| key.as_bytes().to_vec();
        match self {
            Step::Set(key, len) => drop(state.insert(key_of(key), (value(number, len), false))),
            Step::Word(key) => drop(state.insert(key_of(key), (value(number, 8), false))),
            Step::Count(key) => {
                let (count, _) = state.entry(key_of(key)).or_default();
                let now = String::from_utf8_lossy(count).parse().unwrap_or(0) + 7;
                *count = now.to_string().into_bytes();
            }
            Step::Touch(key) => {
                if let Some((_, expires)) = state.get_mut(key.as_bytes()) {
                    *expires = true;
                }
            }
            Step::Remove(key) => drop(state.remove(key.as_bytes())),
            Step::Append(key) => {
                if let Some((old, _)) = state.get_mut(key.as_bytes()) {
                    old.extend(value(number, 5));
                }
            }
            Step::All(keys, len) => {
                for key in keys {
                    state.insert(key_of(key), (value(number, len), false));
                }
            }
            Step::Snapshot | Step::Sync => {}
        }
    }

    /// Returns whether all steps before it survive the loss of memory, under every policy.
    pub(super) fn is_sync(self) -> bool {
        matches!(self, Step::Snapshot | Step::Sync)
    }
}

/// Reads all keys, without those of finders and survivors.
pub(super) fn read(table: &Table) -> Result<State> {
    let mut state = State::new();
    for entry in table.iter() {
        let (key, value) = entry?;
        if key.starts_with(PROBE) {
            continue;
        }
        let found = table.get_entry(&key)?;
        let expires = found.is_some_and(|e| matches!(e.attributes.expiry, Expiry::After(_)));
        state.insert(key.to_vec(), (value.to_vec(), expires));
    }
    Ok(state)
}

/// Says which keys differ.
pub(super) fn difference(one: &State, other: &State) -> String {
    let keys = one.keys().chain(other.keys());
    let mut differ: Vec<_> = keys
        .filter(|key| one.get(*key) != other.get(*key))
        .collect();
    differ.sort();
    differ.dedup();
    let brief = |state: &State, key: &Vec<u8>| match state.get(key) {
        Some((value, expires)) => format!(
            "{} bytes of {:?}{}",
            value.len(),
            value.first().map(|byte| char::from(*byte)),
            if *expires { ", expires" } else { "" }
        ),
        None => "missing".to_string(),
    };
    let lines = differ.into_iter().map(|key| {
        let name = key.escape_ascii();
        format!("{name}: {} / {}", brief(one, key), brief(other, key))
    });
    lines.collect::<Vec<_>>().join("; ")
}
