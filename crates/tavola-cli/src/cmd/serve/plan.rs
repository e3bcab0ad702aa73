//! What a server is to be, however it was asked for: by `tavola serve` or with memcached's flags.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use tavola::Table;
use tavola_server::memcached::Protocol;
use tavola_server::{Io, TlsFiles};

use super::place::Place;
use super::warm::SnapshotPlan;
use crate::args;
use crate::error::CliError;
use crate::rights::RightsArgs;
use crate::units;

/// How long a busy thread polls for more work by default.
pub const SPIN: Duration = Duration::from_micros(50);

/// All that is known before it starts.
#[derive(Debug)]
pub struct Plan {
    pub table: TablePlan,
    /// The file that it starts warm from, if any.
    pub snapshot: Option<SnapshotPlan>,
    /// The addresses to listen on. If it is empty: `default_place`, unless sockets were handed
    /// over.
    pub places: Vec<Place>,
    pub default_place: Place,
    /// The addresses at which clients of Redis are served. If there are any and no `places`, there
    /// is no `default_place`.
    pub resp_places: Vec<Place>,
    pub socket_mode: u32,
    pub threads: usize,
    pub max_connections: usize,
    /// Whether connections above the limit are refused with an error instead of waiting.
    pub refuses: bool,
    pub backlog: u32,
    pub idle_timeout: Option<Duration>,
    pub spin: Duration,
    /// By which calls answers go out.
    pub io: Io,
    /// How long clients may take to end what they have begun.
    pub drain: Duration,
    pub value_bytes: usize,
    /// Requests of a client in a row, if not as many as usual.
    pub requests: Option<usize>,
    pub protocol: Option<Protocol>,
    /// A file of users. Without one, no password is needed.
    pub users: Option<PathBuf>,
    /// What TLS is spoken with, at all addresses but those that are said to be without.
    pub tls: Option<TlsFiles>,
    pub flush: bool,
    /// Whether clients may list keys.
    pub dumps: bool,
    /// Whether clients may watch what others do.
    pub watch: bool,
    /// Where prefixes of keys end, by which commands are counted from the beginning.
    pub prefixes: Option<u8>,
    /// What `stats settings` reports as verbosity until a client changes it.
    pub verbosity: u32,
    /// Whether clients may end the server.
    pub shutdown: bool,
    /// Whether to listen beyond this machine without TLS or without asking who comes.
    pub insecure: bool,
    pub user: Option<String>,
    pub pid_file: Option<PathBuf>,
    pub port_file: Option<PathBuf>,
    pub daemon: bool,
    pub core_files: bool,
    pub voice: Voice,
}

impl Plan {
    /// Opens the table, or makes it, and warns of what may not be as it was meant.
    pub fn open_table(&self) -> Result<Table, CliError> {
        args::warn_as(self.voice.name, &self.table.name);
        let table = self.table.open()?;
        let warnings = [self.table.without_effect(&table)?, self.too_large(&table)?];
        for text in warnings.iter().flatten() {
            self.voice.warn(text);
        }
        Ok(table)
    }

    /// Says if the largest value takes more than half of the table, where memcached refuses to
    /// start.
    fn too_large(&self, table: &Table) -> Result<Option<String>, CliError> {
        let stats = table.stats()?;
        let room = stats.capacity.unwrap_or(stats.max_size);
        let value = self.value_bytes as u64;
        if value <= room / 2 {
            return Ok(None);
        }
        let flag = match self.voice.announces {
            true => "--largest-value",
            false => "-I",
        };
        Ok(Some(format!(
            "values of {} exceed half of the {} of the table {} and may not fit: serve a larger \
            table, or give a smaller {flag}",
            units::size(value),
            units::size(room),
            table.path().display()
        )))
    }
}

/// What a server says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Voice {
    /// The program's name, before what goes to standard error.
    pub name: &'static str,
    /// Whether a line on standard output says where it listens.
    pub announces: bool,
    /// Whether standard error hears of all that it does.
    pub is_verbose: bool,
}

impl Voice {
    /// How TLS, passwords and certificates of clients are asked for.
    pub fn flags(self) -> [&'static str; 3] {
        match self.announces {
            true => ["--tls-cert FILE", "--users FILE", "--tls-client-ca FILE"],
            false => [
                "-Z -o ssl_chain_cert=FILE",
                "-Y FILE",
                "-o ssl_ca_cert=FILE,ssl_verify_mode=2",
            ],
        }
    }

    /// Something that happened, for those who asked to hear of it.
    pub fn report(self, text: &str) {
        if self.is_verbose {
            self.warn(text);
        }
    }

    /// Something that should be known.
    pub fn warn(self, text: &str) {
        eprintln!("{}: {text}", self.name);
    }
}

/// The table that is served.
#[derive(Debug)]
pub struct TablePlan {
    pub name: OsString,
    pub capacity: Option<u64>,
    pub max_size: Option<u64>,
    /// The mode and the group of a table that is made.
    pub rights: RightsArgs,
    /// Whether a table that is there gets the capacity, too, and must be one that evicts, or not.
    pub insists: bool,
    /// Whether a table that is made has versions, by which clients compare and swap.
    pub versions: bool,
}

impl TablePlan {
    pub fn open(&self) -> Result<Table, CliError> {
        let mut options = args::options().versions(self.versions);
        if let Some(bytes) = self.capacity {
            options = options.capacity(bytes);
        }
        if let Some(bytes) = self.max_size {
            options = options.max_size(bytes);
        }
        let table = self.rights.give(options).open(&self.name)?;
        if self.insists {
            self.insist(&table)?;
        }
        Ok(table)
    }

    /// What was asked for of a table that is there already, and is otherwise.
    pub fn without_effect(&self, table: &Table) -> Result<Option<String>, CliError> {
        let stats = table.stats()?;
        let is_capacity = self
            .capacity
            .is_none_or(|bytes| stats.capacity == Some(bytes));
        // A table is made in whole pages; less than a MiB is no matter.
        let is_size = |bytes: u64| stats.max_size.abs_diff(bytes) < 1 << 20;
        if is_capacity && self.max_size.is_none_or(is_size) {
            return Ok(None);
        }
        let is = match stats.capacity {
            Some(bytes) => format!("a cache of {}", units::size(bytes)),
            None => format!(
                "not a cache, and may grow to {}",
                units::size(stats.max_size)
            ),
        };
        Ok(Some(format!(
            "the table {} exists already: it is {is}; the requested size has no effect",
            table.path().display()
        )))
    }

    fn insist(&self, table: &Table) -> Result<(), CliError> {
        let path = table.path().display();
        match (self.capacity, table.capacity()?) {
            (Some(bytes), Some(found)) if bytes != found => Ok(table.set_capacity(bytes)?),
            (Some(_), Some(_)) | (None, None) => Ok(()),
            (Some(_), None) => Err(CliError::Sentence(format!(
                "the table {path} exists and is not a cache; give -M, or name another table with \
                --table"
            ))),
            (None, Some(_)) => Err(CliError::Sentence(format!(
                "the table {path} exists and is a cache, which evicts keys; leave out -M, or \
                name another table with --table"
            ))),
        }
    }
}
