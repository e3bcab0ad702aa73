//! `tavola exporter`: what tables hold and do, for Prometheus and others that read OpenMetrics.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;

use tavola::{Error, names};

use crate::args::{options, warn_of};
use crate::cmd::serve::is_of_this_machine;
use crate::durable;
use crate::error::CliError;
use crate::{interrupt, output};

mod durability;
mod figures;
mod http;
mod metrics;
mod openmetrics;
mod page;

use figures::{NamedFigures, TableFigures};
use http::Answer;

const EXAMPLES: &str = "\
Examples:
  tavola exporter                                all tables of the directory
  tavola exporter sessions pages
  tavola exporter sessions --listen 127.0.0.1:0  any free port, which it prints
  curl http://127.0.0.1:9419/metrics

Answers GET /metrics with OpenMetrics text, version 1.0. Each request opens the tables
again, read-only. A table that is missing or unreadable has tavola_up 0, and
tavola_unreadable_info with the reason: gone, permission, damaged, format, system. There
is no password: anyone who can reach the address can read names and statistics of the
tables, but no keys and no values. So addresses that other machines can reach are refused
without --insecure. contrib/grafana/tavola.json in the source is a dashboard for Grafana.";

/// The most names of missing tables that are still reported.
const GONE_KEPT: usize = 1000;

/// Serve table statistics as OpenMetrics over HTTP
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Tables: names, or paths if they contain a / [default: all tables of the directory]
    #[arg(value_name = "TABLE")]
    names: Vec<OsString>,
    /// The address to listen on; port 0 means any free port
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:9419")]
    listen: String,
    /// Allow addresses that other machines can reach, without a password and TLS
    #[arg(long)]
    insecure: bool,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    let ended = interrupt::install_handlers()?;
    for name in &args.names {
        // One that is not there may come; a name that cannot be one never does.
        if let Err(error @ Error::BadName { .. }) = options().open_read_only(name) {
            return Err(error.into());
        }
    }
    warn_of_all(&args.names);
    let failed = |source: io::Error| {
        let address = &args.listen;
        CliError::Sentence(format!(
            "cannot listen on {address} ({source}); give another address with --listen"
        ))
    };
    let listener = TcpListener::bind(&args.listen).map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    if !args.insecure {
        guard(&address)?;
    }
    let mut out = io::stdout().lock();
    writeln!(out, "serving http://{address}/metrics")?;
    out.flush()?;
    drop(out);
    let mut tables = Tables::new(args.names);
    let served = http::serve(&listener, &ended, |path| match path {
        "/metrics" => Some(tables.answer()),
        "/" => Some(Answer::plain("200 OK", "tavola exporter: see /metrics")),
        _ => None,
    });
    served.map_err(failed)?;
    Ok(ExitCode::SUCCESS)
}

/// Warns of the file systems of the tables that were named, or of that of the directory.
fn warn_of_all(named: &[OsString]) {
    if named.is_empty() {
        // Any table of the directory is on the same file system.
        warn_of(names::directory().join("any").as_os_str());
    }
    named.iter().for_each(|name| warn_of(name));
}

/// Refuses an address at which other machines could read the statistics, as `serve` does.
fn guard(address: &SocketAddr) -> Result<(), CliError> {
    if is_of_this_machine(address) {
        return Ok(());
    }
    Err(CliError::Sentence(format!(
        "{address} can be reached from other machines, which could then read the names and \
        statistics of all tables; listen on 127.0.0.1, or give --insecure"
    )))
}

/// Which tables are reported.
struct Tables {
    /// The named tables. If it is empty, all tables of the directory are reported.
    named: Vec<OsString>,
    /// Names of those of the directory that were seen.
    seen: BTreeSet<String>,
}

impl Tables {
    fn new(named: Vec<OsString>) -> Tables {
        let seen = BTreeSet::new();
        Tables { named, seen }
    }

    fn answer(&mut self) -> Answer {
        match self.read_tables() {
            Ok(tables) => Answer {
                status: "200 OK",
                content_type: openmetrics::CONTENT_TYPE,
                body: page::page(&tables),
            },
            Err(error) => Answer::plain("500 Internal Server Error", &error.to_string()),
        }
    }

    /// Each name once, sorted.
    fn read_tables(&mut self) -> Result<Vec<NamedFigures>, Error> {
        let mut tables = match self.named.is_empty() {
            true => self.read_all_tables()?,
            false => self.named.iter().map(read_table).collect(),
        };
        tables.sort_by(|(one, _), (other, _)| one.cmp(other));
        tables.dedup_by(|(one, _), (other, _)| one == other);
        Ok(tables)
    }

    fn read_all_tables(&mut self) -> Result<Vec<NamedFigures>, Error> {
        let mut tables = Vec::new();
        for path in names::list()? {
            let table = options().open_read_only(&path);
            let name = match &table {
                Ok(table) => durable::label_of(table, &path),
                Err(_) => durable::short_name(&path).to_os_string(),
            };
            let figures = table.and_then(|table| TableFigures::at(&table));
            tables.push((label(name.as_bytes()), figures));
        }
        let there: BTreeSet<String> = tables.iter().map(|(label, _)| label.clone()).collect();
        self.seen.retain(|label| !there.contains(label));
        let many = self.seen.len().saturating_sub(GONE_KEPT);
        self.seen = self.seen.iter().skip(many).cloned().collect();
        let gone = |label: &String| {
            let path = names::directory().join(label);
            (label.clone(), Err(Error::NotFound { path }))
        };
        tables.extend(self.seen.iter().map(gone));
        self.seen.extend(there);
        Ok(tables)
    }
}

fn read_table(name: &OsString) -> NamedFigures {
    let table = options().open_read_only(name);
    (
        label(name.as_bytes()),
        table.and_then(|table| TableFigures::at(&table)),
    )
}

fn label(name: &[u8]) -> String {
    output::printable(name).into_owned()
}

/// Why a table could not be read, in a word that stays the same.
fn reason(error: &tavola::Error) -> &'static str {
    match error {
        tavola::Error::NotFound { .. } => "gone",
        tavola::Error::Permission { .. } => "permission",
        tavola::Error::Corrupt { .. } | tavola::Error::NotATable { .. } => "damaged",
        tavola::Error::Version { .. } | tavola::Error::Endianness { .. } => "format",
        _ => "system",
    }
}
