//! The result lines: one a phase, one at the end.

use serde::Serialize;

use super::phases::Measured;
use super::{Config, Distribution, Phase};
use crate::latency::{Merged, Percentiles};
use crate::stats::median_run;

/// One line of the result.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Line {
    /// A phase is over.
    Phase(PhaseLine),
    /// The pages were made huge.
    Collapse(Collapse),
    /// All is over.
    Summary(Box<Summary>),
}

/// A phase; with several repetitions the one of median throughput, and the latencies of all.
#[derive(Clone, Debug, Serialize)]
pub struct PhaseLine {
    /// `put`, `over`, `mix`, `get` or `miss`.
    pub phase: Phase,
    /// Processes.
    pub procs: u32,
    /// Keys in the table.
    pub keys: u64,
    /// Keys a call.
    pub batch: usize,
    /// Operations of all processes.
    pub ops: u64,
    /// From the common start to the end of the last process.
    pub seconds: f64,
    /// Million operations a second.
    pub mops: f64,
    /// Nanoseconds a call; absent when latencies were not asked for.
    #[serde(flatten)]
    pub latency: Option<Percentiles>,
    /// How many calls these are of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timed: Option<u64>,
    /// Million operations a second of each process, in its own time.
    pub share: Vec<f64>,
    /// `mops` of every repetition, in the order they were run.
    pub runs: Vec<f64>,
    /// Million writes a second of the hot writer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writer_mops: Option<f64>,
}

/// What `--collapse` did.
#[derive(Clone, Debug, Serialize)]
pub struct Collapse {
    /// Always `collapse`.
    pub phase: &'static str,
    /// How long it took.
    pub seconds: f64,
    /// Bytes that lie on huge pages now.
    pub collapsed_bytes: u64,
    /// Whether this machine has them.
    pub huge_pages_supported: bool,
}

/// The table at the end, and what the figures were measured with.
#[derive(Clone, Debug, Serialize)]
#[expect(
    missing_docs,
    reason = "the names are those of the options and of tavola::Stats"
)]
pub struct Summary {
    pub summary: &'static str,
    pub keys: u64,
    pub procs: u32,
    pub key_bytes: usize,
    pub value_bytes: usize,
    pub batch: usize,
    pub distribution: Distribution,
    pub placement: String,
    pub repeat: u32,
    pub cpus: usize,
    pub shards: u32,
    pub max_size: u64,
    pub resident_bytes: u64,
    pub bytes_per_key: f64,
    pub resident_bytes_after_put: u64,
    pub bytes_per_key_after_put: f64,
    pub payload_bytes: u64,
    pub index_bytes: u64,
    pub index_load: f64,
    pub slab_bytes: u64,
    pub large_bytes: u64,
    pub free_bytes: u64,
    /// What the loop around the table costs an operation; it is part of all figures.
    pub harness_ns: f64,
    /// What one reading of the clock costs; it is part of all latencies.
    pub timer_ns: f64,
}

/// A phase over all repetitions.
pub(super) struct Gathered {
    phase: Phase,
    procs: u32,
    keys: u64,
    batch: usize,
    turns: Vec<Measured>,
    latency: Option<Merged>,
}

impl Gathered {
    pub(super) fn new(config: &Config, phase: Phase) -> Self {
        let batch = if phase == Phase::Mix { 1 } else { config.batch };
        let (procs, keys) = (config.procs, config.keys);
        Self {
            phase,
            procs,
            keys,
            batch,
            turns: Vec::new(),
            latency: None,
        }
    }

    pub(super) fn add(&mut self, mut turn: Measured) {
        if let Some(more) = turn.latency.take() {
            match &mut self.latency {
                Some(latency) => latency.join(&more),
                None => self.latency = Some(more),
            }
        }
        self.turns.push(turn);
    }

    pub(super) fn line(&self) -> PhaseLine {
        let median = median_run(&self.turns, Measured::mops);
        PhaseLine {
            phase: self.phase,
            procs: self.procs,
            keys: self.keys,
            batch: self.batch,
            ops: median.ops,
            seconds: median.seconds,
            mops: median.mops(),
            latency: self.latency.as_ref().map(Merged::percentiles),
            timed: self.latency.as_ref().map(Merged::count),
            share: median.share.clone(),
            runs: self.turns.iter().map(Measured::mops).collect(),
            writer_mops: median.writer_mops,
        }
    }
}

impl Measured {
    fn mops(&self) -> f64 {
        self.ops as f64 / self.seconds / 1e6
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_run_is_reported_and_all_are_listed() {
        let config_free = Gathered {
            phase: Phase::Get,
            procs: 2,
            keys: 10,
            batch: 1,
            turns: Vec::new(),
            latency: None,
        };
        let mut gathered = config_free;
        for seconds in [2.0, 1.0, 4.0] {
            let share = vec![1.0, 2.0];
            let turn = Measured {
                ops: 4_000_000,
                seconds,
                share,
                latency: None,
                writer_mops: None,
            };
            gathered.add(turn);
        }
        let line = gathered.line();
        assert_eq!((line.mops, line.seconds), (2.0, 2.0));
        assert_eq!(line.runs, [2.0, 4.0, 1.0]);
        let json = serde_json::to_value(Line::Phase(line)).unwrap();
        assert_eq!(json["phase"], "get");
        assert!(json.get("p50_ns").is_none(), "latencies were not asked for");
    }
}
