//! The binary requests: the operations on the table and the answers. One file a group.
//!
//! A quiet request is answered only if it failed; a quiet get only if it found something.

mod count;
mod get;
mod items;
mod stats;
mod store;

use tavola::Error;
use tavola_proto::binary::{Command, Header, Request, Status, answer};

use super::VERSION;
use super::work::{After, Work};
use crate::net::Output;

/// The most bytes of an answer beside a key and a value.
const ANSWER_BYTES: usize = 64;

/// Carries out a request.
pub(super) fn carry_out(work: &mut Work, request: &Request<'_>, output: &mut Output) -> After {
    let header = &request.header;
    let quiet = request.quiet;
    match &request.command {
        Command::Get(get) => get::get(work, header, get, quiet, output),
        Command::Touch { key, exptime } => get::touch(work, header, key, *exptime, output),
        Command::Store(store) => {
            let stored = store::carry_out(work, store);
            write_reply(output, header, quiet, stored);
        }
        Command::Delete { key, cas } => {
            let deleted = items::delete(work, key, *cas);
            write_reply(output, header, quiet, deleted);
        }
        Command::Flush { delay } => {
            let flushed = items::flush(work, *delay);
            write_reply(output, header, quiet, flushed);
        }
        Command::Count(count) => count::carry_out(work, header, count, quiet, output),
        Command::Stat { topic } => stats::carry_out(work, header, topic, output),
        Command::Version => {
            answer::text(output.room(ANSWER_BYTES), header, VERSION.as_bytes());
        }
        Command::Noop => answer::done(output.room(ANSWER_BYTES), header, 0),
        Command::Quit => {
            write_reply(output, header, quiet, Ok(0));
            return After::Quit;
        }
        _ => refuse(output, header, Status::UnknownCommand),
    }
    After::NextRequest
}

/// The reason why a request was not carried out.
enum Failure {
    Status(Status),
    Table(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Table(error)
    }
}

/// Writes an answer of success with the unique number, unless the client wants only failures.
fn write_reply(output: &mut Output, header: &Header, quiet: bool, done: Result<u64, Failure>) {
    match done {
        Ok(_) if quiet => {}
        Ok(cas) => answer::done(output.room(ANSWER_BYTES), header, cas),
        Err(Failure::Status(status)) => refuse(output, header, status),
        Err(Failure::Table(error)) => fail(output, header, &error),
    }
}

fn refuse(output: &mut Output, header: &Header, status: Status) {
    answer::error(output.room(ANSWER_BYTES), header, status);
}

/// Writes an error of the table.
fn fail(output: &mut Output, header: &Header, error: &Error) {
    let status = match error {
        Error::Full { .. } => {
            let text = b"Out of memory allocating item";
            return answer::no_memory(output.room(ANSWER_BYTES), header, text);
        }
        Error::TooLarge { .. } => Status::TooLarge,
        _ => Status::Internal,
    };
    refuse(output, header, status);
}
