//! Errors of the table, as clients get them.

use std::io::Write;

use tavola::Error;
use tavola_proto::text::answer;
use tavola_proto::{Decoder, Protocol};

use super::tally::Event;
use super::work::Work;
use crate::net::Output;

/// What memcached says where there is no room, and it is not a value that was to be stored.
pub(super) const NO_ROOM: &[u8] = b"SERVER_ERROR out of memory\r\n";

/// Counts what monitoring asks for by name.
pub(super) fn count(work: &Work, error: &Error) {
    match error {
        Error::Full { .. } => work.count(Event::NoMemory),
        Error::TooLarge { .. } => work.count(Event::TooLarge),
        _ => {}
    }
}

/// The line that says what failed, that of memcached if it has one.
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

/// The same as the last line of a connection: nothing where it speaks the binary protocol, in
/// which an answer has the number of its request, and there is none here.
pub(super) fn last(decoder: &Decoder, output: &mut Output, error: &Error) {
    if decoder.protocol() != Some(Protocol::Binary) {
        line(output, error);
    }
}
