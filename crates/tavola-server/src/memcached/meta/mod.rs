//! The meta commands: what they ask of the table and what they answer. One file a command.
//!
//! What they need to know of an item that is not its value, its flags or its time is in its
//! marks (`marks`): whether it is stale, and who is to bring a new value; whether and when it was
//! read; whether its key came as base64. Flags that ask for what a table has no room for are
//! refused as memcached refuses a letter it does not know: without versions there is no unique
//! number of the client's choice (`E`), none that is older than another (`I`), and no time of use
//! (`h`, `l`); where items have a fixed length, no marks at all (`N`, `R` of `mg`).

mod count;
mod debug;
mod delete;
mod get;
mod set;

use tavola_proto::meta::{Flags, Request, answer};

use super::marks::Kept;
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
    let unknown: &[u8] = match (request, work.shared.kept) {
        (_, Kept::All) | (Request::Debug { .. } | Request::Noop, _) => b"",
        (Request::Get(_), Kept::Flags) => b"hlE",
        (Request::Get(_), Kept::Nothing) => b"hlENR",
        (Request::Set { .. } | Request::Delete(_), _) => b"IE",
        (Request::Arithmetic { .. }, _) => b"E",
    };
    let flags = request.item().map(|item| &item.flags);
    if flags.is_some_and(|flags| unknown.iter().any(|letter| flags.has(*letter))) {
        output.extend(UNKNOWN_FLAG);
        return After::NextRequest;
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
    After::NextRequest
}

/// `E`, where a table can have it: the others it gives itself.
fn version_of(flags: &Flags<'_>) -> Option<u64> {
    flags.new_cas().filter(|cas| !matches!(cas, 0 | &u64::MAX))
}
