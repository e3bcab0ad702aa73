//! Operations on a table and on a map: the answers are the same.

mod times;
mod uids;

use crate::lengths::{Fixed, Lengths};
use crate::op::{Life, Op};
use crate::watch::within_limit;
use arbitrary::{Arbitrary, Unstructured};
use std::collections::HashMap;
use tavola::{CasOutcome, Error, Hint, Table};
use times::Mark;

const MOST_OPS: usize = 300;
/// Of the byte that tells the kind of table: keys and values have fixed lengths.
const FIXED: u8 = 1 << 5;

type Model = HashMap<Vec<u8>, Vec<u8>>;
/// A key and its value.
type Entry = (Vec<u8>, Vec<u8>);

struct Pair {
    lengths: Lengths,
    table: Table,
    model: Model,
    /// The uids that keys are known to have.
    hints: HashMap<Vec<u8>, Hint>,
    /// All that were ever told.
    told: Vec<Hint>,
    /// Whether every key gets one unasked.
    names_all: bool,
    /// What keys have beside their values.
    marks: HashMap<Vec<u8>, Mark>,
    /// Of keys that have expired, items that may still be there.
    lingering: u64,
}

/// Plays the input's operations.
///
/// # Panics
/// Where an answer differs, or a check finds something.
pub fn run(input: &[u8]) {
    let mut source = Unstructured::new(input);
    let mut pair = Pair::new(u8::arbitrary(&mut source).unwrap_or(0));
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
        pair.maintain();
        pair.agree();
        let report = pair
            .table
            .repair()
            .expect("a repair of a table without damage");
        assert!(report.is_clean(), "{:?}", report.problems);
        pair.agree();
    });
}

fn number(text: &[u8]) -> Option<u64> {
    let is_number = !text.is_empty() && text.len() <= 20 && text.iter().all(u8::is_ascii_digit);
    is_number
        .then(|| std::str::from_utf8(text).ok()?.parse().ok())
        .flatten()
}

impl Pair {
    /// Of fixed lengths: which, in bits 2 to 4 of the kind, and whether there are uids, in bit 7.
    fn new(kind: u8) -> Self {
        let nth = || Fixed::nth(usize::from(kind >> 2), kind >= 128);
        let fixed = (kind & FIXED != 0).then(nth);
        let names_all = fixed.map_or(kind >= 192, |fixed| fixed.uids);
        let lengths = Lengths(fixed);
        let options = Table::options().max_size(4 << 20).shards(1 << (kind % 3));
        let options = lengths.options(options.uids(names_all));
        Self {
            lengths,
            table: options.private().expect("a table of 4 MiB"),
            model: Model::new(),
            hints: HashMap::new(),
            told: Vec::new(),
            names_all,
            marks: HashMap::new(),
            lingering: 0,
        }
    }

    fn play(&mut self, op: &Op) {
        self.act(op);
        let may_remove = matches!(
            op,
            Op::Remove(_) | Op::Take(_) | Op::Update(..) | Op::RemoveMany(..) | Op::Clear
        );
        if may_remove {
            self.hints.retain(|key, _| self.model.contains_key(key));
            self.marks.retain(|key, _| self.model.contains_key(key));
        }
    }

