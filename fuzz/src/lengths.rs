//! How long the keys and values of a table are: as they come, or fixed.

use crate::op::{Key, Value};
use tavola::{Error, Options};
use tavola_model::Fixed;

/// Lengths of tables of fixed ones: words, aligned and not, no value, less than a word, a line and
/// less, the longest.
const PAIRS: [(usize, usize); 8] = [
    (8, 8),
    (16, 8),
    (4, 8),
    (4, 0),
    (3, 5),
    (16, 24),
    (8, 40),
    (300, 15_869),
];
/// Bytes of the pairs of one operation on many, at most.
const MOST_BYTES: usize = 1 << 20;

/// How many there are.
pub(crate) const COUNT: usize = PAIRS.len();

/// The lengths of that number.
pub(crate) fn nth_fixed(number: usize, uids: bool) -> Fixed {
    let (key, value) = PAIRS[number % COUNT];
    Fixed { key, value, uids }
}

/// Returns the key of a number, which is in its first three bytes.
pub(crate) fn key_of(number: u32, len: usize) -> Vec<u8> {
    let mut key = number.to_le_bytes().to_vec();
    key.resize(len, b'k');
    key
}

pub(crate) fn value_of(number: u32, len: usize) -> Vec<u8> {
    let bytes = number.to_le_bytes().into_iter();
    bytes.cycle().take(len).collect()
}

fn fixed_key(fixed: Fixed, key: Key) -> Vec<u8> {
    let len = match key.0 {
        0..=2 => return key.bytes(),
        n if n % 16 == 3 => fixed.key - 1,
        n if n % 16 == 4 => fixed.key + 1,
        _ => fixed.key,
    };
    key_of(u32::from(key.0), len)
}

fn fixed_value(fixed: Fixed, value: Value) -> Vec<u8> {
    let len = match value.size & 15 {
        0 => return value.bytes(),
        1 => fixed.value.saturating_sub(1),
        2 => fixed.value + 1,
        // A word, as values that are changed in place are.
        3 => 8,
        _ => fixed.value,
    };
    value.filled(len)
}

/// Of every eighth batch one key or one value is too long.
fn fixed_many(fixed: Fixed, first: u16, count: u8) -> Vec<(Vec<u8>, Vec<u8>)> {
    let most = MOST_BYTES / (fixed.key + fixed.value);
    let numbers = (u32::from(first)..).take(most.min(usize::from(count) * 8));
    let pair = |number| (key_of(number, fixed.key), value_of(number, fixed.value));
    let mut pairs: Vec<_> = numbers.map(pair).collect();
    let odd = usize::from(first >> 4) % pairs.len().max(1);
    if let (7, Some((key, value))) = (first % 8, pairs.get_mut(odd)) {
        let part = if first & 8 == 0 { key } else { value };
        part.push(b'x');
    }
    pairs
}

/// The fixed lengths of a table, if it has them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lengths(pub(crate) Option<Fixed>);

impl Lengths {
    pub(crate) fn options(self, options: Options) -> Options {
        match self.0 {
            None => options,
            Some(fixed) => options
                .fixed(fixed.key as u32, fixed.value as u32)
                .uids(fixed.uids),
        }
    }

    /// Returns the lengths as `Stats::fixed` of a table reports them.
    pub(crate) fn as_stats(self) -> Option<(u32, u32)> {
        self.0.map(|fixed| (fixed.key as u32, fixed.value as u32))
    }

    /// Returns whether an error is the one that names these lengths.
    pub(crate) fn are_in_error(self, error: &Error) -> bool {
        matches!(error, Error::Lengths { key, value } if self.as_stats() == Some((*key, *value)))
    }

    pub(crate) fn are_fixed(self) -> bool {
        self.0.is_some()
    }

    pub(crate) fn fit_key(self, key: &[u8]) -> bool {
        self.0.is_none_or(|fixed| key.len() == fixed.key)
    }

    pub(crate) fn fit_value(self, len: usize) -> bool {
        self.0.is_none_or(|fixed| len == fixed.value)
    }

    pub(crate) fn fit(self, key: &[u8], value_len: usize) -> bool {
        self.fit_key(key) && self.fit_value(value_len)
    }

    /// A key and a value of these lengths, with these beginnings.
    pub(crate) fn entry(self, key: &[u8], value: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let (mut key, mut value) = (key.to_vec(), value.to_vec());
        if let Some(fixed) = self.0 {
            key.resize(fixed.key, b'k');
            value.resize(fixed.value, b'v');
        }
        (key, value)
    }

    /// Whether keys can have uids.
    pub(crate) fn have_uids(self) -> bool {
        self.0.is_none_or(|fixed| fixed.uids)
    }

    /// The bytes of a key; most fit.
    pub(crate) fn key(self, key: Key) -> Vec<u8> {
        self.0
            .map_or_else(|| key.bytes(), |fixed| fixed_key(fixed, key))
    }

    /// The bytes of a value; most fit.
    pub(crate) fn value(self, value: Value) -> Vec<u8> {
        let fixed = |fixed| fixed_value(fixed, value);
        self.0.map_or_else(|| value.bytes(), fixed)
    }

    /// What is added before or after a value; nothing fits where lengths are fixed, so it is often
    /// nothing.
    pub(crate) fn more(self, value: Value) -> Vec<u8> {
        match self.0 {
            None => value.bytes(),
            Some(_) => value.filled(usize::from(value.size % 4)),
        }
    }

    /// Returns another value than this one that fits, if there is one.
    pub(crate) fn changed(self, value: &[u8]) -> Vec<u8> {
        let other: Vec<u8> = value.iter().map(|byte| byte.wrapping_add(1)).collect();
        match self.0 {
            None => [&other[..], b"x"].concat(),
            Some(_) => self.entry(b"", &other).1,
        }
    }

    /// The keys and values of an operation on many; most fit.
    pub(crate) fn many(self, first: u16, count: u8) -> Vec<(Vec<u8>, Vec<u8>)> {
        let any = || {
            let numbers = u32::from(first)..u32::from(first) + u32::from(count) * 8;
            let keys = numbers.map(|number| number.to_le_bytes().to_vec());
            keys.map(|key| (key.clone(), key)).collect()
        };
        self.0
            .map_or_else(any, |fixed| fixed_many(fixed, first, count))
    }
}
