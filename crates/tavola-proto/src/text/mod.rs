//! The classic text protocol: a line for each request, and data after those that store.
//!
//! | request | |
//! |---|---|
//! | `get KEY...`, `gets KEY...` | [`Get`] |
//! | `gat EXPTIME KEY...`, `gats EXPTIME KEY...` | [`Get`] with a new expiry time |
//! | `set KEY FLAGS EXPTIME BYTES [noreply]` and data | [`Store`] |
//! | the same of `add`, `replace`, `append`, `prepend` | [`Store`] |
//! | `cas KEY FLAGS EXPTIME BYTES CAS [noreply]` and data | [`Store`] |
//! | `incr KEY DELTA [noreply]`, `decr KEY DELTA [noreply]` | [`Count`] |
//! | `touch KEY EXPTIME [noreply]` | [`Request::Touch`] |
//! | `delete KEY [noreply]` | [`Request::Delete`] |
//! | `flush_all [DELAY] [noreply]` | [`Request::FlushAll`] |
//! | `version`, `quit`, `verbosity LEVEL [noreply]` | requests of these names |
//! | `stats [TOPIC [ARGUMENTS]]` | [`Stats`] |
//! | `shutdown [graceful]` | [`Shutdown`] |
//! | `refresh_certs` | [`Request::RefreshCerts`] |
//! | `cache_memlimit MEBIBYTES [noreply]` | [`Request::CacheMemlimit`] |
//! | `lru_crawler COMMAND [ARGUMENT]` | [`LruCrawler`] |
//! | `watch [EVENT...]` | [`Watched`] |
//! | `slabs ...`, `lru ...` | [`Tune`], whose words are not read here |
//!
//! | answer to | |
//! |---|---|
//! | `get` and its kin | `VALUE KEY FLAGS BYTES [CAS]` and data for each item, `END` |
//! | `set` and its kin | `STORED`, `NOT_STORED`, `EXISTS`, `NOT_FOUND` |
//! | `incr`, `decr` | the number, `NOT_FOUND` |
//! | `touch`, `delete` | `TOUCHED` or `DELETED`, `NOT_FOUND` |
//! | `version` | `VERSION TEXT` |
//! | `stats` | `STAT NAME VALUE` for each figure, `END`; `ITEM`, `PREFIX`, `RESET`, `OK` |
//! | others | `OK`, or a word and a text that say why not |
//! | any | `ERROR`, `CLIENT_ERROR TEXT`, `SERVER_ERROR TEXT` |
//!
//! Where a password is asked for, the first request is `set KEY FLAGS EXPTIME BYTES` with a name, a
//! space and the password as its data: [`Request::Authenticate`].
//!
//! Words are parted by spaces. A line ends with `\n`, a `\r` before it is dropped; data ends with
//! `\r\n`. A line needs at least four bytes with its end. Words after those that a command knows
//! are ignored; the last one may be `noreply`, which silences refusals as well, except those of
//! lines with too few words or without a length that can be read.

mod admin;
pub mod answer;
mod answered;
pub mod ask;
mod auth;
mod items;
mod line;
mod request;
pub(crate) mod tokens;

pub use answered::{Answer, Value};
pub use request::{
    Count, Detail, Event, Get, LruCrawler, Request, Shutdown, Stats, Store, StoreVerb, Tune, Tuned,
    Watched,
};
pub use tokens::Words;

use crate::decoder::{self, Outcome};
use crate::limits::Limits;
use crate::meta;
use crate::refusal::{Refusal, TooLarge};
pub(crate) use answered::{read_answer, read_head, read_number};
pub(crate) use items::{MOST_BYTES, TOO_LARGE, read_size};
use line::Found;
pub(crate) use line::Line;
use tokens::Tokens;

pub(crate) const BAD_FORMAT: &str = "CLIENT_ERROR bad command line format";

/// The shortest line that may be a command, its end counted: two letters and `\r\n`.
const SHORTEST_LINE: usize = 4;

