//! Answers to meta commands, as a client reads them.

use super::answer::Status;
use crate::key::Key;
use crate::number;
use crate::text::tokens::find_space;
use crate::text::{Words, read_number};

/// An answer to a meta command. Refusals are lines of [`crate::text::Answer`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer<'a> {
    /// To `mg`, `ms`, `md`, `ma`; a miss answers `me` and ends `lru_crawler mgdump` as well.
    Item(ItemAnswer<'a>),
    /// `ME`: to `me`.
    Debug {
        /// The key as the server writes it, perhaps as base64.
        key: &'a [u8],
        /// `NAME=VALUE` each.
        facts: Words<'a>,
    },
    /// `MN`: to `mn`.
    Noop,
}

/// What became of a request, and the facts about the item that it asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemAnswer<'a> {
    /// What became of the request.
    pub status: Status,
    /// The value, where it was asked for and is there.
    pub value: Option<&'a [u8]>,
    /// The other facts.
    pub facts: Facts<'a>,
}

/// How long an item has to live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ttl {
    /// Forever.
    Endless,
    /// A number of seconds.
    Seconds(u32),
}

/// The facts about an item, each if the request asked for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts<'a> {
    /// `c`: its unique number.
    pub cas: Option<u64>,
    /// `f`: what the client stored beside the value.
    pub client_flags: Option<u32>,
    /// `h`: whether it was read before.
    pub is_fetched: Option<bool>,
    /// `k`: its key.
    pub key: Option<Key<'a>>,
    /// `l`: the seconds since it was used.
    pub idle_s: Option<u32>,
    /// `s`: the bytes of its value.
    pub size_bytes: Option<u64>,
    /// `t`: how long it has to live.
    pub ttl: Option<Ttl>,
    /// `O`: the text that the request had.
    pub opaque: Option<&'a [u8]>,
    /// `W`: this client is to bring a new value.
    pub is_winner: bool,
    /// `X`: the value is stale.
    pub is_stale: bool,
    /// `Z`: another is bringing a new value.
    pub is_token_sent: bool,
}

impl Facts<'_> {
    /// The opaque text, where it is a number.
    pub fn opaque_number(&self) -> Option<u64> {
        self.opaque.and_then(read_number)
    }
}

/// What an answer is, by its first word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Value,
    Item(Status),
    Debug,
    Noop,
}

impl Kind {
    /// Reads the first word; `None` if it is not one of a meta answer.
    pub(crate) fn of(word: [u8; 2]) -> Option<Self> {
        Some(match word {
            [b'V', b'A'] => Self::Value,
            [b'H', b'D'] => Self::Item(Status::Done),
            [b'E', b'N'] => Self::Item(Status::Miss),
            [b'N', b'F'] => Self::Item(Status::NotFound),
            [b'N', b'S'] => Self::Item(Status::NotStored),
            [b'E', b'X'] => Self::Item(Status::Exists),
            [b'M', b'N'] => Self::Noop,
            [b'M', b'E'] => Self::Debug,
            _ => return None,
        })
    }
}

/// The answer of a line with these words behind the first. Behind one that has a value come so many
/// bytes of it.
pub(crate) fn read_answer(kind: Kind, rest: &[u8]) -> Option<(Answer<'_>, Option<u64>)> {
    Some(match kind {
        Kind::Value => {
            let (size, rest) = take_number(skip_spaces(rest))?;
            (read_item(Status::Done, Some(&[]), rest)?, Some(size))
        }
        Kind::Item(status) => (read_item(status, None, rest)?, None),
        Kind::Debug => {
            let mut words = Words::new(rest);
            let key = words.next()?;
            (Answer::Debug { key, facts: words }, None)
        }
        Kind::Noop => (Answer::Noop, None),
    })
}

fn read_item<'a>(status: Status, value: Option<&'a [u8]>, rest: &'a [u8]) -> Option<Answer<'a>> {
    let mut item = ItemAnswer {
        status,
        value,
        facts: Facts::default(),
    };
    read_facts(rest, &mut item.facts)?;
    Some(Answer::Item(item))
}

fn skip_spaces(mut text: &[u8]) -> &[u8] {
    while let [b' ', rest @ ..] = text {
        text = rest;
    }
    text
}

