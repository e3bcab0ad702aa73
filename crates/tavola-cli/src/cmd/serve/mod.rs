//! `tavola serve`: a table for clients of memcached.
//!
//! | file | what it holds |
//! |---|---|
//! | `place`, `plan` | where to listen; what a server is to be |
//! | `memcached` | the same asked for with memcached's flags |
//! | `sockets` | what it listens on, and what it refuses to |
//! | `running` | a server from its start to its end |
//! | `signals`, `succession` | what it is told, another process in its place or in the background |
//! | `upkeep` | what it does while nobody asks for anything |
//! | `identity`, `notice` | as whom it runs; what systemd is told |
//! | `guessing` | lines about clients that guess passwords |

mod guessing;
mod identity;
pub mod memcached;
mod notice;
mod place;
mod plan;
mod running;
mod signals;
mod sockets;
mod succession;
mod upkeep;

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

const LONGEST_SPIN: Duration = Duration::from_millis(10);

const EXAMPLES: &str = "\
Examples:
  tavola serve sessions                           on 127.0.0.1:11211
  tavola serve pages --capacity 1G                made as a cache when it is not there
  tavola serve sessions --listen unix:/run/user/1000/sessions.sock
  tavola serve sessions --listen 127.0.0.1:0      any free port; it says which
  tavola serve sessions --listen 0.0.0.0:11211 --users FILE --tls-cert FILE --tls-key FILE

Clients of memcached read and write the table, by all three protocols, while processes here
have it open as well. The table outlives the server: start it again, and all keys are there.
SIGTERM and SIGINT answer what was asked and end it, SIGUSR1 starts the program anew and hands
the sockets over, SIGHUP reads users and certificates anew. Sockets that systemd hands over are
served, too. A program called tavola-memcached takes memcached's own flags instead.";

/// Serve a table to clients of memcached
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The table: a name, or a path when it has a / in it; it is made when it is not there
    #[arg(value_name = "TABLE")]
    name: OsString,
    /// Where to listen: ADDRESS:PORT, notls:ADDRESS:PORT or unix:PATH; may be given several times
    /// [default: 127.0.0.1:11211]
    #[arg(long, value_name = "WHERE")]
    listen: Vec<String>,
    /// Makes the table a cache, if it is not there, which takes so much memory
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size)]
    capacity: Option<u64>,
    /// How large the table may become, if it is not there [default: 64G]
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size)]
    max_size: Option<u64>,
    #[command(flatten)]
    rights: RightsArgs,
    /// The largest value that clients may store; more than half of the table is warned of
    #[arg(long, value_name = "SIZE", value_parser = parse_value_bytes, default_value = "1M")]
    largest_value: usize,
    /// Threads that serve
    #[arg(long, value_name = "COUNT", value_parser = at_least_one, default_value_t = 4)]
    threads: usize,
    /// Connections at a time; more are told so and closed
    #[arg(long, value_name = "COUNT", value_parser = at_least_one, default_value_t = 1024)]
    max_connections: usize,
    /// Closes connections on which nothing came or went for so long: 90, 5m [default: never]
    #[arg(long, value_name = "TIME", value_parser = units::parse_time)]
    idle_timeout: Option<Duration>,
    /// How long clients may take to end what they have begun when the server ends
    #[arg(long, value_name = "TIME", value_parser = units::parse_time, default_value = "10")]
    drain: Duration,
    /// Who may connect to Unix sockets, as for chmod
    #[arg(long, value_name = "OCTAL", value_parser = place::read_mode, default_value = "700")]
    socket_mode: u32,
    /// Asks clients for a name and a password: a file of lines name:password
    #[arg(long, value_name = "FILE")]
    users: Option<PathBuf>,
    /// Speaks TLS at all addresses but those with notls: before: a file of the server's
    /// certificate and those that lead to its authority, in PEM format
    #[arg(long, value_name = "FILE")]
    tls_cert: Option<PathBuf>,
    /// The private key, in PEM format, if it is not in the same file
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Lets those in alone who show a certificate that an authority of this file vouches for
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_client_ca: Option<PathBuf>,
    /// Lets other machines in without TLS or unasked, where an address to listen on does
    #[arg(long)]
    insecure: bool,
    /// Speaks one protocol alone [default: the one of which the first byte is]
    #[arg(long, value_name = "PROTOCOL")]
    protocol: Option<Spoken>,
    /// Clients may not remove all keys at once (flush_all)
    #[arg(long)]
    no_flush: bool,
    /// Clients may not list keys or their prefixes (lru_crawler metadump, mgdump; stats cachedump,
    /// detail)
    #[arg(long)]
    no_dumps: bool,
    /// Clients may not watch what others do (watch)
    #[arg(long)]
    no_watch: bool,
    /// How long a thread that was busy looks for more to do before it sleeps: 20us, up to 10ms;
    /// seconds without a unit; 0: not at all
    #[arg(long, value_name = "TIME", value_parser = parse_spin, default_value = "50us")]
    spin: Duration,
    /// By which calls short answers go out to clients that ask at the same time
    #[arg(long, value_name = "CALLS", default_value = "auto")]
    io: Calls,
    /// Writes the number of the process to a file, which goes when it ends
    #[arg(long, value_name = "FILE")]
    pid_file: Option<PathBuf>,
    /// Runs as another user, where it was started by root
    #[arg(long, value_name = "USER")]
    user: Option<String>,
    /// Tells on standard error what it does
    #[arg(long, short)]
    verbose: bool,
}

/// By which calls answers go out.
#[derive(Clone, Copy, ValueEnum)]
enum Calls {
    /// As with uring where the system lets programs have an io_uring, else as with epoll
    Auto,
    /// One call for each connection
    Epoll,
    /// One call of an io_uring for several connections; fails where there is none
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
    /// Lines, the meta commands among them
    Text,
    /// Headers of 24 bytes
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
    running::run(&Plan {
        table: TablePlan {
            name: args.name,
            capacity: args.capacity,
            max_size: args.max_size,
            rights: args.rights,
            insists: false,
            versions: true,
        },
        places,
        default_place: Place::loopback(place::PORT),
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
        Ok(0) | Err(_) => Err(format!("'{text}' is not a number from 1 on")),
        Ok(count) => Ok(count),
    }
}

/// A look for more takes a CPU: a number that was meant in another unit must not take it for long.
fn parse_spin(text: &str) -> Result<Duration, String> {
    match units::parse_time(text)? {
        time if time <= LONGEST_SPIN => Ok(time),
        _ => Err(format!(
            "'{text}' is more than 10ms; write 0, 20us or 1ms (without a unit it is seconds)"
        )),
    }
}

/// The bytes of the largest value: 1 KiB to 1 GiB, as memcached has them.
fn parse_value_bytes(text: &str) -> Result<usize, String> {
    match units::parse_size(text)? {
        bytes @ 1024..=0x4000_0000 => Ok(bytes as usize),
        _ => Err(format!("'{text}' is not from 1K to 1G")),
    }
}
