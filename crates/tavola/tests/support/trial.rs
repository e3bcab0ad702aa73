//! A table with a flipped bit at work: what its keys and uids may answer, before and after a
//! repair.
//!
//! By key: a value that the key has, whatever was flipped but the key's own bytes. By uid: a value
//! that its key had, which may be an old one as long as the damage is there; a report of damage; or
//! nothing, as a key may lose its uid.

use super::damage::{Model, key_of, value};
use super::{Random, assert_clean, leased, mortal};
use std::collections::{HashMap, HashSet};
use tavola::{Error, Expiry, Hint, Result, Table};

/// The uids of keys, as they were last returned.
pub type Hints = HashMap<Vec<u8>, Hint>;

/// A flip at work.
pub struct Trial<'a> {
    table: &'a Table,
    model: Model,
    /// All values the keys have had.
    history: Model,
    hints: Hints,
    /// All keys a uid has been returned for.
    owners: HashMap<u32, HashSet<Vec<u8>>>,
    /// Keys that may have got a uid that was not returned, because of the damage.
    unacknowledged: HashSet<Vec<u8>>,
    /// Uids of keys that were removed after the repair.
    gone: Vec<Hint>,
    /// Keys whose own bytes were changed: one, and maybe freed items that stood there before.
    touched: &'a [&'a [u8]],
    /// Whether their values are as they were: only what they have beside them was changed.
    have_values: bool,
    /// Whether generations may be given out again: their counter was changed.
    repeats: bool,
    /// From then on nothing may be refused any more.
    repaired: bool,
    random: Random,
}

