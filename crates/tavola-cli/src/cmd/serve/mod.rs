//! `tavola serve`: a table for clients of memcached and of Redis.
//!
//! | file | what it holds |
//! |---|---|
//! | `place`, `plan` | where to listen; what a server is to be |
//! | `memcached` | the same asked for with memcached's flags |
//! | `sockets` | what it listens on, and what it refuses to |
//! | `running` | a server from its start to its end |
//! | `signals`, `succession` | signals, another process in its place or in the background |
//! | `upkeep` | what it does while nobody asks for anything |
//! | `warm` | a table that is restored from a file and saved to it |
//! | `identity`, `notice` | the user that it runs as; notices to systemd |
//! | `guessing` | lines about clients that guess passwords |

mod guessing;
mod identity;
pub mod memcached;
pub mod notice;
mod place;
mod plan;
mod running;
mod signals;
mod sockets;
mod succession;
mod upkeep;
mod warm;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::ValueEnum;
use tavola_server::memcached::Protocol;
use tavola_server::{Io, TlsFiles};

use crate::error::CliError;
use crate::rights::RightsArgs;
use crate::units;
use place::Place;
pub use place::is_of_this_machine;
use plan::{Plan, TablePlan, Voice};
use warm::SnapshotPlan;

const LONGEST_SPIN: Duration = Duration::from_millis(10);

const EXAMPLES: &str = "\
Examples:
  tavola serve sessions                           on 127.0.0.1:11211
  tavola serve pages --capacity 1G                created as a cache if it is missing
  tavola serve pages --capacity 1G --snapshot /var/cache/pages.saved --every 5m
  tavola serve sessions --listen unix:/run/user/1000/sessions.sock
  tavola serve sessions --listen 127.0.0.1:0      any free port, which it prints
  tavola serve sessions --resp 127.0.0.1:6379     for Redis clients, no others
  tavola serve sessions --listen 0.0.0.0:11211 --users FILE --tls-cert FILE --tls-key FILE

Memcached clients read and write the table with any of the three memcached protocols,
Redis clients with RESP2 or RESP3 (commands on strings), while local processes use it
directly. The table stays when the server ends, so a
restarted server has all keys. SIGTERM and SIGINT finish pending requests and end the
server. SIGUSR1 restarts the program and hands the sockets over. SIGHUP reloads users and
certificates. Sockets passed by systemd are served, too. 'tavola-memcached' is the same
server with memcached's own flags.";

/// Serve a table to memcached and Redis clients
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The table: a name, or a path if it contains a /; it is created if it is missing
    #[arg(value_name = "TABLE")]
    name: OsString,
    /// An address to listen on: ADDRESS:PORT, notls:ADDRESS:PORT or unix:PATH; may be repeated
    /// [default: 127.0.0.1:11211, without --resp]
    #[arg(long, value_name = "WHERE")]
    listen: Vec<String>,
    /// An address to serve Redis clients on, in the same forms; may be repeated. A socket passed by
    /// systemd serves them if its address is named here
    #[arg(long, value_name = "WHERE")]
    resp: Vec<String>,
    /// Create a missing table as a cache with this capacity
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size)]
    capacity: Option<u64>,
    /// The maximum size of a table that is created [default: 64G]
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size)]
    max_size: Option<u64>,
    #[command(flatten)]
    rights: RightsArgs,
    /// Restore a new table from this file, and save it there at the end
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    snapshot: Option<PathBuf>,
    /// Also save the table this often: 5m [default: only at the end]
    #[arg(long, value_name = "TIME", requires = "snapshot", value_parser = parse_every)]
    every: Option<Duration>,
    /// The largest value that clients may store; warns if it exceeds half of the table
    #[arg(long, value_name = "SIZE", value_parser = parse_value_bytes, default_value = "1M")]
    largest_value: usize,
    /// The number of server threads
    #[arg(long, value_name = "COUNT", value_parser = at_least_one, default_value_t = 4)]
    threads: usize,
    /// The maximum number of connections; more are refused with an error
    #[arg(long, value_name = "COUNT", value_parser = at_least_one, default_value_t = 1024)]
    max_connections: usize,
    /// Close connections that are idle for this long: 90, 5m [default: never]
    #[arg(long, value_name = "TIME", value_parser = units::parse_time)]
    idle_timeout: Option<Duration>,
    /// How long the server waits for pending requests when it shuts down
    #[arg(long, value_name = "TIME", value_parser = units::parse_time, default_value = "10")]
    drain: Duration,
    /// The mode of Unix sockets, as for chmod
    #[arg(long, value_name = "OCTAL", value_parser = place::read_mode, default_value = "700")]
    socket_mode: u32,
    /// Require a name and a password: a file of lines name:password
    #[arg(long, value_name = "FILE")]
    users: Option<PathBuf>,
    /// Use TLS on all addresses except those with the prefix notls: the certificate chain of the
    /// server, in PEM format
    #[arg(long, value_name = "FILE")]
    tls_cert: Option<PathBuf>,
    /// The private key in PEM format, if it is not in the certificate file
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Require client certificates that are signed by a CA of this file
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_client_ca: Option<PathBuf>,
    /// Allow addresses that other machines can reach without TLS or authentication
    #[arg(long)]
    insecure: bool,
    /// Accept one protocol of memcached only [default: detected from the first byte]
    #[arg(long, value_name = "PROTOCOL")]
    protocol: Option<Spoken>,
    /// Disable flush_all, FLUSHALL and FLUSHDB, which remove all keys
    #[arg(long)]
    no_flush: bool,
    /// Disable commands that list keys or prefixes (lru_crawler metadump, mgdump; stats cachedump,
    /// detail; SCAN, KEYS)
    #[arg(long)]
    no_dumps: bool,
    /// Disable watch, which shows the commands of other clients
    #[arg(long)]
    no_watch: bool,
    /// How long a thread polls for more work before it sleeps: 20us, at most 10ms; seconds if there
    /// is no unit; 0 turns polling off
    #[arg(long, value_name = "TIME", value_parser = parse_spin, default_value = "50us")]
    spin: Duration,
    /// The system calls that send short replies to several clients
    #[arg(long, value_name = "CALLS", default_value = "auto")]
    io: Calls,
    /// Write the process ID to a file, which is removed at the end
    #[arg(long, value_name = "FILE")]
    pid_file: Option<PathBuf>,
    /// Run as this user, if started by root
    #[arg(long, value_name = "USER")]
    user: Option<String>,
    /// Log events to standard error
    #[arg(long, short)]
    verbose: bool,
}

