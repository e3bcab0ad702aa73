//! Answers of a table.

use crate::held::{Bytes, Held, Life};
use tavola::{CasOutcome, Error, Hint, Result};

/// Why an operation was refused; nothing has changed then, or of many keys those before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// There is no room.
    Full,
    /// The value is no number.
    NotACounter,
    /// The table has these lengths of keys and values, and others were given.
    Lengths(u32, u32),
    /// The items of the table have no room for attributes.
    BadOption,
    /// The items of the table have no room for uids.
    NoUids,
}

/// What an operation answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is done, and there is nothing to say.
    Done,
    /// Whether it found its key, or did what it was to do.
    Was(bool),
    /// A value.
    Value(Option<Bytes>),
    /// The values of many keys.
    Values(Vec<Option<Bytes>>),
    /// A value with its attributes, except tags.
    Held(Option<Held>),
    /// A count.
    Count(Option<u64>),
    /// When a key expires.
    Life(Option<Life>),
    /// How a swap by token ended.
    Swap(CasOutcome),
    /// A uid.
    Uid(Option<Hint>),
    /// The key of a uid.
    Key(Option<Bytes>),
    /// It was refused.
    Refused(Refusal),
    /// Of a model: a uid, and the model does not know which.
    AnyUid,
    /// Of a model: it does not know.
    Any,
}

impl Answer {
    /// Returns whether a table gave the answer that this is, of a model.
    pub fn agrees(&self, given: &Self) -> bool {
        match (self, given) {
            (Self::Any, _) => true,
            (Self::AnyUid, Self::Uid(Some(hint))) => hint.uid() != 0 && hint.generation() != 0,
            _ => self == given,
        }
    }

    /// Returns whether a key was missing, or whether nothing was stored for another reason.
    pub fn is_miss(&self) -> bool {
        match self {
            Self::Was(found) => !found,
            Self::Value(None) | Self::Held(None) | Self::Count(None) | Self::Life(None) => true,
            Self::Swap(outcome) => *outcome != CasOutcome::Swapped,
            Self::Uid(None) | Self::Key(None) => true,
            _ => false,
        }
    }

    /// Returns the refusal that an error is; any other error stays one.
    pub(crate) fn of(error: Error) -> Result<Self> {
        Ok(Self::Refused(match error {
            Error::Full { .. } => Refusal::Full,
            Error::NotACounter => Refusal::NotACounter,
            Error::Lengths { key, value } => Refusal::Lengths(key, value),
            Error::BadOption { .. } => Refusal::BadOption,
            Error::NoUids => Refusal::NoUids,
            error => return Err(error),
        }))
    }
}
