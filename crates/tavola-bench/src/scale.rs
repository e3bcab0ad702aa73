//! How rates hold up when more processes sit at the table: ratios of pairs of runs.
//!
//! A single rate says little on a machine that is faster in one minute than in the next. So two
//! arrangements run one right after the other, many times, and what counts is the ratio within
//! each pair. The order changes from pair to pair, so that going first favours neither:
//!
//! ```text
//! base ─ more    more ─ base    base ─ more    …    median, least and most of more / base
//! └─ a pair ─┘   └─ a pair ─┘   └─ a pair ─┘
//! ```
//!
//! Each run is one of [`kv`], on a fresh table with fresh workers, without latencies.

use clap::{Parser, ValueEnum};
use serde::Serialize;
use serde_json::{Value, json};
use tavola_program::units::parse_count;

use crate::kv::{self, Phase};
use crate::stats::Spread;
use crate::{Emit, Error, Place, Result};

const HELP: &str = "\
Each comparison runs 'tavola-bench kv' with two arrangements of processes, one right after the
other, each on a fresh table, and divides the rates. Single rates are no use for that on a
machine that other work shares; what counts is the median over all pairs, with the least and
the most. The order within a pair changes from pair to pair. Rates are of all processes together.
Only an idle machine will do: beside other work, more processes get more of the CPUs than fewer.

A comparison that is not possible here, such as one of two CPUs on a machine with one, is reported
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

/// The columns of a line for people.
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
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub struct Config {
    /// Keys in each table; K, M and G stand for thousands, millions, milliards
    #[arg(long, short, value_name = "N", default_value = "1M", value_parser = parse_count)]
    keys: u64,
    /// Bytes a value; those of 8 are overwritten in place
    #[arg(long, short, value_name = "V", default_value_t = 8)]
    value_bytes: usize,
    /// The phases, with commas between
    #[arg(long, value_delimiter = ',', default_value = "put,over,mix,get,miss")]
    phases: Vec<Phase>,
    /// This comparison, not all; may be repeated
    #[arg(long, value_name = "NAME")]
    only: Vec<Comparison>,
    /// Pairs of runs for each comparison
    #[arg(long, short, value_name = "R", default_value_t = 9)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Pass over the keys until there are so many operations (all phases but put)
    #[arg(long, value_name = "N", default_value = "4M", value_parser = parse_count)]
    min_ops: u64,
    #[command(flatten)]
    place: Place,
    /// Print one JSON object per line
    #[arg(long)]
    pub json: bool,
}

/// Processes for each CPU in [`Comparison::Crowd`].
const CROWD: u32 = 4;

/// Two arrangements that are held against each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
enum Comparison {
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
    fn phases(self, asked: &[Phase]) -> Vec<Phase> {
        let all = match self {
            Self::OneCpu | Self::Crowd => &Phase::ALL[..],
            _ => &[Phase::Get],
        };
        let wanted = all.iter().copied().filter(|phase| asked.contains(phase));
        wanted.collect()
    }

    /// Arguments of `kv` for the arrangement that is measured, and for that it is compared to.
    fn sides(self, cpus: u32) -> [String; 2] {
        match self {
            Self::OneCpu => ["--procs 2 --cpu 0", "--procs 1 --cpu 0"].map(str::to_owned),
            Self::Crowd => [
                format!("--procs {}", CROWD * cpus),
                format!("--procs {cpus} --pin"),
            ],
            Self::Readers => [format!("--procs {cpus} --pin"), "--pin".to_owned()],
            Self::HotReaders => [
                format!("--procs {cpus} --pin --dist hot"),
                "--pin --dist hot".to_owned(),
            ],
            // The writer comes after the reader, so it has the next CPU.
            Self::HotWriter => ["--pin --hot-writer", "--pin"].map(str::to_owned),
        }
    }

