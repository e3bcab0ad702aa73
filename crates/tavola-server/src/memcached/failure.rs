//! Errors of the table, as clients get them.

use std::io::Write;

use tavola::Error;
use tavola_proto::text::answer;
use tavola_proto::{Decoder, Protocol};

use super::tally::Event;
use super::work::Work;
use crate::net::Output;

/// The answer of memcached if there is no room for anything except a value that is stored.
pub(super) const NO_ROOM: &[u8] = b"SERVER_ERROR out of memory\r\n";

/// Counts an error that `stats` reports by name.
pub(super) fn count(work: &Work, error: &Error) {
    match error {
        Error::Full { .. } => work.count(Event::NoMemory),
        Error::TooLarge { .. } => work.count(Event::TooLarge),
        _ => {}
    }
}

/// Writes the line that reports an error: that of memcached if it has one.
pub(super) fn line(output: &mut Output, error: &Error) {
    match error {
        Error::Full { .. } => output.extend(answer::NO_MEMORY),
        Error::TooLarge { .. } => output.extend(answer::TOO_LARGE),
        // Writing to an output does not fail, and a sentence has no line end.
        other => {
            let _ = write!(output, "SERVER_ERROR {other}\r\n");
        }
    }
}

/// Writes the line that reports an error at the end of a connection. Writes nothing in the binary
/// protocol: an answer of it has the number of its request, and here there is no request.
pub(super) fn last(decoder: &Decoder, output: &mut Output, error: &Error) {
    if decoder.protocol() != Some(Protocol::Binary) {
        line(output, error);
    }
}
