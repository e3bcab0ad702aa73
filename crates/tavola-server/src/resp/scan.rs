//! SCAN and KEYS.
//!
//! A cursor of SCAN is a position of the table's scan (`ServeTable::scan_keys`): it stays valid for
//! any time and on any connection, and the server remembers nothing. A call reads at least one
//! segment of the index, and so may return more keys than COUNT asks for, as in Redis.
//!
//! KEYS reads the whole table, in steps between which other connections have their turn.

use std::collections::HashSet;

use tavola::serving::ServeTable;
use tavola_proto::resp::{answer, read_i64};

use super::call::{After, Call, Done, is};
use super::glob::is_match;
use super::many::REPLY_BYTES;
use super::refusal::{CURSOR, LARGE_REPLY, NOT_AN_INTEGER, Refusal, SYNTAX};
use super::work::Work;

/// The keys that a call looks at if its client does not say.
const COUNT: u64 = 10;
/// The most segments that one call reads: of some 1000 keys each.
const MOST_SEGMENTS: usize = 64;
/// The segments that a step of KEYS reads.
const STEP_SEGMENTS: usize = 2;
/// The bytes of a key in a reply, beside its own.
const KEY_HEAD_BYTES: usize = 32;
const CURSOR_BYTES: usize = 64;

/// What SCAN looks for.
struct Sought<'a> {
    pattern: Option<&'a [u8]>,
    count: u64,
    /// Whether values of the type that is asked for can exist.
    is_possible: bool,
}

impl Sought<'_> {
    fn has(&self, key: &[u8]) -> bool {
        let is_match = |pattern| is_match(pattern, key, false);
        self.is_possible && self.pattern.is_none_or(is_match)
    }
}

pub(super) fn scan(call: &mut Call<'_>) -> Done {
    let position = cursor(&call.args[1]).ok_or(CURSOR)?;
    let sought = sought(call)?;
    allow(call)?;
    let (mut next, mut keys, mut count, mut seen) = (Some(position), Vec::new(), 0, 0);
    for _ in 0..MOST_SEGMENTS {
        let Some(at) = next.filter(|_| seen < sought.count) else {
            break;
        };
        next = call.work.table().scan_keys(at, &mut |key| {
            seen += 1;
            if sought.has(key) {
                answer::bulk(&mut keys, key);
                count += 1;
            }
        })?;
        if keys.len() > REPLY_BYTES {
            break;
        }
    }
    let out = call.output.room(CURSOR_BYTES);
    answer::array(out, 2);
    answer::bulk(out, next.unwrap_or(0).to_string().as_bytes());
    answer::array(out, count);
    call.push(keys)
}

/// Reads a cursor as C's `strtoul` does, which Redis calls: nothing is 0, and after a minus a
/// number counts down from 2^64. Any number is a cursor.
fn cursor(text: &[u8]) -> Option<u64> {
    let (is_negative, digits) = match text {
        [] => return Some(0),
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    digits.first().filter(|first| first.is_ascii_digit())?;
    let number: u64 = std::str::from_utf8(digits).ok()?.parse().ok()?;
    Some(if is_negative {
        number.wrapping_neg()
    } else {
        number
    })
}

fn sought<'a>(call: &Call<'a>) -> Result<Sought<'a>, Refusal> {
    let mut sought = Sought {
        pattern: None,
        count: COUNT,
        is_possible: true,
    };
    let mut words = call.args.after(2);
    while let Some(word) = words.next() {
        let value = words.next().ok_or(SYNTAX)?;
        match word {
            word if is(word, "match") => sought.pattern = Some(value),
            word if is(word, "type") => sought.is_possible = is(value, "string"),
            word if is(word, "count") => {
                let count = read_i64(value).ok_or(NOT_AN_INTEGER)?;
                let count = u64::try_from(count).ok().filter(|count| *count > 0);
                sought.count = count.ok_or(SYNTAX)?;
            }
            _ => return Err(SYNTAX),
        }
    }
    Ok(sought)
}

fn allow(call: &Call<'_>) -> Result<(), Refusal> {
    match call.work.shared.rules.dumps {
        true => Ok(()),
        false => Err(Refusal::permission(call.command.name)),
    }
}

/// Begins to list keys: the service continues by [`KeyList::step`].
pub(super) fn keys(call: &mut Call<'_>) -> Done {
    allow(call)?;
    Ok(After::List(Box::new(KeyList {
        pattern: call.args[1].to_vec(),
        next: Some(0),
        keys: HashSet::new(),
        bytes: 0,
    })))
}

/// A KEYS under way.
#[derive(Debug)]
pub(super) struct KeyList {
    pattern: Vec<u8>,
    next: Option<u64>,
    /// The keys found. The scan meets a key twice that is written meanwhile.
    keys: HashSet<Box<[u8]>>,
    /// The bytes of the reply.
    bytes: usize,
}

impl KeyList {
    /// Reads some of the table. Returns the reply at the end.
    pub(super) fn step(&mut self, work: &Work) -> Option<Result<Vec<u8>, Refusal>> {
        for _ in 0..STEP_SEGMENTS {
            let Some(at) = self.next else {
                return Some(Ok(self.reply()));
            };
            let (pattern, keys, bytes) = (&self.pattern, &mut self.keys, &mut self.bytes);
            let next = work.table().scan_keys(at, &mut |key| {
                if is_match(pattern, key, false) && !keys.contains(key) {
                    *bytes += key.len() + KEY_HEAD_BYTES;
                    keys.insert(key.into());
                }
            });
            match next {
                Ok(next) => self.next = next,
                Err(error) => return Some(Err(error.into())),
            }
            if self.bytes > REPLY_BYTES {
                return Some(Err(LARGE_REPLY));
            }
        }
        None
    }

    fn reply(&self) -> Vec<u8> {
        let mut reply = Vec::with_capacity(self.bytes + KEY_HEAD_BYTES);
        answer::array(&mut reply, self.keys.len());
        for key in &self.keys {
            answer::bulk(&mut reply, key);
        }
        reply
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_a_number() {
        assert_eq!(cursor(b"0"), Some(0));
        assert_eq!(cursor(b""), Some(0));
        assert_eq!(cursor(b"-1"), Some(u64::MAX));
        assert_eq!(cursor(b"+7"), Some(7));
        assert_eq!(cursor(b"18446744073709551615"), Some(u64::MAX));
        for wrong in [
            &b"-"[..],
            b"+-1",
            b" 1",
            b"1 ",
            b"x",
            b"18446744073709551616",
        ] {
            assert_eq!(cursor(wrong), None);
        }
    }
}
