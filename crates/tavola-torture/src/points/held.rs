//! What a key holds: a value, and what stands beside it.

use super::op::Bytes;
use std::ops::Deref;
use std::time::Duration;
use tavola::{Attributes, Entry, Expiry};

const HOUR: Duration = Duration::from_secs(3600);

/// How long a key is to live: no test waits for a time to pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    Forever,
    Hours(u32),
    /// Expired when it is stored.
    Gone,
}

impl Life {
    pub(crate) fn expiry(self) -> Expiry {
        match self {
            Self::Forever => Expiry::Never,
            Self::Hours(hours) => Expiry::After(HOUR * hours),
            Self::Gone => Expiry::PAST,
        }
    }

    /// Whether this is what is left of such a life within half an hour.
    fn is(self, left: Expiry) -> bool {
        match (self, left) {
            (Self::Forever, Expiry::Never) => true,
            (Self::Hours(hours), Expiry::After(left)) => {
                left <= HOUR * hours && left + HOUR / 2 > HOUR * hours
            }
            _ => false,
        }
    }
}

/// Names of tags.
pub(crate) type Names = &'static [&'static str];

/// A value with what stands beside it; never of a key that has expired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    value: Bytes,
    life: Life,
    flags: u32,
    marks: u32,
    tags: Names,
}

impl Deref for Held {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.value
    }
}

impl Held {
    /// A value and nothing beside it.
    pub(crate) fn plain(value: &[u8]) -> Self {
        Self {
            value: value.into(),
            life: Life::Forever,
            flags: 0,
            marks: 0,
            tags: &[],
        }
    }

    /// What is there when a key was stored so: nothing, where it has expired.
    pub(crate) fn with(value: &[u8], life: Life, flags: u32) -> Option<Self> {
        let plain = Self {
            flags,
            ..Self::plain(value)
        };
        plain.touched(life)
    }

    /// What is there when a key was stored with these tags.
    pub(crate) fn tagged(value: &[u8], tags: Names) -> Self {
        Self {
            tags,
            ..Self::plain(value)
        }
    }

    /// Its tags.
    pub(crate) fn tags(&self) -> Names {
        self.tags
    }

    /// Another value, beside which the same stands.
    pub(crate) fn of(&self, value: &[u8]) -> Self {
        Self {
            value: value.into(),
            ..*self
        }
    }

    /// The same with another time.
    pub(crate) fn touched(&self, life: Life) -> Option<Self> {
        let touched = Self {
            value: self.value.clone(),
            life,
            ..*self
        };
        (life != Life::Gone).then_some(touched)
    }

    /// The same with more marks.
    pub(crate) fn marked(&self, bits: u32) -> Self {
        Self {
            value: self.value.clone(),
            marks: self.marks | bits,
            ..*self
        }
    }

    /// Whether something stands beside the value.
    pub(crate) fn has_attributes(&self) -> bool {
        (self.life, self.flags, self.marks) != (Life::Forever, 0, 0)
    }

    /// Whether this is what a key holds.
    pub(crate) fn is(&self, found: &Entry) -> bool {
        self[..] == found.value[..] && self.has(found.attributes) && self.marks == found.marks
    }

    /// Whether this is what stands beside its value.
    pub(crate) fn has(&self, attributes: Attributes) -> bool {
        self.flags == attributes.flags && self.life.is(attributes.expiry)
    }
}