impl<'a> Trial<'a> {
    pub fn new(table: &'a Table, model: &Model, hints: &Hints, touched: &'a [&'a [u8]]) -> Self {
        let mut trial = Self {
            table,
            model: model.clone(),
            history: model.clone(),
            hints: HashMap::new(),
            owners: HashMap::new(),
            unacknowledged: HashSet::new(),
            gone: Vec::new(),
            touched,
            have_values: false,
            repeats: false,
            repaired: false,
            random: Random::new(7),
        };
        for (key, hint) in hints {
            trial.learn(key, *hint);
        }
        trial
    }

    /// Lets hints be those of other keys with the same uid.
    pub fn let_generations_repeat(&mut self) {
        self.repeats = true;
    }

    /// Lets no key answer with a value it did not have, whatever was changed of it.
    pub fn demand_values(&mut self) {
        self.have_values = true;
    }

    /// Repairs it: from here on everything works and nothing may be refused.
    pub fn repair(&mut self) {
        self.table.repair().unwrap();
        self.repaired = true;
        assert_clean(self.table);
    }

    /// Returns whether an error may be returned now.
    fn is_expected(&self, error: &Error) -> bool {
        matches!(error, Error::Corrupt { .. }) && !self.repaired
    }

    /// Whether a key's own bytes were changed, so that any value may be its.
    fn is_touched(&self, key: &[u8]) -> bool {
        self.touched.contains(&key) && !self.have_values
    }

    fn learn(&mut self, key: &[u8], hint: Hint) {
        assert!(hint.uid() != 0 && hint.generation() != 0 || !self.repaired);
        self.hints.insert(key.to_vec(), hint);
        let owners = self.owners.entry(hint.uid()).or_default();
        owners.insert(key.to_vec());
    }

    /// All keys answer with a value they had, or not at all; the number of those that do not.
    pub fn read_all(&self) -> usize {
        let mut missing = 0;
        let mut value = Vec::new();
        for (key, allowed) in &self.model {
            match self.table.get_into(key, &mut value) {
                Ok(true) => assert!(
                    allowed.contains(&value) || self.is_touched(key),
                    "wrong value for {}: {} bytes",
                    String::from_utf8_lossy(key),
                    value.len()
                ),
                Ok(false) => missing += usize::from(!allowed.is_empty()),
                Err(error) if self.is_expected(&error) => {
                    missing += usize::from(!allowed.is_empty())
                }
                Err(error) => panic!("{error}"),
            }
        }
        self.read_attributes();
        missing
    }

    /// What keys have beside their values is their own, unless their bytes were changed.
    fn read_attributes(&self) {
        for number in mortal::KEYS {
            let key = key_of(number);
            match self.table.get_entry(&key) {
                Ok(Some(entry)) => assert!(
                    mortal::may_have(number, entry.attributes) || self.touched.contains(&&key[..]),
                    "{number} has {:?}",
                    entry.attributes
                ),
                Ok(None) => {}
                Err(error) => assert!(self.is_expected(&error), "{error}"),
            }
        }
    }

    /// Scans all keys; what is met was a value of its key at some time: a slot that leads astray
    /// may lead to an item that was replaced since. After the repair all keys that are there are
    /// met.
    pub fn walk(&self) {
        let mut met = HashSet::new();
        for entry in self.table.iter() {
            match entry {
                Ok((key, value)) => {
                    let known = self.history.get(&key);
                    let fits = known.is_none_or(|had| had.contains(&value));
                    assert!(fits || self.is_touched(&key), "wrong value on a walk");
                    met.insert(key);
                }
                Err(error) if self.is_expected(&error) => return,
                Err(error) => panic!("{error}"),
            }
        }
        for key in self.model.keys().filter(|_| self.repaired) {
            let is_there = self.table.contains(key).unwrap();
            assert!(!is_there || met.contains(key), "a walk misses {key:?}");
        }
    }

    /// All uids answer with a value of the key they were returned for; plain ones, of one of those.
    pub fn read_by_uids(&self) {
        for (key, hint) in &self.hints {
            let owners = &self.owners[&hint.uid()] | &self.unacknowledged;
            self.read_by(Hint::from(hint.uid()), &owners);
            if self.repeats {
                self.read_by(*hint, &owners);
            } else {
                self.read_by(*hint, &HashSet::from([key.clone()]));
            }
        }
        let are_known = self.touched.is_empty() && !self.repeats;
        for hint in self.gone.iter().filter(|_| are_known) {
            assert_eq!(self.table.get_by_uid(*hint).unwrap(), None);
            assert_eq!(self.table.key_of_uid(*hint).unwrap(), None);
        }
    }

    fn read_by(&self, asked: Hint, owners: &HashSet<Vec<u8>>) {
        // An item whose uid or key was changed may be found under another.
        let touched = || self.touched.iter().map(|key| key.to_vec());
        let is_open = owners.iter().any(|key| self.is_touched(key));
        match self.table.get_by_uid(asked) {
            Ok(None) => {}
            Ok(Some(value)) => {
                let had = |key: &Vec<u8>| {
                    let history = self.history.get(key);
                    history.is_some_and(|had| had.contains(&value))
                };
                let fits = is_open || owners.iter().any(had) || touched().any(|key| had(&key));
                assert!(fits, "wrong value for {asked:?}: {} bytes", value.len());
            }
            Err(error) => assert!(self.is_expected(&error), "{error}"),
        }
        match self.table.key_of_uid(asked) {
            Ok(None) => {}
            Ok(Some(key)) => {
                let fits = is_open || owners.contains(&key) || self.is_touched(&key);
                assert!(fits, "wrong key for {asked:?}: {key:?}");
            }
            Err(error) => assert!(self.is_expected(&error), "{error}"),
        }
    }

    /// Every key that is there is asked for its uid, and gets one if it has none: the answers by
    /// uid are then those by key.
    pub fn name_all(&mut self) {
        let mut uids = HashSet::new();
        for key in self.model.clone().into_keys() {
            let value = self.table.get(&key).unwrap();
            let hint = self.table.uid_of(&key).unwrap();
            assert_eq!(value.is_some(), hint.is_some());
            assert!(self.table.get(&key).unwrap() == value, "lost by its uid");
            let Some(hint) = hint else {
                self.hints.remove(&key);
                continue;
            };
            assert!(uids.insert(hint.uid()), "two keys with {hint:?}");
            for asked in [hint, Hint::from(hint.uid())] {
                assert!(self.table.get_by_uid(asked).unwrap() == value);
                assert!(self.table.key_of_uid(asked).unwrap().as_ref() == Some(&key));
            }
            self.learn(&key, hint);
        }
        assert_clean(self.table);
    }

    /// What became of a write of a key, which may be refused because of the damage; what the key
    /// holds is then open. False: the key was not there, or not under that uid.
    fn written(&mut self, key: &[u8], new: Option<Vec<u8>>, outcome: Result<bool>) {
        let had = self.history.entry(key.to_vec()).or_default();
        had.extend(new.clone());
        let may_refuse = match &outcome {
            Err(Error::Full { .. }) => true,
            Err(error) => self.is_expected(error),
            Ok(_) => false,
        };
        let allowed = self.model.entry(key.to_vec()).or_default();
        match outcome {
            Ok(true) => *allowed = new.into_iter().collect(),
            Ok(false) => {}
            Err(_) if may_refuse => allowed.extend(new),
            Err(error) => panic!("{error}"),
        }
    }

    fn set(&mut self, key: Vec<u8>, value: Vec<u8>) {
        let outcome = self.table.set(&key, &value).map(|()| true);
        self.written(&key, Some(value), outcome);
    }

    fn remove(&mut self, key: Vec<u8>) {
        let outcome = self.table.remove(&key).map(|_| true);
        self.written(&key, None, outcome);
        self.forget(&key);
    }

    /// The key was removed, and its uid with it.
    fn forget(&mut self, key: &[u8]) {
        if let (Some(hint), true) = (self.hints.get(key), self.repaired) {
            self.gone.push(*hint);
            self.hints.remove(key);
        }
    }

    fn set_uid(&mut self, key: Vec<u8>, value: Vec<u8>) {
        let outcome = self.table.set_uid(&key, &value);
        if let Ok(hint) = outcome {
            let had = self.hints.get(&key);
            assert!(!self.repaired || had.is_none_or(|had| *had == hint));
            self.learn(&key, hint);
        } else {
            self.unacknowledged.insert(key.clone());
        }
        self.written(&key, Some(value), outcome.map(|_| true));
    }

    /// Sets the key of a uid to a value or removes it.
    fn write_by_uid(&mut self, key: &[u8], asked: Hint, new: Option<Vec<u8>>) {
        let is_there = self.table.contains(key);
        let outcome = match &new {
            Some(value) => self.table.set_by_uid(asked, value),
            None => self.table.remove_by_uid(asked),
        };
        let done = matches!(outcome, Ok(true));
        if self.repaired && outcome.is_ok() {
            assert_eq!(is_there.unwrap(), done, "{asked:?}");
        }
        let is_removed = done && new.is_none();
        self.written(key, new, outcome);
        if is_removed {
            self.forget(key);
        }
    }

    /// Overwrites, removes and adds some of everything, and counts.
    pub fn use_for_a_while(&mut self, round: u64) {
        for step in 0..60 {
            let number = (step * 7 + round * 13) % 240;
            match step % 3 {
                0 => self.remove(key_of(number)),
                _ => self.set(key_of(number), value(number, 2, number + step)),
            }
            let fresh = 5000 + step;
            self.set(key_of(fresh), value(fresh, 3, step + 4));
        }
        self.use_uids(round);
        self.use_times(round);
        leased::use_all(self.table, |error| self.is_expected(error));
        for number in 2000..2010u64 {
            self.count(key_of(number));
        }
    }

    fn use_uids(&mut self, round: u64) {
        for step in 0..24 {
            let number = (step * 11 + round * 17) % 240;
            let (key, new) = (key_of(number), value(number, 4, number + step));
            let Some(hint) = self.hints.get(&key).copied() else {
                self.set_uid(key, new);
                continue;
            };
            let is_plain = self.repaired && self.random.below(2) == 0;
            let asked = if is_plain { hint.uid().into() } else { hint };
            match step % 4 {
                0 => self.set_uid(key, new),
                1 => self.write_by_uid(&key, asked, None),
                _ => self.write_by_uid(&key, asked, Some(new)),
            }
        }
    }

    /// Stores keys that expire, lets them live longer, forever, or no more.
    fn use_times(&mut self, round: u64) {
        let count = mortal::KEYS.end - mortal::KEYS.start;
        for step in 0..20 {
            let number = mortal::KEYS.start + (step * 7 + round * 11) % count;
            let key = key_of(number);
            let touched = match step % 5 {
                0 => self.table.touch(&key, Expiry::After(mortal::HOUR)),
                1 => self.table.persist(&key),
                2 => self.get_and_touch(&key),
                3 => {
                    let outcome = self.table.touch(&key, Expiry::PAST);
                    self.written(&key, None, outcome);
                    self.forget(&key);
                    continue;
                }
                _ => {
                    let (new, attributes) = (value(number, 5, step), mortal::attributes_of(number));
                    let outcome = self.table.set_with(&key, &new, attributes);
                    self.written(&key, Some(new), outcome.map(|()| true));
                    continue;
                }
            };
            match touched {
                Ok(_) | Err(Error::Full { .. }) => {}
                Err(error) => assert!(self.is_expected(&error), "{error}"),
            }
        }
    }

    fn get_and_touch(&self, key: &[u8]) -> Result<bool> {
        let entry = self.table.get_and_touch(key, Expiry::After(mortal::HOUR))?;
        if let Some(entry) = &entry {
            let fits = self.model[key].contains(&entry.value) || self.is_touched(key);
            assert!(fits, "wrong value for {}", String::from_utf8_lossy(key));
        }
        Ok(entry.is_some())
    }

    fn count(&mut self, key: Vec<u8>) {
        let text = |count: u64| count.to_string().into_bytes();
        match self.table.incr(&key, 1) {
            Ok(now) => {
                let allowed = &self.model[&key];
                // A counter that was lost begins again.
                let fits = now == 1 || allowed.contains(&text(now - 1)) || self.is_touched(&key);
                assert!(fits, "{now} for {}", String::from_utf8_lossy(&key));
                self.written(&key, Some(text(now)), Ok(true));
            }
            Err(Error::NotACounter | Error::Full { .. }) => {}
            Err(error) => assert!(self.is_expected(&error), "{error}"),
        }
    }
}
