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

use clap::ValueEnum;
use serde::Serialize;
use serde_json::json;
use tavola_program::units::parse_count;

use crate::kv::{self, Distribution, Phase};
use crate::stats::Spread;
use crate::{Error, Place, Result};

const HELP: &str = "\
Each comparison runs 'tavola-bench kv' with two arrangements of processes, one right after the
other, each on a fresh table, and divides the rates. Single rates are no use for that on a
machine that other work shares; what counts is the median over all pairs, with the least and
the most. The order within a pair changes from pair to pair. Rates are of all processes together.
Only an idle machine will do: beside other work, more processes get more of the CPUs than fewer.

A comparison that is not possible here, such as one of two CPUs on a machine with one, is told
as left out. readers, hot-readers and hot-writer have the phase get only. The table of
hot-writer has one shard, whatever --shards says.

JSON has compare, phase, pairs, ratio (the median), least, most, base_mops and mops (the medians
of both sides); or compare and left_out, which says why.

Examples:
  tavola-bench scale
  tavola-bench scale --only crowd --phases put,get
  tavola-bench scale --only readers --only hot-readers --repeat 21
  tavola-bench scale --only hot-writer --value-bytes 16
  tavola-bench scale --keys 100K --json | jq 'select(.ratio < 0.85)'";

/// What people see of a line.
pub const COLUMNS: &[&str] = &[
    "compare",
    "phase",
    "pairs",
    "ratio",
    "least",
    "most",
    "mops",
    "base_mops",
];

/// How rates hold up when more processes sit at the table, as ratios of pairs of runs
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Config {
    /// Keys in each table; K, M and G stand for thousands, millions, milliards
    #[arg(long, short, value_name = "N", default_value = "1M", value_parser = parse_count)]
    pub keys: u64,
    /// Bytes a value; those of 8 are overwritten in place
    #[arg(long, short, value_name = "V", default_value_t = 8)]
    pub value_bytes: usize,
    /// The phases, with commas between
    #[arg(long, value_delimiter = ',', default_value = "put,over,mix,get,miss")]
    pub phases: Vec<Phase>,
    /// This comparison, not all; may be repeated
    #[arg(long, value_name = "NAME")]
    pub only: Vec<Comparison>,
    /// Pairs of runs for each comparison
    #[arg(long, short, value_name = "R", default_value_t = 9)]
    pub repeat: u32,
    /// Pass over the keys until there are so many operations (all phases but put)
    #[arg(long, value_name = "N", default_value = "4M", value_parser = parse_count)]
    pub min_ops: u64,
    /// Where the table is made.
    #[command(flatten)]
    pub place: Place,
    /// Print one JSON object per line
    #[arg(long)]
    pub json: bool,
}

impl Config {
    /// Those that were asked for, in the order they run.
    pub fn comparisons(&self) -> impl Iterator<Item = Comparison> {
        let all = Comparison::value_variants().iter().copied();
        all.filter(|one| self.only.is_empty() || self.only.contains(one))
    }

    fn check(&self, cpus: u32) -> Result<()> {
        let bad = |option, why: String| Err(Error::option(option, why));
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
        let phases = comparison.phases().iter().copied();
        kv::Config {
            keys: self.keys,
            procs: side.procs,
            key_bytes: 8,
            value_bytes: self.value_bytes,
            fixed: false,
            ttl: None,
            capacity: None,
            batch: 1,
            phases: phases.filter(|phase| self.phases.contains(phase)).collect(),
            dist: match comparison {
                Comparison::HotReaders => Distribution::Hot,
                _ => Distribution::Uniform,
            },
            hot_writer: side.hot_writer,
            collapse: false,
            pin: side.placement == Placement::Pinned,
            cpu: (side.placement == Placement::One).then_some(0),
            repeat: 1,
            min_ops: self.min_ops,
            no_latency: true,
            latency_ops: 0,
            place: Place {
                shards: match comparison {
                    Comparison::HotWriter => Some(1),
                    _ => self.place.shards,
                },
                ..self.place.clone()
            },
            json: false,
        }
    }
}

