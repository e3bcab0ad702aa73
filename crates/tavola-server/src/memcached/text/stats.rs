//! `stats`.

use std::fmt::Display;
use std::io::Write;

use tavola_proto::text::{Detail, Stats, answer};

use crate::memcached::crawler::{Classes, Dump, Form};
use crate::memcached::failure;
use crate::memcached::stats;
use crate::memcached::work::{After, Work};
use crate::net::Output;

const BUSY: &[u8] = b"SERVER_ERROR too many dumps under way\r\n";

pub(super) fn carry_out(work: &Work, asked: &Stats<'_>, output: &mut Output) -> After {
    let mut report = |name: &str, value: &dyn Display| {
        // Writing to an output does not fail.
        let _ = write!(output, "STAT {name} {value}\r\n");
    };
    let reported = match asked {
        Stats::General => stats::general(work, &mut report),
        Stats::Settings => stats::settings(work, &mut report),
        Stats::Items => stats::items(work, &mut report),
        Stats::Slabs => stats::slabs(work, &mut report),
        Stats::Sizes => {
            report("sizes_status", &"disabled");
            Ok(())
        }
        Stats::Connections => {
            stats::connections(work, &mut report);
            Ok(())
        }
        Stats::Cachedump { class, limit } => return cachedump(work, *class, *limit, output),
        other => {
            rest(work, other, output);
            return After::NextRequest;
        }
    };
    match reported {
        Ok(()) => output.extend(answer::END),
        Err(error) => failure::line(output, &error),
    }
    After::NextRequest
}

/// Carries out requests that report no figures, or those of prefixes.
fn rest(work: &Work, asked: &Stats<'_>, output: &mut Output) {
    let prefixes = &work.shared.prefixes;
    output.extend(match asked {
        Stats::Reset => {
            stats::reset(work);
            answer::RESET
        }
        Stats::Detail(Detail::Dump) => {
            let mut all = Vec::new();
            prefixes.dump(&mut all);
            return output.push(all);
        }
        Stats::Detail(other) => {
            prefixes.turn(*other == Detail::On);
            answer::OK
        }
        _ => answer::ERROR,
    });
}

/// Begins a dump of the keys of a class. It has to read all keys, unless the class is empty.
fn cachedump(work: &Work, class: u32, limit: u32, output: &mut Output) -> After {
    let stats = match work.table().stats() {
        Ok(stats) => stats,
        Err(error) => {
            failure::line(output, &error);
            return After::NextRequest;
        }
    };
    let used = stats.classes.iter().filter(|found| found.used > 0);
    if !used.map(|found| found.number).any(|found| found == class) {
        output.extend(answer::END);
        return After::NextRequest;
    }
    let limit = if limit == 0 { u64::MAX } else { limit.into() };
    let crawler = &work.shared.crawler;
    match Dump::begin(crawler, Form::Cache, Classes::one(class), limit) {
        Some(dump) => After::Dump(dump),
        None => {
            output.extend(BUSY);
            After::NextRequest
        }
    }
}
