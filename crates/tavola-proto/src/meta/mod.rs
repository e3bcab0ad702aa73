//! The meta commands: two letters, a key, and flags of a letter each with what belongs to it.
//!
//! | request | |
//! |---|---|
//! | `mg KEY [FLAG...]` | [`Request::Get`] |
//! | `ms KEY BYTES [FLAG...]` and data | [`Request::Set`] |
//! | `md KEY [FLAG...]` | [`Request::Delete`] |
//! | `ma KEY [FLAG...]` | [`Request::Arithmetic`] |
//! | `me KEY [b]` | [`Request::Debug`] |
//! | `mn` | [`Request::Noop`] |
//!
//! Any command takes any flag, at most once; those that mean nothing to it are ignored.
//!
//! | flag | | flag | |
//! |---|---|---|---|
//! | `b` | the key is base64 | `C`number | only at this unique number |
//! | `c` | return the unique number | `D`number | by how much `ma` counts |
//! | `f` | return the client's flags | `E`number | the new unique number |
//! | `h` | return whether it was read before | `F`number | the client's flags |
//! | `k` | return the key | `I` | mark as stale |
//! | `l` | return how long it was not used | `J`number | where `ma` begins |
//! | `q` | no answer where it says little | `L`text, `P`text | for proxies |
//! | `s` | return the size | `M`letter | the mode of `ms` and `ma` |
//! | `t` | return how long it has to live | `N`time | make it where it is missing |
//! | `u` | leave its place among the used | `O`text | return this text |
//! | `v` | return the value | `R`time | ask for a new value this long before the end |
//! | `x` | remove the value, not the item | `T`time | how long it lives |
//!
//! An answer begins with what became of the request: `HD` done, `VA` and the bytes of the value
//! that follows, `EN` a miss of `mg` and `me`, `NF` one of the others, `NS` not stored, `EX`
//! another unique number, `MN` to `mn`, `ME` to `me`. It repeats `O` and `k`, the latter with `b`
//! where the key is base64, and returns `c`, `f`, `h`, `l`, `s` and `t` with their numbers.
//! `W` says that this client is to bring a new value, `Z` that another was asked to, `X` that the
//! value is stale.
//!
//! The modes of `ms` are `S`et, `E` for add, `R`eplace, `A`ppend and `P`repend; those of `ma` are
//! `I` or `+` and `D` or `-`.

pub mod answer;
mod answered;
pub mod ask;
mod expected;
mod flags;
mod request;

pub use answer::Status;
pub use answered::{Answer, Facts, ItemAnswer, Ttl};
pub(crate) use answered::{Kind, read_answer};
pub(crate) use expected::read_expected;
pub use expected::{Expected, ExpectedAnswer};
pub use flags::Flags;
pub use request::{Item, Mode, Request};

use crate::block::{self, Block};
use crate::decoder::{self, Outcome};
use crate::key::Key;
use crate::limits::{KEY_BYTES, Limits};
use crate::refusal::{Refusal, TooLarge};
use crate::text::tokens::Tokens;
use crate::text::{BAD_FORMAT, Line, TOO_LARGE, read_size};
use flags::MOST_WORDS;

/// The longest opaque text, its `O` counted.
const LONGEST_OPAQUE: usize = 32;
const OPAQUE_TOO_LONG: &str = "CLIENT_ERROR opaque token too long";

/// The meta command in `line`, whose second letter is `letter`.
pub(crate) fn decode<'a>(
    input: &'a [u8],
    line: &Line<'a>,
    letter: u8,
    limits: &Limits,
) -> Outcome<'a> {
    if letter == b'n' {
        return whole(line, Request::Noop);
    }
    let tokens = Tokens::new(line.text);
    // Where the flags begin.
    let first = if letter == b's' { 3 } else { 2 };
    let Some(key) = tokens.get(1) else {
        return line.refused(BAD_FORMAT);
    };
    if tokens.count() < first || !flags::are_letters(&tokens, first) {
        return line.refused(BAD_FORMAT);
    }
    match letter {
        b's' => set(input, line, &tokens, key, limits),
        b'e' => debug(line, &tokens, key),
        _ => match read_item(&tokens, key, first) {
            Ok(item) => short(line, item, letter),
            // All that is wrong with its flags is one to this command.
            Err(_) if letter == b'a' => line.refused("CLIENT_ERROR invalid or duplicate flag"),
            Err(text) => line.refused(text),
        },
    }
}

