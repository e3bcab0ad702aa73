//! What a key holds: a value and its attributes.

use std::ops::{BitOr, Deref};
use std::sync::Arc;
use std::time::Duration;
use tavola::{Attributes, Entry, Expiry};

const HOUR: Duration = Duration::from_secs(3600);

/// A key or a value, shared between copies of a model.
pub type Bytes = Arc<[u8]>;

/// How long a key is to live: no test waits for a time to pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// As long as the table says; forever in the tables that are compared with a model.
    Default,
    /// It never expires.
    Forever,
    /// A number of hours, or 0 for any other time that was read.
    Hours(u32),
    /// It has expired when it is stored.
    Gone,
}

impl Life {
    /// Returns what the library calls it.
    pub fn expiry(self) -> Expiry {
        match self {
            Self::Default => Expiry::Default,
            Self::Forever => Expiry::Never,
            Self::Hours(hours) => Expiry::After(HOUR * hours),
            Self::Gone => Expiry::PAST,
        }
    }

    /// Returns it with flags.
    pub fn with(self, flags: u32) -> Attributes {
        Attributes {
            expiry: self.expiry(),
            flags,
        }
    }

    /// Returns the life of which this is left within half an hour.
    pub(crate) fn of(left: Expiry) -> Self {
        let hours = |left: Duration| left.as_nanos().div_ceil(HOUR.as_nanos()) as u32;
        match left {
            Expiry::Never => Self::Forever,
            Expiry::After(left) if left + HOUR / 2 > HOUR * hours(left) => Self::Hours(hours(left)),
            _ => Self::Hours(0),
        }
    }
}

/// Tags, a bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tags(pub u64);

impl Tags {
    /// Returns their names.
    pub fn names(self) -> Vec<String> {
        let bits = (0..64).filter(|bit| self.0 >> bit & 1 == 1);
        bits.map(|bit| format!("tag {bit}")).collect()
    }

    /// Returns whether one of them is one of `others`.
    pub fn meet(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }
}

impl BitOr for Tags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// A value with its attributes; never of a key that has expired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    value: Bytes,
    pub(crate) life: Life,
    flags: u32,
    marks: u32,
    tags: Tags,
}

impl Deref for Held {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.value
    }
}

impl Held {
    /// Makes a value with nothing beside it.
    pub fn plain(value: &[u8]) -> Self {
        Self {
            value: value.into(),
            life: Life::Forever,
            flags: 0,
            marks: 0,
            tags: Tags::default(),
        }
    }

    /// Returns what is there when a key was stored so: nothing, if it has expired.
    pub(crate) fn with(value: &[u8], life: Life, flags: u32) -> Option<Self> {
        let plain = Self::plain(value);
        Self { flags, ..plain }.touched(life)
    }

    /// Returns what an entry that was read holds, without the tags.
    pub(crate) fn read(entry: &Entry) -> Self {
        Self {
            life: Life::of(entry.attributes.expiry),
            flags: entry.attributes.flags,
            marks: entry.marks,
            ..Self::plain(&entry.value)
        }
    }

    /// Returns the value.
    pub(crate) fn value(&self) -> Bytes {
        Bytes::clone(&self.value)
    }

    /// Returns its tags.
    pub fn tags(&self) -> Tags {
        self.tags
    }

    /// Returns the same with these tags and no others.
    pub(crate) fn tagged(self, tags: Tags) -> Self {
        Self { tags, ..self }
    }

    /// Returns the same with another value.
    pub(crate) fn of(&self, value: &[u8]) -> Self {
        let value = value.into();
        Self { value, ..*self }
    }

    /// Returns the same with another time.
    pub(crate) fn touched(self, life: Life) -> Option<Self> {
        match life {
            Life::Gone => None,
            Life::Default => self.touched(Life::Forever),
            life => Some(Self { life, ..self }),
        }
    }

    /// Returns the same with more marks.
    pub(crate) fn marked(self, bits: u32) -> Self {
        let marks = self.marks | bits;
        Self { marks, ..self }
    }

    /// Returns whether the library sees a stale value in it ([`lease_options`]).
    ///
    /// [`lease_options`]: crate::lease_options
    pub(crate) fn is_stale(&self) -> bool {
        matches!(self.life, Life::Hours(..=3))
    }

    /// Returns whether the value has attributes, except tags.
    pub fn has_attributes(&self) -> bool {
        (self.life, self.flags, self.marks) != (Life::Forever, 0, 0)
    }

    /// Returns whether this is what a key holds.
    pub fn is(&self, found: &Entry) -> bool {
        self.value[..] == found.value[..] && self.has(found.attributes) && self.marks == found.marks
    }

    /// Returns whether a key holds what it should, or is missing as it should.
    pub fn are(held: Option<&Self>, found: Option<&Entry>) -> bool {
        match (held, found) {
            (Some(held), Some(entry)) => held.is(entry),
            (held, entry) => held.is_none() && entry.is_none(),
        }
    }

    /// Returns whether these are its attributes.
    pub fn has(&self, attributes: Attributes) -> bool {
        self.flags == attributes.flags && self.life == Life::of(attributes.expiry)
    }
}
