//! `stats`.

use std::fmt::Display;
use std::io::Write;

use tavola_proto::text::{Stats, answer};

use crate::memcached::failure;
use crate::memcached::stats;
use crate::memcached::work::Work;
use crate::net::Output;

pub(super) fn carry_out(work: &Work, asked: &Stats<'_>, output: &mut Output) {
    let mut tell = |name: &str, value: &dyn Display| {
        // Writing to an output does not fail.
        let _ = write!(output, "STAT {name} {value}\r\n");
    };
    let told = match asked {
        Stats::General => stats::general(work, &mut tell),
        Stats::Settings => stats::settings(work, &mut tell),
        Stats::Items => stats::items(work, &mut tell),
        Stats::Slabs => stats::slabs(work, &mut tell),
        Stats::Sizes => {
            tell("sizes_status", &"disabled");
            Ok(())
        }
        Stats::Reset => {
            work.shared.tallies.reset();
            return output.extend(answer::RESET);
        }
        _ => return output.extend(answer::ERROR),
    };
    match told {
        Ok(()) => output.extend(answer::END),
        Err(error) => failure::line(output, &error),
    }
}
