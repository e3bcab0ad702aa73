//! `tavola-memcached` and `tavola memcached`: the same server with the flags of memcached 1.6.

mod extended;
mod secure;
mod words;

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Arg, ArgAction, CommandFactory, FromArgMatches, Parser};
use tavola_server::memcached::{Protocol, VERSION};

use super::place::{self, Place};
use super::plan::{Plan, TablePlan, Voice};
use super::warm::SnapshotPlan;
use super::{at_least_one, parse_every, running};
use crate::args;
use crate::error::CliError;
use crate::rights::RightsArgs;
use extended::Extended;

/// The program's name: by it the command knows that it is asked with these flags. `make install`
/// makes it a file of its own, so that a script that resolves links does not lose it.
pub const NAME: &str = "tavola-memcached";
/// The command that has these flags where the program has another name.
const COMMAND: &str = "memcached";
/// How help calls the program then.
const BY_COMMAND: &str = "tavola memcached";
/// What words that are no flags are called.
const STRAYS: &str = "strays";
/// Names the users where `-S` is given without `-Y`, as for memcached.
const SASL_USERS: &str = "MEMCACHED_SASL_PWDB";
/// Names a file for the port that was chosen, as for memcached.
const PORT_FILE: &str = "MEMCACHED_PORT_FILENAME";

/// Serve a table, with memcached's flags
#[derive(Parser)]
#[command(name = NAME, disable_version_flag = true, disable_help_flag = true)]
#[command(args_override_self = true, infer_long_args = true)]
#[command(after_help = extended::HELP)]
pub struct Flags {
    /// TCP port (-1: any free port; 0: no TCP) [default: the port of -U, else 11211]
    #[arg(short, long, value_name = "NUM")]
    #[arg(allow_negative_numbers = true, value_parser = parse_port)]
    port: Option<Port>,
    /// Unix socket to listen on, instead of TCP
    #[arg(short = 's', long, value_name = "FILE")]
    unix_socket: Option<PathBuf>,
    /// Mode of the Unix socket, in octal
    #[arg(short = 'a', long, value_name = "MASK", default_value = "700")]
    #[arg(value_parser = place::read_mode)]
    unix_mask: u32,
    /// Addresses to listen on, separated by commas or repeated: ADDRESS, ADDRESS:PORT or
    /// notls:ADDRESS (no TLS despite -Z) [default: 127.0.0.1; memcached: all addresses]
    #[arg(short, long, value_name = "ADDR", value_delimiter = ',')]
    listen: Vec<String>,
    /// Total memory in MiB, including the index (memcached counts items only)
    #[arg(short, long, value_name = "NUM", value_parser = at_least_one, default_value = "64")]
    memory_limit: usize,
    /// Return an error when memory is exhausted, instead of evicting keys
    #[arg(short = 'M', long)]
    disable_evictions: bool,
    /// Maximum number of connections
    #[arg(short, long, value_name = "NUM", value_parser = at_least_one, default_value = "1024")]
    conn_limit: usize,
    /// Number of server threads
    #[arg(short, long, value_name = "NUM", value_parser = at_least_one, default_value = "4")]
    threads: usize,
    /// Largest value: 1k to 1024m, up to half of the memory
    #[arg(short = 'I', long, value_name = "NUM", value_parser = parse_item_size)]
    #[arg(default_value = "1m")]
    max_item_size: usize,
    /// Queue of connections that wait to be accepted
    #[arg(short = 'b', long, value_name = "NUM", default_value_t = 1024)]
    listen_backlog: u32,
    /// Maximum number of requests of a client in a row [default: 256]
    #[arg(short = 'R', long, value_name = "NUM", value_parser = at_least_one)]
    max_reqs_per_event: Option<usize>,
    /// Protocol: auto, ascii or binary
    #[arg(short = 'B', long, value_name = "NAME", value_parser = parse_protocol)]
    protocol: Option<Asked>,
    /// Disable flush_all
    #[arg(short = 'F', long)]
    disable_flush_all: bool,
    /// Disable commands that list keys: stats cachedump and detail, lru_crawler metadump and mgdump
    #[arg(short = 'X', long)]
    disable_dumping: bool,
    /// Disable watch
    #[arg(short = 'W', long)]
    disable_watch: bool,
    /// Separator of key prefixes; also turns on the counts per prefix (stats detail)
    #[arg(short = 'D', value_name = "CHAR", value_parser = parse_delimiter)]
    delimiter: Option<u8>,
    /// Enable the shutdown command
    #[arg(short = 'A', long)]
    enable_shutdown: bool,
    /// Require a password in the text protocol: a file of lines user:password
    #[arg(short = 'Y', long, value_name = "FILE")]
    auth_file: Option<PathBuf>,
    /// Require SASL PLAIN in the binary protocol: users of -Y, or of the file in
    /// MEMCACHED_SASL_PWDB
    #[arg(short = 'S', long)]
    enable_sasl: bool,
    /// Use TLS; set it up with -o ssl_chain_cert and others
    #[arg(short = 'Z', long)]
    enable_ssl: bool,
    /// Run as this user, if started by root
    #[arg(short, long, value_name = "USER")]
    user: Option<String>,
    /// Run in the background; the command returns when the server is ready
    #[arg(short, long)]
    daemon: bool,
    /// Create the table without versions, which saves 8 bytes per key: the CAS unique is then a
    /// hash of the value
    #[arg(short = 'C', long)]
    disable_cas: bool,
    /// Restore a new table from this file, and save it there on SIGTERM, SIGINT and SIGUSR1
    #[arg(short = 'e', long, value_name = "FILE")]
    memory_file: Option<PathBuf>,
    /// Also save the table to the file of -e this often, such as 5m; memcached has no such flag
    #[arg(long, value_name = "TIME", requires = "memory_file", value_parser = parse_every)]
    every: Option<Duration>,
    /// File for the process ID
    #[arg(short = 'P', long, value_name = "FILE")]
    pidfile: Option<PathBuf>,
    /// Raise the limit of core files
    #[arg(short = 'r', long)]
    enable_coredumps: bool,
    /// Log events to standard error; -vv and -vvv log no more than -v
    #[arg(short, long, action = ArgAction::Count)]
    verbose: u8,
    /// Extended options, separated by commas: see below
    #[arg(short = 'o', long, value_name = "OPTIONS")]
    extended: Vec<String>,
    /// The table [default: memcached- and the port, or the name of the Unix socket]
    #[arg(long, value_name = "NAME")]
    table: Option<OsString>,
    #[command(flatten)]
    rights: RightsArgs,
    /// Also use tables of other users in world-writable directories such as /tmp
    #[arg(long)]
    any_owner: bool,
    /// Allow addresses that other machines can reach without TLS or authentication
    #[arg(long)]
    insecure: bool,
    /// Print help
    #[arg(short, long, action = ArgAction::Help)]
    help: Option<bool>,
    /// Print the licence
    #[arg(short = 'i', long)]
    license: bool,
    /// Print version
    #[arg(short = 'V', long)]
    version: bool,
    #[command(flatten)]
    idle: Idle,
    /// Words that are no flags.
    #[arg(skip)]
    strays: Vec<OsString>,
}

