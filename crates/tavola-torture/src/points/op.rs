//! Operations, as they are done to a table and to a map.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher};
use std::path::Path;
use std::rc::Rc;
use tavola::{CasOutcome, Error, Hint, Result, Table};

/// A key or a value: each survivor copies the map it compares with, not what the map leads to.
pub(crate) type Bytes = Rc<[u8]>;

/// What a table should hold. Every process goes through it in the same order.
pub(crate) type Model = HashMap<Bytes, Bytes, BuildHasherDefault<DefaultHasher>>;

/// Keys and what becomes of each: a value, or nothing.
pub(crate) type Effect = Vec<(Bytes, Option<Bytes>)>;

/// One call of the library.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Open,
    Close,
    Set(Vec<u8>, Vec<u8>),
    SetMany(Vec<(Vec<u8>, Vec<u8>)>),
    /// A set that the table has no room for.
    SetFull(Vec<u8>, Vec<u8>),
    Add(Vec<u8>, Vec<u8>),
    Replace(Vec<u8>, Vec<u8>),
    Append(Vec<u8>, Vec<u8>),
    Prepend(Vec<u8>, Vec<u8>),
    Swap(Vec<u8>, Vec<u8>),
    CompareAndSwap(Vec<u8>, Vec<u8>),
    /// Replaces the value by itself and more.
    Update(Vec<u8>, Vec<u8>),
    Remove(Vec<u8>),
    SetUid(Vec<u8>, Vec<u8>),
    /// Asks for the uid of a key, which may have to get one.
    UidOf(Vec<u8>),
    SetByUid(Vec<u8>, Vec<u8>),
    RemoveByUid(Vec<u8>),
    /// A remove of a key that is not there.
    RemoveMissing(Vec<u8>),
    Take(Vec<u8>),
    Incr(Vec<u8>, u64),
    Decr(Vec<u8>, u64),
    Clear,
    Check,
    Reap,
    Repair,
    Compact,
    Maintain,
}

/// The table an operation is done to, open or not.
pub(crate) struct Seat<'a> {
    path: &'a Path,
    table: Option<Table>,
    /// The uid that the last operation was given.
    hint: Option<Hint>,
}

impl<'a> Seat<'a> {
    pub(crate) fn new(path: &'a Path) -> Self {
        Self {
            path,
            table: None,
            hint: None,
        }
    }

    /// The uid that the last operation was given, if it was given one.
    pub(crate) fn hint(&self) -> Option<Hint> {
        self.hint
    }

    pub(crate) fn table(&mut self) -> Result<&Table> {
        if self.table.is_none() {
            self.table = Some(Table::options().open_existing(self.path)?);
        }
        Ok(self.table.as_ref().expect("opened just now"))
    }

    /// Takes part, and changes nothing else.
    pub(crate) fn attach(&mut self) -> Result<()> {
        self.table()?.participants().map(drop)
    }

