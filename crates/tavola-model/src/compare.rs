//! A table compared with its model.

use crate::answer::{Answer, Refusal};
use crate::held::Held;
use crate::model::{Model, brief, shown};
use crate::op::{Op, Uid};
use crate::perform::perform;
use std::collections::{BTreeMap, HashSet};
use tavola::{Error, Hint, Table};

/// The number of uids that are looked up: the last that were returned.
const MOST_GIVEN: usize = 1000;

type Found<T> = Result<T, String>;

fn failed(error: Error) -> String {
    error.to_string()
}

/// Does an operation to a table and to its model. Returns the answer, which may be that there is no
/// room for it.
///
/// # Errors
/// If the answer is another one than expected, or if the keys it names hold something else.
pub fn play(table: &Table, model: &mut Model, op: &Op) -> Found<Answer> {
    if let Some(Uid::Hint(hint)) = op.uid() {
        model.meet(table, *hint)?;
    }
    let keys = model.keys_of(op);
    let answer = perform(table, op).map_err(|error| format!("{}: {error}", brief(op)))?;
    match (op, &answer) {
        (Op::SetMany(pairs), Answer::Refused(Refusal::Full)) => {
            // Those before the one that was refused are set, the others are as they were.
            let is_set = |(key, value): &&(Vec<u8>, Vec<u8>)| {
                let found = table.get(key);
                found.is_ok_and(|found| found.as_ref() == Some(value))
            };
            let set = pairs.iter().take_while(is_set).cloned().collect();
            model.take(&Op::SetMany(set), &Answer::Done)?;
        }
        _ => model.take(op, &answer)?,
    }
    for key in keys {
        let found = table.get_entry(&key).map_err(failed)?;
        if !Held::are(model.get(&key), found.as_ref()) {
            let (op, key) = (brief(op), key.escape_ascii());
            let now = found.map(|entry| (entry.value.len(), entry.attributes, entry.marks));
            return Err(format!("after {op} the key {key} holds {now:?}"));
        }
    }
    if let Some(uid) = op.uid() {
        let again = Op::GetByUid(uid.clone());
        model.take(&again, &perform(table, &again).map_err(failed)?)?;
    }
    match table.len().map_err(failed)? {
        count if model.is_count(count) => Ok(answer),
        count => Err(format!(
            "after {} there are {count} keys, not {}",
            brief(op),
            model.len()
        )),
    }
}

/// The same in a cache: a key may be missing at any time, and an operation may have evicted its own
/// key to make room for itself.
///
/// # Errors
/// If the answer is neither the expected one nor the one of a cache without the key.
pub fn play_lossy(table: &Table, model: &mut Model, op: &Op) -> Found<Answer> {
    let keys = model.keys_of(op);
    for key in &keys {
        if !table.contains(key).map_err(failed)? {
            model.forget(key);
        }
    }
    let answer = perform(table, op).map_err(|error| format!("{}: {error}", brief(op)))?;
    match model.expect(op).0.agrees(&answer) {
        true => {}
        // A tag whose keys are gone, for example.
        false if keys.is_empty() && answer.is_miss() => {
            model.apply(op);
            return Ok(answer);
        }
        false => keys.iter().for_each(|key| model.forget(key)),
    }
    model.take(op, &answer)?;
    for key in keys.iter().filter(|key| !model.contains_key(*key)) {
        if table.contains(key).map_err(failed)? {
            let (op, key) = (brief(op), key.escape_ascii());
            return Err(format!("after {op} the key {key} is there"));
        }
    }
    Ok(answer)
}

/// Compares all that a table holds, and checks it.
///
/// # Errors
/// If something differs, or the check finds something.
pub fn agree(table: &Table, model: &Model) -> Found<()> {
    contents(table, model)?;
    let all = Op::GetMany(model.keys().map(|key| key.to_vec()).collect());
    let answer = perform(table, &all).map_err(failed)?;
    if !model.expect(&all).0.agrees(&answer) {
        return Err("many keys at once hold something else".to_owned());
    }
    uids(table, model)?;
    whole(table)
}

