//! `tavola bench`: measure the table on this machine.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Subcommand, ValueEnum};
use tavola_bench::{Place, iter, kv, log, open, queue, tags, uid};

use crate::error::CliError;
use crate::output::Output;
use crate::units;

mod compare;
mod copies;
mod human;
mod logs;
mod queues;
mod scale;
mod serves;
mod traces;

const EXAMPLES: &str = "\
Examples:
  tavola bench kv                                   1 million keys, one process
  tavola bench kv --keys 10M --procs 2 --batch 32   get_many and set_many, 32 keys a call
  tavola bench kv --procs 8 --json | jq .mops       one JSON object a phase
  tavola bench open                                 open, get one key, close
  tavola bench iter                                 walk over all records
  tavola bench uid                                  the same keys by key and by uid
  tavola bench tags                                 keys with tags, and without
  tavola bench queue                                two processes hand each other elements
  tavola bench log                                  processes log lines
  tavola bench scale                                how rates hold up with more processes
  tavola bench serve --against memcached            clients of memcached, at both servers
  tavola bench trace web.u32.xz --items 5%          hit ratios of a table with a capacity
  tavola bench compare --quick                      beside the other stores there are

Each runs on a table of its own that nobody else can see and that is gone at the end, also
after Ctrl-C. Every answer is checked; a wrong one ends the run with exit code 2.";

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
  tavola bench kv --keys 1M
  tavola bench kv --keys 10M --batch 32 --collapse
  tavola bench kv --keys 1M --procs 2 --cpu 0               two processes on one CPU
  tavola bench kv --keys 1M --phases get --dist hot --procs 2
  tavola bench kv --keys 1M --phases get --shards 1 --hot-writer";

/// Measure the table on this machine
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    Kv(Box<KvArgs>),
    Open(OpenArgs),
    Iter(IterArgs),
    Uid(UidArgs),
    Tags(TagsArgs),
    Copy(copies::Args),
    Queue(queues::Args),
    Log(logs::Args),
    Scale(scale::Args),
    Serve(serves::Args),
    Trace(traces::Args),
    Compare(Box<compare::Args>),
    #[command(hide = true)]
    Worker,
    #[command(hide = true)]
    Player,
    #[command(hide = true)]
    Logger,
    #[command(hide = true)]
    Client,
    #[command(hide = true)]
    Host(serves::HostArgs),
    #[command(hide = true)]
    CompareWorker {
        job: String,
    },
    #[command(hide = true)]
    CompareTorment {
        job: String,
    },
}

/// Put, overwrite, mixed load, get and miss over many keys by many processes
#[derive(clap::Args)]
#[command(after_help = KV_HELP)]
struct KvArgs {
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
    #[arg(long, value_name = "TIME", value_parser = units::parse_time, conflicts_with = "fixed")]
    ttl: Option<Duration>,
    /// A cache of so many bytes, such as 64M; all keys must fit, but with `--phases put`
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size)]
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
    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

