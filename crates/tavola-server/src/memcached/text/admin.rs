//! Commands about the server, except its figures.

use std::sync::atomic::Ordering::Relaxed;

use tavola_proto::text::{Request, Tune, Tuned, answer};

use super::{Reply, write_reply};
use crate::memcached::VERSION;
use crate::memcached::work::Work;
use crate::net::Output;

const TOO_SMALL: &[u8] = b"MEMLIMIT_TOO_SMALL cannot set maxbytes to less than 8m\r\n";
const NOT_MEBIBYTES: &[u8] = b"MEMLIMIT_ADJUST_FAILED input value is megabytes not bytes\r\n";
const NOT_ADJUSTED: &[u8] = b"MEMLIMIT_ADJUST_FAILED out of bounds or unable to adjust\r\n";
const NO_TLS: &[u8] = b"Error TLS not enabled\r\n";
/// The smallest limit in mebibytes.
const LEAST_MEBIBYTES: u32 = 8;
/// A larger one is taken for bytes.
const MOST_MEBIBYTES: u32 = 1_000_000_000;
/// The highest verbosity, as in memcached.
const HIGHEST_VERBOSITY: u32 = 2;
const NO_REASSIGNMENT: &[u8] = b"CLIENT_ERROR slab reassignment disabled\r\n";
const BAD_FORMAT: &[u8] = b"CLIENT_ERROR bad command line format\r\n";
const BAD_WINDOW: &[u8] = b"CLIENT_ERROR automove window too low or too high\r\n";

pub(super) fn carry_out(work: &Work, request: &Request<'_>, output: &mut Output) {
    let (line, noreply) = match request {
        Request::Version => return answer::version(output.room(64), VERSION),
        Request::Verbosity { level, noreply } => {
            // There is nothing that a higher level would log.
            let level = (*level).min(HIGHEST_VERBOSITY);
            work.shared.verbosity.store(level, Relaxed);
            (answer::OK, *noreply)
        }
        Request::Shutdown { noreply, .. } => (answer::SHUTDOWN_OFF, *noreply),
        Request::RefreshCerts => return refresh_certificates(work, output),
        Request::CacheMemlimit { mebibytes, noreply } => (limit(work, *mebibytes), *noreply),
        Request::Authenticate { .. } => (answer::AUTH_FAILED, false),
        Request::Tune(tune) => (tuned(tune), tune.noreply),
        _ => (answer::ERROR, false),
    };
    write_reply(output, noreply, Ok(Reply::Line(line)));
}

/// Reads the certificates again. A client that may ask for this has authenticated, so it may learn
/// why that fails.
fn refresh_certificates(work: &Work, output: &mut Output) {
    let mut all = work.meter.setup().tls.iter().flatten().peekable();
    if all.peek().is_none() {
        return output.extend(NO_TLS);
    }
    match all.try_for_each(|tls| tls.reread()) {
        Ok(()) => output.extend(answer::OK),
        Err(error) => output.extend(format!("Error {error}\r\n").as_bytes()),
    }
}

/// Sets the capacity of a cache. A table that is not a cache has nothing to adjust.
fn limit(work: &Work, mebibytes: u32) -> &'static [u8] {
    if mebibytes < LEAST_MEBIBYTES {
        return TOO_SMALL;
    }
    if mebibytes > MOST_MEBIBYTES {
        return NOT_MEBIBYTES;
    }
    match work.table().set_capacity(u64::from(mebibytes) << 20) {
        Ok(()) => answer::OK,
        Err(_) => NOT_ADJUSTED,
    }
}

/// Answers `slabs` and `lru` as a memcached does that moves no memory between classes and keeps no
/// lists of items in the order of their use.
fn tuned(tune: &Tune<'_>) -> &'static [u8] {
    let words: Vec<&[u8]> = tune.arguments.clone().take(4).collect();
    let is = |name: &str| name.as_bytes().starts_with(words[0]);
    match (tune.command, words.len()) {
        (Tuned::Slabs, 3) if is("reassign") => NO_REASSIGNMENT,
        (Tuned::Slabs, 2..) if is("automove") => automove(&words[1..]),
        _ => answer::ERROR,
    }
}

/// Answers `slabs automove`: it may be turned off, and nothing else.
fn automove(words: &[&[u8]]) -> &'static [u8] {
    let is = |name: &str| name.as_bytes().starts_with(words[0]);
    let number = |at: usize| {
        let word = str::from_utf8(words.get(at)?).ok()?;
        word.parse::<u32>().ok()
    };
    if is("ratio") || is("freeratio") {
        return answer::ERROR;
    }
    if is("window") {
        return match number(1) {
            None => BAD_FORMAT,
            Some(3..=1800) => answer::ERROR,
            Some(_) => BAD_WINDOW,
        };
    }
    match number(0) {
        None => BAD_FORMAT,
        Some(0) => answer::OK,
        Some(_) => answer::ERROR,
    }
}