/// Takes a number of digits alone from the front, which a space or the end follows.
fn take_number(text: &[u8]) -> Option<(u64, &[u8])> {
    let mut sum = 0;
    for (length, byte) in text.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if *byte == b' ' && length > 0 {
            return Some((sum, &text[length..]));
        }
        if digit > 9 || length == number::CERTAIN_64 {
            // It is long, or wrong.
            let (word, rest) = text.split_at(length + find_space(&text[length..]));
            return Some((read_number(word)?, rest));
        }
        sum = sum * 10 + u64::from(digit);
    }
    (!text.is_empty()).then_some((sum, &[]))
}

/// Reads flags; those of letters not known are passed over, as later servers may have more.
fn read_facts<'a>(text: &'a [u8], facts: &mut Facts<'a>) -> Option<()> {
    let mut key = None;
    let mut is_base64 = false;
    let mut rest = text;
    while let [letter, after @ ..] = rest {
        rest = after;
        match letter {
            b' ' => continue,
            // The ones that most answers have need no search for the end of the word.
            b'f' => {
                let (number, behind) = take_number(after)?;
                facts.client_flags = Some(u32::try_from(number).ok()?);
                rest = behind;
                continue;
            }
            b'c' => {
                let (number, behind) = take_number(after)?;
                (facts.cas, rest) = (Some(number), behind);
                continue;
            }
            _ => {}
        }
        let (word, behind) = after.split_at(find_space(after));
        rest = behind;
        match letter {
            b'h' => facts.is_fetched = Some(read_bool(word)?),
            b'k' if !word.is_empty() => key = Some(word),
            b'l' => facts.idle_s = Some(read_u32(word)?),
            b's' => facts.size_bytes = Some(read_number(word)?),
            b't' => facts.ttl = Some(read_ttl(word)?),
            b'O' => facts.opaque = Some(word),
            b'b' => is_base64 = true,
            b'W' => facts.is_winner = true,
            b'X' => facts.is_stale = true,
            b'Z' => facts.is_token_sent = true,
            _ => {}
        }
    }
    facts.key = match key {
        Some(token) if is_base64 => Some(Key::encoded(token)?),
        Some(token) => Some(Key::plain(token)),
        None => None,
    };
    Some(())
}

fn read_u32(token: &[u8]) -> Option<u32> {
    (!token.is_empty()).then(|| number::read_u32(token))?
}

fn read_bool(token: &[u8]) -> Option<bool> {
    match token {
        b"0" => Some(false),
        b"1" => Some(true),
        _ => None,
    }
}

fn read_ttl(token: &[u8]) -> Option<Ttl> {
    match token {
        b"-1" => Some(Ttl::Endless),
        digits => read_u32(digits).map(Ttl::Seconds),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_end_at_a_space_or_the_end() {
        for (text, expected) in [
            (&b"0"[..], Some((0, &b""[..]))),
            (b"17 f0", Some((17, b" f0"))),
            (
                b"1234567890123456789",
                Some((1_234_567_890_123_456_789, b"")),
            ),
            (b"18446744073709551615 x", Some((u64::MAX, b" x"))),
            (b"0000000000000000000001 ", Some((1, b" "))),
            (b"18446744073709551616", None),
            (b"00000000000000000000001", None),
            (b"1234567890123456789x", None),
            (b"", None),
            (b" 1", None),
            (b"1x", None),
            (b"x", None),
            (b"-1", None),
        ] {
            assert_eq!(take_number(text), expected, "{text:?}");
        }
    }

    #[test]
    fn facts_are_read_in_any_order_with_any_spaces() {
        let mut facts = Facts::default();
        let line = b"  O17 kkey:17  f4294967295 c18446744073709551615 t-1 h1 y9 W";
        read_facts(line, &mut facts).expect("facts");
        assert_eq!(facts.opaque_number(), Some(17));
        assert_eq!(
            facts.key.and_then(|key| key.as_plain()),
            Some(&b"key:17"[..])
        );
        assert_eq!(facts.client_flags, Some(u32::MAX));
        assert_eq!(facts.cas, Some(u64::MAX));
        assert_eq!(facts.ttl, Some(Ttl::Endless));
        assert!(facts.is_winner && facts.is_fetched == Some(true));
        for wrong in [&b"f"[..], b"f4294967296", b"c", b"c1x", b"t-2", b"h2", b"s"] {
            assert!(
                read_facts(wrong, &mut Facts::default()).is_none(),
                "{wrong:?}"
            );
        }
    }
}
