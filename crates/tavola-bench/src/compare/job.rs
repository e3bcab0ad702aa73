//! The jobs of a peer program, and the lines it answers with.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The single argument of a peer program, as JSON.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    /// The peer's name: a program may serve several.
    pub peer: String,
    /// The workload's letter.
    pub workload: String,
    /// What is to be done.
    pub case: Case,
    /// An empty folder for the store's files.
    pub dir: PathBuf,
    /// The CPU the program was put on before it was started.
    pub cpu: Option<usize>,
    /// Where the server listens: `HOST:PORT`, or the path of a Unix socket.
    pub address: Option<String>,
    /// Fixes the order in which keys are asked for.
    pub seed: u64,
    /// A short run.
    pub quick: bool,
}

/// The numbers of one case. What a workload has no use for is left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Case {
    /// Keys in the store.
    pub keys: u64,
    /// Bytes of a key (e to i: binary; b to d: `k` and seven digits; a: what the file has).
    pub key_bytes: usize,
    /// Bytes of a value.
    pub value_bytes: usize,
    /// Processes that do this job at once.
    pub procs: u32,
    /// Which of them this one is.
    pub proc: u32,
    /// Calls of each phase (b, c, d), passes over the file (a).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loops: Option<u64>,
    /// Keys a call, where it is more than one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch: Option<u32>,
    /// Every call is timed by itself: latencies count and rates do not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub timed: bool,
    /// A phase ends after so long, though calls may be left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_ms: Option<u64>,
    /// A mix lasts this long, over and over the keys; without it, once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mix_ms: Option<u64>,
    /// Operations are counted by such parts of a phase; a second, if it is not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slice_ms: Option<u64>,
    /// The phases to be run, in this order.
    pub phases: Vec<String>,
    /// The file of workload a.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// How the server is reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transport: Option<Transport>,
    /// The words the client speaks: `text` or `binary`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// Whether a set waits for its answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply: Option<Reply>,
    /// Where client and server are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placement>,
}

impl Case {
    /// The length of a slice.
    pub fn slice_ns(&self) -> u64 {
        1_000_000 * self.slice_ms.unwrap_or(1_000)
    }
}

/// How a server is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    /// Over TCP, on loopback.
    Tcp,
    /// Over a Unix socket.
    Unix,
}

impl Transport {
    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tcp => "TCP",
            Self::Unix => "Unix",
        }
    }
}

/// Whether a set waits for its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reply {
    /// It does.
    Waits,
    /// It does not, and the server sends none.
    Noreply,
}

/// Where client and server are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Placement {
    /// Both on the same.
    #[serde(rename = "one CPU")]
    One,
    /// Each on its own.
    #[serde(rename = "two CPUs")]
    Two,
}

impl Placement {
    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            Self::One => "one CPU",
            Self::Two => "two CPUs",
        }
    }
}

/// One line of a peer program.
#[derive(Clone, Debug)]
pub enum Said {
    /// A phase is over.
    Phase(Box<PhaseLine>),
    /// Everything is.
    End(EndLine),
    /// It waits for a line `{"start_at_ns":N}` on its input before it begins this phase: said by
    /// each of several processes, so that they begin together.
    Ready,
    /// It cannot continue.
    Failed {
        /// One sentence.
        error: String,
    },
}

/// What a phase came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PhaseLine {
    /// Its name.
    pub phase: String,
    /// Operations that were done.
    pub ops: u64,
    /// How long they took.
    pub seconds: f64,
    /// CPU time of the program meanwhile, user and system.
    pub cpu_seconds: f64,
    /// Every answer was the right one.
    pub verified: bool,
    /// The store cannot do this, and why; then nothing else counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// When it began and ended, by the monotonic clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub begin_ns: Option<u64>,
    /// See `begin_ns`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_ns: Option<u64>,
    /// Operations in each slice of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub slices: Vec<u64>,
    /// The same of each thread, where the program has several at work.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub of_threads: Vec<Vec<u64>>,
    /// The longest time that 64 operations took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pause_ns: Option<u64>,
    /// Latencies, where calls are timed.
    #[serde(flatten)]
    pub latency: Latency,
    /// What a reader must know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Whether the note of a phase says that its time was over before all was done.
pub(super) fn is_cut_short(note: Option<&str>) -> bool {
    note.is_some_and(|note| note.starts_with("only "))
}

/// Latencies of single calls.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Latency {
    /// Half of the calls were faster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p50_ns: Option<u64>,
    /// 99 of 100 were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_ns: Option<u64>,
    /// 999 of 1,000 were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p999_ns: Option<u64>,
    /// The slowest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_ns: Option<u64>,
    /// Points of the distribution: nanoseconds, and the share of calls that took no longer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cdf: Vec<(u64, f64)>,
}

/// The last line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EndLine {
    /// Always true: distinguishes this line from the others.
    pub end: bool,
    /// The store's own word for its version.
    pub version: String,
    /// What its files take on disk or in memory; the leader counts the folder where it is 0.
    pub bytes: u64,
    /// Keys in it; of several processes each reports those of its own share.
    pub keys: u64,
    /// The most memory the program had.
    pub peak_rss_bytes: u64,
}

/// Reads a line of a peer program: its kind is that of the field that only it has.
pub(crate) fn parse(line: &str) -> Option<Said> {
    let value: serde_json::Value = serde_json::from_str(line).ok()?;
    let text = |name: &str| Some(value.get(name)?.as_str()?.to_owned());
    if let Some(error) = text("error") {
        return Some(Said::Failed { error });
    }
    if value.get("ready").is_some() {
        return Some(Said::Ready);
    }
    let is = |name: &str| value.get(name).is_some();
    let (is_phase, is_end) = (is("phase"), is("end"));
    match (is_phase, is_end) {
        (true, _) => serde_json::from_value(value).ok().map(Said::Phase),
        (_, true) => serde_json::from_value(value).ok().map(Said::End),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_lines_are_distinguished() {
        let phase = r#"{"phase":"put","ops":10,"seconds":0.5,"cpu_seconds":0.4,"verified":true,
            "p50_ns":7,"cdf":[[5,0.25],[9,1.0]]}"#;
        let Some(Said::Phase(phase)) = parse(phase) else {
            panic!("no phase");
        };
        assert_eq!((phase.ops, phase.latency.p50_ns), (10, Some(7)));
        assert_eq!(phase.latency.cdf, [(5, 0.25), (9, 1.0)]);
        let end = parse(r#"{"end":true,"version":"1","bytes":5,"keys":6,"peak_rss_bytes":7}"#);
        assert!(matches!(end, Some(Said::End(EndLine { bytes: 5, .. }))));
        assert!(matches!(parse(r#"{"ready":"get"}"#), Some(Said::Ready)));
        assert!(matches!(
            parse(r#"{"error":"no"}"#),
            Some(Said::Failed { .. })
        ));
        assert!(parse("what?").is_none() && parse("{}").is_none());
    }

    #[test]
    fn a_job_is_one_line_and_comes_back() {
        let case = Case {
            keys: 5,
            placement: Some(Placement::Two),
            reply: Some(Reply::Noreply),
            transport: Some(Transport::Unix),
            ..Case::default()
        };
        let text = serde_json::to_string(&case).unwrap();
        assert!(text.contains(r#""placement":"two CPUs""#) && !text.contains('\n'));
        assert_eq!(serde_json::from_str::<Case>(&text).unwrap(), case);
    }
}
