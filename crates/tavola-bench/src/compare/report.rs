//! What a run came to: `results.json`, schema 2.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize};

use super::job::{Case, Latency, Placement, Reply, Transport};

/// The schema that this program writes.
pub const SCHEMA: u32 = 2;

/// All that a run found out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Results {
    /// [`SCHEMA`].
    pub schema: u32,
    /// Made up by a test: nothing in it was measured.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub sample: bool,
    /// This program's version.
    pub tavola: String,
    /// Where it ran.
    pub machine: Machine,
    /// When it began, in UTC.
    pub started: String,
    /// How long all turns took, also those before it went on.
    pub seconds: f64,
    /// Whether it was a short one.
    pub quick: bool,
    /// How steady the machine was.
    pub noise: Noise,
    /// The peers that took part, and those that could not.
    pub peers: Vec<PeerRow>,
    /// The measurements.
    pub rows: Vec<Row>,
    /// Cases a peer took no part in, or did not get through.
    pub left_out: Vec<LeftOut>,
    /// What stores do when they are ill-treated.
    pub torment: Vec<TormentRow>,
}

/// The machine of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Machine {
    /// Model of its processors.
    pub cpu: String,
    /// How many this program may use.
    pub cpus: usize,
    /// Its memory.
    pub memory_bytes: u64,
    /// Release of the kernel.
    pub kernel: String,
    /// Name and version of the system.
    #[serde(rename = "os")]
    pub system: String,
    /// Whether it is a virtual one.
    #[serde(rename = "virtual")]
    pub is_virtual: bool,
    /// The kernel's clock, as it says.
    pub clock: String,
}

/// Fixed work, timed between the runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Noise {
    /// The figures of this run can be relied on.
    pub trusted: bool,
    /// How far a loop without memory varied: the 90th of 100 samples by the 10th, less 1.
    pub spin_spread: f64,
    /// The same of a walk through memory.
    pub walk_spread: f64,
    /// How often both were timed.
    pub samples: usize,
    /// Why the run is not trusted.
    pub why: Option<String>,
}

impl Default for Noise {
    fn default() -> Self {
        Self {
            trusted: true,
            spin_spread: 0.0,
            walk_spread: 0.0,
            samples: 0,
            why: None,
        }
    }
}

/// A peer of the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PeerRow {
    /// Its short name.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// As it says itself.
    pub version: String,
    /// How it was set up.
    pub configuration: String,
    /// The language of the program that used it.
    pub language: String,
    /// Why it took no part.
    pub skipped: Option<String>,
    /// What it promises, and does not.
    #[serde(deserialize_with = "of_this_schema")]
    pub properties: Option<Properties>,
    /// When it is the one to take, as the end of a sentence.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub choose: Cow<'static, str>,
    /// What it does not have to do that Tavola does, as the end of a sentence: why it may be ahead.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub spared: Cow<'static, str>,
}

/// An answer that is not always yes or no.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    /// Not at all.
    #[default]
    No,
    /// With what the note says.
    Partly,
    /// Without conditions.
    Yes,
}

/// One property of a store.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Property {
    /// As it is run here.
    pub run: Answer,
    /// With the options or the place that favour it.
    pub can: Answer,
    /// What it takes, or what is left out; empty where there is nothing to say.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub note: Cow<'static, str>,
}

/// What people choose a store by, beside fast or slow.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Properties {
    /// A write that has returned survives a power failure.
    pub durable: Property,
    /// Processes that know nothing of each other read and write at the same time.
    pub shared: Property,
    /// `kill -9` of a process that uses it leaves the others working, and the data whole.
    pub survives_kill: Property,
    /// The data is there after an orderly restart of the machine.
    pub survives_reboot: Property,
    /// Makes room by itself when it is full.
    pub evicts: Property,
    /// Walks in the order of the keys.
    pub ordered: Property,
    /// Several keys change together or not at all.
    pub transactions: Property,
    /// Other machines can use it.
    pub network: Property,
}

/// Results of schema 1 had yes or no: they say nothing.
fn of_this_schema<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Properties>, D::Error> {
    let value = Option::<serde_json::Value>::deserialize(from)?;
    Ok(value.and_then(|value| serde_json::from_value(value).ok()))
}

/// One figure of one peer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Row {
    /// The workload's letter.
    pub workload: String,
    /// What the case is, for people.
    pub title: String,
    /// The same in numbers.
    pub case: Case,
    /// The peer's short name.
    pub peer: String,
    /// What was done.
    pub phase: String,
    /// Of `median`, `least`, `most` and `runs`: `ops/s`, or `s`, `us/op`.
    pub unit: String,
    /// Where client and server were.
    pub placement: Option<Placement>,
    /// How the server was reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transport: Option<Transport>,
    /// Whether sets waited for their answers.
    pub reply: Option<Reply>,
    /// The median of all repetitions.
    pub median: f64,
    /// The smallest of them.
    pub least: f64,
    /// The largest.
    pub most: f64,
    /// All of them.
    pub runs: Vec<f64>,
    /// CPU time an operation, of the program that was timed: the client, where there is a server.
    pub cpu_us_per_op: Option<f64>,
    /// The same of all processes of its server, where the run started one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_cpu_us_per_op: Option<f64>,
    /// What the store takes, by its keys: its files, in memory or on a disk; of a server, what its
    /// processes and files have grown by.
    pub bytes_per_key: Option<f64>,
    /// The most memory that a program had: that of the client, where there is a server.
    pub peak_rss_bytes: Option<u64>,
    /// What all processes of its server, and their files in memory, had at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_bytes: Option<u64>,
    /// The longest time that 64 operations took in the run of median rate.
    pub pause_ns: Option<u64>,
    /// Each process's part of the operations (of one process: each thread's), in the run of median
    /// rate.
    pub shares: Vec<f64>,
    /// Operations a second by each process in each slice of the case's `slice_ms` (a second where
    /// it has none), in the run of median rate.
    pub per_second: Vec<Vec<u64>>,
    /// Latencies, from runs of their own: of each percentile, and of the slowest call, the median
    /// of all repetitions; the curve is that of the run of median rate.
    #[serde(flatten)]
    pub latency: Latency,
    /// The least of each, where calls were timed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_least: Option<Latency>,
    /// The most of each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_most: Option<Latency>,
    /// Every answer was right; rows where one was not have no figure.
    pub verified: bool,
    /// The language of the program that was timed.
    pub language: String,
    /// What a reader must know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Row {
    /// Whether larger is better.
    pub fn is_rate(&self) -> bool {
        self.unit == "ops/s"
    }
}

/// A case or phase without a figure.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LeftOut {
    /// The workload's letter.
    pub workload: String,
    /// What the case is.
    pub title: String,
    /// The peer's short name.
    pub peer: String,
    /// The phase; all where it is empty.
    pub phase: String,
    /// One sentence.
    pub why: String,
}

/// What one store did in one trial of the torment table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TormentRow {
    /// The peer's short name.
    pub peer: String,
    /// `kill`, `full`, `limits`, `old-reader` or `counters`.
    pub trial: String,
    /// `holds`, `loses`, `hangs`, `dies`, `refuses`, `grows`, `ruined` or `not applicable`.
    pub outcome: String,
    /// Whether the store promises that it holds.
    pub promised: bool,
    /// One plain sentence with the counts.
    pub detail: String,
    /// How often it was tried.
    pub trials: u32,
}
