//! The meta commands: what the table is asked, and what the client is told. One file a command.
//!
//! Flags that ask for what a table does not keep are refused as memcached refuses a letter it does
//! not know: when an item was used (`h`, `l`), who is to bring a new value (`N`, `R` of `mg`),
//! staleness (`I`), and unique numbers of the client's choice (`E`). `u` is taken and has no
//! effect. Where a key is told, it comes as base64 if it was asked for so.

mod count;
mod debug;
mod delete;
mod get;
mod set;

use tavola_proto::meta::{Request, answer};

use super::tally::Event;
use super::work::{After, Work};
use crate::net::Output;

/// What an answer takes at most beside a value: a key as base64 and the other flags.
const ANSWER_BYTES: usize = 1024;
/// To flags that cannot be answered.
const UNKNOWN_FLAG: &[u8] = b"CLIENT_ERROR invalid flag\r\n";

/// Carries out a request.
pub(super) fn carry_out(work: &mut Work, request: &Request<'_>, output: &mut Output) -> After {
    work.count(Event::Meta);
    let unknown: &[u8] = match request {
        Request::Get(_) => b"hlNRE",
        Request::Set { .. } | Request::Delete(_) => b"IE",
        Request::Arithmetic { .. } => b"E",
        Request::Debug { .. } | Request::Noop => b"",
    };
    let flags = request.item().map(|item| &item.flags);
    if flags.is_some_and(|flags| unknown.iter().any(|letter| flags.has(*letter))) {
        output.extend(UNKNOWN_FLAG);
        return After::GoOn;
    }
    match request {
        Request::Get(item) => get::carry_out(work, request, item, output),
        Request::Set { item, mode, data } => {
            set::carry_out(work, request, item, *mode, data, output);
        }
        Request::Delete(item) => delete::carry_out(work, request, item, output),
        Request::Arithmetic { item, down } => {
            count::carry_out(work, request, item, *down, output);
        }
        Request::Debug { key } => debug::carry_out(work, *key, output),
        Request::Noop => output.extend(answer::NOOP),
    }
    After::GoOn
}
