//! What an operation should answer, and what it changes.

use crate::answer::{Answer, Refusal};
use crate::fixed::Needs;
use crate::held::{Bytes, Held, Life, Tags};
use crate::model::{Effect, Model};
use crate::op::{End, Op};
use tavola::CasOutcome;

type Expected = (Answer, Effect);

/// What becomes of a number, by another.
type Change = fn(u64, u64) -> u64;

/// An answer to an operation that changes nothing.
fn only(answer: Answer) -> Expected {
    (answer, Effect::new())
}

fn put(key: &[u8], held: Option<Held>) -> Effect {
    vec![(key.into(), held)]
}

fn plain(key: &[u8], value: &[u8]) -> Effect {
    put(key, Some(Held::plain(value)))
}

impl Model {
    /// Returns what a table that holds this should answer, and what the operation changes.
    pub fn expect(&self, op: &Op) -> Expected {
        if let Some(refused) = self.refused(op) {
            return refused;
        }
        match op {
            Op::Get(_) | Op::Contains(_) | Op::GetMany(_) | Op::Ttl(_) => only(self.found(op)),
            Op::GetByUid(_) | Op::KeyOfUid(_) | Op::SetByUid(..) => self.by_uid(op),
            Op::UpdateByUid(..) | Op::RemoveByUid(_) | Op::TouchByUid(..) => self.by_uid(op),
            Op::IncrByUid(..) | Op::DecrByUid(..) => self.by_uid(op),
            Op::AppendWith(..) | Op::PrependWith(..) => self.joined(op),
            Op::SetWith(..) | Op::AddWith(..) | Op::Touch(..) => self.with_attributes(op),
            Op::GetAndTouch(..) | Op::Persist(_) | Op::Mark(..) => self.with_attributes(op),
            Op::SetMarked(..) | Op::SetTagged(..) | Op::Invalidate(_) => self.with_attributes(op),
            Op::Append(..) | Op::Prepend(..) | Op::Update(..) | Op::Turn(..) => self.changed(op),
            Op::Incr(..) | Op::Decr(..) | Op::IncrWith(..) | Op::DecrWith(..) => self.counted(op),
            Op::Set(key, value) => (Answer::Done, plain(key, value)),
            Op::SetMany(pairs) => {
                let each = pairs.iter().map(|(key, value)| plain(key, value));
                (Answer::Done, each.flatten().collect())
            }
            Op::Transaction(changes) => self.at_once(changes),
            Op::SetViewed(key, value) => (self.was(key), plain(key, value)),
            Op::SetUid(key, value) => (self.uid_of(key), plain(key, value)),
            Op::UidOf(key) if self.contains_key(&key[..]) => only(self.uid_of(key)),
            Op::UidOf(_) => only(Answer::Uid(None)),
            Op::Add(key, value) => self.only_if(!self.contains_key(&key[..]), plain(key, value)),
            Op::Replace(key, value) => self.only_if(self.contains_key(&key[..]), plain(key, value)),
            Op::Swap(key, value) => (self.value(key), plain(key, value)),
            Op::CompareAndSwap(key, value, between) => self.swapped(key, value, between.as_deref()),
            Op::Remove(key) => self.only_if(self.contains_key(&key[..]), put(key, None)),
            Op::Take(key) => (
                self.value(key),
                self.only_if(self.contains_key(&key[..]), put(key, None)).1,
            ),
            Op::Lease(key, end) => self.leased(key, end),
            Op::Clear => {
                let all = self.keys().map(|key| (Bytes::clone(key), None));
                (Answer::Done, all.collect())
            }
            Op::Check | Op::Repair => only(Answer::Was(true)),
            Op::Walk | Op::Stats | Op::Reclaim | Op::Compact | Op::Maintain => only(Answer::Done),
            Op::RemoveExpired | Op::SetCapacity(_) => only(Answer::Done),
        }
    }

    /// The refusal of a table of fixed lengths. Of many keys those before the one that does not fit
    /// are set.
    fn refused(&self, op: &Op) -> Option<Expected> {
        let fixed = self.fixed?;
        let (refusal, needs) = fixed.refusal(op)?;
        let mut keys = self.keys_of(op).into_iter();
        let is_there = keys.next().is_some_and(|key| self.contains_key(&key));
        let is_late = || {
            let answer = match op {
                Op::CompareAndSwap(key, value, between) => {
                    self.swapped(key, value, between.as_deref()).0
                }
                _ => return false,
            };
            answer == Answer::Swap(CasOutcome::Changed)
        };
        let is_refused = match needs {
            Needs::Nothing => true,
            Needs::Key => is_there && !is_late(),
            Needs::NoKey => !is_there,
        };
        let set = match op {
            Op::SetMany(pairs) => {
                let before = pairs
                    .iter()
                    .take_while(|(key, value)| fixed.fit(key, value));
                before.flat_map(|(key, value)| plain(key, value)).collect()
            }
            _ => Effect::new(),
        };
        is_refused.then_some((Answer::Refused(refusal), set))
    }

