//! Counting, for all protocols. A number keeps its length: if it needs fewer digits than before,
//! spaces follow, as they do in memcached.

use tavola::{Attributes, Condition, Error, Expiry, Result, StoreOptions, Stored};

use super::tally::Event;
use super::watch;
use super::work::Work;

/// A request to increase or decrease a value that is a number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Count<'a> {
    pub(super) key: &'a [u8],
    pub(super) delta: u64,
    /// Whether the number becomes smaller, but not below 0. Otherwise it grows, and continues at 0
    /// after 2^64 - 1.
    pub(super) down: bool,
    /// The unique number that the item must have.
    pub(super) cas: Option<u64>,
    /// The number that is made if there is none.
    pub(super) make: Option<Make>,
    /// The unique number that the item gets.
    pub(super) version: Option<u64>,
}

/// A number to begin with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Make {
    pub(super) number: u64,
    pub(super) expiry: Expiry,
}

/// The result of counting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counted {
    /// The new number, and its unique number.
    Now {
        number: u64,
        cas: u64,
        /// Whether it was missing.
        is_made: bool,
    },
    Missing,
    NonNumeric,
    Exists,
    /// There is no room for a number that is longer, or for one that was missing.
    NoRoom {
        /// Whether it was missing.
        is_new: bool,
    },
}

/// Changes a number, or makes it if it is missing.
pub(super) fn count(work: &Work, count: &Count<'_>) -> Result<Counted> {
    let (hit, miss) = if count.down {
        (Event::DecrHit, Event::DecrMiss)
    } else {
        (Event::IncrHit, Event::IncrMiss)
    };
    work.log_lookup(count.key)?;
    loop {
        let counted = change(work, count)?;
        match (counted, count.make) {
            (Counted::Missing, Some(make)) => {
                if let Some(made) = begin(work, count, make)? {
                    return Ok(made);
                }
                // The number was made meanwhile.
            }
            _ => {
                match counted {
                    Counted::Now { .. } => work.count(hit),
                    Counted::Missing => work.count(miss),
                    Counted::NonNumeric | Counted::Exists | Counted::NoRoom { .. } => {}
                }
                return Ok(counted);
            }
        }
    }
}

/// Makes a number that is missing. Returns `None` if it exists.
fn begin(work: &Work, count: &Count<'_>, make: Make) -> Result<Option<Counted>> {
    work.log_lookup(count.key)?;
    let how = StoreOptions {
        condition: Condition::Absent,
        attributes: Some(Attributes {
            expiry: make.expiry,
            flags: 0,
        }),
        version: count.version,
        marks: work.new_marks(false),
        ..StoreOptions::default()
    };
    let text = padded(make.number, 0);
    let token = match work.table().store(count.key, &text, &how) {
        Ok(Stored::Done(token)) => token,
        Ok(_) => return Ok(None),
        Err(Error::Full { .. }) => return Ok(Some(Counted::NoRoom { is_new: true })),
        Err(error) => return Err(error),
    };
    work.count(Event::Stored);
    let event = || watch::Stored::by_command("add", how.attributes, text.len());
    work.log_stored(count.key, event);
    Ok(Some(Counted::Now {
        number: make.number,
        cas: token.0,
        is_made: true,
    }))
}

/// Changes an existing number.
fn change(work: &Work, count: &Count<'_>) -> Result<Counted> {
    let mut old = Vec::new();
    loop {
        let Some(details) = work.table().get_entry_into(count.key, &mut old)? else {
            return Ok(Counted::Missing);
        };
        // As in memcached, an empty value is reported first, whatever its unique number.
        if old.is_empty() {
            return Ok(Counted::NonNumeric);
        }
        let token = work.table().token(&details, &old)?;
        if count.cas.is_some_and(|cas| cas != token.0) {
            return Ok(Counted::Exists);
        }
        let Some(was) = read(&old) else {
            return Ok(Counted::NonNumeric);
        };
        let number = if count.down {
            was.saturating_sub(count.delta)
        } else {
            was.wrapping_add(count.delta)
        };
        let new = padded(number, old.len());
        let how = StoreOptions {
            condition: Condition::Is(token),
            attributes: None,
            version: count.version,
            // A longer number is a new item to memcached.
            marks: match new.len() > old.len() {
                true => work.renewed_marks(),
                false => None,
            },
            ..StoreOptions::default()
        };
        match work.table().store(count.key, &new, &how) {
            Ok(Stored::Done(token)) => {
                return Ok(Counted::Now {
                    number,
                    cas: token.0,
                    is_made: false,
                });
            }
            // It was changed in between.
            Ok(_) => {}
            Err(Error::Full { .. }) => return Ok(Counted::NoRoom { is_new: false }),
            Err(error) => return Err(error),
        }
    }
}

/// Returns the digits of a number, followed by spaces up to a length.
fn padded(number: u64, length: usize) -> Vec<u8> {
    let mut text = number.to_string().into_bytes();
    if text.len() < length {
        text.resize(length, b' ');
    }
    text
}

/// Reads the number at the front of a value as C's `strtoull` does: after white space and a sign,
/// up to the first other byte.
fn read(value: &[u8]) -> Option<u64> {
    let is_space = |byte: u8| matches!(byte, b' ' | b'\t'..=b'\r');
    let start = value.iter().position(|byte| !is_space(*byte))?;
    let (is_negative, digits) = match value[start] {
        b'-' => (true, &value[start + 1..]),
        b'+' => (false, &value[start + 1..]),
        _ => (false, &value[start..]),
    };
    let end = digits.iter().position(|byte| !byte.is_ascii_digit());
    let (digits, rest) = digits.split_at(end.unwrap_or(digits.len()));
    let is_ended = rest
        .first()
        .is_none_or(|byte| is_space(*byte) || *byte == 0);
    if digits.is_empty() || !is_ended {
        return None;
    }
    let magnitude = digits.iter().try_fold(0u64, |sum, byte| {
        let digit = u64::from(byte - b'0');
        sum.checked_mul(10)?.checked_add(digit)
    })?;
    if !is_negative {
        return Some(magnitude);
    }
    // A sign only matters if the result is large.
    let number = magnitude.wrapping_neg();
    (number <= i64::MAX as u64).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_c_reads_them() {
        for (value, number) in [
            (&b"0"[..], Some(0)),
            (b"18446744073709551615", Some(u64::MAX)),
            (b"18446744073709551616", None),
            (b"0010", Some(10)),
            (b" 9  ", Some(9)),
            (b"+9", Some(9)),
            (b"12 junk", Some(12)),
            (b"12\0junk", Some(12)),
            (b"12junk", None),
            (b"-1", None),
            (b"-0", Some(0)),
            (b"", None),
            (b"  ", None),
            (b"-", None),
        ] {
            assert_eq!(read(value), number, "{value:?}");
        }
    }

    #[test]
    fn a_shorter_number_keeps_the_length() {
        assert_eq!(padded(9, 2), b"9 ");
        assert_eq!(padded(10, 2), b"10");
        assert_eq!(padded(100, 2), b"100");
    }
}