/// Open an existing table, get one key, close
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  tavola bench open --count 100000\n  tavola bench open --json")]
struct OpenArgs {
    /// How often
    #[arg(long, short, value_name = "N", default_value = "10K", value_parser = parse_count)]
    count: u64,
    /// Keys in the table
    #[arg(long, short, value_name = "N", default_value = "1K", value_parser = parse_count)]
    keys: u64,
    #[command(flatten)]
    place: PlaceArgs,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

/// Walk over all records of a table
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  tavola bench iter --keys 10M\n  tavola bench iter --json")]
struct IterArgs {
    /// Records in the table
    #[arg(long, short, value_name = "N", default_value = "1M", value_parser = parse_count)]
    keys: u64,
    /// Bytes a value
    #[arg(long, short, value_name = "V", default_value_t = 8)]
    value_bytes: usize,
    /// How often; the median counts
    #[arg(long, short, value_name = "R", default_value_t = 5)]
    repeat: u32,
    /// Huge pages first
    #[arg(long)]
    collapse: bool,
    #[command(flatten)]
    place: PlaceArgs,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

/// Get and overwrite the same keys by key and by uid
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  tavola bench uid --keys 10M\n  tavola bench uid --json")]
struct UidArgs {
    /// Keys in the table
    #[arg(long, short, value_name = "N", default_value = "1M", value_parser = parse_count)]
    keys: u64,
    /// How often; the median counts
    #[arg(long, short, value_name = "R", default_value_t = 5)]
    repeat: u32,
    #[command(flatten)]
    place: PlaceArgs,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

/// Set and get keys with tags, invalidate a tag of all
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  tavola bench tags --keys 10M\n  tavola bench tags --json")]
struct TagsArgs {
    /// Keys in each table
    #[arg(long, short, value_name = "N", default_value = "1M", value_parser = parse_count)]
    keys: u64,
    /// Bytes a value
    #[arg(long, short, value_name = "BYTES", default_value_t = 100)]
    value_bytes: usize,
    /// How often keys are read; the median counts
    #[arg(long, short, value_name = "R", default_value_t = 5)]
    repeat: u32,
    #[command(flatten)]
    place: PlaceArgs,
    /// One JSON object a number of tags
    #[arg(long)]
    json: bool,
}

/// Where the table is made, and how.
#[derive(clap::Args)]
struct PlaceArgs {
    /// The directory for the table [default: where tables live]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Largest size of the table, such as 8G
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size)]
    max_size: Option<u64>,
    /// Shards of the table, a power of two
    #[arg(long, value_name = "S")]
    shards: Option<u32>,
}

impl From<PlaceArgs> for Place {
    fn from(args: PlaceArgs) -> Self {
        Self {
            dir: args.dir,
            max_size: args.max_size,
            shards: args.shards,
            fixed: None,
            ttl: None,
            capacity: None,
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
enum Dist {
    /// All keys, equally often
    Uniform,
    /// One single key
    Hot,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    match args.what {
        What::Kv(args) => run_kv(*args)?,
        What::Open(args) => {
            let config = open::Config {
                place: args.place.into(),
                keys: args.keys,
                count: args.count,
            };
            let report = open::run(&config).map_err(explain)?;
            show(if args.json {
                json(&report)
            } else {
                human::open(&report)
            })?;
        }
        What::Iter(args) => run_iter(args)?,
        What::Uid(args) => {
            let config = uid::Config {
                place: args.place.into(),
                keys: args.keys,
                repeat: args.repeat,
            };
            let report = uid::run(&config).map_err(explain)?;
            show(match args.json {
                true => json(&report),
                false => human::uid(&report),
            })?;
        }
        What::Tags(args) => {
            let reports = tags::run(&tags::Config {
                place: args.place.into(),
                keys: args.keys,
                value_bytes: args.value_bytes,
                repeat: args.repeat,
            });
            for report in reports.map_err(explain)? {
                show(match args.json {
                    true => json(&report),
                    false => human::tags(&report),
                })?;
            }
        }
        What::Copy(args) => copies::run(args)?,
        What::Queue(args) => queues::run(args)?,
        What::Log(args) => logs::run(args)?,
        What::Scale(args) => scale::run(args)?,
        What::Serve(args) => serves::run(args)?,
        What::Trace(args) => traces::run(args)?,
        What::Compare(args) => compare::run(*args)?,
        What::Worker => kv::work().map_err(explain)?,
        What::Player => queue::work().map_err(explain)?,
        What::Logger => log::work().map_err(explain)?,
        What::Client => tavola_bench::serve::work().map_err(explain)?,
        What::Host(args) => serves::host(&args)?,
        What::CompareWorker { job } => {
            tavola_bench::compare::inproc::work(&job).map_err(explain)?
        }
        What::CompareTorment { job } => {
            tavola_bench::compare::torment::work(&job).map_err(explain)?
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn run_iter(args: IterArgs) -> Result<(), CliError> {
    let report = iter::run(&iter::Config {
        place: args.place.into(),
        keys: args.keys,
        value_bytes: args.value_bytes,
        repeat: args.repeat,
        collapse: args.collapse,
    });
    let report = report.map_err(explain)?;
    show(match args.json {
        true => json(&report),
        false => human::iter(&report),
    })
}

fn run_kv(args: KvArgs) -> Result<(), CliError> {
    let as_json = args.json;
    let config = args.config()?;
    if !as_json {
        show(human::header(&config))?;
    }
    show_each(
        |emit| kv::run(&config, emit),
        |line| {
            if as_json {
                json(line)
            } else {
                human::line(line)
            }
        },
    )
}

impl KvArgs {
    fn config(self) -> Result<kv::Config, CliError> {
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

/// How a worker is started: this program again, with a hidden subcommand.
fn worker(subcommand: &str) -> Result<(PathBuf, Vec<OsString>), CliError> {
    Ok((program()?, vec!["bench".into(), subcommand.into()]))
}

fn program() -> Result<PathBuf, CliError> {
    std::env::current_exe().map_err(|source| {
        CliError::Sentence(format!("cannot find the program to start again ({source})"))
    })
}

/// Runs a measurement and shows each of its lines as soon as it is known.
fn show_each<L>(
    run: impl FnOnce(&mut dyn FnMut(&L) -> tavola_bench::Result<()>) -> tavola_bench::Result<()>,
    text: impl Fn(&L) -> String,
) -> Result<(), CliError> {
    let mut unwritten = None;
    let done = run(&mut |line| {
        show(text(line)).map_err(|error| match error {
            CliError::Output(source) => tavola_bench::Error::Output(source),
            other => {
                unwritten = Some(other);
                tavola_bench::Error::Output(std::io::ErrorKind::Other.into())
            }
        })
    });
    match unwritten {
        Some(error) => Err(error),
        None => done.map_err(explain),
    }
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("reports have a JSON form")
}

fn show(text: String) -> Result<(), CliError> {
    let mut out = Output::new();
    out.line(text)?;
    out.finish()
}

fn explain(error: tavola_bench::Error) -> CliError {
    match error {
        tavola_bench::Error::Table(error) => CliError::Table(error),
        tavola_bench::Error::Output(source) => CliError::Output(source),
        other => CliError::Sentence(other.to_string()),
    }
}

/// `34924`, `10K`, `1M` or `2G`: powers of 1000, as things are counted.
fn parse_count(text: &str) -> Result<u64, String> {
    let (digits, factor) = match text.char_indices().last() {
        Some((at, 'k' | 'K')) => (&text[..at], 1_000),
        Some((at, 'm' | 'M')) => (&text[..at], 1_000_000),
        Some((at, 'g' | 'G')) => (&text[..at], 1_000_000_000),
        _ => (text, 1_u64),
    };
    let number: Option<u64> = digits.parse().ok();
    let product = number.and_then(|number| number.checked_mul(factor));
    product.ok_or_else(|| format!("'{text}' is not a count; write 34924, 10K or 1M"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_in_thousands() {
        assert_eq!(parse_count("34924"), Ok(34_924));
        assert_eq!(parse_count("10k"), Ok(10_000));
        assert_eq!(parse_count("4M"), Ok(4_000_000));
        assert_eq!(parse_count("4G"), Ok(4_000_000_000));
        for wrong in ["", "M", "1.5M", "-1", "99999999999999G", "7µ"] {
            assert!(parse_count(wrong).is_err(), "{wrong}");
        }
    }
}
