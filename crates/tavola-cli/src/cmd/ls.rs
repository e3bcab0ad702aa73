//! `tavola ls`: the tables of the directory, or the keys of one table.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::ExitCode;

use serde_json::{Map, Value};
use tavola::{LiveKeys, Stats, names};

use crate::args::{Notation, TableArg, options};
use crate::error::CliError;
use crate::output::{self, Output};
use crate::units;

const EXAMPLES: &str = "\
Examples:
  tavola ls                          all tables: name, live keys, bytes of keys and values, memory
  tavola ls sessions                 all keys of a table, in no order
  tavola ls sessions user:           those that begin with user:
  tavola ls blobs --hex              binary keys, one a line whatever is in them
  tavola ls sessions --json | jq .   one JSON object a line

A table that cannot be read is listed with the reason, and the exit code is 2 then.
Through a pipe, tables come as tab-separated fields, the last number being that of keys
which have expired, or were invalidated, and are not reclaimed yet; each key is a line.
Newline, return, tab and backslash in names and keys are written \\n, \\r, \\t and \\\\, as
in 'tavola dump --format tsv'; --hex, --base64 and --json need no such reading.";

/// List the tables, or the keys of a table
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The table: a name, or a path when it has a / in it
    #[arg(value_name = "TABLE")]
    table: Option<OsString>,
    /// Only keys that begin with this
    #[arg(value_name = "PREFIX", allow_negative_numbers = true)]
    prefix: Option<OsString>,
    #[command(flatten)]
    notation: Notation,
    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

pub fn run(mut args: Args) -> Result<ExitCode, CliError> {
    match args.table.take() {
        Some(name) => list_keys(&TableArg::named(name), &args),
        None => list_tables(args.json),
    }
}

fn list_keys(table: &TableArg, args: &Args) -> Result<ExitCode, CliError> {
    let table = table.open_to_read()?;
    let prefix = args
        .prefix
        .as_deref()
        .map(|text| args.notation.read(text))
        .transpose()?;
    let prefix = prefix.unwrap_or_default();
    let mut out = Output::new();
    let mut entries = table.iter();
    let damage = loop {
        let key = match entries.next_entry() {
            Ok(Some((key, _))) => key,
            Ok(None) => break None,
            // It comes once, after all keys that can be read: these are printed.
            Err(error) => break Some(error),
        };
        if !key.starts_with(&prefix) {
            continue;
        }
        if args.json {
            let mut document = Map::new();
            output::put_bytes(&mut document, "key", key);
            out.json(document)?;
        } else if let Some(text) = args.notation.write(key) {
            out.line(text)?;
        } else {
            out.key_line(key)?;
        }
    };
    out.finish()?;
    damage.map_or(Ok(ExitCode::SUCCESS), |error| Err(error.into()))
}

/// What was read of a table, or why it could not be.
type Read = Result<(Stats, LiveKeys), String>;

fn list_tables(json: bool) -> Result<ExitCode, CliError> {
    let paths = names::list()?;
    let mut out = Output::new();
    let width = paths
        .iter()
        .map(|path| short_name(path).chars().count())
        .max()
        .unwrap_or(0);
    if out.on_terminal() && !json && !paths.is_empty() {
        out.line(row(width.max(5), ["TABLE", "KEYS", "BYTES", "MEMORY"]))?;
    }
    let mut failed = false;
    for path in &paths {
        let read = options().open_read_only(path);
        let read = match read.and_then(|table| Ok((table.stats()?, table.live_keys()?))) {
            // Dropped since it was listed.
            Err(tavola::Error::NotFound { .. }) => continue,
            read => read.map_err(|error| error.to_string()),
        };
        match json {
            true => out.json(as_json(path, &read))?,
            false => list_table(&mut out, width.max(5), path, &read)?,
        }
        if let Err(error) = &read {
            failed = true;
            // A person sees it in the list.
            if !out.on_terminal() {
                eprintln!("tavola: {error}");
            }
        }
    }
    out.finish()?;
    Ok(if failed {
        ExitCode::from(crate::ERROR)
    } else {
        ExitCode::SUCCESS
    })
}

fn list_table(out: &mut Output, width: usize, path: &Path, read: &Read) -> Result<(), CliError> {
    if out.on_terminal() {
        let name = short_name(path);
        return out.line(match read {
            Ok((stats, keys)) => {
                let live = units::count(keys.live);
                let bytes = units::size(stats.payload_bytes);
                let memory = units::size(stats.resident_bytes);
                let over = match keys.unreclaimed {
                    0 => String::new(),
                    over => format!("  and {} not reclaimed yet", units::count(over)),
                };
                row(width, [&name, &live, &bytes, &memory]) + &over
            }
            Err(error) => format!("{}  {error}", row(width, [&name, "-", "-", "-"])),
        });
    }
    let name = output::escaped(path.file_name().unwrap_or_default().as_bytes());
    let fields = match read {
        Ok((stats, keys)) => format!(
            "\t{}\t{}\t{}\t{}",
            keys.live, stats.payload_bytes, stats.resident_bytes, keys.unreclaimed
        ),
        Err(error) => format!("\t-\t-\t-\t-\t{error}"),
    };
    out.line([&name, fields.as_bytes()].concat())
}

fn row(width: usize, [name, keys, bytes, memory]: [&str; 4]) -> String {
    format!("{name:<width$}  {keys:>15}  {bytes:>10}  {memory:>10}")
}

fn short_name(path: &Path) -> String {
    output::printable(path.file_name().unwrap_or_default().as_bytes()).into_owned()
}

fn as_json(path: &Path, read: &Read) -> Map<String, Value> {
    let mut document = Map::new();
    let name = path.file_name().unwrap_or_default().as_bytes();
    output::put_bytes(&mut document, "name", name);
    output::put_bytes(&mut document, "path", path.as_os_str().as_bytes());
    let mut put = |name: &str, value: Value| document.insert(name.to_string(), value);
    match read {
        Ok((stats, keys)) => {
            put("keys", stats.keys.into());
            put("live_keys", keys.live.into());
            put("unreclaimed_keys", keys.unreclaimed.into());
            put("payload_bytes", stats.payload_bytes.into());
            put("resident_bytes", stats.resident_bytes.into());
        }
        Err(error) => {
            put("error", error.as_str().into());
        }
    }
    document
}
