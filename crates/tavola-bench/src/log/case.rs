//! The ways, one after the other, as often as is asked for; what is reported are medians.

use serde::Serialize;
use serde_json::json;

use super::game::{self, Score};
use super::{Config, Way};
use crate::Result;
use crate::clock::reading_ns;
use crate::latency::{Merged, Percentiles};
use crate::stats::median;

/// One line of the result.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Line {
    /// A way, over all repetitions.
    Case(Box<Case>),
    /// A way that was not measured.
    LeftOut(serde_json::Value),
}

/// A way; figures are medians over the repetitions, each by itself, and the latencies of all.
#[derive(Clone, Debug, Serialize)]
pub struct Case {
    /// Always `log`.
    pub phase: &'static str,
    /// How lines were logged.
    pub way: Way,
    /// Processes that logged.
    pub procs: u32,
    /// Threads of each that logged.
    pub threads: u32,
    /// Lines of all.
    pub lines: u64,
    /// Bytes of a line's text.
    pub text_bytes: usize,
    /// Bytes of the log in shared memory, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_bytes: Option<u64>,
    /// Mean nanoseconds of a line, in its writer's own time.
    pub writer_ns: f64,
    /// Of calls that were timed singly; each contains one reading of the clock.
    #[serde(flatten)]
    pub latency: Percentiles,
    /// How many calls these are.
    pub timed: u64,
    /// What one reading of the clock costs.
    pub timer_ns: f64,
    /// Million lines a second, all writers together, from the start to the end of the last.
    pub writer_mlps: f64,
    /// Million lines a second that came to their file, from the start until the last was there;
    /// absent where there is no file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub all_mlps: Option<f64>,
    /// Lines that were counted at their place at the end.
    pub kept: u64,
    /// The others: dropped, or overwritten where only the last are kept.
    pub dropped: u64,
    /// `writer_ns` of each repetition, in the order they were made.
    pub runs_writer_ns: Vec<f64>,
    /// `writer_mlps` of each repetition.
    pub runs_writer_mlps: Vec<f64>,
    /// `all_mlps` of each repetition.
    pub runs_all_mlps: Vec<f64>,
}

/// Runs it; `emit` is given each line as soon as the last repetition of its way has run.
///
/// # Errors
///
/// Whatever the log or the system refuses, whatever `emit` returns, and lines that are not there
/// as they were logged.
pub fn run(config: &Config, emit: &mut dyn FnMut(&Line) -> Result<()>) -> Result<()> {
    config.check()?;
    let (out, there): (Vec<Way>, Vec<Way>) =
        config.ways().partition(|way| way.left_out().is_some());
    for way in out {
        let line = json!({"phase": "log", "way": way, "left_out": way.left_out()});
        emit(&Line::LeftOut(line))?;
    }
    let mut scores: Vec<Vec<Score>> = there.iter().map(|_| Vec::new()).collect();
    for turn in 1..=config.repeat {
        for (&way, scores) in there.iter().zip(&mut scores) {
            scores.push(game::play(config, way)?);
            if turn == config.repeat {
                emit(&Line::Case(Box::new(case(config, way, scores))))?;
            }
        }
    }
    Ok(())
}

fn case(config: &Config, way: Way, scores: &[Score]) -> Case {
    let of = |figure: &dyn Fn(&Score) -> f64| scores.iter().map(figure).collect::<Vec<f64>>();
    let lines = config.all();
    let mut latency = Merged::new();
    scores.iter().for_each(|score| latency.join(&score.latency));
    let rates = scores.iter().filter_map(|score| {
        let seconds = score.all_seconds?;
        Some(score.kept as f64 / seconds / 1e6)
    });
    let runs_all_mlps: Vec<f64> = rates.collect();
    let runs_writer_ns = of(&|score| score.writer_ns);
    let kept = median(of(&|score| score.kept as f64)) as u64;
    let runs_writer_mlps = of(&|score| lines as f64 / score.writer_seconds / 1e6);
    Case {
        phase: "log",
        way,
        procs: config.procs,
        threads: config.threads,
        lines,
        text_bytes: config.text_bytes,
        log_bytes: way.has_log().then_some(config.log_bytes),
        writer_ns: median(runs_writer_ns.clone()),
        latency: latency.percentiles(),
        timed: latency.count(),
        timer_ns: reading_ns(),
        writer_mlps: median(runs_writer_mlps.clone()),
        all_mlps: (!runs_all_mlps.is_empty()).then(|| median(runs_all_mlps.clone())),
        kept,
        dropped: lines - kept,
        runs_writer_ns,
        runs_writer_mlps,
        runs_all_mlps,
    }
}
