//! `tavola mc dump`: what memcdump is; with values, what `memcached-tool dump` is.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use indicatif::ProgressBar;
use serde_json::Map;
use tavola_client::{Client, Outcome};

use super::entries::{Entries, Entry, fault};
use super::fleet::FleetArgs;
use super::scan::Keys;
use super::{complain, ended};
use crate::error::CliError;
use crate::output::{self, Output};
use crate::progress::{self, Lasting};
use crate::stream::{Beside, Format, Sink};

const EXAMPLES: &str = "\
Examples:
  tavola mc dump --servers 10.0.0.1,10.0.0.2             the keys, one a line
  tavola mc dump --values > cache.jsonl
  tavola mc dump --values cache.tavola                   binary, by the name of the file
  tavola mc dump --values --format memcached | nc 10.0.0.9 11211
  tavola mc dump --values --servers 10.0.0.1 | tavola load sessions

Lists the keys of all servers, wherever they belong by --placement, and with --values
fetches their values, flags and TTLs. 'tavola load' and 'tavola mc load' read that. A key
that is stored or removed meanwhile may be in the output or not. The servers must know
'lru_crawler', as memcached from 1.4.31 on does; for values they must know the meta
commands, from 1.6 on. The keys of one server are kept in memory. The exit code is 2 if
something could not be read; the rest is written anyway.";

/// Print the keys of all servers, or all entries
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The file to write [default: standard output, also '-']
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Write values, flags and TTLs as well
    #[arg(long)]
    values: bool,
    /// The format of entries [default: from the file name, else jsonl]
    #[arg(long, short, value_parser = Format::written(), requires = "values")]
    format: Option<Format>,
    /// Print one JSON object per key: the key and its server
    #[arg(long, conflicts_with_all = ["values", "file"])]
    json: bool,
    #[command(flatten)]
    fleet: FleetArgs,
}

pub fn run(args: &Args) -> Result<ExitCode, CliError> {
    let clients = args.fleet.link.clients(args.fleet.servers()?)?;
    let file = args.file.as_deref().filter(|path| *path != Path::new("-"));
    if !args.values && file.is_none() {
        return list(args, &clients);
    }
    let failed = |source| match file {
        Some(path) => CliError::Write {
            path: path.to_path_buf(),
            source,
        },
        None => CliError::Output(source),
    };
    let out: Box<dyn Write> = match file {
        Some(path) => Box::new(File::create(path).map_err(failed)?),
        None => Box::new(io::stdout().lock()),
    };
    let mut out = BufWriter::with_capacity(256 << 10, out);
    if !args.values {
        let faults = list_keys(&clients, true, |_, key| {
            let line = output::escaped(key);
            { out.write_all(&line) }
                .and_then(|()| out.write_all(b"\n"))
                .map_err(failed)
        })?;
        out.flush().map_err(failed)?;
        return Ok(ended(0, faults));
    }
    let format = args.format.or_else(|| Format::of_name(file?));
    let format = format.unwrap_or(Format::Jsonl);
    if format == Format::Binary && file.is_none() && io::stdout().is_terminal() {
        return Err(CliError::BinaryToTerminal);
    }
    let mut sink = format.sink(out).map_err(failed)?;
    let mut faults = 0;
    for client in &clients {
        faults += write_entries(client, &mut *sink, &failed)?;
    }
    sink.finish().map_err(failed)?;
    Ok(ended(0, faults))
}

/// Prints the keys while they come.
fn list(args: &Args, clients: &[Client]) -> Result<ExitCode, CliError> {
    let mut out = Output::new();
    let is_shown = !out.on_terminal();
    let faults = list_keys(clients, is_shown, |client, key| match args.json {
        false => out.key_line(key),
        true => {
            let mut document = Map::new();
            output::put_bytes(&mut document, "key", key);
            document.insert("server".to_string(), client.servers()[0].name().into());
            out.json(document)
        }
    })?;
    out.finish()?;
    Ok(ended(0, faults))
}

/// Hands the keys of all servers to `write` while they come. Returns how many servers failed.
fn list_keys(
    clients: &[Client],
    is_progress_shown: bool,
    mut write: impl FnMut(&Client, &[u8]) -> Result<(), CliError>,
) -> Result<usize, CliError> {
    let bar = match is_progress_shown {
        true => progress::of_keys(),
        // The keys are what a person sees.
        false => ProgressBar::hidden(),
    };
    let mut lasting = Lasting::new("listed");
    let (mut done, mut faults) = (0, 0);
    for client in clients {
        let mut written = Ok(());
        let listed = client.keys(0, &mut |key| {
            if written.is_ok() {
                written = write(client, key);
                done += 1;
                bar.set_position(done);
                lasting.tick(done);
            }
        });
        written?;
        if let Err(why) = listed {
            complain(format!("{}: {why}", client.servers()[0].name()));
            faults += 1;
        }
    }
    bar.finish_and_clear();
    Ok(faults)
}

/// Writes all entries of a server. Returns how many could not be read.
fn write_entries(
    client: &Client,
    sink: &mut dyn Sink,
    failed: &dyn Fn(io::Error) -> CliError,
) -> Result<usize, CliError> {
    let keys = match Keys::of(client) {
        Ok(keys) => keys,
        Err(why) => {
            complain(why);
            return Ok(1);
        }
    };
    let bar = progress::over_keys(keys.len());
    let (mut lasting, mut done) = (Lasting::new("written"), 0);
    let mut faults = 0;
    for batch in keys.batches() {
        let entries = Entries::get(client, &batch, true);
        for (key, entry) in batch.iter().zip(&entries.all) {
            match &entry.outcome {
                Some(Outcome::Hit { .. }) => {
                    let beside = beside_of(entry);
                    sink.entry(key, &entry.value, &beside).map_err(failed)?;
                }
                outcome => {
                    if let Some(why) = fault(client, outcome.as_ref()) {
                        if faults == 0 {
                            complain(format!("{}: {why}", output::printable(key)));
                        }
                        faults += 1;
                    }
                }
            }
        }
        done += batch.len() as u64;
        bar.set_position(done);
        lasting.tick(done);
    }
    bar.finish_and_clear();
    if faults > 1 {
        let server = client.servers()[0].name();
        complain(format!("{faults} keys of {server} could not be read"));
    }
    Ok(faults)
}

fn beside_of(entry: &Entry) -> Beside {
    let expires = entry.left_s.and_then(|left_s| {
        let time = SystemTime::now() + Duration::from_secs(u64::from(left_s));
        let since_1970 = time.duration_since(UNIX_EPOCH).ok()?;
        u64::try_from(since_1970.as_millis()).ok()
    });
    Beside {
        expires,
        flags: entry.flags,
        tags: Vec::new(),
    }
}
