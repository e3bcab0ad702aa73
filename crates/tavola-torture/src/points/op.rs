//! Operations, as they are done to a table and to a map.

use super::held::{Held, Life, Names};
use super::leases::{self, End};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher};
use std::path::Path;
use std::rc::Rc;
use tavola::serving::{Marks, ServeTable};
use tavola::{
    Attributes, CasOutcome, Condition, Error, Hint, Result, StoreOptions, Table, Updated, View,
};

/// A key or a value: each survivor copies the map it compares with, not what the map leads to.
pub(crate) type Bytes = Rc<[u8]>;

/// What a table should hold. Every process goes through it in the same order.
pub(crate) type Model = HashMap<Bytes, Held, BuildHasherDefault<DefaultHasher>>;

/// Keys and what becomes of each: a value and what stands beside it, or nothing.
pub(crate) type Effect = Vec<(Bytes, Option<Held>)>;

/// One call of the library.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Open,
    Close,
    Set(Vec<u8>, Vec<u8>),
    SetMany(Vec<(Vec<u8>, Vec<u8>)>),
    /// A set that the table has no room for.
    SetFull(Vec<u8>, Vec<u8>),
    /// A set of a large key whose old value is in view meanwhile, twice.
    SetViewed(Vec<u8>, Vec<u8>),
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
    /// An update by uid that comes to this value.
    UpdateByUid(Vec<u8>, Vec<u8>),
    RemoveByUid(Vec<u8>),
    /// A remove of a key that is not there.
    RemoveMissing(Vec<u8>),
    Take(Vec<u8>),
    Incr(Vec<u8>, u64),
    Decr(Vec<u8>, u64),
    /// A set of a key that gets a time to live and flags.
    SetWith(Vec<u8>, Vec<u8>, Life, u32),
    AddWith(Vec<u8>, Vec<u8>, Life, u32),
    /// A count on a key that gets these if it is missing.
    IncrWith(Vec<u8>, u64, Life, u32),
    Touch(Vec<u8>, Life),
    /// Sets marks.
    Mark(Vec<u8>, u32),
    /// Sets a key, with these marks and no others.
    SetMarked(Vec<u8>, Vec<u8>, u32),
    /// A set of a key with tags, which are made if they are missing.
    SetTagged(Vec<u8>, Vec<u8>, Names),
    Invalidate(&'static str),
    GetAndTouch(Vec<u8>, Life),
    /// Wins the lease of a key that is missing or stale, and ends it so.
    Lease(Vec<u8>, End),
    /// An operation that finds its key missing, and does nothing; but a swap sets it.
    Misses(Box<Op>),
    Clear,
    Check,
    Reclaim,
    Repair,
    Compact,
    Maintain,
    RemoveExpired,
    /// A read, which a cache notes; the key may be missing.
    Get(Vec<u8>),
    SetCapacity(u64),
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

    /// Does an operation; false: it missed its key, or gave another answer than it should have.
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
        if let Some(done) = with_attributes(table, op) {
            return done;
        }
        match op {
            Op::Misses(op) => return Ok(!self.apply(op)?),
            Op::Lease(key, end) => return leases::apply(table, key, end),
            Op::Set(key, value) => table.set(key, value)?,
            Op::SetMany(pairs) => table.set_many(pairs)?,
            Op::SetFull(key, value) => match table.set(key, value) {
                Err(Error::Full { .. }) => {}
                other => return other.map(|()| false),
            },
            Op::SetViewed(key, value) => return set_viewed(table, key, value),
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
            Op::UpdateByUid(key, value) => {
                let stored = Updated::Stored(value.clone());
                let known = known(table, key)?;
                return Ok(table.update_by_uid(known, |_| Some(value.clone()))? == stored);
            }
            Op::RemoveByUid(key) => return table.remove_by_uid(known(table, key)?),
            Op::RemoveMissing(key) => return Ok(!table.remove(key)?),
            Op::Take(key) => return Ok(table.take(key)?.is_some()),
            Op::Incr(key, by) => drop(table.incr(key, *by)?),
            Op::Decr(key, by) => drop(table.decr(key, *by)?),
            Op::Clear => table.clear()?,
            Op::Check => return Ok(table.check()?.is_clean()),
            Op::Reclaim => drop(table.reclaim()?),
            Op::Repair => return Ok(table.repair()?.is_clean()),
            Op::Compact => drop(table.compact()?),
            Op::Maintain => drop(table.maintain(1 << 30)?),
            Op::RemoveExpired => table.remove_expired()?,
            Op::Get(key) => drop(table.get(key)?),
            Op::SetCapacity(bytes) => table.set_capacity(*bytes)?,
            _ => {}
        }
        Ok(true)
    }
}