    fn act(&mut self, op: &Op) {
        let lengths = self.lengths;
        let both = |key, value| (lengths.key(key), lengths.value(value));
        match *op {
            Op::Get(key) => self.same(&lengths.key(key)),
            Op::Contains(key) => {
                let there = self.table.contains(&lengths.key(key)).unwrap();
                assert_eq!(there, self.model.contains_key(&lengths.key(key)));
            }
            Op::Set(key, value) => self.set(both(key, value)),
            Op::Add(key, value) => self.add(both(key, value)),
            Op::Replace(key, value) => self.replace(both(key, value)),
            Op::Append(key, value) => self.join(lengths.key(key), &lengths.more(value), true),
            Op::Prepend(key, value) => self.join(lengths.key(key), &lengths.more(value), false),
            Op::Swap(key, value) => self.swap(both(key, value)),
            Op::Remove(key) => self.remove(&lengths.key(key)),
            Op::Take(key) => {
                let taken = self.table.take(&lengths.key(key)).unwrap();
                assert_eq!(taken, self.model.remove(&lengths.key(key)));
            }
            Op::Update(key, value) => self.update(both(key, value)),
            Op::Incr(key, by) => self.count(lengths.key(key), by, true),
            Op::Decr(key, by) => self.count(lengths.key(key), by, false),
            Op::CompareAndSwap(key, value, late) => self.cas(both(key, value), late),
            Op::SetMany(first, count) => self.set_many(&lengths.many(first, count)),
            Op::RemoveMany(first, count) => {
                let pairs = lengths.many(first, count);
                pairs.iter().for_each(|(key, _)| self.remove(key));
            }
            Op::GetMany(first, count) => self.get_many(&lengths.many(first, count)),
            Op::SetUid(key, value) => self.set_uid(both(key, value)),
            Op::UidOf(key) => self.uid_of(lengths.key(key)),
            Op::GetByUid(uid) => self.get_by_uid(uid.hint(&self.told)),
            Op::SetByUid(uid, value) => self.set_by_uid(uid, lengths.value(value)),
            Op::RemoveByUid(uid) => self.remove_by_uid(uid),
            Op::KeyOfUid(uid) => drop(self.key_of(uid.hint(&self.told))),
            Op::SetUidMany(first, count) => {
                let pairs = lengths.many(first, count);
                pairs.into_iter().for_each(|pair| self.set_uid(pair));
            }
            Op::SetWith(key, value, life, flags) => self.set_with(both(key, value), life, flags),
            Op::Touch(key, life) => self.touch(&lengths.key(key), life),
            Op::GetAndTouch(key, life) => self.get_and_touch(&lengths.key(key), life),
            Op::Persist(key) => self.touch(&lengths.key(key), Life::Endless),
            Op::Ttl(key) => self.ttl(&lengths.key(key)),
            Op::Walk | Op::Check => self.agree(),
            Op::Clear => {
                self.table.clear().unwrap();
                self.model.clear();
                self.lingering = 0;
            }
            Op::Maintain => self.maintain(),
            Op::Stats => {
                let keys = self.table.stats().unwrap().keys;
                self.assert_count(keys, self.model.len());
            }
        }
    }

    /// What has expired is gone for good.
    fn maintain(&mut self) {
        self.table.maintain(1 << 20).unwrap();
        self.table.remove_expired().unwrap();
        self.lingering = 0;
        assert_eq!(self.table.len().unwrap(), self.model.len() as u64);
    }

    /// The answer; `None`: refused, for its lengths, as is demanded where they do not fit, or for
    /// want of room. Then nothing may have changed.
    fn unless_refused<T>(&self, answer: tavola::Result<T>, key: &[u8], fits: bool) -> Option<T> {
        match answer {
            Ok(answer) => {
                assert!(fits, "other lengths are taken");
                return Some(answer);
            }
            Err(Error::Full { .. }) if fits => {}
            Err(error) => assert!(!fits && self.lengths.are_told(&error), "{error}"),
        }
        self.unchanged(key);
        None
    }

    /// After an operation on a key that was refused.
    fn unchanged(&self, key: &[u8]) {
        self.same(key);
        self.assert_count(self.table.len().unwrap(), self.model.len());
    }

    fn same(&self, key: &[u8]) {
        assert_eq!(self.table.get(key).unwrap().as_ref(), self.model.get(key));
    }

    fn set(&mut self, (key, value): Entry) {
        let answer = self.table.set(&key, &value);
        let fits = self.lengths.fit(&key, value.len());
        if self.unless_refused(answer, &key, fits).is_some() {
            self.renew(key, value);
        }
    }

    /// A key has a new value, and nothing beside it.
    fn renew(&mut self, key: Vec<u8>, value: Vec<u8>) -> Option<Vec<u8>> {
        self.marks.remove(&key);
        self.model.insert(key, value)
    }

    fn add(&mut self, (key, value): Entry) {
        let answer = self.table.add(&key, &value);
        let fits = self.lengths.fit(&key, value.len());
        if let Some(added) = self.unless_refused(answer, &key, fits) {
            assert_eq!(added, !self.model.contains_key(&key));
            self.model.entry(key).or_insert(value);
        }
    }

    fn replace(&mut self, (key, value): Entry) {
        let answer = self.table.replace(&key, &value);
        let fits = self.lengths.fit(&key, value.len());
        if let Some(replaced) = self.unless_refused(answer, &key, fits) {
            assert_eq!(replaced, self.model.contains_key(&key));
            if replaced {
                self.renew(key, value);
            }
        }
    }