    /// Each change finds what those before it have left.
    fn at_once(&self, changes: &[(Vec<u8>, Option<Vec<u8>>)]) -> Expected {
        let mut effect = Effect::new();
        let mut values = Vec::new();
        for (key, value) in changes {
            let own = effect.iter().rev().find(|(other, _)| other[..] == key[..]);
            let held = match own {
                Some((_, held)) => held.as_ref(),
                None => self.get(&key[..]),
            };
            values.push(held.map(Held::value));
            let held = value.as_ref().map(|value| Held::plain(value));
            effect.push((key[..].into(), held));
        }
        (Answer::Values(values), effect)
    }

    fn found(&self, op: &Op) -> Answer {
        match op {
            Op::Get(key) => self.value(key),
            Op::GetMany(keys) => {
                let values = keys.iter().map(|key| self.get(&key[..]).map(Held::value));
                Answer::Values(values.collect())
            }
            Op::Ttl(key) => Answer::Life(self.get(&key[..]).map(|held| held.life)),
            Op::Contains(key) => self.was(key),
            _ => Answer::Any,
        }
    }

    fn was(&self, key: &[u8]) -> Answer {
        Answer::Was(self.contains_key(key))
    }

    fn value(&self, key: &[u8]) -> Answer {
        Answer::Value(self.get(key).map(Held::value))
    }

    fn uid_of(&self, key: &[u8]) -> Answer {
        let known = self.hints.get(key);
        known.map_or(Answer::AnyUid, |hint| Answer::Uid(Some(*hint)))
    }

    fn only_if(&self, is_done: bool, effect: Effect) -> Expected {
        let effect = if is_done { effect } else { Effect::new() };
        (Answer::Was(is_done), effect)
    }

    fn by_uid(&self, op: &Op) -> Expected {
        let key = op.uid().and_then(|uid| self.key_of(uid));
        let Some(key) = key else {
            return only(match op {
                Op::GetByUid(_) => Answer::Value(None),
                Op::KeyOfUid(_) => Answer::Key(None),
                Op::IncrByUid(..) | Op::DecrByUid(..) => Answer::Count(None),
                _ => Answer::Was(false),
            });
        };
        let effect = match op {
            Op::GetByUid(_) => return only(self.value(&key)),
            Op::KeyOfUid(_) => return only(Answer::Key(Some(key))),
            Op::IncrByUid(_, by) => return self.number_changed(&key, u64::wrapping_add, *by),
            Op::DecrByUid(_, by) => return self.number_changed(&key, u64::saturating_sub, *by),
            Op::TouchByUid(_, life) => return self.touched(&key, *life),
            Op::SetByUid(_, value) => Some(Held::plain(value)),
            Op::UpdateByUid(_, value) => Some(self[&key].of(value)),
            _ => None,
        };
        (Answer::Was(true), put(&key, effect))
    }

    /// A value is made of the one before.
    fn changed(&self, op: &Op) -> Expected {
        let (Op::Append(key, more)
        | Op::Prepend(key, more)
        | Op::Update(key, more)
        | Op::Turn(key, more)) = op
        else {
            return only(Answer::Any);
        };
        let old = self.get(&key[..]);
        let held = match (op, old) {
            (Op::Turn(..), Some(_)) => return (Answer::Value(None), put(key, None)),
            (Op::Update(..) | Op::Turn(..), None) => Held::plain(more),
            (_, None) => return only(Answer::Was(false)),
            (Op::Prepend(..), Some(old)) => old.of(&[more, &old[..]].concat()),
            (_, Some(old)) => old.of(&[&old[..], more].concat()),
        };
        let answer = match op {
            Op::Update(..) | Op::Turn(..) => Answer::Value(Some(held.value())),
            _ => Answer::Was(true),
        };
        (answer, put(key, Some(held)))
    }

    /// A value becomes longer; a missing one is made.
    fn joined(&self, op: &Op) -> Expected {
        let (Op::AppendWith(key, more, life, flags) | Op::PrependWith(key, more, life, flags)) = op
        else {
            return only(Answer::Any);
        };
        let (len, held) = match (op, self.get(&key[..])) {
            (_, None) => (more.len(), Held::with(more, *life, *flags)),
            (Op::PrependWith(..), Some(old)) => (
                old.len() + more.len(),
                Some(old.of(&[more, &old[..]].concat())),
            ),
            (_, Some(old)) => (
                old.len() + more.len(),
                Some(old.of(&[&old[..], more].concat())),
            ),
        };
        (Answer::Count(Some(len as u64)), put(key, held))
    }