/// Processes for each CPU in [`Comparison::Crowd`].
const CROWD: u32 = 4;

/// Two arrangements that are held against each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Comparison {
    /// 2 processes on one CPU, to 1 there; wanted: 0.85 or more
    OneCpu,
    /// 4 processes for each CPU, to 1 pinned on each; wanted: 0.85 or more
    Crowd,
    /// get by 1 process on each CPU, to get by 1 in all
    Readers,
    /// get of one single key by 1 process on each CPU, to get by 1 in all
    HotReaders,
    /// get while another process writes one key of the only shard, to get alone
    HotWriter,
}

impl Comparison {
    fn phases(self) -> &'static [Phase] {
        match self {
            Self::OneCpu | Self::Crowd => &Phase::ALL,
            Self::Readers | Self::HotReaders | Self::HotWriter => &[Phase::Get],
        }
    }

    /// The arrangement that is measured, and the one it is compared to.
    fn sides(self, cpus: u32) -> (Side, Side) {
        let side = |procs, placement| Side {
            procs,
            placement,
            hot_writer: false,
        };
        match self {
            Self::OneCpu => (side(2, Placement::One), side(1, Placement::One)),
            Self::Crowd => (
                side(CROWD * cpus, Placement::Free),
                side(cpus, Placement::Pinned),
            ),
            Self::Readers | Self::HotReaders => {
                (side(cpus, Placement::Pinned), side(1, Placement::Pinned))
            }
            Self::HotWriter => {
                // The writer comes after the reader, so it has the next CPU.
                let alone = side(1, Placement::Pinned);
                let hot_writer = true;
                (
                    Side {
                        hot_writer,
                        ..alone
                    },
                    alone,
                )
            }
        }
    }

    /// Why it cannot be measured.
    fn left_out(self, cpus: u32, asked: &[Phase]) -> Option<&'static str> {
        let two_needed = !matches!(self, Self::OneCpu | Self::Crowd);
        if two_needed && cpus < 2 {
            return Some("it needs two CPUs, and there is one here");
        }
        let wanted = self.phases().iter().any(|phase| asked.contains(phase));
        (!wanted).then_some("it is about get, which is not among the phases")
    }
}

/// The CPUs of the processes of a side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Placement {
    Free,
    Pinned,
    /// All on the first.
    One,
}

/// One side of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Side {
    procs: u32,
    placement: Placement,
    hot_writer: bool,
}

/// One line of the result.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Line {
    /// A phase of a comparison, over all pairs.
    Ratio(Ratio),
    /// A comparison that was not made.
    LeftOut(serde_json::Value),
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
            let line = json!({"compare": compare, "left_out": left_out});
            emit(&Line::LeftOut(line))?;
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
    let spread = |of: fn(&Pair) -> f64| Spread::of(pairs.iter().map(of));
    let ratios = spread(|pair| pair.more / pair.base);
    Ratio {
        compare,
        phase,
        pairs: pairs.len(),
        ratio: ratios.median,
        least: ratios.least,
        most: ratios.most,
        base_mops: spread(|pair| pair.base).median,
        mops: spread(|pair| pair.more).median,
    }
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
        let json = serde_json::to_string(&Line::Ratio(found)).unwrap();
        let fields = r#"{"compare":"crowd","phase":"put","pairs":3,"ratio":1.2,"least":0.5,"#;
        assert!(json.starts_with(fields), "{json}");
    }

    #[test]
    fn two_cpus_bear_what_one_cannot() {
        let all = Comparison::value_variants();
        let made = |cpus| {
            let made = all.iter().copied();
            let made = made.filter(|one| one.left_out(cpus, &Phase::ALL).is_none());
            made.collect::<Vec<_>>()
        };
        assert_eq!(made(1), [Comparison::OneCpu, Comparison::Crowd]);
        assert_eq!(made(2), all);
        assert!(Comparison::Readers.left_out(2, &[Phase::Put]).is_some());
        let (more, base) = Comparison::Crowd.sides(2);
        assert_eq!((more.procs, base.procs), (8, 2));
    }
}
