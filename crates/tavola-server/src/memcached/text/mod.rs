//! The classic commands: the operations on the table and the answers. One file a group.

mod admin;
mod count;
mod crawler;
mod get;
mod items;
mod stats;
mod store;

pub(super) use get::{Left, Wave, get_alone, get_and_touch};

use tavola::Result;
use tavola_proto::text::{Request, answer};

use super::failure;
use super::work::{After, Work};
use crate::net::Output;

/// The answer to a request that is answered by one line.
enum Reply {
    Line(&'static [u8]),
    Number(u64),
}

/// Carries out a request other than a get.
pub(super) fn carry_out(work: &Work, request: &Request<'_>, output: &mut Output) -> After {
    match request {
        Request::Store(store) => write_reply(output, store.noreply, store::carry_out(work, store)),
        Request::Count(count) => count::carry_out(work, count, output),
        Request::Touch {
            key,
            exptime,
            noreply,
        } => write_reply(output, *noreply, items::touch(work, key, *exptime)),
        Request::Delete { key, noreply } => write_reply(output, *noreply, items::delete(work, key)),
        Request::FlushAll { delay, noreply } => {
            write_reply(output, *noreply, items::flush_all(work, *delay));
        }
        Request::Stats(stats) => return stats::carry_out(work, stats, output),
        Request::LruCrawler { command, noreply } => {
            return crawler::carry_out(work, command, *noreply, output);
        }
        Request::Watch(watched) => return After::Watch(*watched),
        Request::Quit => return After::Quit,
        other => admin::carry_out(work, other, output),
    }
    After::NextRequest
}

/// Writes the answer, unless the client wants none. Such a client gets no errors, either.
fn write_reply(output: &mut Output, noreply: bool, reply: Result<Reply>) {
    match reply {
        _ if noreply => {}
        Ok(Reply::Line(line)) => output.extend(line),
        Ok(Reply::Number(number)) => answer::count(output.room(32), number),
        Err(error) => failure::line(output, &error),
    }
}