    fn counted(&self, op: &Op) -> Expected {
        let (up, down): (Change, Change) = (u64::wrapping_add, u64::saturating_sub);
        let (key, change, by, initial, life, flags) = match op {
            Op::Incr(key, by) => (key, up, *by, Some(*by), Life::Forever, 0),
            Op::Decr(key, by) => (key, down, *by, Some(0), Life::Forever, 0),
            Op::IncrWith(key, by, initial, life, flags) => (key, up, *by, *initial, *life, *flags),
            Op::DecrWith(key, by, initial, life, flags) => {
                (key, down, *by, *initial, *life, *flags)
            }
            _ => return only(Answer::Any),
        };
        if self.contains_key(&key[..]) {
            return self.number_changed(key, change, by);
        }
        let held = initial.map(|count| put(key, Held::with(&self.number(count), life, flags)));
        (Answer::Count(initial), held.unwrap_or_default())
    }

    /// The number of a key that is there changes.
    fn number_changed(&self, key: &[u8], change: Change, by: u64) -> Expected {
        let old = &self[key];
        let number = match (self.fixed, <[u8; 8]>::try_from(&old[..])) {
            (Some(_), word) => word.ok().map(u64::from_ne_bytes),
            (None, _) => number(old),
        };
        let Some(number) = number else {
            return only(Answer::Refused(Refusal::NotACounter));
        };
        let number = change(number, by);
        let held = old.of(&self.number(number));
        (Answer::Count(Some(number)), put(key, Some(held)))
    }

    /// Returns the value that stands for a number.
    fn number(&self, number: u64) -> Vec<u8> {
        match self.fixed {
            Some(_) => number.to_ne_bytes().to_vec(),
            None => number.to_string().into_bytes(),
        }
    }

    fn with_attributes(&self, op: &Op) -> Expected {
        match op {
            Op::SetWith(key, value, life, flags) => {
                (Answer::Done, put(key, Held::with(value, *life, *flags)))
            }
            Op::AddWith(key, value, life, flags) => {
                let held = Held::with(value, *life, *flags);
                self.only_if(!self.contains_key(&key[..]), put(key, held))
            }
            Op::Touch(key, life) => self.touched(key, *life),
            Op::Persist(key) => self.touched(key, Life::Forever),
            Op::GetAndTouch(key, life) => {
                let read = |held: &Held| held.clone().tagged(Tags::default());
                (
                    Answer::Held(self.get(&key[..]).map(read)),
                    self.touched(key, *life).1,
                )
            }
            Op::Mark(key, bits) => {
                let marked = self.get(&key[..]).map(|held| held.clone().marked(*bits));
                self.only_if(marked.is_some(), put(key, marked))
            }
            Op::SetMarked(key, value, bits) => (
                Answer::Done,
                put(key, Some(Held::plain(value).marked(*bits))),
            ),
            Op::SetTagged(key, value, tags, late) => {
                let mut effect = late.map_or_else(Effect::new, |late| self.without(late));
                let is_old = late.is_some_and(|late| late.meet(*tags));
                let held = (!is_old).then(|| Held::plain(value).tagged(*tags));
                effect.extend(put(key, held));
                (Answer::Done, effect)
            }
            Op::Invalidate(tags) => match self.without(*tags) {
                // The tag may be there, and no key has it any more.
                none if none.is_empty() => only(Answer::Any),
                effect => (Answer::Was(true), effect),
            },
            _ => only(Answer::Any),
        }
    }

    fn touched(&self, key: &[u8], life: Life) -> Expected {
        let old = self.get(key).cloned();
        let is_there = old.is_some();
        self.only_if(is_there, put(key, old.and_then(|held| held.touched(life))))
    }

    /// All keys with one of these tags go.
    fn without(&self, tags: Tags) -> Effect {
        let has = self.iter().filter(|(_, held)| held.tags().meet(tags));
        has.map(|(key, _)| (Bytes::clone(key), None)).collect()
    }

    /// A token is a hash of the value, or in tables with versions the version, which is another one
    /// after each change.
    fn swapped(&self, key: &[u8], value: &[u8], between: Option<&[u8]>) -> Expected {
        let (outcome, effect) = match (self.get(key), between) {
            (None, _) => (CasOutcome::NotFound, Effect::new()),
            (Some(old), Some(between)) if old[..] != *between => {
                (CasOutcome::Changed, plain(key, between))
            }
            (Some(_), _) => (CasOutcome::Swapped, plain(key, value)),
        };
        (Answer::Swap(outcome), effect)
    }

    fn leased(&self, key: &[u8], end: &End) -> Expected {
        let effect = match end {
            End::Fill(value) => put(key, Held::with(value, Life::Hours(4), 0)),
            _ => Effect::new(),
        };
        self.only_if(self.is_to_be_had(key), effect)
    }
}

fn number(text: &[u8]) -> Option<u64> {
    let is_number = !text.is_empty() && text.len() <= 20 && text.iter().all(u8::is_ascii_digit);
    is_number.then(|| std::str::from_utf8(text).ok()?.parse().ok())?
}
