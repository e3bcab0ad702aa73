//! `tavola-bench kv`.

use std::time::Duration;

use clap::ValueEnum;
use tavola_bench::{Place, Result, kv};
use tavola_program::units::{parse_count, parse_size, parse_time};

use super::table::Printer;
use super::{PlaceArgs, worker};

const KV_HELP: &str = "\
Phases:
  put    new keys, on a fresh table that grows meanwhile
  over   other values for keys that are there (with passes over small tables: see --min-ops)
  mix    98 % get; each 50th operation is a delete and a put of one key, counted as one
  get    keys that are there, in random order
  miss   keys that are not there

Each process has its share of the keys. Seconds count from the common start to the end of
the last process. Latencies come from a second run in which each single call is timed (put:
on a second fresh table; over: all keys; the others: --latency-ops calls), so that 'max' of
put and over is the slowest of all calls. With --batch a call is a batch; mix is never batched.
JSON has also max_less_wait_ns (the slowest without the time its process stood in the run
queue), timed (how many calls these are of), share (M/s of each process in its own time) and
runs (M/s of each repetition); its last line has bytes_per_key, resident_bytes, and what
harness and clock cost, which is never taken off.

Examples:
  tavola-bench kv --keys 1M
  tavola-bench kv --keys 10M --batch 32 --collapse
  tavola-bench kv --keys 1M --procs 2 --cpu 0               two processes on one CPU
  tavola-bench kv --keys 1M --phases get --dist hot --procs 2
  tavola-bench kv --keys 1M --phases get --shards 1 --hot-writer";

/// Put, overwrite, mixed load, get and miss over many keys by many processes
#[derive(clap::Args)]
#[command(after_help = KV_HELP)]
pub struct Args {
    /// Keys in the table; K, M and G stand for thousands, millions, milliards
    #[arg(long, short, value_name = "N", default_value = "1M", value_parser = parse_count)]
    keys: u64,
    /// Processes
    #[arg(long, short, value_name = "P", default_value_t = 1)]
    procs: u32,
    /// Bytes a value
    #[arg(long, short, value_name = "V", default_value_t = 8)]
    value_bytes: usize,
    /// Bytes a key
    #[arg(long, value_name = "K", default_value_t = 8)]
    key_bytes: usize,
    /// A table of these lengths only, whose items have no header
    #[arg(long)]
    fixed: bool,
    /// Keys expire so long after they were set, such as 1h
    #[arg(long, value_name = "TIME", value_parser = parse_time, conflicts_with = "fixed")]
    ttl: Option<Duration>,
    /// A cache of so many bytes, such as 64M; all keys must fit, but with `--phases put`
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    capacity: Option<u64>,
    /// Keys a call: get_many and set_many
    #[arg(long, short, value_name = "B", default_value_t = 1)]
    batch: usize,
    /// The phases, with commas between
    #[arg(long, value_delimiter = ',', default_value = "put,over,mix,get,miss")]
    phases: Vec<kv::Phase>,
    /// Which keys are asked for
    #[arg(long, value_enum, default_value_t = Dist::Uniform)]
    dist: Dist,
    /// One process more writes one key all the time while get and miss run
    #[arg(long)]
    hot_writer: bool,
    /// Huge pages before the reading phases, by calls of maintain
    #[arg(long)]
    collapse: bool,
    /// Process p stays on CPU p (modulo their number)
    #[arg(long, conflicts_with = "cpu")]
    pin: bool,
    /// All processes stay on this CPU
    #[arg(long, value_name = "C")]
    cpu: Option<usize>,
    /// Run everything so often, each time on a fresh table; the median counts
    #[arg(long, short, value_name = "R", default_value_t = 1)]
    repeat: u32,
    /// Pass over the keys until there are so many operations (all phases but put)
    #[arg(long, value_name = "N", default_value = "4M", value_parser = parse_count)]
    min_ops: u64,
    /// Measure throughput only
    #[arg(long)]
    no_latency: bool,
    /// Calls of mix, get and miss that are timed one by one
    #[arg(long, value_name = "N", default_value = "1M", value_parser = parse_count)]
    latency_ops: u64,
    #[command(flatten)]
    place: PlaceArgs,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Dist {
    /// All keys, equally often
    Uniform,
    /// One single key
    Hot,
}

const COLUMNS: &[&str] = &[
    "phase", "ops", "seconds", "mops", "p50_ns", "p99_ns", "p999_ns", "p9999_ns", "max_ns", "runs",
];

pub fn run(args: Args) -> Result<()> {
    let as_json = args.json;
    let config = args.config()?;
    Printer::new(as_json, COLUMNS).each(|emit| kv::run(&config, emit))
}

impl Args {
    fn config(self) -> Result<kv::Config> {
        let fits = |bytes: usize| u32::try_from(bytes).unwrap_or(u32::MAX);
        let fixed = (fits(self.key_bytes), fits(self.value_bytes));
        let place = Place {
            fixed: self.fixed.then_some(fixed),
            ttl: self.ttl,
            capacity: self.capacity,
            ..self.place.into()
        };
        Ok(kv::Config {
            worker: worker("worker")?,
            place,
            keys: self.keys,
            procs: self.procs,
            key_bytes: self.key_bytes,
            value_bytes: self.value_bytes,
            batch: self.batch,
            phases: self.phases,
            distribution: match self.dist {
                Dist::Uniform => kv::Distribution::Uniform,
                Dist::Hot => kv::Distribution::Hot,
            },
            hot_writer: self.hot_writer,
            collapse: self.collapse,
            placement: match (self.pin, self.cpu) {
                (_, Some(cpu)) => kv::Placement::One(cpu),
                (true, None) => kv::Placement::Spread,
                (false, None) => kv::Placement::Free,
            },
            repeat: self.repeat,
            min_ops: self.min_ops,
            latency: !self.no_latency,
            latency_ops: self.latency_ops,
        })
    }
}