/// What is at the front of `input`, whose first `searched` bytes have no line end.
/// `is_locked` where the client has to give a password first.
pub(crate) fn decode<'a>(
    input: &'a [u8],
    searched: &mut usize,
    limits: &Limits,
    is_locked: bool,
) -> Outcome<'a> {
    if is_locked {
        return auth::decode(input, searched, limits);
    }
    let line = match line::find(input, searched, limits) {
        Found::Line(line) => line,
        Found::Short => {
            return Outcome::Short {
                needed: input.len() + 1,
            };
        }
        Found::TooLong(used) => return too_long(input, used),
    };
    if line.bytes < SHORTEST_LINE {
        return line.refused(BAD_FORMAT);
    }
    let name_end = line.text.iter().position(|byte| *byte == b' ');
    let name = &line.text[..name_end.unwrap_or(line.text.len())];
    match name {
        b"get" | b"gets" => items::get(&line, name),
        b"gat" => items::get_and_touch(&line, false),
        b"gats" => items::get_and_touch(&line, true),
        b"set" => items::store(input, &line, limits, StoreVerb::Set),
        b"add" => items::store(input, &line, limits, StoreVerb::Add),
        b"replace" => items::store(input, &line, limits, StoreVerb::Replace),
        b"append" => items::store(input, &line, limits, StoreVerb::Append),
        b"prepend" => items::store(input, &line, limits, StoreVerb::Prepend),
        b"cas" => items::store(input, &line, limits, StoreVerb::Cas(0)),
        b"incr" => items::count(&line, false),
        b"decr" => items::count(&line, true),
        b"touch" => items::touch(&line),
        b"delete" => items::delete(&line),
        b"mn" | b"me" | b"mg" | b"ms" | b"md" | b"ma" => {
            meta::decode(input, &line, name[1], limits)
        }
        b"quit" => line.whole(Request::Quit),
        b"version" => line.whole(Request::Version),
        b"stats" => admin::stats(&line),
        b"watch" => admin::watch(&line),
        _ => admin::read_by_first_word(&line),
    }
}

/// Only a client that asks for many keys may have meant it, and gets an answer that says so.
fn too_long<'a>(input: &[u8], used: usize) -> Outcome<'a> {
    if !line::is_of_keys(input) {
        return hang_up(used);
    }
    Outcome::Refused {
        refusal: Refusal::line("CLIENT_ERROR line too long").and_close(),
        used,
    }
}

/// Nothing is said and the connection ends.
fn hang_up<'a>(used: usize) -> Outcome<'a> {
    Outcome::Refused {
        refusal: Refusal::hang_up(),
        used,
    }
}

impl<'a> Line<'a> {
    /// The line is the whole request.
    fn whole(&self, request: Request<'a>) -> Outcome<'a> {
        Outcome::Whole {
            request: decoder::Request::Text(request),
            used: self.bytes,
        }
    }

    /// Nothing of the request follows the line.
    pub(crate) fn refused(&self, text: &'static str) -> Outcome<'a> {
        self.refused_with(Refusal::line(text))
    }

    /// The same, and nothing is said where no reply is asked for.
    fn refused_unless_silent(&self, tokens: &Tokens<'a>, text: &'static str) -> Outcome<'a> {
        self.refused_with(refusal(tokens, text))
    }

    pub(crate) fn refused_with(&self, refusal: Refusal) -> Outcome<'a> {
        Outcome::Refused {
            refusal,
            used: self.bytes,
        }
    }

    /// The line is wrong, and so many bytes of data follow it.
    pub(crate) fn refused_after(&self, refusal: Refusal, data: usize) -> Outcome<'a> {
        Outcome::Swallow {
            refusal,
            too_large: None,
            used: self.bytes,
            data,
        }
    }

    /// The line announces a value that is larger than the limit.
    pub(crate) fn too_large(
        &self,
        refusal: Refusal,
        value: TooLarge<'a>,
        data: usize,
    ) -> Outcome<'a> {
        Outcome::Swallow {
            refusal,
            too_large: Some(value),
            used: self.bytes,
            data,
        }
    }
}

fn refusal(tokens: &Tokens<'_>, text: &'static str) -> Refusal {
    if tokens.ask_for_no_reply() {
        Refusal::silent()
    } else {
        Refusal::line(text)
    }
}