/// Operations on what stands beside a value.
pub(super) fn with_attributes(table: &Table, op: &Op) -> Option<Result<bool>> {
    let with = |life: &Life, flags| Attributes {
        expiry: life.expiry(),
        flags,
    };
    Some(match op {
        Op::SetWith(key, value, life, flags) => {
            let set = table.set_with(key, value, with(life, *flags));
            set.map(|()| true)
        }
        Op::AddWith(key, value, life, flags) => table.add_with(key, value, with(life, *flags)),
        Op::IncrWith(key, by, life, flags) => {
            let sum = table.incr_with(key, *by, Some(*by), with(life, *flags));
            sum.map(|sum| sum.is_some())
        }
        Op::Touch(key, life) => table.touch(key, life.expiry()),
        Op::Mark(key, bits) => {
            let had = table.mark(key, Condition::Always, 0, *bits);
            had.map(|had| had.is_some())
        }
        Op::SetMarked(key, value, bits) => {
            let how = StoreOptions {
                marks: Some(Marks::only(*bits)),
                ..StoreOptions::default()
            };
            table.store(key, value, &how).map(|_| true)
        }
        Op::SetTagged(key, value, names) => table.fetch_tags(names).and_then(|tags| {
            table.set_tagged(key, value, Attributes::default(), &tags)?;
            Ok(true)
        }),
        Op::Invalidate(name) => table.invalidate_tag(name.as_bytes()),
        Op::GetAndTouch(key, life) => {
            let entry = table.get_and_touch(key, life.expiry());
            entry.map(|entry| entry.is_some())
        }
        _ => return None,
    })
}

fn compare_and_swap(table: &Table, key: &[u8], value: &[u8]) -> Result<bool> {
    match table.get_with_token(key)? {
        Some((_, token)) => Ok(table.compare_and_swap(key, token, value)? == CasOutcome::Swapped),
        None => Ok(false),
    }
}

fn set_viewed(table: &Table, key: &[u8], value: &[u8]) -> Result<bool> {
    let before = table.get(key)?;
    let views = [table.get_view(key)?, table.get_view(key)?];
    table.set(key, value)?;
    let is_as_before = |view: &Option<View<'_>>| view.as_ref().map(View::to_vec) == before;
    Ok(before.is_some() && views.iter().all(is_as_before))
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
        let now = |key: &[u8], held: Option<Held>| vec![(key.into(), held)];
        let plain = |value: &[u8]| Some(Held::plain(value));
        let old = |key: &[u8]| model.get(key).cloned().unwrap_or(Held::plain(b""));
        match self {
            Op::Set(key, value)
            | Op::SetViewed(key, value)
            | Op::SetUid(key, value)
            | Op::SetByUid(key, value)
            | Op::UpdateByUid(key, value)
            | Op::Add(key, value)
            | Op::Replace(key, value)
            | Op::Swap(key, value)
            | Op::CompareAndSwap(key, value) => now(key, plain(value)),
            Op::SetMany(pairs) => {
                let each = pairs.iter().map(|(key, value)| (key, plain(value)));
                each.flat_map(|(key, held)| now(key, held)).collect()
            }
            Op::Append(key, more) | Op::Update(key, more) => {
                let value = [&old(key)[..], more].concat();
                now(key, Some(old(key).of(&value)))
            }
            Op::Prepend(key, more) => {
                let value = [more, &old(key)[..]].concat();
                now(key, Some(old(key).of(&value)))
            }
            Op::Remove(key) | Op::RemoveByUid(key) | Op::Take(key) => now(key, None),
            Op::Incr(key, by) => now(key, Some(counted(&old(key), |n| n.wrapping_add(*by)))),
            Op::Decr(key, by) => now(key, Some(counted(&old(key), |n| n.saturating_sub(*by)))),
            Op::SetWith(key, value, life, flags) | Op::AddWith(key, value, life, flags) => {
                now(key, Held::with(value, *life, *flags))
            }
            Op::SetTagged(key, value, names) => now(key, Some(Held::tagged(value, names))),
            Op::Invalidate(name) => {
                let has = model.iter().filter(|(_, held)| held.tags().contains(name));
                has.map(|(key, _)| (key.clone(), None)).collect()
            }
            Op::IncrWith(key, by, life, flags) if !model.contains_key(&key[..]) => {
                now(key, Held::with(by.to_string().as_bytes(), *life, *flags))
            }
            Op::IncrWith(key, by, ..) => {
                now(key, Some(counted(&old(key), |n| n.wrapping_add(*by))))
            }
            Op::Touch(key, life) | Op::GetAndTouch(key, life) => now(key, old(key).touched(*life)),
            Op::Mark(key, bits) => now(key, Some(old(key).marked(*bits))),
            Op::SetMarked(key, value, bits) => now(key, Some(Held::plain(value).marked(*bits))),
            Op::Misses(op) if matches!(**op, Op::Swap(..)) => op.effect(model),
            Op::Lease(key, end) => leases::effect(key, end),
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

fn counted(old: &Held, change: impl Fn(u64) -> u64) -> Held {
    let text = std::str::from_utf8(old).unwrap_or_default();
    let number = change(text.parse().unwrap_or(0));
    old.of(number.to_string().as_bytes())
}
