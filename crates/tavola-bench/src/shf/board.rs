//! The lines of a measurement: what happened between two samples.

use std::fs::File;
use std::os::unix::fs::{FileExt, MetadataExt};

use serde_json::{Value, json};

use super::worker::Done;
use crate::table::show;
use crate::{Error, Result};

/// A dash of the bar.
const DASH_MOPS: f64 = 0.75;
const LONGEST_BAR: usize = 60;
const MIB: f64 = (1 << 20) as f64;

/// What was seen at one moment.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    pub(super) at_ns: u64,
    pub(super) bytes: u64,
    pub(super) splits: u64,
    /// Operations of each process since its start.
    pub(super) counts: Vec<u64>,
}

/// Reads what the processes have counted.
pub(super) fn counts(file: &File, procs: usize) -> Result<Vec<u64>> {
    let mut bytes = vec![0; 8 * procs];
    let read = file.read_exact_at(&mut bytes, 0);
    read.map_err(Error::io("reading the counts"))?;
    let words = bytes.as_chunks::<8>().0.iter();
    Ok(words.map(|word| u64::from_le_bytes(*word)).collect())
}

/// Returns how many bytes of a file are backed by memory.
pub(super) fn backed_bytes(file: &File) -> Result<u64> {
    let metadata = file.metadata();
    let metadata = metadata.map_err(Error::io("asking for the size of a file"))?;
    Ok(metadata.blocks() * 512)
}

/// Prints the processor and the head of the columns.
pub(super) fn head(store: &str, procs: usize) -> Result<()> {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info
        .lines()
        .find_map(|line| line.strip_prefix("model name"));
    let model = model.map_or("unknown", |text| text.trim_start_matches([' ', '\t', ':']));
    show(format!("perf testing: {store}\nrunning tests on: {model}"))?;
    let width = 4 * procs;
    let words = "PERCENT OPERATIONS PER PROCESS PER SECOND";
    let title = match width {
        0..=7 => "%",
        8..=41 => "PERCENT",
        _ => words,
    };
    let numbers: String = (0..procs).map(|at| format!("  {at:02}")).collect();
    show(format!(
        "-OP MAPPED  FREED SPLIT TOTAL{title:->width$}  -OPS\n\
        --- -MiB/s -MiB/s   -/s M-OPS{numbers}  -M/s"
    ))
}

/// Makes lines of samples.
pub(super) struct Board {
    began_ns: u64,
    before: Sample,
}

impl Board {
    pub(super) fn new(before: Sample) -> Self {
        Self {
            began_ns: before.at_ns,
            before,
        }
    }

    /// A phase begins at this instant.
    pub(super) fn begin(&mut self, began_ns: u64, before: Sample) {
        self.began_ns = began_ns;
        self.before = before;
        self.before.at_ns = began_ns;
    }

    pub(super) fn began_ns(&self) -> u64 {
        self.began_ns
    }

    /// Returns what happened since the sample before.
    pub(super) fn line(&mut self, now: Sample) -> Line {
        let before = std::mem::replace(&mut self.before, now);
        let now = &self.before;
        let seconds = now.at_ns.saturating_sub(before.at_ns).max(1) as f64 / 1e9;
        let each = now.counts.iter().zip(&before.counts);
        let each: Vec<u64> = each.map(|(now, before)| now - before).collect();
        let ops: u64 = each.iter().sum();
        let share = |count: &u64| (100 * count + ops / 2).checked_div(ops).unwrap_or(0);
        Line {
            since_start_s: now.at_ns.saturating_sub(self.began_ns) as f64 / 1e9,
            seconds,
            mapped: now.bytes.saturating_sub(before.bytes),
            freed: before.bytes.saturating_sub(now.bytes),
            splits: now.splits.saturating_sub(before.splits),
            resident: now.bytes,
            ops,
            total: now.counts.iter().sum(),
            percent: each.iter().map(share).collect(),
        }
    }
}

/// What happened between two samples.
#[derive(Debug)]
pub(super) struct Line {
    since_start_s: f64,
    seconds: f64,
    mapped: u64,
    freed: u64,
    splits: u64,
    resident: u64,
    ops: u64,
    total: u64,
    percent: Vec<u64>,
}

impl Line {
    fn mops(&self) -> f64 {
        self.ops as f64 / self.seconds / 1e6
    }

    pub(super) fn text(&self, phase: &str) -> String {
        let rate = |bytes: u64| bytes as f64 / MIB / self.seconds;
        let percent: String = self.percent.iter().map(|one| format!("{one:4}")).collect();
        let bar = "-".repeat(((self.mops() / DASH_MOPS) as usize).min(LONGEST_BAR));
        let line = format!(
            "{phase} {:6.1} {:6.1} {:5.0} {:5.1}{percent} {:5.1} {bar}",
            rate(self.mapped),
            rate(self.freed),
            self.splits as f64 / self.seconds,
            self.total as f64 / 1e6,
            self.mops(),
        );
        line.trim_end().to_owned()
    }

    pub(super) fn object(&self, store: &str, phase: &str) -> Value {
        json!({
            "store": store,
            "phase": phase,
            "second": self.since_start_s,
            "seconds": self.seconds,
            "mapped_bytes": self.mapped,
            "freed_bytes": self.freed,
            "splits": self.splits,
            "resident_bytes": self.resident,
            "ops": self.ops,
            "total_ops": self.total,
            "percent": self.percent,
            "mops": self.mops(),
        })
    }
}

/// The mean of a phase: from the common start to the end of the last process.
pub(super) fn sum(store: &str, phase: &str, start_ns: u64, done: &[Done]) -> Value {
    let end_ns = done
        .iter()
        .map(|done| done.end_ns)
        .max()
        .unwrap_or(start_ns);
    let ops: u64 = done.iter().map(|done| done.ops).sum();
    let seconds = end_ns.saturating_sub(start_ns).max(1) as f64 / 1e9;
    json!({
        "store": store,
        "sum": phase,
        "ops": ops,
        "seconds": seconds,
        "mops": ops as f64 / seconds / 1e6,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(at_ns: u64, bytes: u64, counts: &[u64]) -> Sample {
        Sample {
            at_ns,
            bytes,
            splits: at_ns / 100_000_000,
            counts: counts.to_vec(),
        }
    }

    #[test]
    fn a_line_is_what_happened_between_two_samples() {
        let mut board = Board::new(sample(0, 0, &[0, 0]));
        board.begin(1_000_000_000, sample(900_000_000, 10 << 20, &[100, 100]));
        let line = board.line(sample(3_000_000_000, 14 << 20, &[3_000_100, 1_000_100]));
        assert_eq!(
            line.text("PUT"),
            "PUT    2.0    0.0    10   4.0  75  25   2.0 --"
        );
        let line = board.line(sample(4_000_000_000, 12 << 20, &[3_000_100, 1_000_100]));
        assert_eq!(
            line.text("GET"),
            "GET    0.0    2.0    10   4.0   0   0   0.0"
        );
        let object = line.object("tavola", "GET");
        assert_eq!(object["second"], 3.0);
        assert_eq!(object["freed_bytes"], 2 << 20);
    }

    #[test]
    fn the_sum_ends_with_the_last_process() {
        let done =
            [(2_000_000_000, 5), (3_000_000_000, 7)].map(|(end_ns, ops)| Done { end_ns, ops });
        let sum = sum("tavola", "PUT", 1_000_000_000, &done);
        assert_eq!((&sum["ops"], &sum["seconds"]), (&json!(12), &json!(2.0)));
    }
}
