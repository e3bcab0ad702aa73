//! Operations on a table and on a map: the answers are the same.

use crate::op::{Key, Op, Uid, Value, many};
use crate::watch::within_limit;
use arbitrary::{Arbitrary, Unstructured};
use std::collections::HashMap;
use tavola::{CasOutcome, Error, Hint, Table};

const MOST_OPS: usize = 300;
/// Uids looked at in one check of them: the last that were told.
const MOST_TOLD: usize = 1000;

type Model = HashMap<Vec<u8>, Vec<u8>>;

struct Pair {
    table: Table,
    model: Model,
    /// The uids that keys are known to have.
    hints: HashMap<Vec<u8>, Hint>,
    /// All that were ever told.
    told: Vec<Hint>,
    /// Whether every key gets one unasked.
    names_all: bool,
}

/// Plays the input's operations.
///
/// # Panics
/// Where an answer differs, or a check finds something.
pub fn run(input: &[u8]) {
    let mut source = Unstructured::new(input);
    let kind = u8::arbitrary(&mut source).unwrap_or(0);
    let (shards, names_all) = (1 << (kind % 3), kind >= 192);
    let options = Table::options().max_size(4 << 20).shards(shards);
    let mut pair = Pair {
        table: options.uids(names_all).private().expect("a table of 4 MiB"),
        model: Model::new(),
        hints: HashMap::new(),
        told: Vec::new(),
        names_all,
    };
    within_limit(|| {
        for _ in 0..MOST_OPS {
            let Ok(op) = Op::arbitrary(&mut source) else {
                break;
            };
            pair.play(&op);
            if source.is_empty() {
                break;
            }
        }
        pair.agree();
        let report = pair
            .table
            .repair()
            .expect("a repair of a table without damage");
        assert!(report.is_clean(), "{:?}", report.problems);
        pair.agree();
    });
}

/// The answer, unless there was no room: then nothing may have changed.
fn unless_full<T>(answer: tavola::Result<T>) -> Option<T> {
    match answer {
        Ok(answer) => Some(answer),
        Err(Error::Full { .. }) => None,
        Err(error) => panic!("{error}"),
    }
}

fn number(text: &[u8]) -> Option<u64> {
    let is_number = !text.is_empty() && text.len() <= 20 && text.iter().all(u8::is_ascii_digit);
    is_number
        .then(|| std::str::from_utf8(text).ok()?.parse().ok())
        .flatten()
}

impl Pair {
    fn play(&mut self, op: &Op) {
        self.act(op);
        let may_remove = matches!(
            op,
            Op::Remove(_) | Op::Take(_) | Op::Update(..) | Op::RemoveMany(..) | Op::Clear
        );
        if may_remove {
            self.hints.retain(|key, _| self.model.contains_key(key));
        }
    }

    fn act(&mut self, op: &Op) {
        match op {
            Op::Get(key) => self.same(&key.bytes()),
            Op::Contains(key) => {
                let there = self.table.contains(&key.bytes()).unwrap();
                assert_eq!(there, self.model.contains_key(&key.bytes()));
            }
            Op::Set(key, value) => self.set(key.bytes(), value.bytes()),
            Op::Add(key, value) => self.add(key.bytes(), value.bytes()),
            Op::Replace(key, value) => self.replace(key.bytes(), value.bytes()),
            Op::Append(key, value) => self.join(*key, *value, true),
            Op::Prepend(key, value) => self.join(*key, *value, false),
            Op::Swap(key, value) => self.swap(key.bytes(), value.bytes()),
            Op::Remove(key) => {
                let removed = self.table.remove(&key.bytes()).unwrap();
                assert_eq!(removed, self.model.remove(&key.bytes()).is_some());
            }
            Op::Take(key) => {
                let taken = self.table.take(&key.bytes()).unwrap();
                assert_eq!(taken, self.model.remove(&key.bytes()));
            }
            Op::Update(key, value) => self.update(key.bytes(), value.bytes()),
            Op::Incr(key, by) => self.count(key.bytes(), *by, true),
            Op::Decr(key, by) => self.count(key.bytes(), *by, false),
            Op::CompareAndSwap(key, value, late) => self.cas(key.bytes(), value.bytes(), *late),
            Op::SetMany(first, count) => self.set_many(*first, *count),
            Op::RemoveMany(first, count) => {
                for key in many(*first, *count) {
                    let removed = self.table.remove(&key).unwrap();
                    assert_eq!(removed, self.model.remove(&key[..]).is_some());
                }
            }
            Op::GetMany(first, count) => self.get_many(*first, *count),
            Op::SetUid(key, value) => self.set_uid(key.bytes(), value.bytes()),
            Op::UidOf(key) => self.uid_of(key.bytes()),
            Op::GetByUid(uid) => self.get_by_uid(uid.hint(&self.told)),
            Op::SetByUid(uid, value) => self.set_by_uid(*uid, value.bytes()),
            Op::RemoveByUid(uid) => self.remove_by_uid(*uid),
            Op::KeyOfUid(uid) => drop(self.key_of(uid.hint(&self.told))),
            Op::SetUidMany(first, count) => {
                for key in many(*first, *count) {
                    self.set_uid(key.to_vec(), key.to_vec());
                }
            }
            Op::Walk | Op::Check => self.agree(),
            Op::Clear => {
                self.table.clear().unwrap();
                self.model.clear();
            }
            Op::Maintain => drop(self.table.maintain(1 << 20).unwrap()),
            Op::Stats => {
                assert_eq!(self.table.stats().unwrap().keys, self.model.len() as u64);
            }
        }
    }

