//! How rates hold up when more processes sit at the table: ratios of pairs of runs.
//!
//! A single rate tells little on a machine that is faster in one minute than in the next. So two
//! arrangements run one right after the other, many times, and what counts is the ratio within
//! each pair. The order changes from pair to pair, so that going first favours neither:
//!
//! ```text
//! base ─ more    more ─ base    base ─ more    …    median, least and most of more / base
//! └─ a pair ─┘   └─ a pair ─┘   └─ a pair ─┘
//! ```
//!
//! Each run is one of [`kv`], on a fresh table with fresh workers, without latencies.

mod comparison;

use std::ffi::OsString;
use std::path::PathBuf;

use serde::Serialize;

pub use comparison::Comparison;

use crate::kv::{self, Distribution, Phase};
use crate::{Error, Place, Result};
use comparison::{CROWD, Side};

/// What to measure.
#[derive(Clone, Debug)]
pub struct Config {
    /// Program and arguments that start a worker, which calls [`kv::work`].
    pub worker: (PathBuf, Vec<OsString>),
    /// Where the tables are made.
    pub place: Place,
    /// Keys in each table.
    pub keys: u64,
    /// Bytes of their values: those of 8 are overwritten in place.
    pub value_bytes: usize,
    /// The phases that are compared, where a comparison has them.
    pub phases: Vec<Phase>,
    /// The comparisons; all when none is given.
    pub only: Vec<Comparison>,
    /// Pairs of runs for each comparison.
    pub repeat: u32,
    /// As [`kv::Config::min_ops`].
    pub min_ops: u64,
}

impl Config {
    /// Those that were asked for, in the order they run.
    pub fn comparisons(&self) -> impl Iterator<Item = Comparison> {
        let all = Comparison::ALL.into_iter();
        all.filter(|one| self.only.is_empty() || self.only.contains(one))
    }

    fn check(&self, cpus: u32) -> Result<()> {
        let bad = |option, why: String| Err(Error::BadOption { option, why });
        let procs = CROWD * cpus;
        match self {
            _ if self.repeat == 0 => bad("repeat", "at least one pair is needed".to_owned()),
            _ if self.keys < procs.into() => {
                let why = format!("at least {procs} are needed, one for each process");
                bad("keys", why)
            }
            _ => Ok(()),
        }
    }

    fn run_of(&self, comparison: Comparison, side: Side) -> kv::Config {
        let shards = match comparison {
            Comparison::HotWriter => Some(1),
            _ => self.place.shards,
        };
        let of_it = comparison.phases().iter().copied();
        kv::Config {
            worker: self.worker.clone(),
            place: Place {
                shards,
                ..self.place.clone()
            },
            keys: self.keys,
            procs: side.procs,
            key_bytes: 8,
            value_bytes: self.value_bytes,
            batch: 1,
            phases: of_it.filter(|phase| self.phases.contains(phase)).collect(),
            distribution: match comparison {
                Comparison::HotReaders => Distribution::Hot,
                _ => Distribution::Uniform,
            },
            hot_writer: side.hot_writer,
            collapse: false,
            placement: side.placement,
            repeat: 1,
            min_ops: self.min_ops,
            latency: false,
            latency_ops: 0,
        }
    }
}

/// One line of the result.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Line {
    /// A phase of a comparison, over all pairs.
    Ratio(Ratio),
    /// A comparison that was not made.
    LeftOut(LeftOut),
}

/// A phase of a comparison. Rates are million operations a second, of all processes together.
#[derive(Clone, Debug, Serialize)]
pub struct Ratio {
    /// The comparison.
    pub compare: Comparison,
    /// The phase.
    pub phase: Phase,
    /// Pairs of runs.
    pub pairs: usize,
    /// Median of the ratios within each pair.
    pub ratio: f64,
    /// The least of them.
    pub least: f64,
    /// The most.
    pub most: f64,
    /// Median rate of the arrangement that it is compared to.
    pub base_mops: f64,
    /// Median rate of the arrangement that is measured.
    pub mops: f64,
}

/// A comparison that was not made.
#[derive(Clone, Debug, Serialize)]
pub struct LeftOut {
    /// The comparison.
    pub compare: Comparison,
    /// Why.
    pub left_out: &'static str,
}