fn whole<'a>(line: &Line<'a>, request: Request<'a>) -> Outcome<'a> {
    Outcome::Whole {
        request: decoder::Request::Meta(request),
        used: line.bytes,
    }
}

/// `mg`, `md` and `ma`, which have no data.
fn short<'a>(line: &Line<'a>, item: Item<'a>, letter: u8) -> Outcome<'a> {
    let request = match letter {
        b'g' => Request::Get(item),
        b'd' => Request::Delete(item),
        _ => {
            let down = match item.flags.mode() {
                None | Some(b'I' | b'+') => false,
                Some(b'D' | b'-') => true,
                Some(_) => return line.refused("CLIENT_ERROR invalid mode for ma M token"),
            };
            Request::Arithmetic { item, down }
        }
    };
    if is_opaque_too_long(&request) {
        return line.refused(OPAQUE_TOO_LONG);
    }
    whole(line, request)
}

fn is_opaque_too_long(request: &Request<'_>) -> bool {
    let opaque = request.item().and_then(|item| item.flags.opaque());
    opaque.is_some_and(|opaque| opaque.len() > LONGEST_OPAQUE)
}

/// `ms KEY BYTES [FLAG...]` and data.
fn set<'a>(
    input: &'a [u8],
    line: &Line<'a>,
    tokens: &Tokens<'a>,
    key: &'a [u8],
    limits: &Limits,
) -> Outcome<'a> {
    let Some(size) = tokens.get(2).and_then(read_size) else {
        return line.refused(BAD_FORMAT);
    };
    let whole = size + block::END.len();
    let refused = |text| line.refused_after(Refusal::line(text), whole);
    let item = match read_item(tokens, key, 3) {
        Ok(item) => item,
        Err(text) => return refused(text),
    };
    let Some(mode) = item.flags.mode().map_or(Some(Mode::Set), Mode::read) else {
        return refused("CLIENT_ERROR invalid mode for ms M token");
    };
    if size > limits.value_bytes {
        let value = TooLarge {
            key: item.key,
            verb: match (mode, item.flags.compare()) {
                (Mode::Set | Mode::Replace, Some(_)) => "cas",
                (mode, _) => mode.name(),
            },
            // Whatever the mode, as in memcached.
            forgets: true,
        };
        return line.too_large(Refusal::line(TOO_LARGE), value, whole);
    }
    if item
        .flags
        .opaque()
        .is_some_and(|opaque| opaque.len() > LONGEST_OPAQUE)
    {
        return refused(OPAQUE_TOO_LONG);
    }
    match block::read(input, line.bytes, size, false) {
        Block::Whole { data, used } => Outcome::Whole {
            request: decoder::Request::Meta(Request::Set { item, mode, data }),
            used,
        },
        Block::Other(outcome) => outcome,
    }
}

/// `me KEY [b]`.
fn debug<'a>(line: &Line<'a>, tokens: &Tokens<'a>, token: &'a [u8]) -> Outcome<'a> {
    if token.len() > KEY_BYTES {
        return line.refused(BAD_FORMAT);
    }
    let key = match tokens.get(2) {
        Some(b"b") => Key::encoded(token),
        _ => Some(Key::plain(token)),
    };
    match key {
        Some(key) => whole(line, Request::Debug { key }),
        None => line.refused(BAD_FORMAT),
    }
}

fn read_item<'a>(
    tokens: &Tokens<'a>,
    key: &'a [u8],
    first: usize,
) -> Result<Item<'a>, &'static str> {
    if key.len() > KEY_BYTES {
        return Err(BAD_FORMAT);
    }
    let (flags, key) = flags::read(tokens, key, first)?;
    Ok(Item { key, flags })
}