/// By which calls answers go out.
#[derive(Clone, Copy, ValueEnum)]
enum Calls {
    /// uring if the system allows io_uring, otherwise epoll
    Auto,
    /// One system call per connection
    Epoll,
    /// One io_uring call for several connections; fails if io_uring is not available
    Uring,
}

impl From<Calls> for Io {
    fn from(calls: Calls) -> Io {
        match calls {
            Calls::Auto => Io::Auto,
            Calls::Epoll => Io::Epoll,
            Calls::Uring => Io::Uring,
        }
    }
}

/// A protocol of memcached.
#[derive(Clone, Copy, ValueEnum)]
enum Spoken {
    /// The text protocol, including the meta commands
    Text,
    /// The binary protocol, with 24-byte headers
    Binary,
}

impl From<Spoken> for Protocol {
    fn from(spoken: Spoken) -> Protocol {
        match spoken {
            Spoken::Text => Protocol::Text,
            Spoken::Binary => Protocol::Binary,
        }
    }
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    let mut places = Vec::new();
    for text in &args.listen {
        places.extend(place::read(text, place::PORT)?);
    }
    let mut resp_places = Vec::new();
    for text in &args.resp {
        resp_places.extend(place::read(text, place::REDIS_PORT)?);
    }
    running::run(&Plan {
        table: TablePlan {
            name: args.name,
            capacity: args.capacity,
            max_size: args.max_size,
            rights: args.rights,
            insists: false,
            versions: true,
        },
        snapshot: SnapshotPlan::of(args.snapshot, args.every),
        places,
        default_place: Place::loopback(place::PORT),
        resp_places,
        socket_mode: args.socket_mode,
        threads: args.threads,
        max_connections: args.max_connections,
        refuses: true,
        backlog: 1024,
        idle_timeout: args.idle_timeout,
        spin: args.spin,
        io: args.io.into(),
        drain: args.drain,
        value_bytes: args.largest_value,
        requests: None,
        protocol: args.protocol.map(Protocol::from),
        tls: args.tls_cert.map(|certificates| TlsFiles {
            clients: args.tls_client_ca,
            ..TlsFiles::new(
                &certificates,
                args.tls_key.as_ref().unwrap_or(&certificates),
            )
        }),
        users: args.users,
        flush: !args.no_flush,
        dumps: !args.no_dumps,
        watch: !args.no_watch,
        prefixes: None,
        verbosity: args.verbose.into(),
        shutdown: false,
        insecure: args.insecure,
        user: args.user,
        pid_file: args.pid_file,
        port_file: None,
        daemon: false,
        core_files: false,
        voice: Voice {
            name: "tavola",
            announces: true,
            is_verbose: args.verbose,
        },
    })
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err(format!("'{text}' is not a number of at least 1")),
        Ok(count) => Ok(count),
    }
}

/// How often a table is saved: a number that was meant in another unit must not make it go on and
/// on.
fn parse_every(text: &str) -> Result<Duration, String> {
    match units::parse_time(text)? {
        time if time >= Duration::from_secs(1) => Ok(time),
        _ => Err(format!(
            "'{text}' is less than a second; write 5m, for example"
        )),
    }
}

/// A look for more takes a CPU: a number that was meant in another unit must not take it for long.
fn parse_spin(text: &str) -> Result<Duration, String> {
    match units::parse_time(text)? {
        time if time <= LONGEST_SPIN => Ok(time),
        _ => Err(format!(
            "'{text}' is more than 10ms; write 0, 20us or 1ms (a number without a unit means \
            seconds)"
        )),
    }
}

/// The bytes of the largest value: 1 KiB to 1 GiB, as memcached has them.
fn parse_value_bytes(text: &str) -> Result<usize, String> {
    match units::parse_size(text)? {
        bytes @ 1024..=0x4000_0000 => Ok(bytes as usize),
        _ => Err(format!("'{text}' is not a size between 1K and 1G")),
    }
}
