//! Operations on what keys have beside their values.

use super::{Entry, Pair};
use crate::op::Life;
use tavola::{Attributes, Error, Expiry};

/// What a key has beside its value, if it has anything.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Mark {
    is_mortal: bool,
    flags: u32,
}

impl Mark {
    fn is_of(self, attributes: Attributes) -> bool {
        self.flags == attributes.flags && self.is_when(attributes.expiry)
    }

    fn is_when(self, expiry: Expiry) -> bool {
        match expiry {
            Expiry::After(left) => self.is_mortal && left <= Life::LONG && left > Life::LONG / 2,
            expiry => !self.is_mortal && expiry == Expiry::Never,
        }
    }
}

impl Pair {
    fn mark(&self, key: &[u8]) -> Mark {
        self.marks.get(key).copied().unwrap_or_default()
    }

    /// A key is missing from now on, and its item may still be there.
    fn expire(&mut self, key: &[u8]) {
        if self.model.remove(key).is_some() {
            self.lingering += 1;
        }
        self.hints.remove(key);
        self.marks.remove(key);
    }

    /// In a table of fixed lengths there is no room for what keys have beside their values.
    fn without_room<T>(&self, answer: tavola::Result<T>, key: &[u8]) {
        let is_refused = matches!(answer, Err(Error::BadOption { .. }));
        assert!(is_refused, "attributes that have no room");
        self.unchanged(key);
    }

    pub(super) fn set_with(&mut self, (key, value): Entry, life: Life, flags: u8) {
        let attributes = life.attributes(flags);
        let answer = self.table.set_with(&key, &value, attributes);
        if self.lengths.are_fixed() && !life.says_nothing(flags) {
            return self.without_room(answer, &key);
        }
        let fits = self.lengths.fit(&key, value.len());
        if self.unless_refused(answer, &key, fits).is_none() {
            return;
        }
        self.model.insert(key.clone(), value);
        if life == Life::Over {
            return self.expire(&key);
        }
        let mark = Mark {
            is_mortal: life == Life::Long,
            flags: attributes.flags,
        };
        self.marks.insert(key, mark);
    }

    pub(super) fn touch(&mut self, key: &[u8], life: Life) {
        let answer = match life {
            Life::Endless => self.table.persist(key),
            _ => self.table.touch(key, life.expiry()),
        };
        if self.lengths.are_fixed() {
            return self.without_room(answer, key);
        }
        if let Some(touched) = self.unless_refused(answer, key, true) {
            assert_eq!(touched, self.model.contains_key(key));
            self.touched(key, life);
        }
    }

    pub(super) fn get_and_touch(&mut self, key: &[u8], life: Life) {
        let answer = self.table.get_and_touch(key, life.expiry());
        if self.lengths.are_fixed() && self.model.contains_key(key) {
            return self.without_room(answer, key);
        }
        if let Some(entry) = self.unless_refused(answer, key, true) {
            let before = entry.as_ref().map(|entry| &entry.value);
            assert_eq!(before, self.model.get(key));
            if let Some(entry) = &entry {
                assert!(self.mark(key).is_of(entry.attributes), "{entry:?}");
            }
            self.touched(key, life);
        }
    }

    fn touched(&mut self, key: &[u8], life: Life) {
        if life == Life::Over {
            self.expire(key);
        } else if self.model.contains_key(key) {
            let mark = Mark {
                is_mortal: life == Life::Long,
                ..self.mark(key)
            };
            self.marks.insert(key.to_vec(), mark);
        }
    }

    pub(super) fn ttl(&self, key: &[u8]) {
        let ttl = self.table.ttl(key).unwrap();
        assert_eq!(ttl.is_some(), self.model.contains_key(key));
        let is_right = ttl.is_none_or(|expiry| self.mark(key).is_when(expiry));
        assert!(is_right, "{ttl:?}");
    }

    /// So many are there of what only the keys of the model have, or more, whose keys have expired.
    pub(super) fn assert_count(&self, count: u64, of_model: usize) {
        let of_model = of_model as u64;
        assert!((of_model..=of_model + self.lingering).contains(&count));
    }

    /// Keys have what they were given beside their values.
    pub(super) fn agree_on_times(&self) {
        for key in self.model.keys() {
            let entry = self.table.get_entry(key).unwrap().expect("it is there");
            assert!(self.mark(key).is_of(entry.attributes), "{entry:?}");
        }
    }
}
