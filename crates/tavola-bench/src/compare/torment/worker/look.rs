//! Parts that look at what is in the store.

use super::{Part, Refused, Store, value};
use crate::Result;

/// Puts after removals.
const FEW: u64 = 3;

impl Part<'_> {
    /// A key once seen must stay, and not go back to an older value.
    pub(super) fn read(&mut self, store: &mut dyn Store) -> Result<Refused> {
        let prefixes: Vec<char> = self.job.prefixes.chars().collect();
        let mut seen = vec![0; prefixes.len() * self.job.keys as usize];
        let mut state = self.job.seed | 1;
        loop {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let at = (state >> 33) as usize % seen.len();
            let prefix = prefixes[at / self.job.keys as usize];
            let key = value::key(prefix, at as u64 % self.job.keys);
            match store.get(&key) {
                Err(why) => return Ok(Err(why)),
                Ok(None) if seen[at] > 0 => self.notes.vanished += 1,
                Ok(None) => {}
                Ok(Some(found)) => match value::number_of(&key, &found, self.job.value_bytes) {
                    None => self.notes.wrong += 1,
                    Some(number) if number < seen[at] => self.notes.vanished += 1,
                    Some(number) => seen[at] = number,
                },
            }
            if !self.go_on()? {
                return Ok(Ok(()));
            }
        }
    }

    /// `from` is the last put that returned: each key has what was due then, or, where one more put
    /// may have been under way, that.
    pub(super) fn verify(&mut self, store: &mut dyn Store, puts: bool) -> Result<Refused> {
        let (keys, last) = (self.job.keys, self.job.from);
        for index in 0..keys.min(last.saturating_add(2)) {
            let key = value::key(self.prefix(), index);
            let due = value::due(index, keys, last);
            let found = match store.get(&key) {
                Ok(found) => found,
                Err(why) => return Ok(Err(why)),
            };
            let number = match &found {
                None => None,
                Some(found) => match value::number_of(&key, found, self.job.value_bytes) {
                    None => {
                        self.answer.torn += 1;
                        continue;
                    }
                    number => number,
                },
            };
            match number == due || number == Some(last + 1) {
                true => self.answer.good += 1,
                false => self.answer.lost += 1,
            }
        }
        if !puts {
            return Ok(store.close());
        }
        let probe = b"zprobe00";
        let put = store.put(probe, b"probe").and_then(|()| store.get(probe));
        self.answer.works = matches!(&put, Ok(Some(found)) if found == b"probe");
        self.answer.means = put.err().unwrap_or_default();
        Ok(store.close())
    }

    pub(super) fn remove(&mut self, store: &mut dyn Store) -> Result<Refused> {
        for number in 1..=self.job.from / 2 {
            let key = value::key(self.prefix(), number % self.job.keys);
            if let Err(why) = store.remove(&key) {
                return Ok(Err(why));
            }
        }
        for number in 1..=FEW {
            if let Err(why) = self.put(store, number) {
                return Ok(Err(why));
            }
            let key = value::key(self.prefix(), number % self.job.keys);
            let due = value::value(&key, number, self.job.value_bytes);
            self.answer.works = matches!(store.get(&key), Ok(Some(found)) if found == due);
        }
        Ok(store.close())
    }

    pub(super) fn probe(&mut self, store: &mut dyn Store) -> Result<Refused> {
        let key = vec![b'k'; self.job.key_bytes as usize];
        let value = vec![b'v'; self.job.value_bytes as usize];
        let seen = match store.put(&key, &value) {
            Err(why) => {
                self.answer.means = why;
                "refused"
            }
            Ok(()) => match store.get(&key) {
                Ok(Some(found)) if found == value => "same",
                Ok(Some(_)) => "other",
                Ok(None) => "missing",
                Err(why) => {
                    self.answer.means = why;
                    "missing"
                }
            },
        };
        self.answer.seen = seen.to_owned();
        Ok(store.close())
    }
}
