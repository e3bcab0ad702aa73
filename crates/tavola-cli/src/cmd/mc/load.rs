//! `tavola mc load`: entries from a file or a pipe into a fleet.

use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;
use std::{io::BufRead, time::Duration};

use tavola::{Attributes, Expiry};
use tavola_client::{Batch, Client, StoreOptions};

use super::entries::{Outcomes, exptime};
use super::fleet::FleetArgs;
use super::tally::Tally;
use crate::cmd::load::{choose, open};
use crate::error::CliError;
use crate::progress::{self, Lasting};
use crate::stream::{self, Format, Source};

const EXAMPLES: &str = "\
Examples:
  tavola mc load cache.jsonl --servers 10.0.1.1,10.0.1.2,10.0.1.3
  tavola dump sessions | tavola mc load
  tavola mc load words.tsv --add          keeps the values of keys that exist

Reads what 'tavola mc dump --values' and 'tavola dump' write, in all formats of 'tavola
load'; the format is chosen as there. Flags and TTLs are kept, tags are not: servers do
not have them. Prints how many entries are loaded, were present (with --add), were missing
because they have expired, were refused, and failed. The exit code is 1 if a server
refused an entry, and 2 if a server did not answer or the file is damaged.";

/// Store entries of a file or standard input on the servers
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The file to read [default: standard input, also '-']
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// The format [default: from the first bytes or the name of the file, else jsonl]
    #[arg(long, short, value_enum)]
    format: Option<Format>,
    /// Do not change keys that exist
    #[arg(long)]
    add: bool,
    /// Print the numbers as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    fleet: FleetArgs,
}

pub fn run(args: &Args) -> Result<ExitCode, CliError> {
    let client = args.fleet.client()?;
    let (path, input, total) = open(args.file.as_deref())?;
    let bar = progress::over_bytes(total);
    let mut input = BufReader::with_capacity(256 << 10, bar.wrap_read(input));
    let failed = |source| CliError::Read {
        path: path.clone(),
        source,
    };
    let first = input.fill_buf().map_err(failed)?;
    let format = choose(args.format, false, &path, first)?;
    let mut source = format.source(input, stream::tsv::Columns::default(), 0);
    let mut tally = Tally::default();
    let poured = pour(args, &client, &mut *source, &path, &mut tally);
    bar.finish_and_clear();
    tally.print("loaded", args.json)?;
    poured?;
    if let Some(what) = source.left_out() {
        eprintln!("tavola: {}: {what}", path.display());
    }
    Ok(tally.code())
}

fn pour(
    args: &Args,
    client: &Client,
    source: &mut dyn Source,
    path: &Path,
    tally: &mut Tally,
) -> Result<(), CliError> {
    let mut batch = stream::Batch::default();
    let mut lasting = Lasting::new("loaded");
    loop {
        let more = source.next(&mut batch);
        if batch.is_full() || !matches!(more, Ok(true)) {
            store(args, client, &batch, tally);
            batch.clear();
            lasting.tick(tally.done());
        }
        if !more.map_err(|bad| bad.of(path))? {
            return Ok(());
        }
    }
}

/// Stores the entries of a batch by one call.
fn store(args: &Args, client: &Client, entries: &stream::Batch, tally: &mut Tally) {
    let mut batch = Batch::new();
    let mut keys = Vec::new();
    for (pairs, attributes, _) in entries.runs() {
        let Some(options) = options_of(attributes) else {
            tally.missing += pairs.len() as u64;
            continue;
        };
        for (key, value) in pairs {
            match args.add {
                true => batch.add(key, value, options),
                false => batch.set(key, value, options),
            };
            keys.push(key);
        }
    }
    let outcomes = Outcomes::of(client, &mut batch).0;
    for (key, outcome) in keys.into_iter().zip(&outcomes) {
        tally.note(client, key, outcome.as_ref());
    }
}

/// Returns flags and time for a server; `None` if the time is over.
fn options_of(attributes: Attributes) -> Option<StoreOptions> {
    let left = match attributes.expiry {
        Expiry::At(time) => match time.duration_since(SystemTime::now()) {
            Ok(left) if left > Duration::ZERO => Some(left),
            _ => return None,
        },
        Expiry::After(left) => Some(left),
        Expiry::Never | Expiry::Default => None,
    };
    Some(StoreOptions {
        flags: attributes.flags,
        exptime: exptime(left),
        ..StoreOptions::default()
    })
}
