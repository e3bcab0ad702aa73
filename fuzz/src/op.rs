//! Operations, as an input tells them.

use arbitrary::Arbitrary;
use std::time::Duration;
use tavola::{Attributes, Expiry, Hint};

/// One of a small set of keys, so that operations meet.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub struct Key(pub u8);

impl Key {
    pub fn bytes(self) -> Vec<u8> {
        match self.0 {
            0 => Vec::new(),
            1 => vec![b'k'; 300],
            2 => vec![b'K'; 17_000],
            3 => vec![0; 8],
            n => format!("key {n}").into_bytes(),
        }
    }
}

/// A value: its size in steps that meet all size classes and chains, its bytes all the same but for
/// their place; or a number.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub struct Value {
    /// The low three bits: the step, or that it is a number; the rest: how many.
    pub size: u16,
    pub fill: u8,
}

impl Value {
    pub fn bytes(self) -> Vec<u8> {
        let count = usize::from(self.size >> 3);
        let len = match self.size & 7 {
            0 => count * 8,
            1 => count * 4,
            2 => return count.to_string().into_bytes(),
            _ => count % 300,
        };
        self.filled(len)
    }

    /// So many bytes of its own.
    pub fn filled(self, len: usize) -> Vec<u8> {
        (0..len)
            .map(|i| (i as u8).wrapping_add(self.fill))
            .collect()
    }
}

/// A uid that was told some time, with its generation or without, or any number at all.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum Uid {
    Told(u16),
    Plain(u16),
    Number(u32),
}

impl Uid {
    /// What to ask for; the last uids told come first.
    pub fn hint(self, told: &[Hint]) -> Hint {
        let nth = |n: u16| {
            let n = usize::from(n) % told.len().max(1);
            told.iter().rev().nth(n).copied()
        };
        match self {
            Self::Told(n) => nth(n).unwrap_or(Hint::from(0)),
            Self::Plain(n) => nth(n).map_or(0, Hint::uid).into(),
            Self::Number(number) => number.into(),
        }
    }
}

/// When a key expires: never or long after the input's end, or at once. Nothing waits for a time.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    Default,
    Endless,
    Long,
    Over,
}

impl Life {
    /// Longer than any input takes.
    pub const LONG: Duration = Duration::from_secs(3600);

    pub fn expiry(self) -> Expiry {
        match self {
            Self::Default => Expiry::Default,
            Self::Endless => Expiry::Never,
            Self::Long => Expiry::After(Self::LONG),
            Self::Over => Expiry::PAST,
        }
    }

    /// With flags of the user's, often none.
    pub fn attributes(self, flags: u8) -> Attributes {
        Attributes {
            expiry: self.expiry(),
            flags: u32::from(flags % 4),
        }
    }

    /// Whether a key with these is one like any other, where the table has no time to live.
    pub fn says_nothing(self, flags: u8) -> bool {
        matches!(self, Self::Default | Self::Endless) && self.attributes(flags).flags == 0
    }
}

/// One operation.
#[derive(Arbitrary, Clone, Debug)]
pub enum Op {
    Get(Key),
    Contains(Key),
    Set(Key, Value),
    Add(Key, Value),
    Replace(Key, Value),
    Append(Key, Value),
    Prepend(Key, Value),
    Swap(Key, Value),
    Remove(Key),
    Take(Key),
    Update(Key, Value),
    Incr(Key, u64),
    Decr(Key, u64),
    /// With a token that is right, or of the time before another change.
    CompareAndSwap(Key, Value, bool),
    /// Many short keys at once, so that segments split.
    SetMany(u16, u8),
    RemoveMany(u16, u8),
    GetMany(u16, u8),
    SetUid(Key, Value),
    UidOf(Key),
    GetByUid(Uid),
    SetByUid(Uid, Value),
    RemoveByUid(Uid),
    KeyOfUid(Uid),
    /// So many that the uids of several chunks are given out.
    SetUidMany(u16, u8),
    SetWith(Key, Value, Life, u8),
    Touch(Key, Life),
    GetAndTouch(Key, Life),
    Persist(Key),
    Ttl(Key),
    Walk,
    Check,
    Clear,
    Maintain,
    Stats,
}

/// The keys of an operation on many.
pub fn many(first: u16, count: u8) -> Vec<[u8; 4]> {
    (0..u32::from(count) * 8)
        .map(|n| (u32::from(first) + n).to_le_bytes())
        .collect()
}