    /// Does an operation; false: it gave another answer than it should have.
    pub(crate) fn apply(&mut self, op: &Op) -> Result<bool> {
        if let Op::Close = op {
            self.table = None;
            return Ok(true);
        }
        self.hint = None;
        self.table()?;
        let Some(table) = &self.table else {
            return Ok(false);
        };
        match op {
            Op::Open | Op::Close => {}
            Op::Set(key, value) => table.set(key, value)?,
            Op::SetMany(pairs) => table.set_many(pairs)?,
            Op::SetFull(key, value) => match table.set(key, value) {
                Err(Error::Full { .. }) => {}
                other => return other.map(|()| false),
            },
            Op::Add(key, value) => return table.add(key, value),
            Op::Replace(key, value) => return table.replace(key, value),
            Op::Append(key, more) => return table.append(key, more),
            Op::Prepend(key, more) => return table.prepend(key, more),
            Op::Swap(key, value) => return Ok(table.swap(key, value)?.is_some()),
            Op::CompareAndSwap(key, value) => return compare_and_swap(table, key, value),
            Op::Update(key, more) => {
                table.update(key, |old| Some([old.unwrap_or_default(), more].concat()))?;
            }
            Op::Remove(key) => return table.remove(key),
            Op::SetUid(key, value) => self.hint = Some(table.set_uid(key, value)?),
            Op::UidOf(key) => {
                self.hint = table.uid_of(key)?;
                return Ok(self.hint.is_some());
            }
            Op::SetByUid(key, value) => return table.set_by_uid(known(table, key)?, value),
            Op::RemoveByUid(key) => return table.remove_by_uid(known(table, key)?),
            Op::RemoveMissing(key) => return Ok(!table.remove(key)?),
            Op::Take(key) => return Ok(table.take(key)?.is_some()),
            Op::Incr(key, by) => drop(table.incr(key, *by)?),
            Op::Decr(key, by) => drop(table.decr(key, *by)?),
            Op::Clear => table.clear()?,
            Op::Check => return Ok(table.check()?.is_clean()),
            Op::Reap => drop(table.reap()?),
            Op::Repair => return Ok(table.repair()?.is_clean()),
            Op::Compact => drop(table.compact()?),
            Op::Maintain => drop(table.maintain(1 << 30)?),
        }
        Ok(true)
    }
}

fn compare_and_swap(table: &Table, key: &[u8], value: &[u8]) -> Result<bool> {
    match table.get_with_token(key)? {
        Some((_, token)) => Ok(table.compare_and_swap(key, token, value)? == CasOutcome::Swapped),
        None => Ok(false),
    }
}

/// The uid of a key; of one that has none, such that no key has it.
fn known(table: &Table, key: &[u8]) -> Result<Hint> {
    Ok(table.uid_of(key)?.unwrap_or(Hint::from(0)))
}

impl Op {
    /// The key that gets a uid by it, if it has none.
    pub(crate) fn named(&self) -> Option<&[u8]> {
        match self {
            Op::SetUid(key, _) | Op::UidOf(key) => Some(key),
            _ => None,
        }
    }

    /// What it makes of a map.
    pub(crate) fn effect(&self, model: &Model) -> Effect {
        let old = |key: &[u8]| model.get(key).map(|value| &value[..]).unwrap_or_default();
        let now = |key: &[u8], value: &[u8]| vec![(key.into(), Some(value.into()))];
        match self {
            Op::Set(key, value)
            | Op::SetUid(key, value)
            | Op::SetByUid(key, value)
            | Op::Add(key, value)
            | Op::Replace(key, value)
            | Op::Swap(key, value)
            | Op::CompareAndSwap(key, value) => now(key, value),
            Op::SetMany(pairs) => pairs
                .iter()
                .flat_map(|(key, value)| now(key, value))
                .collect(),
            Op::Append(key, more) | Op::Update(key, more) => {
                now(key, &[old(key), &more[..]].concat())
            }
            Op::Prepend(key, more) => now(key, &[&more[..], old(key)].concat()),
            Op::Remove(key) | Op::RemoveByUid(key) | Op::Take(key) => vec![(key[..].into(), None)],
            Op::Incr(key, by) => now(key, &counted(old(key), |n| n.wrapping_add(*by))),
            Op::Decr(key, by) => now(key, &counted(old(key), |n| n.saturating_sub(*by))),
            Op::Clear => model.keys().map(|key| (key.clone(), None)).collect(),
            _ => Effect::new(),
        }
    }

    /// Does it to a map.
    pub(crate) fn model(&self, model: &mut Model) {
        for (key, value) in self.effect(model) {
            match value {
                Some(value) => model.insert(key, value),
                None => model.remove(&key),
            };
        }
    }
}

fn counted(text: &[u8], change: impl Fn(u64) -> u64) -> Vec<u8> {
    let text = std::str::from_utf8(text).unwrap_or_default();
    change(text.parse().unwrap_or(0)).to_string().into_bytes()
}