    fn same(&self, key: &[u8]) {
        assert_eq!(self.table.get(key).unwrap().as_ref(), self.model.get(key));
    }

    fn set(&mut self, key: Vec<u8>, value: Vec<u8>) {
        if unless_full(self.table.set(&key, &value)).is_some() {
            self.model.insert(key, value);
        } else {
            self.same(&key);
        }
    }

    fn add(&mut self, key: Vec<u8>, value: Vec<u8>) {
        if let Some(added) = unless_full(self.table.add(&key, &value)) {
            assert_eq!(added, !self.model.contains_key(&key));
            self.model.entry(key).or_insert(value);
        }
    }

    fn replace(&mut self, key: Vec<u8>, value: Vec<u8>) {
        if let Some(replaced) = unless_full(self.table.replace(&key, &value)) {
            assert_eq!(replaced, self.model.contains_key(&key));
            self.model.entry(key).and_modify(|old| *old = value);
        }
    }

    fn join(&mut self, key: Key, value: Value, after: bool) {
        let (key, more) = (key.bytes(), value.bytes());
        let joined = if after {
            self.table.append(&key, &more)
        } else {
            self.table.prepend(&key, &more)
        };
        if let Some(joined) = unless_full(joined) {
            assert_eq!(joined, self.model.contains_key(&key));
            let parts = |old: &[u8]| {
                if after {
                    [old, &more].concat()
                } else {
                    [&more, old].concat()
                }
            };
            self.model.entry(key).and_modify(|old| *old = parts(old));
        } else {
            self.same(&key);
        }
    }

    fn swap(&mut self, key: Vec<u8>, value: Vec<u8>) {
        if let Some(old) = unless_full(self.table.swap(&key, &value)) {
            assert_eq!(old, self.model.insert(key, value));
        }
    }

    fn update(&mut self, key: Vec<u8>, value: Vec<u8>) {
        let turned = |old: Option<&[u8]>| old.is_none().then(|| value.clone());
        if let Some(stored) = unless_full(self.table.update(&key, turned)) {
            match self.model.remove(&key) {
                Some(_) => assert_eq!(stored, None),
                None => drop(self.model.insert(key, stored.expect("a value is stored"))),
            }
        }
    }

    fn count(&mut self, key: Vec<u8>, by: u64, up: bool) {
        let counted = if up {
            self.table.incr(&key, by)
        } else {
            self.table.decr(&key, by)
        };
        let old = self.model.get(&key).map(|old| number(old));
        let now = match old {
            None => Some(if up { by } else { 0 }),
            Some(old) if up => old.map(|old| old.wrapping_add(by)),
            Some(old) => old.map(|old| old.saturating_sub(by)),
        };
        match (counted, now) {
            (Ok(counted), Some(now)) => {
                assert_eq!(counted, now);
                self.model.insert(key, now.to_string().into_bytes());
            }
            (Err(Error::NotACounter), None) | (Err(Error::Full { .. }), _) => self.same(&key),
            (other, now) => panic!("{other:?} where the model has {now:?}"),
        }
    }

    fn cas(&mut self, key: Vec<u8>, value: Vec<u8>, late: bool) {
        let Some((old, token)) = self.table.get_with_token(&key).unwrap() else {
            assert!(!self.model.contains_key(&key));
            return;
        };
        assert_eq!(Some(&old), self.model.get(&key));
        if late {
            self.set(key.clone(), [&old[..], b"x"].concat());
        }
        let changed = self.model.get(&key) != Some(&old);
        if let Some(outcome) = unless_full(self.table.compare_and_swap(&key, token, &value)) {
            let expected = if changed {
                CasOutcome::Changed
            } else {
                self.model.insert(key, value);
                CasOutcome::Swapped
            };
            assert_eq!(outcome, expected);
        }
    }

    fn set_many(&mut self, first: u16, count: u8) {
        let pairs: Vec<_> = many(first, count)
            .into_iter()
            .map(|key| (key, key))
            .collect();
        if unless_full(self.table.set_many(&pairs)).is_some() {
            let pairs = pairs
                .iter()
                .map(|(key, value)| (key.to_vec(), value.to_vec()));
            self.model.extend(pairs);
        } else {
            // Those before the one that found no room are set.
            for (key, _) in pairs {
                match self.table.get(&key).unwrap() {
                    Some(value) => drop(self.model.insert(key.to_vec(), value)),
                    None => drop(self.model.remove(&key[..])),
                }
            }
        }
    }

