//! Operations by uid.

use super::{Entry, Pair};
use crate::op::Uid;
use std::collections::HashMap;
use tavola::{Error, Hint};

/// Uids looked at in one check of them: the last that were told.
const MOST_TOLD: usize = 1000;

impl Pair {
    pub(super) fn set_uid(&mut self, (key, value): Entry) {
        let answer = self.table.set_uid(&key, &value);
        let fits = self.lengths.fit(&key, value.len());
        if fits && !self.lengths.have_uids() {
            return self.without_uids(answer, &key);
        }
        if let Some(hint) = self.unless_refused(answer, &key, fits) {
            self.renew(key.clone(), value);
            self.learn(key, hint);
        }
    }

    /// A table whose items have no room for uids says so, and nothing has changed.
    fn without_uids<T>(&self, answer: tavola::Result<T>, key: &[u8]) {
        assert!(
            matches!(answer, Err(Error::NoUids)),
            "a uid that has no room"
        );
        self.unchanged(key);
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

    pub(super) fn uid_of(&mut self, key: Vec<u8>) {
        let answer = self.table.uid_of(&key);
        let is_there = self.model.contains_key(&key);
        if is_there && !self.lengths.have_uids() {
            return self.without_uids(answer, &key);
        }
        if let Some(hint) = self.unless_refused(answer, &key, true) {
            assert_eq!(hint.is_some(), is_there);
            if let Some(hint) = hint {
                self.learn(key, hint);
            }
        }
    }

    /// The key of a uid, which is the one it is known to be of.
    pub(super) fn key_of(&mut self, asked: Hint) -> Option<Vec<u8>> {
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

    pub(super) fn get_by_uid(&mut self, asked: Hint) {
        let value = self.table.get_by_uid(asked).unwrap();
        let key = self.key_of(asked);
        assert_eq!(value.as_ref(), key.and_then(|key| self.model.get(&key)));
    }

    pub(super) fn set_by_uid(&mut self, uid: Uid, value: Vec<u8>) {
        let asked = uid.hint(&self.told);
        let key = self.key_of(asked);
        let answer = self.table.set_by_uid(asked, &value);
        let meant = key.as_deref().unwrap_or_default();
        let fits = key.is_none() || self.lengths.fit(meant, value.len());
        if let Some(set) = self.unless_refused(answer, meant, fits) {
            assert_eq!(set, key.is_some());
            key.map(|key| self.renew(key, value));
        }
        self.get_by_uid(asked);
    }

    pub(super) fn remove_by_uid(&mut self, uid: Uid) {
        let asked = uid.hint(&self.told);
        let key = self.key_of(asked);
        let removed = self.table.remove_by_uid(asked).unwrap();
        assert_eq!(removed, key.is_some());
        if let Some(key) = key {
            self.model.remove(&key);
            self.hints.remove(&key);
            self.marks.remove(&key);
        }
        self.get_by_uid(asked);
    }

    /// Keys have the uids that were told; uids of keys that are gone lead nowhere.
    pub(super) fn agree_by_uid(&self) {
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
        self.assert_count(self.table.stats().unwrap().uids, named);
    }
}
