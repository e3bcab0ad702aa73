//! Answers to meta commands, as a client reads them.

use super::answer::Status;
use crate::key::Key;
use crate::number;
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
    let mut words = Words::new(rest);
    let item = |status, value, words| {
        let facts = read_facts(words)?;
        Some(Answer::Item(ItemAnswer {
            status,
            value,
            facts,
        }))
    };
    Some(match kind {
        Kind::Value => {
            let size = read_number(words.next()?)?;
            (item(Status::Done, Some(&[][..]), words)?, Some(size))
        }
        Kind::Item(status) => (item(status, None, words)?, None),
        Kind::Debug => {
            let key = words.next()?;
            (Answer::Debug { key, facts: words }, None)
        }
        Kind::Noop => (Answer::Noop, None),
    })
}

/// Reads flags; those of letters not known are passed over, as later servers may have more.
fn read_facts(words: Words<'_>) -> Option<Facts<'_>> {
    let mut facts = Facts::default();
    let mut key = None;
    let mut is_base64 = false;
    for word in words {
        let (letter, rest) = word.split_first()?;
        match letter {
            b'c' => facts.cas = Some(read_number(rest)?),
            b'f' => facts.client_flags = Some(read_u32(rest)?),
            b'h' => facts.is_fetched = Some(read_bool(rest)?),
            b'k' if !rest.is_empty() => key = Some(rest),
            b'l' => facts.idle_s = Some(read_u32(rest)?),
            b's' => facts.size_bytes = Some(read_number(rest)?),
            b't' => facts.ttl = Some(read_ttl(rest)?),
            b'O' => facts.opaque = Some(rest),
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
    Some(facts)
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
