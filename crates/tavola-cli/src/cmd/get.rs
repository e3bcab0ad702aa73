//! `tavola get`: the values of keys.

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::process::ExitCode;

use serde_json::{Map, Value};

use crate::args::{Notation, TableArg};
use crate::error::CliError;
use crate::output::{self, Output};

const EXAMPLES: &str = "\
Examples:
  tavola get sessions alice
  tavola get sessions alice > alice.json          exactly the bytes of the value
  tavola get sessions alice bob carol --json      says which of them are missing
  tavola get blobs --hex 00ff17
  if tavola get sessions alice >/dev/null; then echo she is here; fi

Exit code 1 when a key is missing. Several values are written one a line. It only looks: in a
cache it counts no read and keeps no key from being evicted.";

/// Print the values of keys
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    table: TableArg,
    /// The keys
    #[arg(value_name = "KEY", required = true, allow_negative_numbers = true)]
    keys: Vec<OsString>,
    #[command(flatten)]
    notation: Notation,
    /// One JSON object a key: its key and its value, null when missing
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    let table = args.table.open_to_read()?;
    let keys = args.notation.read_all(&args.keys)?;
    let mut out = Output::new();
    let mut missing = 0;
    let mut written = Ok(());
    table.get_many(&keys, |index, value| {
        missing += usize::from(value.is_none());
        if written.is_ok() {
            written = write(&mut out, args.json, &keys, index, value);
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

fn write(
    out: &mut Output,
    json: bool,
    keys: &[Vec<u8>],
    index: usize,
    value: Option<&[u8]>,
) -> Result<(), CliError> {
    match value {
        _ if json => out.json(as_json(&keys[index], value)),
        Some(value) if keys.len() == 1 => out.value(value),
        Some(value) => out.line(value),
        None => Ok(()),
    }
}

fn as_json(key: &[u8], value: Option<&[u8]>) -> Map<String, Value> {
    let mut document = Map::new();
    output::put_bytes(&mut document, "key", key);
    match value {
        Some(value) => output::put_bytes(&mut document, "value", value),
        None => {
            document.insert("value".to_string(), Value::Null);
        }
    }
    document
}
