//! `lru_crawler`.

use std::sync::atomic::Ordering::Relaxed;

use tavola_proto::text::{LruCrawler, answer};

use super::{Reply, write_reply};
use crate::memcached::crawler::{Classes, Dump, Form};
use crate::memcached::work::{After, Work};
use crate::net::Output;

const DISABLED: &[u8] = b"CLIENT_ERROR lru crawler disabled\r\n";
const ENABLED_ALREADY: &[u8] = b"ERROR failed to start lru crawler thread\r\n";
const BAD_CLASS: &[u8] = b"BADCLASS invalid class id\r\n";
const NO_CLASS: &[u8] = b"NOTSTARTED no items to crawl\r\n";
const BUSY: &[u8] = b"BUSY currently processing crawler request\r\n";
const NOT_BY_HASH: &[u8] = b"ERROR an unknown error happened\r\n";

pub(super) fn carry_out(
    work: &Work,
    command: &LruCrawler<'_>,
    noreply: bool,
    output: &mut Output,
) -> After {
    let crawler = &work.shared.crawler;
    let line = match command {
        LruCrawler::Enable if crawler.turn(true) => answer::OK,
        LruCrawler::Enable => ENABLED_ALREADY,
        LruCrawler::Disable => {
            crawler.turn(false);
            answer::OK
        }
        LruCrawler::Sleep(sleep_us) => {
            crawler.sleep_us.store(*sleep_us, Relaxed);
            answer::OK
        }
        LruCrawler::Tocrawl(count) => {
            crawler.to_crawl.store(*count, Relaxed);
            answer::OK
        }
        LruCrawler::Crawl(_) | LruCrawler::Metadump(_) | LruCrawler::Mgdump(_)
            if !crawler.is_on() =>
        {
            DISABLED
        }
        LruCrawler::Crawl(words) => crawl(work, words),
        LruCrawler::Metadump(words) => match dump(work, words, Form::Meta) {
            Ok(dump) => return begin(dump, output),
            Err(line) => line,
        },
        LruCrawler::Mgdump(words) => match dump(work, words, Form::Mg) {
            Ok(dump) => return begin(dump, output),
            Err(line) => line,
        },
    };
    write_reply(output, noreply, Ok(Reply::Line(line)));
    After::NextRequest
}

fn begin(dump: Box<Dump>, output: &mut Output) -> After {
    output.extend(answer::OK);
    After::Dump(dump)
}

/// Looks for a bounded number of expired keys; later writes remove the others. All keys are in one
/// order, so classes are parsed and ignored.
fn crawl(work: &Work, words: &[u8]) -> &'static [u8] {
    if words == b"hash" {
        return NOT_BY_HASH;
    }
    match classes(words) {
        Err(line) => line,
        Ok(_) => {
            work.shared.crawler.start();
            // The next write finds this error as well, and its client gets it.
            let _ = work.table().maintain(0);
            answer::OK
        }
    }
}

fn dump(work: &Work, words: &[u8], form: Form) -> Result<Box<Dump>, &'static [u8]> {
    let classes = if words == b"hash" {
        Classes::ALL
    } else {
        classes(words)?
    };
    Dump::begin(&work.shared.crawler, form, classes, u64::MAX).ok_or(BUSY)
}

fn classes(words: &[u8]) -> Result<Classes, &'static [u8]> {
    if words == b"all" {
        return Ok(Classes::ALL);
    }
    match Classes::read(words) {
        None => Err(BAD_CLASS),
        Some(classes) if classes.is_empty() => Err(NO_CLASS),
        Some(classes) => Ok(classes),
    }
}
