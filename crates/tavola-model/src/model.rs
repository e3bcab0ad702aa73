//! The model of a table.

use crate::answer::{Answer, Refusal};
use crate::fixed::Fixed;
use crate::held::{Bytes, Held, Life};
use crate::op::{End, Op, Uid};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher};
use std::ops::{Deref, DerefMut};
use tavola::{Hint, Result, Table};

/// Every process goes through it in the same order.
type Map<V> = HashMap<Bytes, V, BuildHasherDefault<DefaultHasher>>;

/// Keys and what becomes of each: a value with its attributes, or nothing.
pub type Effect = Vec<(Bytes, Option<Held>)>;

/// A lease that nobody else gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    Kept,
    Failed,
}

/// What a table should hold: a map from keys, and what is known of the table beside it.
#[derive(Clone, Debug, Default)]
pub struct Model {
    keys: Map<Held>,
    /// The uids that keys are known to have.
    pub(crate) hints: Map<Hint>,
    /// All uids that were ever returned, the last at the end.
    given: Vec<Hint>,
    pub(crate) leases: Map<Taken>,
    /// Of keys that have expired or were invalidated, items that may still be there.
    lingering: u64,
    pub(crate) fixed: Option<Fixed>,
    names_all: bool,
}

impl Deref for Model {
    type Target = Map<Held>;

    fn deref(&self) -> &Self::Target {
        &self.keys
    }
}

impl DerefMut for Model {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.keys
    }
}

impl Model {
    /// Makes the model of an empty table of these lengths, if they are fixed, and in which every
    /// key gets a uid, or those for which one is asked.
    pub fn new(fixed: Option<Fixed>, names_all: bool) -> Self {
        Self {
            fixed,
            names_all,
            ..Self::default()
        }
    }

    /// Returns all uids that were ever returned, the last at the end.
    pub fn given(&self) -> &[Hint] {
        &self.given
    }

    /// Returns the keys that are known to have a uid, and their uids.
    pub fn hints(&self) -> impl Iterator<Item = (&Bytes, Hint)> {
        self.hints.iter().map(|(key, hint)| (key, *hint))
    }

    /// Returns the key that a uid is known to be of.
    pub(crate) fn key_of(&self, uid: &Uid) -> Option<Bytes> {
        let key = match uid {
            Uid::Of(key) => self.get_key_value(&key[..]).map(|(key, _)| key),
            Uid::Hint(asked) => {
                let is_meant = |hint: &Hint| {
                    hint.uid() == asked.uid()
                        && [0, hint.generation()].contains(&asked.generation())
                };
                let mut known = self.hints.iter().filter(|(_, hint)| is_meant(hint));
                known.next().map(|(key, _)| key)
            }
        };
        key.cloned()
    }

    /// Returns the keys that an operation names, by uid or not.
    pub(crate) fn keys_of(&self, op: &Op) -> Vec<Bytes> {
        let named = op.uid().and_then(|uid| self.key_of(uid));
        op.keys()
            .into_iter()
            .map(Bytes::from)
            .chain(named)
            .collect()
    }

    /// Returns whether a table that counts so many of its keys may hold these.
    pub fn is_count(&self, count: u64) -> bool {
        self.is_within(count, self.len(), 0)
    }

    /// Returns whether a table that counts so many uids, of which some are of its tags, may hold
    /// these keys.
    pub(crate) fn is_count_of_uids(&self, count: u64, tags: u64) -> bool {
        let named = if self.names_all {
            self.len()
        } else {
            self.hints.len()
        };
        self.is_within(count, named, tags)
    }

    fn is_within(&self, count: u64, keys: usize, others: u64) -> bool {
        let keys = keys as u64;
        (keys..=keys + self.lingering + others).contains(&count)
    }

    /// Removes a key that a cache does not have any more.
    pub fn forget(&mut self, key: &[u8]) {
        self.keys.remove(key);
        self.hints.remove(key);
    }

    /// Lets go of the leases of owners that are dead now.
    pub fn release(&mut self) {
        self.leases.retain(|_, taken| *taken == Taken::Failed);
    }

    /// Learns which key a uid leads to, if every key has one.
    ///
    /// # Errors
    /// If the table answers otherwise than the model, or not at all.
    pub(crate) fn meet(&mut self, table: &Table, asked: Hint) -> Result<(), String> {
        let named = table.key_of_uid(asked).map_err(|error| error.to_string())?;
        let uid = Uid::Hint(asked);
        if let Some(key) = named.as_ref()
            && self.names_all
            && self.key_of(&uid).is_none()
        {
            let hint = table.uid_of(key).map_err(|error| error.to_string())?;
            self.learn(key, hint.ok_or("a key that was found by its uid has none")?)?;
        }
        match self.key_of(&uid).as_deref() == named.as_deref() {
            true => Ok(()),
            false => Err(format!("{asked:?} leads to {:?}", shown(named.as_deref()))),
        }
    }