/// Compares every key, and what a walk meets.
///
/// # Errors
/// If a key holds something else than it should, or a walk meets other keys.
pub fn contents(table: &Table, model: &Model) -> Found<()> {
    let mut value = Vec::new();
    for (key, expected) in model.iter() {
        let there = table.get_into(key, &mut value).map_err(failed)?;
        if !there || value[..] != expected[..] {
            return Err(format!(
                "{} should hold {} and holds {}",
                key.escape_ascii(),
                shown(Some(expected)),
                shown(there.then_some(&value[..]))
            ));
        }
        if expected.has_attributes() {
            let entry = table.get_entry(key).map_err(failed)?;
            if !entry.is_some_and(|entry| expected.is(&entry)) {
                let key = key.escape_ascii();
                return Err(format!("{key} has other attributes than it should have"));
            }
        }
        tags(table, key, expected)?;
    }
    walk(table, model)
}

/// Whether a key has the tags it should have.
fn tags(table: &Table, key: &[u8], held: &Held) -> Found<()> {
    let wanted = held.tags().names();
    if wanted.is_empty() {
        return Ok(());
    }
    let names = table.tags_of(key).map_err(failed)?;
    let mut names = names.iter().flatten();
    match names
        .by_ref()
        .map(|name| &name[..])
        .eq(wanted.iter().map(String::as_bytes))
    {
        true => Ok(()),
        false => Err(format!(
            "{} should have the tags {wanted:?}",
            key.escape_ascii()
        )),
    }
}

fn walk(table: &Table, model: &Model) -> Found<()> {
    let (mut entries, mut met) = (table.iter(), 0);
    while let Some((key, value, attributes)) = entries.next_with_attributes().map_err(failed)? {
        let held = model.get(key).filter(|held| held[..] == *value);
        if !held.is_some_and(|held| held.has(attributes)) {
            let key = key.escape_ascii();
            return Err(format!(
                "a walk meets {key} with {}, {attributes:?}",
                shown(Some(value))
            ));
        }
        met += 1;
    }
    if met == model.len() {
        return Ok(());
    }
    // A key that is in two places for a moment may be met twice.
    let walked = table.iter().collect::<tavola::Result<BTreeMap<_, _>>>();
    match walked.map_err(failed)?.len() {
        met if met == model.len() => Ok(()),
        met => Err(format!("a walk meets {met} keys, not {}", model.len())),
    }
}

/// Checks a table.
///
/// # Errors
/// If the check finds something, or if more is in use than can be reached.
pub fn whole(table: &Table) -> Found<()> {
    let report = table.check().map_err(failed)?;
    if !report.is_clean() {
        return Err(format!("check: {}", report.problems.join("; ")));
    }
    match (report.bytes_in_use, report.bytes_reachable) {
        (used, reachable) if used == reachable => Ok(()),
        (used, reachable) => Err(format!(
            "{used} bytes are in use, {reachable} can be reached"
        )),
    }
}

/// Compares what the uids lead to that the model knows; those of keys that are gone lead nowhere.
fn uids(table: &Table, model: &Model) -> Found<()> {
    let mut known = HashSet::new();
    for (key, hint) in model.hints() {
        if !known.insert(hint.uid()) {
            return Err(format!("two keys have the uid {}", hint.uid()));
        }
        if table.uid_of(key).map_err(failed)? != Some(hint) {
            return Err(format!("{} has lost its {hint:?}", key.escape_ascii()));
        }
        for asked in [hint, Hint::from(hint.uid())] {
            leads_to(table, key, asked, model.get(key).map(|held| &held[..]))?;
        }
    }
    for hint in model.given().iter().rev().take(MOST_GIVEN) {
        if model.key_of(&Uid::Hint(*hint)).is_none() {
            leads_to(table, b"", *hint, None)?;
        }
    }
    let stats = table.stats().map_err(failed)?;
    match model.is_count_of_uids(stats.uids, stats.tags) {
        true => Ok(()),
        false => Err(format!("there are {} uids", stats.uids)),
    }
}

/// Looks if a uid leads to a key and its value; to nothing if there is none.
///
/// # Errors
/// If it leads elsewhere.
pub fn leads_to(table: &Table, key: &[u8], hint: Hint, value: Option<&[u8]>) -> Found<()> {
    let failed = |error: Error| format!("uid {}: {error}", hint.uid());
    let found = table.get_by_uid(hint).map_err(failed)?;
    let found_key = table.key_of_uid(hint).map_err(failed)?;
    if found.as_deref() == value && found_key.as_deref() == value.map(|_| key) {
        return Ok(());
    }
    Err(format!(
        "uid {} of {} should lead to {} and leads to {} of {}",
        hint.uid(),
        key.escape_ascii(),
        shown(value),
        shown(found.as_deref()),
        shown(found_key.as_deref()),
    ))
}
