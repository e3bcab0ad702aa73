//! `tavola near`: a cache of this machine before a Redis or Valkey server.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use tavola::Table;
use tavola_near::{DaemonOptions, Near, NearEvent};

use super::serve::notice::notify;
use crate::args::{self, Notation};
use crate::error::CliError;
use crate::interrupt;
use crate::output::Output;
use crate::units;

const EXAMPLES: &str = "\
Examples:
  tavola near sessions --upstream redis://10.0.0.1:6379 --prefix sess: --capacity 512M
  tavola near sessions --get sess:alice
  tavola near sessions --status

With --upstream, it works as a daemon until it gets SIGTERM or SIGINT: it speaks to the
server, fills the table NAME with the values that readers miss, and removes those that
change. Processes read the table directly, with tavola_near of Rust. A value that they get
was the newest one on the server not longer than --max-stale ago, even if the daemon is
killed or stopped, or the network is silent; then they get an error instead. Start a
second daemon with the same arguments, and it takes over when the first one dies.

The server must have the commands HELLO, CLIENT TRACKING and ROLE (Redis from 6.0 on,
Valkey), and must not be a replica. Every change goes to the server itself.";

/// How many bytes a new table takes, unless it is said.
const CAPACITY: &str = "256M";

/// Cache the values of a Redis or Valkey server, never older than a bound
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
#[command(group = clap::ArgGroup::new("what").required(true))]
pub struct Args {
    /// The table of the cache: a name, or a path if it contains a /
    #[arg(value_name = "NAME")]
    name: OsString,
    /// Work as a daemon for redis://USER:PASSWORD@HOST:PORT/DATABASE or unix:PATH
    #[arg(long, value_name = "ADDRESS", group = "what")]
    upstream: Option<String>,
    /// Print the value of a key
    #[arg(long, value_name = "KEY", group = "what")]
    get: Option<OsString>,
    /// Print the state of the cache
    #[arg(long, group = "what")]
    status: bool,
    /// A file that holds the password, so that it is not in the list of processes
    #[arg(long, value_name = "FILE", requires = "upstream")]
    password_file: Option<PathBuf>,
    /// Cache only keys with this beginning (may be repeated)
    #[arg(long, value_name = "PREFIX", requires = "upstream")]
    prefix: Vec<String>,
    /// The memory of the cache, if it is created
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size, default_value = CAPACITY)]
    capacity: u64,
    /// How old a value may be when it is read, 20ms to 1h
    #[arg(long, value_name = "TIME", value_parser = units::parse_time, default_value = "1s")]
    max_stale: Duration,
    /// Keep a value at most this long [default: as long as the server keeps it]
    #[arg(long, value_name = "TIME", value_parser = units::parse_time, requires = "upstream")]
    ttl: Option<Duration>,
    #[command(flatten)]
    notation: Notation,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    match (&args.upstream, &args.get) {
        (Some(upstream), _) => work(&args, upstream),
        (None, Some(key)) => get(&args, key),
        (None, None) => status(&args),
    }
}

fn sentence(error: &tavola_near::NearError) -> CliError {
    CliError::Sentence(error.to_string())
}

fn work(args: &Args, upstream: &str) -> Result<ExitCode, CliError> {
    let stop = interrupt::install_handlers()?;
    let options = args.options(upstream)?;
    args::warn_of(&args.name);
    let table: Table = args::options().capacity(args.capacity).open(&args.name)?;
    let ended = options.run(&Arc::new(table), &stop, &mut |event| {
        eprintln!("tavola: {event}");
        if matches!(event, NearEvent::Connected | NearEvent::StandsBy) {
            notify("READY=1");
        }
    });
    notify("STOPPING=1");
    ended.map_err(|error| sentence(&error))?;
    Ok(ExitCode::SUCCESS)
}

impl Args {
    fn options(&self, upstream: &str) -> Result<DaemonOptions, CliError> {
        let options = DaemonOptions::new(upstream).map_err(|error| sentence(&error))?;
        let mut options = options.max_stale(self.max_stale);
        if let Some(path) = &self.password_file {
            let read = fs::read_to_string(path).map_err(|source| CliError::Read {
                path: path.clone(),
                source,
            })?;
            options = options.password(read.trim_end_matches(['\r', '\n']));
        }
        for prefix in &self.prefix {
            options = options.prefix(prefix.as_bytes());
        }
        Ok(match self.ttl {
            Some(ttl) => options.ttl(ttl),
            None => options,
        })
    }

    fn open(&self) -> Result<Near, CliError> {
        Near::open(&self.name).map_err(|error| sentence(&error))
    }
}

fn get(args: &Args, key: &std::ffi::OsStr) -> Result<ExitCode, CliError> {
    let key = args.notation.read(key)?;
    let value = args.open()?.get(&key).map_err(|error| sentence(&error))?;
    let Some(value) = value else {
        return Ok(ExitCode::from(crate::MISSING));
    };
    let mut out = Output::new();
    out.value(&value)?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn status(args: &Args) -> Result<ExitCode, CliError> {
    let status = args.open()?.status();
    let mut out = Output::new();
    let state = match status.is_trusted {
        true => "values are served",
        false => "no value is served: there is no daemon, or it has lost the server",
    };
    out.line(format!("state       {state}"))?;
    out.line(format!("max stale   {} ms", status.max_stale_ms))?;
    for (name, count) in [
        ("owners", status.owners),
        ("fills", status.fills),
        ("pushes", status.pushes),
        ("losses", status.losses),
    ] {
        out.line(format!("{name:<12}{}", units::count(count)))?;
    }
    out.finish()?;
    Ok(match status.is_trusted {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(crate::MISSING),
    })
}