    fn get_many(&self, first: u16, count: u8) {
        let keys = many(first, count);
        let mut met = 0;
        let same = |i: usize, value: Option<&[u8]>| {
            assert_eq!(value, self.model.get(&keys[i][..]).map(|value| &value[..]));
            met += 1;
        };
        self.table.get_many(&keys, same).unwrap();
        assert_eq!(met, keys.len());
    }

    fn set_uid(&mut self, key: Vec<u8>, value: Vec<u8>) {
        if let Some(hint) = unless_full(self.table.set_uid(&key, &value)) {
            self.model.insert(key.clone(), value);
            self.learn(key, hint);
        } else {
            self.same(&key);
        }
    }

    /// A key was found to have a uid: the one it had, if it had one, and no other's.
    fn learn(&mut self, key: Vec<u8>, hint: Hint) {
        assert!(hint.uid() != 0 && hint.generation() != 0);
        match self.hints.get(&key) {
            Some(had) => assert_eq!(*had, hint),
            None => {
                self.told.push(hint);
                self.hints.insert(key, hint);
            }
        }
    }

    fn uid_of(&mut self, key: Vec<u8>) {
        match unless_full(self.table.uid_of(&key)) {
            Some(Some(hint)) => {
                assert!(self.model.contains_key(&key));
                self.learn(key, hint);
            }
            Some(None) => assert!(!self.model.contains_key(&key)),
            None => self.same(&key),
        }
    }

    /// The key of a uid, which is the one it is known to be of.
    fn key_of(&mut self, asked: Hint) -> Option<Vec<u8>> {
        let is_meant = |hint: &Hint| {
            hint.uid() == asked.uid() && [0, hint.generation()].contains(&asked.generation())
        };
        let named = self.table.key_of_uid(asked).unwrap();
        let mut known = self.hints.iter().filter(|(_, hint)| is_meant(hint));
        match (known.next(), &named) {
            (None, Some(key)) if self.names_all => {
                assert!(self.model.contains_key(key));
                self.uid_of(key.clone());
                assert!(is_meant(&self.hints[key]));
            }
            (known, named) => assert_eq!(known.map(|(key, _)| key), named.as_ref()),
        }
        named
    }

    fn get_by_uid(&mut self, asked: Hint) {
        let value = self.table.get_by_uid(asked).unwrap();
        let key = self.key_of(asked);
        assert_eq!(value.as_ref(), key.and_then(|key| self.model.get(&key)));
    }

    fn set_by_uid(&mut self, uid: Uid, value: Vec<u8>) {
        let asked = uid.hint(&self.told);
        let key = self.key_of(asked);
        if let Some(set) = unless_full(self.table.set_by_uid(asked, &value)) {
            assert_eq!(set, key.is_some());
            key.map(|key| self.model.insert(key, value));
        }
        self.get_by_uid(asked);
    }

    fn remove_by_uid(&mut self, uid: Uid) {
        let asked = uid.hint(&self.told);
        let key = self.key_of(asked);
        let removed = self.table.remove_by_uid(asked).unwrap();
        assert_eq!(removed, key.is_some());
        if let Some(key) = key {
            self.model.remove(&key);
            self.hints.remove(&key);
        }
        self.get_by_uid(asked);
    }

    /// Keys have the uids that were told; uids of keys that are gone lead nowhere.
    fn agree_by_uid(&self) {
        let mut uids = HashMap::new();
        for (key, hint) in &self.hints {
            assert_eq!(uids.insert(hint.uid(), key), None, "two keys have one uid");
            assert_eq!(self.table.uid_of(key).unwrap(), Some(*hint));
            assert_eq!(
                self.table.get_by_uid(hint.uid()).unwrap().as_ref(),
                self.model.get(key)
            );
        }
        for hint in self.told.iter().rev().take(MOST_TOLD) {
            let key = uids
                .get(&hint.uid())
                .filter(|key| self.hints[**key] == *hint);
            assert_eq!(self.table.key_of_uid(*hint).unwrap().as_ref(), key.copied());
        }
        let named = if self.names_all {
            self.model.len()
        } else {
            self.hints.len()
        };
        assert_eq!(self.table.stats().unwrap().uids, named as u64);
    }

    fn agree(&self) {
        self.agree_by_uid();
        assert_eq!(self.table.len().unwrap(), self.model.len() as u64);
        self.model.keys().for_each(|key| self.same(key));
        let walked: Model = self.table.iter().map(Result::unwrap).collect();
        assert!(walked == self.model, "a walk meets something else");
        let report = self.table.check().unwrap();
        assert!(report.is_clean(), "{:?}", report.problems);
        assert_eq!(report.bytes_in_use, report.bytes_reachable);
    }
}
