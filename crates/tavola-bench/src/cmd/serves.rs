//! `tavola-bench serve`: arguments.

use std::ffi::OsString;

use tavola_bench::serve::{self, Config, Cpus, Part, Transport};
use tavola_bench::{Error, Result, command};
use tavola_program::units::parse_count;

use super::program;
use super::table::Printer;

const HELP: &str = "\
A client process asks 'tavola serve' and, with --against memcached, a memcached, in turn: a pair
of runs; the ratio is that of the rates within each pair. Both servers have as many threads, 1
GiB to fill, loopback or a Unix socket in a folder of their own. What comes is compared with what
is to come, what was set is read back; a wrong answer ends the run with exit code 2.

Parts (--only), of 16-byte keys in random order:
  get           one get a trip, one connection; a trip is all that is sent before waiting
  get-50        one get a trip, 50 connections of one client
  pipe-10       10 gets a trip
  pipe-100      100 gets a trip
  multiget      one get of 100 keys a trip
  meta          100 of 'mg KEY k v' a trip
  binary        100 binary getq and a noop a trip
  set           one set a trip, answered
  set-pipe      100 sets a trip, each answered
  set-noreply   100 sets a trip, the last alone answered (noreply)
  local         gets over TCP, over a Unix socket, and of the table itself without a socket
  memory        the memory of --items values of 100 bytes

'cpus one': client and server share one CPU. 'cpus two': the client has one, the server another
(with several threads all others). Rates are thousand keys a second, medians of the runs;
latencies are those of trips, of all runs. CPU is the time of the server's process a key, by
/proc/PID/stat. Memory is what the process has for itself and of files, and of the table's file.

Examples:
  tavola-bench serve --against memcached
  tavola-bench serve --against /usr/local/bin/memcached --only get,multiget --cpus one
  tavola-bench serve --against memcached --threads 2 --json | jq 'select(.load) | [.load, .ratio]'
  tavola-bench serve --only get --busy 1 --against tavola-memcached --against-with=-ospin=0
  tavola-bench serve --quick";

/// Clients of memcached, at tavola serve and at memcached itself
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// The program tavola to measure [default: the one beside this program, else that in PATH]
    #[arg(long, value_name = "PROGRAM")]
    tavola: Option<OsString>,
    /// Another server under the same loads: memcached, or a path of one
    #[arg(long, value_name = "PROGRAM")]
    against: Option<OsString>,
    /// One more argument for that server, such as --against-with=-ospin=0; may be given several
    /// times
    #[arg(
        long,
        value_name = "ARGUMENT",
        allow_hyphen_values = true,
        requires = "against"
    )]
    against_with: Vec<OsString>,
    /// Threads of each server
    #[arg(long, value_name = "T", default_value_t = 1)]
    threads: usize,
    /// Busy loops that share the CPUs of the servers
    #[arg(long, value_name = "N", default_value_t = 0)]
    busy: usize,
    /// Parts of the measurement, with commas between [default: all]
    #[arg(long, value_name = "PART", value_delimiter = ',')]
    only: Vec<Part>,
    /// tcp, unix, or both with a comma between
    #[arg(
        long,
        value_name = "T",
        value_delimiter = ',',
        default_value = "tcp,unix",
        value_parser = parse_transport
    )]
    transports: Vec<Transport>,
    /// one, two, or both with a comma between
    #[arg(
        long,
        value_name = "C",
        value_delimiter = ',',
        default_value = "one,two",
        value_parser = parse_cpus
    )]
    cpus: Vec<Cpus>,
    /// Keys that are asked for, and as many that are set
    #[arg(long, value_name = "N", default_value = "100K", value_parser = parse_count)]
    keys: u64,
    /// Bytes of their values
    #[arg(long, short, value_name = "V", default_value_t = 32)]
    value_bytes: usize,
    /// Items whose memory is told
    #[arg(long, value_name = "N", default_value = "1M", value_parser = parse_count)]
    items: u64,
    /// Pairs of runs
    #[arg(long, short, value_name = "R", default_value_t = 5)]
    repeat: u32,
    /// How long a run lasts
    #[arg(long, value_name = "S", default_value_t = 0.5)]
    seconds: f64,
    /// A look at whether all works: one short pair, few keys
    #[arg(long, conflicts_with_all = ["repeat", "seconds", "keys", "items"])]
    quick: bool,
    /// One more argument for tavola serve, such as --with=--spin=0; may be given several times
    #[arg(long, value_name = "ARGUMENT", allow_hyphen_values = true)]
    with: Vec<OsString>,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
}

fn parse_transport(text: &str) -> std::result::Result<Transport, String> {
    let found = Transport::ALL.into_iter().find(|one| one.name() == text);
    found.ok_or_else(|| format!("'{text}' is neither tcp nor unix"))
}

fn parse_cpus(text: &str) -> std::result::Result<Cpus, String> {
    let found = Cpus::ALL.into_iter().find(|one| one.name() == text);
    found.ok_or_else(|| format!("'{text}' is neither one nor two"))
}

const COLUMNS: &[&str] = &[
    "load",
    "transport",
    "cpus",
    "tavola.kops",
    "tavola.p50_us",
    "tavola.p99_us",
    "tavola.cpu_us",
    "memcached.kops",
    "ratio",
    "least",
    "most",
];

pub fn run(args: Args) -> Result<()> {
    let as_json = args.json;
    let config = args.config()?;
    Printer::new(as_json, COLUMNS).each(|emit| serve::run(&config, emit))
}

/// A leader's number, CPUs, and a program with its arguments
#[derive(clap::Args)]
pub struct HostArgs {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

/// Becomes a server; see [`serve::host`].
pub fn host(args: &HostArgs) -> Result<()> {
    serve::host(&args.args)
}

impl Args {
    fn config(self) -> Result<Config> {
        let config = Config {
            program: program()?,
            client: vec!["client".into()],
            host: vec!["host".into()],
            tavola: command::find(self.tavola.as_deref())?.ok_or(Error::NoCommand)?,
            against: self.against,
            against_with: self.against_with,
            busy: self.busy,
            threads: self.threads,
            with: self.with,
            only: self.only,
            transports: self.transports,
            cpus: self.cpus,
            keys: self.keys,
            value_bytes: self.value_bytes,
            repeat: self.repeat,
            seconds: self.seconds,
            items: self.items,
        };
        Ok(match self.quick {
            false => config,
            true => Config {
                keys: 2000,
                items: 20_000,
                repeat: 1,
                seconds: 0.05,
                ..config
            },
        })
    }
}
