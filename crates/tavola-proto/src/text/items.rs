//! Commands about items.

use super::line::Line;
use super::request::{Count, Get, Request, Store, StoreVerb};
use super::tokens::{self, Tokens, Words};
use super::{BAD_FORMAT, refusal};
use crate::block::{self, Block};
use crate::decoder::Outcome;
use crate::key::Key;
use crate::limits::{KEY_BYTES, Limits};
use crate::number;
use crate::refusal::{Refusal, TooLarge};

const DELETE_USAGE: &str = "CLIENT_ERROR bad command line format.  Usage: delete <key> [noreply]";
/// `delete` with its key, and three more that memcached 1.6 ignores. It ignores any number by now;
/// until it did, it refused them, and libmemcached's memccapable looks whether a server does.
const DELETE_WORDS: usize = 5;
const BAD_EXPTIME: &str = "CLIENT_ERROR invalid exptime argument";
pub(crate) const TOO_LARGE: &str = "SERVER_ERROR object too large for cache";

/// The largest length that memcached can count, the line end after the data left out.
pub(crate) const MOST_BYTES: i32 = i32::MAX - 2;

/// `get KEY...`, `gets KEY...`; `name` is what the line begins with.
pub(super) fn get<'a>(line: &Line<'a>, name: &[u8]) -> Outcome<'a> {
    match tokens::rest_behind(line.text, name.len()) {
        Some(text) => keys(line, text, name == b"gets", None),
        None => line.refused(BAD_FORMAT),
    }
}

/// `gat EXPTIME KEY...`, `gats EXPTIME KEY...`.
pub(super) fn get_and_touch<'a>(line: &Line<'a>, with_cas: bool) -> Outcome<'a> {
    let tokens = Tokens::new(line.text);
    let [Some(exptime), Some(_)] = [tokens.get(1), tokens.get(2)] else {
        return line.refused(BAD_FORMAT);
    };
    match number::read_i32(exptime) {
        Some(exptime) => keys(line, tokens.rest_of(line, 2), with_cas, Some(exptime)),
        None => line.refused(BAD_EXPTIME),
    }
}

/// One key that is too long takes the values of the others with it.
fn keys<'a>(line: &Line<'a>, text: &'a [u8], with_cas: bool, touch: Option<i32>) -> Outcome<'a> {
    let keys = Words::new(text);
    if text.len() > KEY_BYTES && keys.clone().any(|key| key.len() > KEY_BYTES) {
        return line.refused(BAD_FORMAT);
    }
    line.whole(Request::Get(Get {
        keys,
        with_cas,
        touch,
    }))
}

/// `VERB KEY FLAGS EXPTIME BYTES [CAS] [noreply]` and data.
pub(super) fn store<'a>(
    input: &'a [u8],
    line: &Line<'a>,
    limits: &Limits,
    verb: StoreVerb,
) -> Outcome<'a> {
    let tokens = Tokens::new(line.text);
    let [Some(key), Some(size)] = [tokens.get(1), tokens.get(4)] else {
        return line.refused(BAD_FORMAT);
    };
    let Some(size) = read_size(size) else {
        return line.refused(BAD_FORMAT);
    };
    let whole = size + block::END.len();
    let Some((verb, flags, exptime)) = read_numbers(&tokens, key, verb) else {
        return line.refused_after(refusal(&tokens, BAD_FORMAT), whole);
    };
    if size > limits.value_bytes {
        let value = TooLarge {
            key: Key::plain(key),
            verb: name(verb),
            forgets: verb == StoreVerb::Set,
        };
        return line.too_large(refusal(&tokens, TOO_LARGE), value, whole);
    }
    let noreply = tokens.ask_for_no_reply();
    match block::read(input, line.bytes, size, noreply) {
        Block::Whole { data, used } => Outcome::Whole {
            request: crate::Request::Text(Request::Store(Store {
                verb,
                key,
                flags,
                exptime,
                data,
                noreply,
            })),
            used,
        },
        Block::Other(outcome) => outcome,
    }
}

fn name(verb: StoreVerb) -> &'static str {
    match verb {
        StoreVerb::Set => "set",
        StoreVerb::Add => "add",
        StoreVerb::Replace => "replace",
        StoreVerb::Append => "append",
        StoreVerb::Prepend => "prepend",
        StoreVerb::Cas(_) => "cas",
    }
}

/// The bytes of the data, if data may follow at all.
pub(crate) fn read_size(token: &[u8]) -> Option<usize> {
    let size = number::read_i32(token).filter(|size| *size <= MOST_BYTES)?;
    usize::try_from(size).ok()
}

fn read_numbers(tokens: &Tokens<'_>, key: &[u8], verb: StoreVerb) -> Option<(StoreVerb, u32, i32)> {
    if key.len() > KEY_BYTES {
        return None;
    }
    let flags = number::read_c_u32(tokens.rest(2))?;
    let exptime = number::read_c_i32(tokens.rest(3))?;
    let verb = match verb {
        StoreVerb::Cas(_) => StoreVerb::Cas(number::read_u64(tokens.get(5)?)?),
        read_by_first_word => read_by_first_word,
    };
    Some((verb, flags, exptime))
}

/// `incr KEY DELTA [noreply]`, `decr KEY DELTA [noreply]`.
pub(super) fn count<'a>(line: &Line<'a>, down: bool) -> Outcome<'a> {
    with_argument(line, |tokens, key, argument| {
        let Some(delta) = number::read_u64(argument) else {
            let text = "CLIENT_ERROR invalid numeric delta argument";
            return Err(refusal(tokens, text));
        };
        Ok(Request::Count(Count {
            key,
            delta,
            down,
            noreply: tokens.ask_for_no_reply(),
        }))
    })
}

/// `touch KEY EXPTIME [noreply]`.
pub(super) fn touch<'a>(line: &Line<'a>) -> Outcome<'a> {
    with_argument(line, |tokens, key, argument| {
        let exptime = number::read_i32(argument).ok_or_else(|| refusal(tokens, BAD_EXPTIME))?;
        Ok(Request::Touch {
            key,
            exptime,
            noreply: tokens.ask_for_no_reply(),
        })
    })
}

/// `COMMAND KEY ARGUMENT [noreply]`.
fn with_argument<'a>(
    line: &Line<'a>,
    read: impl FnOnce(&Tokens<'a>, &'a [u8], &'a [u8]) -> Result<Request<'a>, Refusal>,
) -> Outcome<'a> {
    let tokens = Tokens::new(line.text);
    let [Some(key), Some(argument)] = [tokens.get(1), tokens.get(2)] else {
        return line.refused(BAD_FORMAT);
    };
    if key.len() > KEY_BYTES {
        return line.refused_unless_silent(&tokens, BAD_FORMAT);
    }
    match read(&tokens, key, argument) {
        Ok(request) => line.whole(request),
        Err(refusal) => line.refused_with(refusal),
    }
}

/// `delete KEY [noreply]`; a few words that follow are ignored, as the `0` that old clients send.
pub(super) fn delete<'a>(line: &Line<'a>) -> Outcome<'a> {
    let tokens = Tokens::new(line.text);
    let Some(key) = tokens.get(1) else {
        return line.refused(BAD_FORMAT);
    };
    if key.len() > KEY_BYTES {
        return line.refused_unless_silent(&tokens, BAD_FORMAT);
    }
    if tokens.count() > DELETE_WORDS {
        return line.refused_unless_silent(&tokens, DELETE_USAGE);
    }
    line.whole(Request::Delete {
        key,
        noreply: tokens.ask_for_no_reply(),
    })
}
