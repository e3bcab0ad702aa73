//! What tables of fixed lengths refuse.

use crate::answer::Refusal;
use crate::held::Life;
use crate::op::Op;

/// The lengths that all keys and all values of a table have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fixed {
    /// Bytes of a key.
    pub key: usize,
    /// Bytes of a value.
    pub value: usize,
    /// Whether items have room for a uid.
    pub uids: bool,
}

/// When an operation is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// In any case.
    Nothing,
    /// If its key is there.
    Key,
    /// If its key is missing.
    NoKey,
}

impl Fixed {
    /// Returns the refusal that names the lengths.
    pub fn lengths(self) -> Refusal {
        Refusal::Lengths(self.key as u32, self.value as u32)
    }

    /// Returns whether a key and a value have the lengths.
    pub fn fit(self, key: &[u8], value: &[u8]) -> bool {
        key.len() == self.key && value.len() == self.value
    }

    /// Returns why and when an operation is refused.
    pub fn refusal(self, op: &Op) -> Option<(Refusal, Needs)> {
        let lengths = self.lengths();
        let unless = |fits: bool, needs| (!fits).then_some((lengths, needs));
        match op {
            Op::SetWith(_, _, life, flags)
            | Op::AddWith(_, _, life, flags)
            | Op::AppendWith(_, _, life, flags)
            | Op::PrependWith(_, _, life, flags)
                if !matches!(life, Life::Default | Life::Forever) || *flags != 0 =>
            {
                Some((Refusal::BadOption, Needs::Nothing))
            }
            Op::Touch(..) | Op::Persist(_) => Some((Refusal::BadOption, Needs::Nothing)),
            Op::GetAndTouch(..) | Op::TouchByUid(..) => Some((Refusal::BadOption, Needs::Key)),
            Op::Set(key, value)
            | Op::SetWith(key, value, ..)
            | Op::AddWith(key, value, ..)
            | Op::Add(key, value)
            | Op::Replace(key, value)
            | Op::Swap(key, value) => unless(self.fit(key, value), Needs::Nothing),
            Op::SetMany(pairs) => {
                let all = pairs.iter().all(|(key, value)| self.fit(key, value));
                unless(all, Needs::Nothing)
            }
            Op::Transaction(changes) => {
                let fits = |(key, value): &(Vec<u8>, Option<Vec<u8>>)| {
                    value.as_ref().is_none_or(|value| self.fit(key, value))
                };
                unless(changes.iter().all(fits), Needs::Nothing)
            }
            Op::Append(_, more) | Op::Prepend(_, more) => unless(more.is_empty(), Needs::Key),
            // A new key fits with a whole value, one that is there with no byte more.
            Op::AppendWith(key, more, ..) | Op::PrependWith(key, more, ..) => {
                match (self.fit(key, more), more.is_empty()) {
                    (false, false) => Some((lengths, Needs::Nothing)),
                    (false, true) => Some((lengths, Needs::NoKey)),
                    (true, is_empty) => unless(is_empty, Needs::Key),
                }
            }
            Op::CompareAndSwap(key, value, _) => unless(self.fit(key, value), Needs::Key),
            // What is there is removed, whatever the value is.
            Op::Turn(key, value) => unless(self.fit(key, value), Needs::NoKey),
            Op::Incr(key, _) | Op::Decr(key, _) => unless(self.fit(key, &[0; 8]), Needs::Nothing),
            Op::IncrByUid(..) | Op::DecrByUid(..) => unless(self.value == 8, Needs::Key),
            Op::SetByUid(_, value) => unless(value.len() == self.value, Needs::Key),
            Op::SetUid(key, value) if !self.fit(key, value) => Some((lengths, Needs::Nothing)),
            Op::SetUid(..) if !self.uids => Some((Refusal::NoUids, Needs::Nothing)),
            Op::UidOf(_) if !self.uids => Some((Refusal::NoUids, Needs::Key)),
            _ => None,
        }
    }
}