    /// Why it cannot be measured.
    fn left_out(self, cpus: u32, asked: &[Phase]) -> Option<&'static str> {
        match self {
            Self::OneCpu | Self::Crowd => {}
            _ if cpus < 2 => return Some("it needs two CPUs, and there is one here"),
            _ => {}
        }
        let is_wanted = !self.phases(asked).is_empty();
        (!is_wanted).then_some("it is about get, which is not among the phases")
    }
}

impl Config {
    fn kv(&self, comparison: Comparison, side: &str) -> kv::Config {
        let words = ["kv", "--no-latency"].into_iter().chain(side.split(' '));
        let mut place = self.place.clone();
        if comparison == Comparison::HotWriter {
            place.shards = Some(1);
        }
        let Defaults { kv } = Defaults::parse_from(words);
        kv::Config {
            keys: self.keys,
            value_bytes: self.value_bytes,
            phases: comparison.phases(&self.phases),
            min_ops: self.min_ops,
            place,
            ..kv
        }
    }
}

/// Makes a configuration of `kv` of its arguments.
#[derive(Parser)]
struct Defaults {
    #[command(flatten)]
    kv: kv::Config,
}

/// Runs it; `emit` gets the lines of a comparison as soon as its last pair has run.
pub fn run(config: &Config, emit: Emit<'_>) -> Result<()> {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from) as u32;
    let procs = CROWD * cpus;
    if config.keys < procs.into() {
        let why = format!("at least {procs} are needed, one for each process");
        return Err(Error::option("keys", why));
    }
    let is_asked = |one: &Comparison| config.only.is_empty() || config.only.contains(one);
    let all = Comparison::value_variants().iter().copied();
    for compare in all.filter(is_asked) {
        if let Some(left_out) = compare.left_out(cpus, &config.phases) {
            emit(&json!({"compare": compare, "left_out": left_out}))?;
            continue;
        }
        let [more, base] = compare.sides(cpus).map(|side| config.kv(compare, &side));
        let mut pairs: Vec<(Vec<f64>, Vec<f64>)> = Vec::new();
        for turn in 0..config.repeat {
            pairs.push(match turn % 2 {
                0 => {
                    let base = rates(&base)?;
                    (base, rates(&more)?)
                }
                _ => {
                    let more = rates(&more)?;
                    (rates(&base)?, more)
                }
            });
        }
        for (at, phase) in base.phases.iter().enumerate() {
            let of_phase: Vec<_> = pairs.iter().map(|pair| (pair.0[at], pair.1[at])).collect();
            emit(&ratio(compare, *phase, &of_phase))?;
        }
    }
    Ok(())
}

/// One run; what comes out are the rates of its phases, in their order.
fn rates(config: &kv::Config) -> Result<Vec<f64>> {
    let mut rates = Vec::new();
    kv::run(config, &mut |line| {
        rates.extend(line["mops"].as_f64());
        Ok(())
    })?;
    Ok(rates)
}

/// Of pairs of a base and more.
fn ratio(compare: Comparison, phase: Phase, pairs: &[(f64, f64)]) -> Value {
    let spread = |of: fn(&(f64, f64)) -> f64| Spread::of(pairs.iter().map(of));
    let ratios = spread(|(base, more)| more / base);
    json!({
        "compare": compare, "phase": phase, "pairs": pairs.len(), "ratio": ratios.median,
        "least": ratios.least, "most": ratios.most, "base_mops": spread(|pair| pair.0).median,
        "mops": spread(|pair| pair.1).median,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ratio_is_the_median_of_those_within_the_pairs() {
        let pairs = [(1.0, 2.0), (2.0, 1.0), (4.0, 4.8)];
        let found = ratio(Comparison::Crowd, Phase::Put, &pairs).to_string();
        let fields = r#"{"compare":"crowd","phase":"put","pairs":3,"ratio":1.2,"least":0.5,"#;
        assert!(found.starts_with(fields), "{found}");
        assert!(
            found.ends_with(r#""most":2.0,"base_mops":2.0,"mops":2.0}"#),
            "{found}"
        );
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
        assert!(Comparison::Crowd.sides(2)[0].ends_with('8'));
    }
}