/// What is accepted and changes nothing.
#[derive(clap::Args)]
#[command(next_help_heading = "Accepted without effect")]
struct Idle {
    /// UDP port: UDP is not supported; a port other than 0 gives a warning
    #[arg(short = 'U', long, value_name = "NUM", default_value = "0")]
    #[arg(allow_negative_numbers = true, value_parser = parse_port)]
    udp_port: Port,
    /// Lock memory
    #[arg(short = 'k', long)]
    lock_memory: bool,
    /// Huge pages: they are used anyway if the kernel supports them
    #[arg(short = 'L', long)]
    enable_largepages: bool,
    /// Growth factor of size classes
    #[arg(short = 'f', long, value_name = "FACTOR", value_parser = parse_factor)]
    slab_growth_factor: Option<f64>,
    /// Minimum space of an item
    #[arg(short = 'n', long, value_name = "BYTES", value_parser = at_least_one)]
    slab_min_size: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Port {
    None,
    Free,
    Number(u16),
}

/// What `-B` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    Auto,
    One(Protocol),
}

/// Returns the arguments of this process after the program's name or the first word, whichever says
/// that memcached's flags follow. Returns `None` if neither does.
pub fn asked() -> Option<Vec<OsString>> {
    asked_by(env::args_os().collect())
}

fn asked_by(mut words: Vec<OsString>) -> Option<Vec<OsString>> {
    let name = words.first().map(Path::new).and_then(Path::file_name);
    if name.is_some_and(|name| name == NAME) {
        return Some(words);
    }
    if words.get(1).is_some_and(|word| word == COMMAND) {
        words.remove(0);
        words[0] = BY_COMMAND.into();
        return Some(words);
    }
    None
}

