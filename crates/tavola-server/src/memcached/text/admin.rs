//! Commands about the server, but for its figures.

use tavola_proto::text::{Request, answer};

use super::{Reply, tell};
use crate::memcached::VERSION;
use crate::memcached::work::Work;
use crate::net::Output;

const TOO_SMALL: &[u8] = b"MEMLIMIT_TOO_SMALL cannot set maxbytes to less than 8m\r\n";
const NOT_ADJUSTED: &[u8] = b"MEMLIMIT_ADJUST_FAILED out of bounds or unable to adjust\r\n";
/// The smallest limit in mebibytes.
const LEAST_MEBIBYTES: u32 = 8;

pub(super) fn carry_out(work: &Work, request: &Request<'_>, output: &mut Output) {
    let (line, noreply) = match request {
        Request::Version => return answer::version(output.room(64), VERSION),
        // There is nothing that a higher level would tell.
        Request::Verbosity { noreply, .. } => (answer::OK, *noreply),
        Request::Shutdown { noreply, .. } => (answer::SHUTDOWN_OFF, *noreply),
        Request::CacheMemlimit { mebibytes, noreply } => (limit(work, *mebibytes), *noreply),
        Request::Authenticate { .. } => (answer::AUTH_FAILED, false),
        Request::LruCrawler { noreply, .. } => (answer::ERROR, *noreply),
        Request::Tune(tune) => (answer::ERROR, tune.noreply),
        _ => (answer::ERROR, false),
    };
    tell(output, noreply, Ok(Reply::Line(line)));
}

/// The capacity of a cache; a table that is none has nothing to adjust.
fn limit(work: &Work, mebibytes: u32) -> &'static [u8] {
    if mebibytes < LEAST_MEBIBYTES {
        return TOO_SMALL;
    }
    match work.table().set_capacity(u64::from(mebibytes) << 20) {
        Ok(()) => answer::OK,
        Err(_) => NOT_ADJUSTED,
    }
}
