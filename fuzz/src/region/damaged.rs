//! Operations on a table that may be damaged.

use crate::lengths::Lengths;
use crate::op::{Key, Op, Value};
use tavola::{CasOutcome, Error, Hint, Result, Table};

/// Damage may be told; nothing else may go wrong.
pub(crate) fn tolerate(outcome: Result<()>) {
    match outcome {
        Ok(()) | Err(Error::Corrupt { .. } | Error::Full { .. } | Error::NotACounter) => {}
        Err(error) => panic!("{error}"),
    }
}

pub(crate) struct Damaged<'a> {
    table: &'a Table,
    /// What the superblock tells; nobody changes it while the table is open.
    lengths: Lengths,
    /// All uids that were told.
    told: Vec<Hint>,
}

impl<'a> Damaged<'a> {
    pub(crate) fn new(table: &'a Table, lengths: Lengths, told: Vec<Hint>) -> Self {
        Self {
            table,
            lengths,
            told,
        }
    }

    pub(crate) fn play(&mut self, op: &Op) -> Result<()> {
        let (table, lengths) = (self.table, self.lengths);
        let bytes = |key| lengths.key(key);
        match *op {
            Op::Get(key) => table.get(&bytes(key)).map(drop),
            Op::Contains(key) => table.contains(&bytes(key)).map(drop),
            Op::Set(key, value) => self.write(key, value, |key, value| table.set(key, value)),
            Op::Add(key, value) => self.write(key, value, |key, value| table.add(key, value)),
            Op::Replace(key, value) => {
                self.write(key, value, |key, value| table.replace(key, value))
            }
            Op::Append(key, value) => {
                let more = lengths.more(value);
                self.judge(table.append(&bytes(key), &more), lengths.bear(&more))
            }
            Op::Prepend(key, value) => {
                let more = lengths.more(value);
                self.judge(table.prepend(&bytes(key), &more), lengths.bear(&more))
            }
            Op::Swap(key, value) => self.write(key, value, |key, value| table.swap(key, value)),
            Op::Remove(key) => table.remove(&bytes(key)).map(drop),
            Op::Take(key) => table.take(&bytes(key)).map(drop),
            Op::Update(key, value) => self.update(&bytes(key), &lengths.value(value)),
            Op::Incr(key, by) => self.demand(table.incr(&bytes(key), by), !lengths.are_fixed()),
            Op::Decr(key, by) => self.demand(table.decr(&bytes(key), by), !lengths.are_fixed()),
            Op::CompareAndSwap(key, value, _) => self.cas(&bytes(key), &lengths.value(value)),
            Op::SetMany(first, count) => {
                let pairs = lengths.many(first, count);
                let fit = pairs
                    .iter()
                    .all(|(key, value)| lengths.fit(key, value.len()));
                match table.set_many(&pairs) {
                    // Of a pair before the one that does not fit.
                    full @ Err(Error::Full { .. }) => full,
                    answer => self.demand(answer, fit),
                }
            }
            Op::RemoveMany(first, count) => {
                let pairs = lengths.many(first, count);
                let mut keys = pairs.iter().map(|(key, _)| key);
                keys.try_for_each(|key| table.remove(key).map(drop))
            }
            Op::GetMany(first, count) => {
                let pairs = lengths.many(first, count);
                let keys: Vec<&Vec<u8>> = pairs.iter().map(|(key, _)| key).collect();
                table.get_many(&keys, |_, _| {})
            }
            Op::SetUid(..) | Op::UidOf(_) | Op::SetByUid(..) | Op::SetUidMany(..) => {
                self.play_uid(op)
            }
            Op::SetWith(..) | Op::Touch(..) | Op::GetAndTouch(..) | Op::Persist(_) => {
                self.play_times(op)
            }
            Op::Ttl(key) => table.ttl(&bytes(key)).map(drop),
            Op::GetByUid(uid) => table.get_by_uid(uid.hint(&self.told)).map(drop),
            Op::RemoveByUid(uid) => table.remove_by_uid(uid.hint(&self.told)).map(drop),
            Op::KeyOfUid(uid) => table.key_of_uid(uid.hint(&self.told)).map(drop),
            Op::Walk => table.iter().try_for_each(|entry| entry.map(drop)),
            Op::Check => table.check().map(drop),
            Op::Clear => table.clear(),
            Op::Maintain => table.maintain(1 << 20).map(drop),
            Op::Stats => table.stats().map(drop),
        }
    }

