//! The meta commands: the operations on the table and the answers. One file a command.
//!
//! Facts about an item beside its value, flags and time are in its marks (`marks`): whether it is
//! stale, and whether a client was asked for a new value; whether and when it was read; whether its
//! key came as base64. A flag for which a table has no room is refused as memcached refuses a
//! letter it does not know. Without versions these are a unique number of the client's choice
//! (`E`), one that is older than another (`I`), and a time of use (`h`, `l`). If items have a fixed
//! length, there are no marks at all (`N`, `R` of `mg`).

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

/// The most bytes of an answer beside a value: a key as base64 and the other flags.
const ANSWER_BYTES: usize = 1024;
/// The answer to flags that cannot be answered.
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

/// Returns the unique number that the flag `E` gives, if the table can keep it. The table chooses
/// others itself.
fn version_of(flags: &Flags<'_>) -> Option<u64> {
    flags.new_cas().filter(|cas| !matches!(cas, 0 | &u64::MAX))
}
