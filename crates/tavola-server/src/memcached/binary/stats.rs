//! Stat.

use std::fmt::Display;

use tavola_proto::binary::{Header, Status, answer};

use super::{ANSWER_BYTES, fail, refuse};
use crate::memcached::stats;
use crate::memcached::work::Work;
use crate::net::Output;

pub(super) fn carry_out(work: &Work, header: &Header, topic: &[u8], output: &mut Output) {
    let mut report = |name: &str, value: &dyn Display| {
        let value = value.to_string();
        let out = output.room(ANSWER_BYTES + name.len() + value.len());
        answer::stat(out, header, name.as_bytes(), value.as_bytes());
    };
    let prefixes = &work.shared.prefixes;
    let reported = match topic {
        b"" => stats::general(work, &mut report),
        b"items" => stats::items(work, &mut report),
        b"slabs" => stats::slabs(work, &mut report),
        b"sizes" => {
            report("sizes_status", &"disabled");
            Ok(())
        }
        // Words may follow these, as in memcached.
        topic if topic.starts_with(b"settings") => stats::settings(work, &mut report),
        topic if topic.starts_with(b"reset") => {
            stats::reset(work);
            Ok(())
        }
        // Prefixes are parts of keys: a client that may not list keys gets none.
        topic if topic.starts_with(b"detail") && !work.shared.rules.dumps => {
            return refuse(output, header, Status::NotFound);
        }
        b"detail dump" => {
            let mut all = Vec::new();
            prefixes.dump(&mut all);
            let out = output.room(ANSWER_BYTES + all.len());
            answer::stat(out, header, b"detailed", &all);
            Ok(())
        }
        b"detail on" | b"detail off" => {
            prefixes.turn(topic == b"detail on");
            Ok(())
        }
        _ => return refuse(output, header, Status::NotFound),
    };
    match reported {
        Ok(()) => answer::stat(output.room(ANSWER_BYTES), header, &[], &[]),
        Err(error) => fail(output, header, &error),
    }
}