    /// Those that may ask for room for a uid, or for lengths that the key of a uid must have.
    fn play_uid(&mut self, op: &Op) -> Result<()> {
        let lengths = self.lengths;
        match *op {
            Op::SetUid(key, value) => self.set_uid(&lengths.key(key), &lengths.value(value)),
            Op::UidOf(key) => match self.table.uid_of(&lengths.key(key)) {
                // Only of a key that is there.
                Err(Error::NoUids) if !lengths.have_uids() => Ok(()),
                Ok(Some(_)) if !lengths.have_uids() => panic!("a uid that has no room"),
                answer => answer.map(|hint| self.told.extend(hint)),
            },
            Op::SetByUid(uid, value) => {
                let value = lengths.value(value);
                let set = self.table.set_by_uid(uid.hint(&self.told), &value);
                self.judge(set, lengths.fit_value(value.len()))
            }
            Op::SetUidMany(first, count) => {
                let pairs = lengths.many(first, count);
                let mut pairs = pairs.iter();
                pairs.try_for_each(|(key, value)| self.set_uid(key, value))
            }
            _ => Ok(()),
        }
    }

    /// Those that may ask for room for a time or flags.
    fn play_times(&self, op: &Op) -> Result<()> {
        let (table, lengths) = (self.table, self.lengths);
        let (answer, is_there) = match *op {
            Op::SetWith(key, value, life, flags) if life.says_nothing(flags) => {
                let attributes = life.attributes(flags);
                return self.write(key, value, |key, value| {
                    table.set_with(key, value, attributes)
                });
            }
            Op::SetWith(key, value, life, flags) => {
                let (key, value) = (lengths.key(key), lengths.value(value));
                let stored = table.set_with(&key, &value, life.attributes(flags));
                (stored, true)
            }
            Op::Touch(key, life) => (
                table.touch(&lengths.key(key), life.expiry()).map(drop),
                true,
            ),
            Op::GetAndTouch(key, life) => {
                let got = table.get_and_touch(&lengths.key(key), life.expiry());
                let is_there = matches!(got, Ok(Some(_)));
                (got.map(drop), is_there)
            }
            Op::Persist(key) => (table.persist(&lengths.key(key)).map(drop), true),
            _ => return Ok(()),
        };
        match answer {
            Err(Error::BadOption { .. }) if lengths.are_fixed() => Ok(()),
            Ok(()) if lengths.are_fixed() && is_there => panic!("attributes that have no room"),
            answer => answer,
        }
    }

    /// A write that is refused whenever a length does not fit.
    fn write<T>(
        &self,
        key: Key,
        value: Value,
        write: impl FnOnce(&[u8], &[u8]) -> Result<T>,
    ) -> Result<()> {
        let (key, value) = (self.lengths.key(key), self.lengths.value(value));
        let fits = self.lengths.fit(&key, value.len());
        self.demand(write(&key, &value), fits)
    }

    /// What is there is removed, whatever the new value is.
    fn update(&self, key: &[u8], value: &[u8]) -> Result<()> {
        let turned = |old: Option<&[u8]>| old.is_none().then(|| value.to_vec());
        let fits = self.lengths.fit(key, value.len());
        let stored = self.table.update(key, turned);
        self.judge(stored.map(|stored| stored.is_some()), fits)
    }

    fn cas(&self, key: &[u8], value: &[u8]) -> Result<()> {
        let Some((_, token)) = self.table.get_with_token(key)? else {
            return Ok(());
        };
        let fits = self.lengths.fit(key, value.len());
        let outcome = self.table.compare_and_swap(key, token, value);
        self.judge(outcome.map(|outcome| outcome == CasOutcome::Swapped), fits)
    }

    fn set_uid(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let answer = self.table.set_uid(key, value);
        if !self.lengths.fit(key, value.len()) {
            return self.demand(answer, false);
        }
        match answer {
            Err(Error::NoUids) if !self.lengths.have_uids() => Ok(()),
            Ok(_) if !self.lengths.have_uids() => panic!("a uid that has no room"),
            answer => answer.map(|hint| self.told.push(hint)),
        }
    }

    /// The answer to an operation that does nothing if it does not fit.
    fn demand<T>(&self, answer: Result<T>, fits: bool) -> Result<()> {
        self.judge(answer.map(|_| true), fits)
    }

    /// The answer to an operation that stores nothing if it does not fit, and says whether it
    /// stored something. Damage may come first.
    fn judge(&self, stored: Result<bool>, fits: bool) -> Result<()> {
        match stored {
            Ok(true) if !fits => panic!("other lengths are taken"),
            Err(error @ (Error::Full { .. } | Error::NotACounter)) if !fits => {
                panic!("{error}, where lengths do not fit")
            }
            Err(error) if !fits && self.lengths.are_told(&error) => Ok(()),
            stored => stored.map(drop),
        }
    }
}