    fn join(&mut self, key: Vec<u8>, more: &[u8], after: bool) {
        let joined = if after {
            self.table.append(&key, more)
        } else {
            self.table.prepend(&key, more)
        };
        // What is missing stays so, whatever is to be added.
        let fits = !self.model.contains_key(&key) || self.lengths.bear(more);
        if let Some(joined) = self.unless_refused(joined, &key, fits) {
            assert_eq!(joined, self.model.contains_key(&key));
            let parts = |old: &[u8]| {
                if after {
                    [old, more].concat()
                } else {
                    [more, old].concat()
                }
            };
            self.model.entry(key).and_modify(|old| *old = parts(old));
        }
    }

    fn swap(&mut self, (key, value): Entry) {
        let answer = self.table.swap(&key, &value);
        let fits = self.lengths.fit(&key, value.len());
        if let Some(old) = self.unless_refused(answer, &key, fits) {
            assert_eq!(old, self.renew(key, value));
        }
    }

    fn remove(&mut self, key: &[u8]) {
        let removed = self.table.remove(key).unwrap();
        assert_eq!(removed, self.model.remove(key).is_some());
    }

    fn update(&mut self, (key, value): Entry) {
        let turned = |old: Option<&[u8]>| old.is_none().then(|| value.clone());
        let answer = self.table.update(&key, turned);
        // What is there is removed, whatever the value is.
        let fits = self.model.contains_key(&key) || self.lengths.fit(&key, value.len());
        if let Some(stored) = self.unless_refused(answer, &key, fits) {
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
        if self.lengths.are_fixed() {
            self.unless_refused(counted, &key, false);
            return;
        }
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

    fn cas(&mut self, (key, value): Entry, late: bool) {
        let Some((old, token)) = self.table.get_with_token(&key).unwrap() else {
            assert!(!self.model.contains_key(&key));
            return;
        };
        assert_eq!(Some(&old), self.model.get(&key));
        if late {
            self.set((key.clone(), self.lengths.other(&old)));
        }
        let changed = self.model.get(&key) != Some(&old);
        let answer = self.table.compare_and_swap(&key, token, &value);
        let fits = changed || self.lengths.fit(&key, value.len());
        if let Some(outcome) = self.unless_refused(answer, &key, fits) {
            let expected = if changed {
                CasOutcome::Changed
            } else {
                self.renew(key, value);
                CasOutcome::Swapped
            };
            assert_eq!(outcome, expected);
        }
    }

    fn set_many(&mut self, pairs: &[Entry]) {
        let fits = |(key, value): &Entry| self.lengths.fit(key, value.len());
        let odd = pairs.iter().position(|pair| !fits(pair));
        let until = odd.unwrap_or(pairs.len());
        let set = match self.table.set_many(pairs) {
            Ok(()) => {
                assert_eq!(odd, None, "other lengths are taken");
                until
            }
            Err(Error::Full { .. }) => {
                let is_set =
                    |(key, value): &&Entry| self.table.get(key).unwrap().as_ref() == Some(value);
                pairs[..until].iter().take_while(is_set).count()
            }
            Err(error) => {
                assert!(odd.is_some() && self.lengths.are_told(&error), "{error}");
                until
            }
        };
        // Those before the one that was refused are set, the others are as they were.
        for (key, value) in pairs[..set].iter().cloned() {
            self.renew(key, value);
        }
        if set < pairs.len() {
            pairs.iter().for_each(|(key, _)| self.unchanged(key));
        }
    }

    fn get_many(&self, pairs: &[Entry]) {
        let keys: Vec<&Vec<u8>> = pairs.iter().map(|(key, _)| key).collect();
        let mut met = 0;
        let same = |i: usize, value: Option<&[u8]>| {
            assert_eq!(value, self.model.get(keys[i]).map(|value| &value[..]));
            met += 1;
        };
        self.table.get_many(&keys, same).unwrap();
        assert_eq!(met, keys.len());
    }

    fn agree(&self) {
        self.agree_by_uid();
        self.agree_on_times();
        assert_eq!(self.table.stats().unwrap().fixed, self.lengths.told());
        self.assert_count(self.table.len().unwrap(), self.model.len());
        self.model.keys().for_each(|key| self.same(key));
        let walked: Model = self.table.iter().map(Result::unwrap).collect();
        assert!(walked == self.model, "a walk meets something else");
        let report = self.table.check().unwrap();
        assert!(report.is_clean(), "{:?}", report.problems);
        assert_eq!(report.bytes_in_use, report.bytes_reachable);
    }
}
