//! The arguments of `tavola-bench`, the measurements, and how results are printed.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Parser, Subcommand};
use tavola_bench::{Error, Place, Result, copy, iter, log, open, queue, tags, uid};
use tavola_program::units::{parse_count, parse_size};

use self::table::Printer;

mod compare;
mod kv;
mod logs;
mod queues;
mod scale;
mod serves;
mod table;
mod traces;

const EXAMPLES: &str = "\
Examples:
  tavola-bench kv                                   1 million keys, one process
  tavola-bench kv --keys 10M --procs 2 --batch 32   get_many and set_many, 32 keys a call
  tavola-bench kv --procs 8 --json | jq .mops       one JSON object a phase
  tavola-bench open                                 open, get one key, close
  tavola-bench iter                                 walk over all records
  tavola-bench uid                                  the same keys by key and by uid
  tavola-bench tags                                 keys with tags, and without
  tavola-bench queue                                two processes hand each other elements
  tavola-bench log                                  processes log lines
  tavola-bench scale                                how rates hold up with more processes
  tavola-bench serve --against memcached            clients of memcached, at both servers
  tavola-bench trace web.u32.xz --items 5%          hit ratios of a table with a capacity
  tavola-bench compare --quick                      beside the other stores there are

Each runs on a table of its own that nobody else can see and that is gone at the end, also
after Ctrl-C. Every answer is checked; a wrong one ends the run with exit code 2.";

/// Measure Tavola on this machine
#[derive(Parser)]
#[command(
    name = crate::NAME,
    version,
    propagate_version = true,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    after_help = EXAMPLES
)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    Kv(Box<kv::Args>),
    Open(OpenArgs),
    Iter(IterArgs),
    Uid(UidArgs),
    Tags(TagsArgs),
    Copy(CopyArgs),
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

/// Open an existing table, get one key, close
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  tavola-bench open --count 100000\n  tavola-bench open --json")]
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
#[command(after_help = "Examples:\n  tavola-bench iter --keys 10M\n  tavola-bench iter --json")]
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
#[command(after_help = "Examples:\n  tavola-bench uid --keys 10M\n  tavola-bench uid --json")]
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
#[command(after_help = "Examples:\n  tavola-bench tags --keys 10M\n  tavola-bench tags --json")]
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

/// Read values of 8 KB, 64 KB and 1 MB, beside a plain copy out of a mapping
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  tavola-bench copy\n  tavola-bench copy --total 128M --json")]
struct CopyArgs {
    /// Bytes of all values of a size together
    #[arg(long, value_name = "SIZE", default_value = "16M", value_parser = parse_size)]
    total: u64,
    /// How often they are read; medians count
    #[arg(long, short, value_name = "R", default_value_t = 25)]
    repeat: u32,
    #[command(flatten)]
    place: PlaceArgs,
    /// One JSON object a size
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
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
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

/// Reads the arguments of this process.
pub fn parse() -> std::result::Result<Args, clap::Error> {
    Args::try_parse()
}

impl Args {
    /// Measures what was asked for.
    pub fn run(self) -> Result<()> {
        run(self.what)
    }
}

fn run(what: What) -> Result<()> {
    match what {
        What::Kv(args) => kv::run(*args),
        What::Open(args) => {
            let config = open::Config {
                place: args.place.into(),
                keys: args.keys,
                count: args.count,
            };
            Printer::new(args.json, &[]).all(&[open::run(&config)?])
        }
        What::Iter(args) => {
            let config = iter::Config {
                place: args.place.into(),
                keys: args.keys,
                value_bytes: args.value_bytes,
                repeat: args.repeat,
                collapse: args.collapse,
            };
            Printer::new(args.json, &[]).all(&[iter::run(&config)?])
        }
        What::Uid(args) => {
            let config = uid::Config {
                place: args.place.into(),
                keys: args.keys,
                repeat: args.repeat,
            };
            Printer::new(args.json, &[]).all(&[uid::run(&config)?])
        }
        What::Tags(args) => {
            let config = tags::Config {
                place: args.place.into(),
                keys: args.keys,
                value_bytes: args.value_bytes,
                repeat: args.repeat,
            };
            Printer::new(args.json, TAGS_COLUMNS).all(&tags::run(&config)?)
        }
        What::Copy(args) => {
            let config = copy::Config {
                place: args.place.into(),
                total_bytes: args.total as usize,
                repeat: args.repeat,
            };
            Printer::new(args.json, COPY_COLUMNS).all(&copy::run(&config)?)
        }
        What::Queue(args) => queues::run(args),
        What::Log(args) => logs::run(args),
        What::Scale(args) => scale::run(args),
        What::Serve(args) => serves::run(args),
        What::Trace(args) => traces::run(args),
        What::Compare(args) => compare::run(*args),
        What::Worker => tavola_bench::kv::work(),
        What::Player => queue::work(),
        What::Logger => log::work(),
        What::Client => tavola_bench::serve::work(),
        What::Host(args) => serves::host(&args),
        What::CompareWorker { job } => tavola_bench::compare::inproc::work(&job),
        What::CompareTorment { job } => tavola_bench::compare::torment::work(&job),
    }
}

const TAGS_COLUMNS: &[&str] = &[
    "tags",
    "keys",
    "get_mops",
    "get_ratio",
    "set_mops",
    "bytes_per_key",
    "invalidate_us",
];
const COPY_COLUMNS: &[&str] = &["value_bytes", "get_ns", "plain_ns", "get_ratio", "view_ns"];

/// How a worker is started: this program again, with a hidden subcommand.
fn worker(subcommand: &str) -> Result<(PathBuf, Vec<OsString>)> {
    Ok((program()?, vec![subcommand.into()]))
}

fn program() -> Result<PathBuf> {
    std::env::current_exe().map_err(|source| Error::Io {
        doing: "finding the program to start again",
        source,
    })
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("reports have a JSON form")
}

fn show(text: String) -> Result<()> {
    let mut out = io::stdout().lock();
    let shown = writeln!(out, "{text}").and_then(|()| out.flush());
    shown.map_err(Error::Output)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_description_of_the_arguments_is_sound_and_has_examples() {
        let command = Args::command();
        command.clone().debug_assert();
        let shown = command.get_subcommands().filter(|one| !one.is_hide_set());
        for one in shown {
            let help = one.get_after_help().map(ToString::to_string);
            let help = help.unwrap_or_default();
            let wanted = format!("  tavola-bench {}", one.get_name());
            assert!(help.contains("Examples:"), "{}", one.get_name());
            assert!(help.contains(&wanted), "{}", one.get_name());
            assert!(one.get_about().is_some(), "{}", one.get_name());
        }
    }
}