/// The whole description of the flags.
pub fn command() -> clap::Command {
    Flags::command()
}

/// Reads what [`asked`] found; errors of usage are clap's.
pub fn parse(words: Vec<OsString>) -> Result<Flags, clap::Error> {
    read(words.into_iter())
}

fn read(words: impl Iterator<Item = OsString>) -> Result<Flags, clap::Error> {
    let strays = Arg::new(STRAYS).num_args(0..).hide(true);
    let command = command().arg(strays.value_parser(clap::value_parser!(OsString)));
    let known: Vec<_> = command.get_arguments().collect();
    let with_values = known.iter().filter(|arg| arg.get_action().takes_values());
    let letters: Vec<_> = with_values.filter_map(|arg| arg.get_short()).collect();
    let words = words::words(words, |letter| letters.contains(&letter));
    let mut matches = command.try_get_matches_from(words)?;
    let strays = matches.remove_many(STRAYS).into_iter().flatten().collect();
    let flags = Flags::from_arg_matches(&matches)?;
    Ok(Flags { strays, ..flags })
}

impl Flags {
    pub fn run(self) -> Result<ExitCode, CliError> {
        if self.version {
            println!("memcached {VERSION}");
            return Ok(ExitCode::SUCCESS);
        }
        if self.license {
            println!("Tavola is licensed under MIT or Apache-2.0, at your option.");
            return Ok(ExitCode::SUCCESS);
        }
        for stray in &self.strays {
            eprintln!(
                "{NAME}: {} is not a flag and has no effect",
                stray.display()
            );
        }
        args::set_any_owner(self.any_owner);
        let has_udp = self.idle.udp_port != Port::None;
        let plan = self.plan()?;
        if has_udp {
            plan.voice
                .warn("UDP is not supported: -U has no effect; clients connect by TCP");
        }
        running::run(&plan)
    }

    fn plan(self) -> Result<Plan, CliError> {
        if rustix::process::geteuid().is_root() && self.user.is_none() {
            return Err(sentence(
                "root must name the user to run as: for example -u nobody, or -u root to stay root",
            ));
        }
        let extended = Extended::read(&self.extended)?;
        let (users, protocol) = self.access()?;
        let tls = extended
            .secure
            .files(self.enable_ssl)
            .map_err(CliError::Sentence)?;
        let (places, default_place) = self.places()?;
        let memory = (self.memory_limit as u64).saturating_mul(1 << 20);
        if self.max_item_size as u64 > memory / 2 {
            return Err(sentence(
                "the largest value (-I) is more than half of the memory (-m): \
                 give more memory, or a smaller -I",
            ));
        }
        let name = match &self.table {
            Some(name) => name.clone(),
            None => self.table_name(),
        };
        Ok(Plan {
            table: TablePlan {
                name,
                capacity: (!self.disable_evictions).then_some(memory),
                max_size: self.disable_evictions.then_some(memory),
                rights: self.rights,
                insists: true,
                versions: !self.disable_cas,
            },
            snapshot: SnapshotPlan::of(self.memory_file, self.every),
            places,
            default_place,
            resp_places: Vec::new(),
            socket_mode: self.unix_mask,
            threads: self.threads,
            max_connections: self.conn_limit,
            refuses: extended.refuses,
            backlog: self.listen_backlog,
            idle_timeout: extended.idle_timeout,
            spin: extended.spin,
            io: extended.io,
            drain: Duration::from_secs(10),
            value_bytes: self.max_item_size,
            requests: self.max_reqs_per_event,
            protocol,
            users,
            tls,
            flush: !self.disable_flush_all,
            dumps: !self.disable_dumping,
            watch: !self.disable_watch,
            prefixes: self.delimiter,
            verbosity: self.verbose.into(),
            shutdown: self.enable_shutdown,
            insecure: self.insecure,
            user: self.user,
            pid_file: self.pidfile,
            port_file: env::var_os(PORT_FILE).map(PathBuf::from),
            daemon: self.daemon,
            core_files: self.enable_coredumps,
            voice: Voice {
                name: NAME,
                announces: false,
                is_verbose: self.verbose > 0,
            },
        })
    }