/// Runs it; `emit` is given the lines of a comparison as soon as its last pair has run.
///
/// # Errors
///
/// Whatever a table or the system refuses, whatever `emit` returns, and a wrong answer.
pub fn run(config: &Config, emit: &mut dyn FnMut(&Line) -> Result<()>) -> Result<()> {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from) as u32;
    config.check(cpus)?;
    for compare in config.comparisons() {
        if let Some(left_out) = compare.left_out(cpus, &config.phases) {
            emit(&Line::LeftOut(LeftOut { compare, left_out }))?;
            continue;
        }
        for ratio in ratios(config, compare, cpus)? {
            emit(&Line::Ratio(ratio))?;
        }
    }
    Ok(())
}

/// The rates of a phase in one pair.
#[derive(Clone, Copy)]
struct Pair {
    base: f64,
    more: f64,
}

fn ratios(config: &Config, compare: Comparison, cpus: u32) -> Result<Vec<Ratio>> {
    let (more, base) = compare.sides(cpus);
    let (more, base) = (config.run_of(compare, more), config.run_of(compare, base));
    let mut by_phase: Vec<(Phase, Vec<Pair>)> = Vec::new();
    for turn in 0..config.repeat {
        let (base, more) = if turn % 2 == 0 {
            let first = rates(&base)?;
            (first, rates(&more)?)
        } else {
            let first = rates(&more)?;
            (rates(&base)?, first)
        };
        if turn == 0 {
            by_phase = base.iter().map(|rate| (rate.0, Vec::new())).collect();
        }
        for ((slot, base), more) in by_phase.iter_mut().zip(base).zip(more) {
            slot.1.push(Pair {
                base: base.1,
                more: more.1,
            });
        }
    }
    let ratio = |(phase, pairs): (Phase, Vec<Pair>)| ratio(compare, phase, &pairs);
    Ok(by_phase.into_iter().map(ratio).collect())
}

/// One run; what comes out are the rates of its phases, in their order.
fn rates(config: &kv::Config) -> Result<Vec<(Phase, f64)>> {
    let mut rates = Vec::new();
    kv::run(config, &mut |line| {
        if let kv::Line::Phase(line) = line {
            rates.push((line.phase, line.mops));
        }
        Ok(())
    })?;
    Ok(rates)
}

fn ratio(compare: Comparison, phase: Phase, pairs: &[Pair]) -> Ratio {
    let sorted = |of: fn(&Pair) -> f64| {
        let mut all: Vec<f64> = pairs.iter().map(of).collect();
        all.sort_by(f64::total_cmp);
        all
    };
    let ratios = sorted(|pair| pair.more / pair.base);
    Ratio {
        compare,
        phase,
        pairs: pairs.len(),
        ratio: median(&ratios),
        least: ratios[0],
        most: ratios[ratios.len() - 1],
        base_mops: median(&sorted(|pair| pair.base)),
        mops: median(&sorted(|pair| pair.more)),
    }
}

/// Of an even number, the middle between the two in the middle.
fn median(sorted: &[f64]) -> f64 {
    let upper = sorted.len() / 2;
    let lower = (sorted.len() - 1) / 2;
    f64::midpoint(sorted[lower], sorted[upper])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ratio_is_the_median_of_those_within_the_pairs() {
        let pairs = [(1.0, 2.0), (2.0, 1.0), (4.0, 4.8)];
        let pairs = pairs.map(|(base, more)| Pair { base, more });
        let found = ratio(Comparison::Crowd, Phase::Put, &pairs);
        assert_eq!((found.least, found.ratio, found.most), (0.5, 1.2, 2.0));
        assert_eq!((found.base_mops, found.mops, found.pairs), (2.0, 2.0, 3));
        assert_eq!(median(&[1.0, 3.0]), 2.0);
        let json = serde_json::to_string(&Line::Ratio(found)).unwrap();
        let fields = r#"{"compare":"crowd","phase":"put","pairs":3,"ratio":1.2,"least":0.5,"#;
        assert!(json.starts_with(fields), "{json}");
    }
}