    /// Notes the uid that a key was found to have: the one it had, if it had one.
    fn learn(&mut self, key: &[u8], hint: Hint) -> Result<(), String> {
        if !self.contains_key(key) {
            return Err(format!(
                "{} has a uid and should be missing",
                key.escape_ascii()
            ));
        }
        match self.hints.insert(key.into(), hint) {
            Some(had) if had == hint => Ok(()),
            Some(had) => Err(format!(
                "{} had {had:?} and has {hint:?}",
                key.escape_ascii()
            )),
            None => {
                self.given.push(hint);
                Ok(())
            }
        }
    }

    /// Does an operation.
    pub fn apply(&mut self, op: &Op) {
        let (_, effect) = self.expect(op);
        self.change(op, effect);
    }

    /// Does an operation that a table has answered.
    ///
    /// # Errors
    /// If the answer is another one than expected.
    pub fn take(&mut self, op: &Op, answer: &Answer) -> Result<(), String> {
        let (expected, effect) = self.expect(op);
        let may_be_full = !matches!(expected, Answer::Refused(why) if why != Refusal::NotACounter);
        if *answer == Answer::Refused(Refusal::Full) && may_be_full {
            return Ok(());
        }
        if !expected.agrees(answer) {
            let [op, answer, expected] = [brief(op), brief(answer), brief(&expected)];
            return Err(format!(
                "{op} answers {answer}, and should answer {expected}"
            ));
        }
        self.change(op, effect);
        match (op, answer) {
            (Op::SetUid(key, _) | Op::UidOf(key), Answer::Uid(Some(hint))) => {
                self.learn(key, *hint)
            }
            _ => Ok(()),
        }
    }

    fn change(&mut self, op: &Op, effect: Effect) {
        self.change_leases(op, &effect);
        let (before, had) = (self.lingering, effect.len() as u64);
        self.lingering = match op {
            Op::SetWith(_, _, Life::Gone, _) | Op::AddWith(_, _, Life::Gone, _) => before + had,
            Op::IncrWith(_, _, _, Life::Gone, _) | Op::DecrWith(_, _, _, Life::Gone, _) => {
                before + had
            }
            Op::AppendWith(_, _, Life::Gone, _) | Op::PrependWith(_, _, Life::Gone, _) => {
                before + had
            }
            Op::Touch(_, Life::Gone) | Op::GetAndTouch(_, Life::Gone) => before + had,
            Op::Invalidate(_) | Op::SetTagged(..) => before + had,
            Op::Clear | Op::RemoveExpired => 0,
            _ => before,
        };
        for (key, held) in effect {
            match held {
                Some(held) => drop(self.keys.insert(key, held)),
                None => self.forget(&key),
            }
        }
    }

    fn change_leases(&mut self, op: &Op, effect: &Effect) {
        for (key, _) in effect {
            self.leases.remove(key);
        }
        match op {
            Op::Remove(key) | Op::Take(key) => drop(self.leases.remove(&key[..])),
            Op::Transaction(changes) => {
                for (key, _) in changes.iter().filter(|(_, value)| value.is_none()) {
                    self.leases.remove(&key[..]);
                }
            }
            Op::Clear | Op::Repair => self.leases.clear(),
            Op::Lease(key, end) if self.is_to_be_had(key) => {
                let taken = match end {
                    End::Keep => Taken::Kept,
                    End::Fail => Taken::Failed,
                    End::Fill(_) | End::GiveUp => return,
                };
                self.leases.insert(key[..].into(), taken);
            }
            _ => {}
        }
    }

    /// Returns whether the lease of a key can be won.
    pub(crate) fn is_to_be_had(&self, key: &[u8]) -> bool {
        self.get(key).is_none_or(Held::is_stale) && !self.leases.contains_key(key)
    }
}

/// Shows the beginning of what a debugger would show: values may be long.
pub fn brief(what: &impl std::fmt::Debug) -> String {
    let whole = format!("{what:?}");
    let cut = whole.char_indices().nth(240);
    cut.map_or_else(|| whole.clone(), |(end, _)| format!("{}...", &whole[..end]))
}

/// Some bytes for people.
pub(crate) fn shown(value: Option<&[u8]>) -> String {
    match value {
        None => "nothing".to_owned(),
        Some(value) => {
            let head = &value[..value.len().min(24)];
            format!("{} bytes, {}", value.len(), head.escape_ascii())
        }
    }
}