    /// Returns the file of users and the protocol they may use: text with `-Y`, binary with `-S`,
    /// both with both.
    fn access(&self) -> Result<(Option<PathBuf>, Option<Protocol>), CliError> {
        let asked = match self.protocol {
            Some(Asked::One(protocol)) => Some(protocol),
            Some(Asked::Auto) | None => None,
        };
        let users = match (&self.auth_file, self.enable_sasl) {
            (None, true) => env::var_os(SASL_USERS).map(PathBuf::from),
            (file, _) => file.clone(),
        };
        let forced = match (self.auth_file.is_some(), self.enable_sasl) {
            (true, true) | (false, false) => None,
            (true, false) => Some(Protocol::Text),
            (false, true) if users.is_none() => {
                return Err(sentence("-S needs users: give a file of them with -Y"));
            }
            (false, true) => Some(Protocol::Binary),
        };
        match (asked, forced) {
            (Some(Protocol::Binary), Some(Protocol::Text)) => Err(sentence(
                "-Y requires passwords in the text protocol only: add -S, or leave out -B",
            )),
            (Some(Protocol::Text), Some(Protocol::Binary)) => Err(sentence(
                "-S requires passwords in the binary protocol only: add -Y, or leave out -B",
            )),
            (asked, forced) => Ok((users, asked.or(forced))),
        }
    }

    fn places(&self) -> Result<(Vec<Place>, Place), CliError> {
        if let Some(path) = &self.unix_socket {
            let place = Place::Unix(path.clone());
            return Ok((vec![place.clone()], place));
        }
        let port = match self.port() {
            Port::None => return Err(sentence("-p 0 leaves nothing to listen on: add -s FILE")),
            Port::Free => 0,
            Port::Number(port) => port,
        };
        let mut places = Vec::new();
        let named = self.listen.iter().flat_map(|text| text.split(';'));
        for text in named.filter(|text| !text.is_empty()) {
            for place in place::read(text, port)? {
                if !places.contains(&place) {
                    places.push(place);
                }
            }
        }
        let default = Place::loopback(port);
        if places.is_empty() && self.port() != Port::Number(place::PORT) {
            places.push(default.clone());
        }
        Ok((places, default))
    }

    /// As memcached has it: a port for UDP alone is one for TCP, too.
    fn port(&self) -> Port {
        self.port.unwrap_or(match self.idle.udp_port {
            Port::None => Port::Number(place::PORT),
            port => port,
        })
    }

    fn table_name(&self) -> OsString {
        let end = match (&self.unix_socket, self.port()) {
            (Some(path), _) => place::file_name(path),
            (None, Port::Number(port)) => port.to_string(),
            (None, Port::Free | Port::None) => "any".to_string(),
        };
        format!("memcached-{end}").into()
    }
}

fn sentence(text: &str) -> CliError {
    CliError::Sentence(text.to_string())
}

fn parse_port(text: &str) -> Result<Port, String> {
    match text.parse::<i32>() {
        Ok(0) => Ok(Port::None),
        Ok(-1) => Ok(Port::Free),
        Ok(number) if u16::try_from(number).is_ok() => Ok(Port::Number(number as u16)),
        _ => Err(format!("'{text}' is not a port; write 1 to 65535, 0 or -1")),
    }
}

fn parse_delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        [byte, ..] if byte.is_ascii() => Ok(*byte),
        _ => Err(format!("'{text}' does not begin with an ASCII character")),
    }
}

fn parse_protocol(text: &str) -> Result<Asked, String> {
    match text {
        "auto" => Ok(Asked::Auto),
        "ascii" => Ok(Asked::One(Protocol::Text)),
        "binary" => Ok(Asked::One(Protocol::Binary)),
        _ => Err(format!("'{text}' is not one of auto, binary, or ascii")),
    }
}

/// Bytes, or with `k` or `m` behind.
fn parse_item_size(text: &str) -> Result<usize, String> {
    let lower = text.to_ascii_lowercase();
    let (digits, factor) = match lower.as_bytes().last() {
        Some(b'k') => (&lower[..lower.len() - 1], 1 << 10),
        Some(b'm') => (&lower[..lower.len() - 1], 1 << 20),
        _ => (&lower[..], 1),
    };
    let bytes = digits.parse::<usize>().ok();
    let bytes = bytes.and_then(|number| number.checked_mul(factor));
    match bytes {
        Some(bytes @ 1024..=0x4000_0000) => Ok(bytes),
        _ => Err(format!("'{text}' is not a size between 1k and 1024m")),
    }
}

fn parse_factor(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(factor) if factor > 1.0 => Ok(factor),
        _ => Err(format!("'{text}' is not greater than 1")),
    }
}

#[cfg(test)]
mod tests;
