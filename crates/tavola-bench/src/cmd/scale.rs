//! `tavola-bench scale`: arguments.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use tavola_bench::scale::{self, Comparison, Config};
use tavola_bench::{Result, kv};
use tavola_program::units::parse_count;

use super::table::Printer;
use super::{PlaceArgs, worker};

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

/// How rates hold up when more processes sit at the table, as ratios of pairs of runs
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// Keys in each table; K, M and G stand for thousands, millions, milliards
    #[arg(long, short, value_name = "N", default_value = "1M", value_parser = parse_count)]
    keys: u64,
    /// Bytes a value; those of 8 are overwritten in place
    #[arg(long, short, value_name = "V", default_value_t = 8)]
    value_bytes: usize,
    /// The phases, with commas between
    #[arg(long, value_delimiter = ',', default_value = "put,over,mix,get,miss")]
    phases: Vec<kv::Phase>,
    /// This comparison, not all; may be repeated
    #[arg(long, value_name = "NAME", value_parser = comparison())]
    only: Vec<Comparison>,
    /// Pairs of runs for each comparison
    #[arg(long, short, value_name = "R", default_value_t = 9)]
    repeat: u32,
    /// Pass over the keys until there are so many operations (all phases but put)
    #[arg(long, value_name = "N", default_value = "4M", value_parser = parse_count)]
    min_ops: u64,
    #[command(flatten)]
    place: PlaceArgs,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
}

fn comparison() -> impl TypedValueParser<Value = Comparison> {
    let value = |one: Comparison| PossibleValue::new(one.name()).help(one.what());
    PossibleValuesParser::new(Comparison::ALL.map(value)).map(|name| {
        let mut all = Comparison::ALL.into_iter();
        let known = all.find(|one| one.name() == name);
        known.expect("only the names of comparisons are let through")
    })
}

const COLUMNS: &[&str] = &[
    "compare",
    "phase",
    "pairs",
    "ratio",
    "least",
    "most",
    "mops",
    "base_mops",
];

pub fn run(args: Args) -> Result<()> {
    let config = Config {
        worker: worker("worker")?,
        place: args.place.into(),
        keys: args.keys,
        value_bytes: args.value_bytes,
        phases: args.phases,
        only: args.only,
        repeat: args.repeat,
        min_ops: args.min_ops,
    };
    Printer::new(args.json, COLUMNS).each(|emit| scale::run(&config, emit))
}
