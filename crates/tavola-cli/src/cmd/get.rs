//! `tavola get`: the values of keys.

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::process::ExitCode;

use serde_json::{Map, Value};
use tavola::{Details, Expiry, Table};
use tavola_cdb::Constant;

use crate::args::{self, Notation, TableArg};
use crate::constant;
use crate::error::CliError;
use crate::output::{self, Output};
use crate::units;

const EXAMPLES: &str = "\
Examples:
  tavola get sessions alice
  tavola get sessions alice > alice.json          the exact bytes of the value
  tavola get sessions alice bob carol --json      one object per key, null if it is missing
  tavola get sessions alice --token               for 'tavola cas --if-token'
  tavola get films trailer --start 1M --max 64K   a part of the value
  tavola get blobs --hex 00ff17
  tavola get ./words.frozen one                   from a constant file
  if tavola get sessions alice >/dev/null; then echo she is here; fi

With several keys, each value is printed on a line, and a missing key as '(missing)';
--missing sets another text. The exit code is 1 if a key is missing. In a cache, this
command does not count as a read, so it does not protect a key from eviction.";

/// Print the values of keys
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    table: TableArg,
    /// The keys
    #[arg(value_name = "KEY", required = true, allow_negative_numbers = true)]
    keys: Vec<OsString>,
    /// Skip this many bytes at the beginning of a value
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size)]
    start: Option<u64>,
    /// Print at most this many bytes of a value
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size)]
    max: Option<u64>,
    /// Print the token of the value instead of the value
    #[arg(long, conflicts_with_all = ["start", "max", "json"])]
    token: bool,
    /// What to print for a missing key, if there are several keys
    #[arg(long, value_name = "TEXT", default_value = "(missing)")]
    missing: OsString,
    #[command(flatten)]
    notation: Notation,
    /// Print one JSON object per key: value (null if missing), token, flags, TTL in milliseconds
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    if let Some(file) = constant::open(args.table.name())? {
        return of_constant(&args, &file);
    }
    let table = args.table.keys_to_read()?;
    let keys = args.notation.read_all(&args.keys)?;
    let mut out = Output::new();
    if let ([key], true) = (&keys[..], args.is_part()) {
        let max = args.max.map_or(usize::MAX, |most| {
            usize::try_from(most).unwrap_or(usize::MAX)
        });
        let Some(part) = table.get_range(key, args.start.unwrap_or(0), max)? else {
            return Ok(ExitCode::from(crate::MISSING));
        };
        out.value(&part)?;
        out.finish()?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut missing = 0;
    let mut written = Ok(());
    table.get_many_entries(&keys, |index, entry| {
        missing += usize::from(entry.is_none());
        if written.is_ok() {
            written = write(&mut out, &args, &table, &keys[index], entry);
        }
    })?;
    written?;
    out.finish()?;
    if missing == 0 {
        return Ok(ExitCode::SUCCESS);
    }
    if !args.json && io::stderr().is_terminal() {
        eprintln!("tavola: {missing} of {} keys are missing", keys.len());
    }
    Ok(ExitCode::from(crate::MISSING))
}

/// Prints the values that keys have in a constant file.
fn of_constant(args: &Args, file: &Constant) -> Result<ExitCode, CliError> {
    if args.token {
        let why = "a constant file has no tokens; leave out --token";
        return Err(CliError::Sentence(why.to_string()));
    }
    let mut out = Output::new();
    let mut missing = 0;
    for key in args.notation.read_all(&args.keys)? {
        let value = file.get(&key)?;
        missing += usize::from(value.is_none());
        if args.json {
            let mut document = Map::new();
            output::put_bytes(&mut document, "key", &key);
            match &value {
                Some(value) => output::put_bytes(&mut document, "value", args.part(value)),
                None => drop(document.insert("value".to_string(), Value::Null)),
            }
            out.json(document)?;
            continue;
        }
        match value {
            Some(value) if args.keys.len() == 1 => out.value(args.part(&value))?,
            Some(value) => out.line(args.part(&value))?,
            None if args.keys.len() == 1 => {}
            None => out.line(args.missing.as_encoded_bytes())?,
        }
    }
    out.finish()?;
    Ok(match missing {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::from(crate::MISSING),
    })
}

fn write(
    out: &mut Output,
    args: &Args,
    table: &Table,
    key: &[u8],
    entry: Option<(&[u8], Details)>,
) -> Result<(), CliError> {
    let is_single = args.keys.len() == 1;
    match entry {
        _ if args.json => out.json(as_json(args, table, key, entry)?),
        Some((value, details)) if args.token => {
            out.line(args::token_text(table.token(&details, value)?))
        }
        Some((value, _)) if is_single => out.value(args.part(value)),
        Some((value, _)) => out.line(args.part(value)),
        None if is_single => Ok(()),
        None => out.line(args.missing.as_encoded_bytes()),
    }
}

impl Args {
    /// Whether a part of the value is wanted as it is.
    fn is_part(&self) -> bool {
        !self.json && (self.start.is_some() || self.max.is_some())
    }

    /// Returns the part of a value that was asked for.
    fn part<'a>(&self, value: &'a [u8]) -> &'a [u8] {
        let within = |bytes: u64, most: usize| usize::try_from(bytes).map_or(most, |n| n.min(most));
        let rest = &value[within(self.start.unwrap_or(0), value.len())..];
        &rest[..self.max.map_or(rest.len(), |most| within(most, rest.len()))]
    }
}

fn as_json(
    args: &Args,
    table: &Table,
    key: &[u8],
    entry: Option<(&[u8], Details)>,
) -> Result<Map<String, Value>, CliError> {
    let mut document = Map::new();
    output::put_bytes(&mut document, "key", key);
    let Some((value, details)) = entry else {
        document.insert("value".to_string(), Value::Null);
        return Ok(document);
    };
    output::put_bytes(&mut document, "value", args.part(value));
    let token = args::token_text(table.token(&details, value)?);
    document.insert("token".to_string(), token.into());
    document.insert("flags".to_string(), details.attributes.flags.into());
    let left_ms = match details.attributes.expiry {
        Expiry::After(left) => Value::from(left.as_millis() as u64),
        _ => Value::Null,
    };
    document.insert("ttl_ms".to_string(), left_ms);
    Ok(document)
}
