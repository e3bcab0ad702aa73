//! Errors of the table, as clients are told.

use std::io::Write;

use tavola::Error;
use tavola_proto::text::answer;

use super::tally::Event;
use super::work::Work;
use crate::net::Output;

/// Counts what monitoring asks for by name.
pub(super) fn count(work: &Work, error: &Error) {
    match error {
        Error::Full { .. } => work.count(Event::NoMemory),
        Error::TooLarge { .. } => work.count(Event::TooLarge),
        _ => {}
    }
}

/// The line that tells what failed; the one of memcached where it has one.
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
